"""The page to label on in a real browser: by keyboard alone, for several people, and for everybody."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from funnelling import write_documents
from tests.browser import chromium

from .service import COMMAND, Service, start
from .test_labelling import documents
from .test_page import VIEWS, faults, show, until

LABEL = [*COMMAND[:-1], "label"]
# Names of labels as a label set has them, in place of those of the model, and many of them.
NAMED = """
const done = arguments[0];
(async () => {
const {Picker} = await import('/static/picker.js');
const place = document.createElement('fieldset');
document.querySelector('main').append(place);
window.said = [];
window.picker = new Picker(place, {exclusive: false, say: line => window.said.push(line)});
window.picker.use(Array.from({length: 300}, (_, i) => ({
  id: `c${i}`, name: `label ${i}`, description: '',
  names: {de: `Straßenbau Nr. ${i}`, fr: `Électricité ${i}`, el: `Ενέργεια ${i}`},
})));
window.picker.show(Object.fromEntries(Array.from({length: 300}, (_, i) => [`c${i}`, 1 / (i + 2)])), ['c250']);
done();
})();
"""


@pytest.fixture
def begin(model_path: Path, tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Starts the page over 30 documents, again and again over one journal."""
    write_documents(tmp_path / "docs.jsonl", documents(30))
    started: list[Service] = []

    def go(*options: object) -> Service:
        data = [tmp_path / "docs.jsonl", "--journal", tmp_path / "journal.jsonl", "-o", tmp_path / "labelled"]
        log = tmp_path / f"log-{len(started)}.txt"
        started.append(start(model_path, log, *data, *options, command=LABEL))
        return started[-1]

    yield go
    for service in started:
        service.stop()


@pytest.fixture(scope="module")
def service(model_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A page over many documents, which several tests decide about."""
    folder = tmp_path_factory.mktemp("labelling")
    write_documents(folder / "docs.jsonl", documents(60))
    options = (folder / "docs.jsonl", "--learn-after", 0)
    started = start(model_path, folder / "log.txt", *options, command=LABEL)
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        opened.set_script_timeout(180)
        yield opened


def title(browser: Any) -> str:
    return str(
        browser.execute_script("return document.getElementById('work').hidden ? '' : title.textContent")
    )


def enter(browser: Any, url: str, name: str = "Ada", **how: Any) -> None:
    """Open the page, and say who it is where it asks."""
    show(browser, url, **how)
    until(browser, lambda b: title(b) or b.find_element("id", "who").is_displayed())
    if not title(browser):
        press(browser, name, "ENTER")
    until(browser, title)


def press(browser: Any, *keys: str) -> None:
    """Press keys, wherever the focus is."""
    from selenium.webdriver.common.keys import Keys

    for key in keys:
        browser.switch_to.active_element.send_keys(getattr(Keys, key, key))


def decide(browser: Any, *keys: str) -> str:
    """Press keys, of which the last leads to another document; its title is given."""
    before = title(browser)
    press(browser, *keys)
    until(browser, lambda b: title(b) != before)
    return title(browser)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]


@pytest.mark.slow
def test_thirty_documents_by_keyboard_and_a_browser_that_is_killed(
    begin: Callable[..., Service], tmp_path: Path
) -> None:
    service, journal = begin("--learn-after", 0), tmp_path / "journal.jsonl"
    with chromium() as first:
        enter(first, service.url)
        shown = [title(first)]
        for number in range(14):
            shown.append(decide(first, "123"[number % 3], "ENTER"))
        kept = lines(journal)
        assert len(kept) == 14
        os.kill(first.service.process.pid, signal.SIGKILL)
    assert lines(journal) == kept
    assert service.stop(signal.SIGKILL)  # and the program, too
    service = begin("--learn-after", 0)
    with chromium() as second:
        enter(second, service.url)
        assert title(second) == shown[-1]
        for number in range(16):
            press(second, "123"[number % 3])
            decide(second, "ENTER")
        until(second, lambda b: b.find_element("id", "end").is_displayed())
        assert "30 of 30 labelled" in second.find_element("id", "count").text
    kept = lines(journal)
    assert len({line["id"] for line in kept}) == len(kept) == 30
    assert all(line["who"] == "Ada" for line in kept)
    assert any(line["labels"] != line["suggested"] for line in kept)


def test_keys(browser: Any, begin: Callable[..., Service], tmp_path: Path) -> None:
    service = begin("--learn-after", 0, "--who", "Eve")
    enter(browser, service.url)
    assert browser.switch_to.active_element.get_attribute("id") == "title"
    first = title(browser)
    chosen = "return [...document.querySelectorAll('.choice:has(:checked)')].map(e => e.dataset.label)"
    before = set(browser.execute_script(chosen))
    press(browser, "1")
    assert set(browser.execute_script(chosen)) == before ^ {"animals"}
    assert browser.find_element("id", "status").text.startswith("animals ")
    press(browser, "/", "MUS", "ENTER", "ESCAPE")
    assert set(browser.execute_script(chosen)) == before ^ {"animals", "music"}
    press(browser, "/", "poems", "ENTER", "ESCAPE")  # a label that there was not
    until(browser, lambda b: b.find_elements("css selector", "#text mark"))
    press(browser, "n", "odd", "ESCAPE")
    assert decide(browser, "ENTER") != first
    assert "Saved: " in browser.find_element("id", "status").text
    assert decide(browser, "u") == first
    assert set(browser.execute_script(chosen)) == before ^ {"animals", "music", "poems"}
    assert decide(browser, "s") != first
    kept = lines(tmp_path / "journal.jsonl")
    assert [line["action"] for line in kept] == ["note", "label", "undo", "skip"]
    assert all(line["who"] == "Eve" for line in kept)
    assert kept[1]["note"] == "odd"
    browser.find_element("id", "use-keys").click()
    press(browser, "1", "ENTER")
    assert len(lines(tmp_path / "journal.jsonl")) == 4
    browser.find_element("id", "use-keys").click()
    assert browser.get_log("browser") == []


def test_two_people_never_get_the_same_document(browser: Any, service: Service) -> None:
    people = [browser.current_window_handle]
    enter(browser, service.url)
    seen = [title(browser)]
    browser.switch_to.new_window("window")
    people.append(browser.current_window_handle)
    enter(browser, service.url, "Bob")
    seen.append(title(browser))
    for _ in range(5):
        for person in people:
            browser.switch_to.window(person)
            seen.append(decide(browser, "ENTER"))
    browser.switch_to.window(people[1])
    browser.close()
    browser.switch_to.window(people[0])
    assert len(set(seen)) == len(seen) == 12


@pytest.mark.parametrize(("width", "colours"), VIEWS)
def test_everybody_can_use_it(browser: Any, service: Service, width: int, colours: str) -> None:
    enter(browser, service.url, width=width, colours=colours)
    decide(browser, "1", "ENTER")
    until(browser, lambda b: b.find_elements("css selector", "#text mark"))
    press(browser, "/", "m")
    until(browser, lambda b: b.find_elements("css selector", ".matches [role=option]"))
    assert faults(browser) == []
    press(browser, "ESCAPE")
    browser.execute_script("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert faults(browser) == []
    assert browser.get_log("browser") == []


def test_300_labels_are_found_by_names_in_three_languages(browser: Any, service: Service) -> None:
    enter(browser, service.url)
    browser.execute_async_script(NAMED)
    shown = "return [...picker.list.querySelectorAll('.choice')].map(e => e.dataset.label)"
    assert browser.execute_script(shown) == [*(f"c{i}" for i in range(12)), "c250"]
    for query, label in (
        ("strassenbau 217", "c217"),
        ("ELECTRICITE 31", "c31"),
        ("ενεργεια 144", "c144"),
        ("label 299", "c299"),
        ("c7", "c7"),
    ):
        browser.execute_script("picker.field.focus(); picker.field.value = ''")
        press(browser, query)
        first = browser.find_element("css selector", ".matches [aria-selected=true]")
        assert label in first.text
        press(browser, "ENTER")
        assert label in browser.execute_script("return [...picker.chosen]")
    assert faults(browser) == []
