"""The page in a real browser: texts in, labels out, by mouse or keyboard, for everybody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import read_documents
from funnelling.evaluation import measure_languages
from funnelling.research import NaiveClassifier
from funnelling.storage import save_model
from tests.browser import chromium

from .conftest import TEXTS, sentences
from .service import Service, start

axe_core_python = pytest.importorskip("axe_core_python", reason="needs axe: pip install axe-core-python")

PHONE, DESK = 390, 1280
VIEWS = [
    (PHONE, "light"),
    pytest.param(PHONE, "dark", marks=pytest.mark.slow),
    pytest.param(DESK, "light", marks=pytest.mark.slow),
    (DESK, "dark"),
]
TOKEN = "a-token-of-the-tests"
SENTENCES = sentences(180)[0]  # of the model
SECONDS = 180  # a machine may be busy with other things

RESULTS = """
return [...document.querySelectorAll('#results article')].map(article => ({
  language: article.querySelector('.language').textContent,
  labels: [...article.querySelectorAll('.assigned .name > span:first-child')]
    .map(name => name.firstChild.textContent),
}));
"""
# The next call waits until it is released; how many are answered is counted.
HOLD = """
const real = window.fetch;
window.answered = 0;
window.fetch = async (...request) => {
  if (!window.release) await new Promise(resolve => { window.release = resolve; });
  const answer = await real(...request);
  window.answered += 1;
  return answer;
};
"""
FAULTS = """
const done = arguments[0];
axe.run().then(report => done(
  report.violations.map(fault => `${fault.impact} ${fault.id} ${fault.nodes[0].html}`)));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        opened.set_script_timeout(SECONDS)
        yield opened


@pytest.fixture(scope="module")
def service(model_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    started = start(model_path, tmp_path_factory.mktemp("page") / "log.txt")
    yield started
    assert started.stop() == 0


def show(browser: Any, url: str, width: int = DESK, colours: str = "light") -> None:
    # A window cannot be as narrow as a phone; the device that is emulated can.
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": colours}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen", "features": features})
    browser.get(url)


@contextmanager
def reader_of(browser: Any, languages: str) -> Iterator[None]:
    """Somebody whose browser asks for other languages than English."""
    agent = {"userAgent": browser.execute_script("return navigator.userAgent")}
    browser.execute_cdp_cmd("Network.setUserAgentOverride", {**agent, "acceptLanguage": languages})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Network.setUserAgentOverride", {**agent, "acceptLanguage": "en-US,en"})


def until(browser: Any, condition: Callable[[Any], Any]) -> Any:
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, SECONDS).until(condition)


def status(browser: Any) -> str:
    return str(browser.execute_script("return document.getElementById('status').textContent"))


def write(browser: Any, *texts: str) -> None:
    until(browser, lambda b: len(b.find_elements("css selector", "select option")) > 1)
    for i, text in enumerate(texts):
        if i:
            browser.find_element("id", "add").click()
        browser.find_elements("tag name", "textarea")[i].send_keys(text)


def label(browser: Any) -> list[dict[str, Any]]:
    browser.find_element("id", "label").click()
    until(browser, lambda b: "labelled" in status(b))
    results: list[dict[str, Any]] = browser.execute_script(RESULTS)
    return results


def faults(browser: Any) -> list[str]:
    (script,) = Path(axe_core_python.__file__).parent.rglob("axe.min.js")
    browser.execute_script(script.read_text("utf-8"))
    violations: list[str] = browser.execute_async_script(FAULTS)
    return violations


def test_three_languages_side_by_side(browser: Any, service: Service) -> None:
    show(browser, service.url)
    write(browser, *TEXTS.values())
    results = label(browser)
    assert [result["language"] for result in results] == [
        f"{name}, detected" for name in ("English (en)", "Italian (it)", "German (de)")
    ]
    assert [sorted(result["labels"]) for result in results] == [["animals", "food"], ["music"], ["animals"]]
    assert "Italian (it): music." in status(browser)  # what a screen reader says
    lefts = [card.rect["x"] for card in browser.find_elements("css selector", "#results article")]
    assert len(set(lefts)) == 3
    assert browser.get_log("browser") == []


def test_the_language_can_be_changed(browser: Any, service: Service) -> None:
    show(browser, service.url)
    write(browser, TEXTS["de"])
    label(browser)
    browser.find_element("css selector", "option[value=it]").click()
    until(browser, lambda b: b.execute_script(RESULTS)[0]["language"] == "Italian (it)")


def test_an_older_answer_does_not_replace_a_newer_one(browser: Any, service: Service) -> None:
    show(browser, service.url)
    write(browser, TEXTS["de"])
    label(browser)
    browser.execute_script(HOLD)
    for code in ("it", "en"):
        browser.find_element("css selector", f"option[value={code}]").click()
    until(browser, lambda b: b.execute_script(RESULTS)[0]["language"] == "English (en)")
    browser.execute_script("release()")
    until(browser, lambda b: b.execute_script("return answered") == 4)
    until(browser, lambda b: not b.find_element("id", "label").get_attribute("aria-busy"))
    assert browser.execute_script(RESULTS)[0]["language"] == "English (en)"


def test_an_answer_is_shown_with_the_text_that_was_asked_about(browser: Any, service: Service) -> None:
    show(browser, service.url)
    write(browser, "ein Hund")
    browser.execute_script(HOLD)
    browser.find_element("id", "label").click()
    write(browser, " und eine Katze")
    browser.execute_script("release()")
    until(browser, lambda b: "labelled" in status(b))
    assert browser.find_element("class name", "excerpt").text == "ein Hund"


def legend(browser: Any) -> list[str]:
    return [item.text for item in browser.find_elements("css selector", "#legend li") if item.is_displayed()]


def test_the_legend_lists_what_there_is(browser: Any, service: Service, tmp_path: Path) -> None:
    show(browser, service.url)
    write(browser, TEXTS["en"])
    browser.find_element("id", "add").click()
    longest = browser.execute_script(
        "return [...document.querySelectorAll('textarea')].map(t => t.maxLength)"
    )
    assert longest == [200_000, 200_000]
    label(browser)
    assert [line.partition(":")[0].partition(",")[0] for line in legend(browser)] == [
        "the answer",
        "tier 1 alone",
        "above this line a label is assigned",
    ]
    texts, labels, languages = sentences(90)
    plain = NaiveClassifier().fit(texts, [(chosen or ["none"])[0] for chosen in labels], languages=languages)
    truth = np.eye(2)
    measured = measure_languages(truth, truth, ["en", "it"], one_label=True)
    how = "Measured by five outer folds over the training documents."
    save_model(plain, tmp_path / "model", scores={**measured, "evaluated_on": how})
    other = start(tmp_path / "model", tmp_path / "log.txt")
    try:
        show(browser, other.url)
        write(browser, TEXTS["en"])
        assert browser.find_element("id", "label").text == "Show the label"
        (result,) = label(browser)
        assert len(result["labels"]) == 1
        assert browser.find_element("class name", "summary").text == "One label is assigned."
        assert legend(browser) == ["the answer"]
        assert "one label per text" in browser.find_element("id", "model").text
        header = browser.execute_script(
            "return [...document.querySelectorAll('#about thead th')].map(cell => cell.textContent)"
        )
        assert header[1:3] == ["learned from", "measured on"]
        assert header[3:] == ["accuracy", "macro-F1"]
        caption = browser.execute_script("return document.querySelector('#about caption').textContent")
        assert caption.startswith(f"How good it is. {how} ! Fewer than 30 documents")
    finally:
        other.stop()


def test_why(browser: Any, service: Service) -> None:
    show(browser, service.url)
    write(browser, TEXTS["it"])
    label(browser)
    browser.find_element("css selector", ".assigned details summary").click()
    until(browser, lambda b: b.find_elements("css selector", ".assigned .marked mark.for"))
    assert browser.find_element("css selector", ".assigned .marked").text == TEXTS["it"]
    words, labels = browser.find_elements("css selector", ".assigned details table")
    assert {"chitarra", "pianoforte"} & {cell.text for cell in words.find_elements("css selector", "th")}
    assert "music" in labels.text
    assert browser.find_element("css selector", ".assigned .change").text.startswith("Tier 1 said ")


def test_the_keyboard_is_enough(browser: Any, service: Service) -> None:
    from selenium.webdriver.common.keys import Keys

    show(browser, service.url)
    write(browser, TEXTS["en"])
    browser.switch_to.active_element.send_keys(Keys.CONTROL, Keys.ENTER)
    until(browser, lambda b: "labelled" in status(b))
    assert browser.switch_to.active_element.tag_name == "textarea"
    assert browser.execute_script(RESULTS)[0]["labels"]


@pytest.mark.parametrize(("width", "colours"), VIEWS)
def test_everybody_can_use_it(browser: Any, service: Service, width: int, colours: str) -> None:
    show(browser, service.url, width, colours)
    write(browser, *TEXTS.values(), "x" * 300)
    label(browser)
    browser.execute_script("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert faults(browser) == []
    show(browser, f"{service.url}/docs", width, colours)
    until(browser, lambda b: b.find_elements("css selector", ".operation"))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert faults(browser) == []
    assert browser.get_log("browser") == []


def test_nothing_to_label_and_a_text_that_is_no_text(browser: Any, service: Service) -> None:
    show(browser, service.url)
    write(browser, "")
    browser.find_element("id", "label").click()
    until(browser, lambda b: "first" in status(b))
    write(browser, "<img src=x onerror=alert(1)><script>alert(2)</script>")
    label(browser)
    assert "<img src=x" in browser.find_element("class name", "excerpt").text
    assert browser.get_log("browser") == []


def test_the_page_says_where_nothing_is_known(browser: Any, service: Service) -> None:
    show(browser, service.url)
    write(browser, "xyzzy", TEXTS["en"])
    assert label(browser)[0]["labels"] == []
    unknown, known = (element.text for element in browser.find_elements("class name", "summary"))
    assert unknown == "No label is assigned. Nothing in this text is known to the model."
    assert known == "2 labels are assigned."


def test_a_language_that_the_model_does_not_know(browser: Any, service: Service) -> None:
    show(browser, service.url)
    write(browser, TEXTS["en"])
    add = "document.querySelector('select').append(new Option('Finnish', 'fi', true, true))"
    browser.execute_script(add)
    assert label(browser) == [{"language": "Finnish (fi)", "labels": []}]
    summary = browser.find_element("class name", "summary").text
    assert summary == "No label is assigned. The model does not know this language."
    assert faults(browser) == []
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("kept", [True, False])
def test_an_example_takes_one_click(
    browser: Any, service: Service, serve: Callable[..., Service], model: Any, tmp_path: Path, kept: bool
) -> None:
    if not kept:
        save_model(model.compact(), tmp_path / "model")
        service = serve(model=tmp_path / "model")
    show(browser, service.url, PHONE)
    until(browser, lambda b: b.find_elements("css selector", "#examples button"))
    button, *_ = browser.find_elements("css selector", "#examples button")
    button.click()
    until(browser, lambda b: "labelled" in status(b))
    (text,) = (area.get_attribute("value") for area in browser.find_elements("tag name", "textarea"))
    assert button.text.endswith(text)
    assert (text in SENTENCES) == kept
    assert browser.execute_script(RESULTS)[0]["language"].endswith(", detected")
    place = "return document.getElementById('results-title').getBoundingClientRect().top"
    until(browser, lambda b: 0 <= b.execute_script(place) < 600)
    assert faults(browser) == []


def test_the_page_asks_for_the_token(browser: Any, serve: Callable[..., Service], tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    show(browser, serve("--token-file", tmp_path / "token").url)
    field = browser.find_element("id", "token")
    for token in ("wrong", TOKEN):
        until(browser, lambda _: field.is_displayed())
        field.clear()
        field.send_keys(token)
        browser.find_element("css selector", "#token-form button").click()
        if token == "wrong":
            until(browser, lambda b: "not the token" in status(b))
    until(browser, lambda _: not field.is_displayed())
    write(browser, TEXTS["en"])
    assert label(browser)[0]["labels"]
    browser.get_log("browser")  # has the 401s


def test_labels_are_called_as_the_reader_says(
    browser: Any, serve: Callable[..., Service], tmp_path: Path
) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,name_en,name_de\nanimals,Animals,Tiere\nmusic,Music,\n", encoding="utf-8")
    service = serve("--label-set", labels, "--exclude", "food")
    with reader_of(browser, "de-AT,de"):
        show(browser, service.url)
        write(browser, TEXTS["en"])
        assert label(browser)[0]["labels"] == ["Tiere"]
        about = browser.execute_script("return document.querySelector('#about .all').textContent")
        assert about == "TierefoodMusic"


def test_labels_that_are_wrong_can_be_said_to_be(
    browser: Any, service: Service, serve: Callable[..., Service], tmp_path: Path
) -> None:
    show(browser, service.url)
    write(browser, TEXTS["en"])
    label(browser)
    assert "These labels are wrong" not in browser.find_element("id", "results").text
    journal = tmp_path / "feedback.jsonl"
    show(browser, serve("--feedback", journal).url)
    write(browser, TEXTS["en"])
    label(browser)
    browser.find_element("xpath", "//summary[contains(., 'These labels are wrong')]").click()
    assert faults(browser) == []
    outcome = browser.find_element("css selector", ".feedback .note")
    for names, told in (
        (("animals", "food"), "No label is chosen: that the text should have none will be written down."),
        (("animals", "music"), "To be written down: animals, music."),
    ):
        for name in names:
            browser.find_element("css selector", f".feedback [data-label={name}]").click()
        assert outcome.text == told
    browser.find_element("css selector", ".feedback button").click()
    until(browser, lambda b: "is written down: animals, music." in status(b))
    (corrected,) = read_documents(journal)
    assert (corrected.text, corrected.labels) == (TEXTS["en"], ("animals", "music"))
    assert browser.get_log("browser") == []


def test_of_many_labels_the_most_probable_are_shown(
    browser: Any, serve: Callable[..., Service], many_labels_model: Path, tmp_path: Path
) -> None:
    show(browser, serve("--feedback", tmp_path / "feedback.jsonl", model=many_labels_model).url, PHONE)
    write(browser, "topic9")
    assert label(browser)[0]["labels"] == ["label 9"]
    browser.execute_script("document.querySelectorAll('details').forEach(details => details.open = true)")
    until(browser, lambda b: b.find_elements("css selector", ".assigned .marked mark.for"))
    shown = browser.find_element("id", "results").text
    assert "What tier 2 saw" in shown
    assert "most probable labels" in shown
    assert browser.find_element("id", "about").text.endswith("And 107 more.")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= PHONE
    assert browser.get_log("browser") == []


def test_nothing_comes_from_elsewhere(browser: Any, service: Service) -> None:
    for path in ("/", "/docs"):
        show(browser, service.url + path)
        until(browser, lambda b: b.execute_script("return document.readyState") == "complete")
        addresses = browser.execute_script(
            "return performance.getEntriesByType('resource').map(entry => entry.name)"
        )
        assert addresses
        assert all(address.startswith(service.url) for address in addresses)
