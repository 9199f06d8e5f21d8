"""The page to label on in a real browser: by keyboard alone, for several people, and for everybody."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from funnelling import write_documents
from tests.browser import chromium

from .service import COMMAND, Service, start
from .test_labelling import documents
from .test_page import VIEWS, faults, reader_of, show, until

LABEL = [*COMMAND[:-1], "label"]
# Twenty topics and fifteen aspects of each, in German, French and Greek: names of 300 labels.
TOPICS = [
    ("Straßenbau", "Travaux routiers", "Οδοποιία"),
    ("Stromnetze", "Réseaux électriques", "Δίκτυα ηλεκτρισμού"),
    ("Fischerei", "Pêche", "Αλιεία"),
    ("Küstenschutz", "Défense des côtes", "Προστασία ακτών"),
    ("Universitäten", "Universités", "Πανεπιστήμια"),
    ("Krankenhäuser", "Hôpitaux", "Νοσοκομεία"),
    ("Bäckereien", "Boulangeries", "Αρτοποιεία"),
    ("Eisenbahnen", "Chemins de fer", "Σιδηρόδρομοι"),
    ("Forstwirtschaft", "Forêts", "Δασοκομία"),
    ("Theater", "Théâtres", "Θέατρα"),
    ("Abwässer", "Eaux usées", "Λύματα"),
    ("Müllabfuhr", "Déchets", "Απορρίμματα"),
    ("Wohnungen", "Logements", "Κατοικίες"),
    ("Gefängnisse", "Prisons", "Φυλακές"),
    ("Schöffengerichte", "Tribunaux", "Δικαστήρια"),
    ("Zölle", "Douanes", "Τελωνεία"),
    ("Flughäfen", "Aéroports", "Αεροδρόμια"),
    ("Büchereien", "Bibliothèques", "Βιβλιοθήκες"),
    ("Gärten", "Jardins", "Κήποι"),
    ("Märkte", "Marchés", "Αγορές"),
]
ASPECTS = [
    ("Arbeitskräfte", "main-d’œuvre", "εργατικό δυναμικό"),
    ("Ausfälle", "pannes", "βλάβες"),
    ("Beiträge", "cotisations", "εισφορές"),
    ("Dürre", "sécheresse", "ξηρασία"),
    ("Forschung", "recherche", "έρευνα"),
    ("Gebühren", "péages", "τέλη"),
    ("Geschichte", "histoire", "ιστορία"),
    ("Hochwasser", "inondations", "πλημμύρες"),
    ("Löhne", "salaires", "μισθοί"),
    ("Prüfung", "contrôle", "έλεγχος"),
    ("Sicherheit", "sûreté", "ασφάλεια"),
    ("Steuern", "impôts", "φόροι"),
    ("Unfälle", "accidents", "ατυχήματα"),
    ("Versicherung", "assurances", "ασφάλιση"),
    ("Verträge", "conventions", "συμβάσεις"),
]
KNOWN = {12: "animals", 140: "food", 299: "music"}  # to the model, which has never heard of the others


@pytest.fixture
def begin(model_path: Path, tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Starts the page over 30 documents, again and again over one journal."""
    write_documents(tmp_path / "docs.jsonl", documents(30))
    started: list[Service] = []

    def go(*options: object) -> Service:
        data = [
            tmp_path / "docs.jsonl",
            "--journal",
            tmp_path / "journal.jsonl",
            "--save",
            tmp_path / "labelled",
        ]
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
        for process in (first.capabilities["goog:processID"], first.service.process.pid):
            os.kill(process, signal.SIGKILL)
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
    assert all(line["annotator"] == "Ada" for line in kept)
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
    press(browser, "/", "a|b", "ENTER")
    assert "A new label has no “|”" in browser.find_element("id", "status").text
    press(browser, "ESCAPE")
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
    assert all(line["annotator"] == "Eve" for line in kept)
    assert kept[1]["note"] == "odd"
    browser.find_element("id", "use-keys").click()
    press(browser, "1", "ENTER")
    assert len(lines(tmp_path / "journal.jsonl")) == 4
    browser.find_element("id", "use-keys").click()
    assert browser.get_log("browser") == []


def test_what_counts_as_a_sign_of_life(browser: Any, service: Service) -> None:
    enter(browser, service.url)
    entries = "performance.getEntriesByType('resource')"
    signs = f"return {entries}.filter(e => e.name.endsWith('/v1/heartbeat')).length"
    before = browser.execute_script("document.dispatchEvent(new Event('wheel'));" + signs)
    for number, sign in enumerate(("wheel", "touchmove", "scroll", "input", "keydown"), 1):
        browser.execute_script(
            "const [sign, minutes] = arguments, now = performance.timeOrigin + performance.now();"
            "Date.now = () => now + minutes * 61_000;"
            "for (let i = 0; i < 3; i++) document.getElementById('text').dispatchEvent(new Event(sign));",
            *(sign, number),
        )
        until(browser, lambda b, sent=number: b.execute_script(signs) >= before + sent)
    assert browser.execute_script(signs) <= before + 6
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


def test_300_labels_are_found_by_names_in_three_languages(
    browser: Any, begin: Callable[..., Service], tmp_path: Path
) -> None:
    with (tmp_path / "labels.csv").open("w", encoding="utf-8") as file:
        print("id,name_de,name_fr,name_el", file=file)
        for number, pair in enumerate(product(TOPICS, ASPECTS)):
            names = [": ".join(parts) for parts in zip(*pair, strict=True)]
            print(KNOWN.get(number, f"c{number:03}"), *names, sep=",", file=file)
    service = begin("--labels", tmp_path / "labels.csv", "--learn-after", 0, "--who", "Ada")
    with reader_of(browser, "de-AT,de"):
        enter(browser, service.url)
        choices = [choice.text for choice in browser.find_elements("css selector", ".choice .name")]
        assert {*choices} == {
            "Straßenbau: Unfälle animals",
            "Theater: Gebühren food",
            "Märkte: Verträge music",
        }
        press(browser, "/")
        for query, label, keys in (
            ("strassenbau gebuhr", "c005", []),  # two words in part, with neither ß nor ü
            ("HOPITAUX sur", "c085", []),
            ("λυματα πλημ", "c157", []),
            ("schoffen", "c211", ["DOWN"]),  # the second of fifteen
            ("c298", "c298", []),
        ):
            press(browser, query, *keys)
            assert label in browser.find_element("css selector", ".matches [aria-selected=true]").text
            press(browser, "ENTER")
            assert browser.find_element("css selector", f".choice[data-label={label}] :checked")
            assert browser.find_element("id", "status").text.endswith(" chosen.")
        assert faults(browser) == []
        press(browser, "ESCAPE")
        decide(browser, "ENTER")
    (line,) = lines(tmp_path / "journal.jsonl")
    assert {"c005", "c085", "c157", "c211", "c298"} < {*line["labels"], "one more"}
    assert browser.get_log("browser") == []


def test_the_language_can_be_corrected(browser: Any, begin: Callable[..., Service], tmp_path: Path) -> None:
    service = begin("--learn-after", 0, "--who", "Ada", "--as-they-are")
    enter(browser, service.url)
    language = browser.find_element("id", "language")
    assert (title(browser), language.get_attribute("value")) == ("Document d0", "en")
    before = browser.find_element("css selector", ".choices").text
    language.send_keys("Ital")
    until(browser, lambda b: "is in Italian (it)." in b.find_element("id", "status").text)
    assert browser.switch_to.active_element.get_attribute("id") == "language"
    assert browser.find_element("css selector", ".choices").text != before
    browser.find_element("id", "save").click()
    until(browser, lambda b: title(b) == "Document d1")
    assert [(line["id"], line["language"]) for line in lines(tmp_path / "journal.jsonl")] == [("d0", "it")]
    assert browser.get_log("browser") == []
