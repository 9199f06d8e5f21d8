"""The page in a real browser: drawn, readable on a phone, in the dark and in print, without a complaint."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from funnelling.report.explanations import explanation_page
from funnelling.report.rendering import write_report
from tests.browser import chromium
from tests.report.demo import demo_report, report_of

PHONE, DESK = 390, 1280
VIEWS = [(PHONE, "light"), (PHONE, "dark"), (DESK, "light"), (DESK, "dark")]

# What of a drawing lies outside of it, or is not there at all.
MISDRAWN = """
const wrong = [];
for (const svg of document.querySelectorAll('svg[role=img]')) {
  const frame = svg.getBoundingClientRect();
  if (!(frame.width > 0 && frame.height > 0)) wrong.push('not drawn: ' + svg.textContent.slice(0, 60));
  const marks = svg.querySelectorAll('rect, path, line, text');
  if (!marks.length) wrong.push('empty: ' + svg.textContent.slice(0, 60));
  for (const mark of marks) {
    const box = mark.getBoundingClientRect();
    if (box.left < frame.left - 1.5 || box.right > frame.right + 1.5
        || box.top < frame.top - 1.5 || box.bottom > frame.bottom + 1.5)
      wrong.push(mark.outerHTML.slice(0, 150) + ' ' + [box.left - frame.left, box.right - frame.right,
        box.top - frame.top, box.bottom - frame.bottom].map(Math.round));
  }
}
return wrong;
"""
SMALLEST_LETTERS = """
return Math.min(...[...document.querySelectorAll('svg[role=img] text')].map(text => {
  const svg = text.ownerSVGElement;
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return parseFloat(getComputedStyle(text).fontSize) * scale;
}));
"""
UNTOLD = """
return [...document.querySelectorAll('svg[role=img]')].filter(svg => {
  const places = svg.getAttribute('aria-labelledby').split(' ');
  return places.length != 2 || !places.every(place => document.getElementById(place).textContent.trim());
}).length;
"""
CLIPPED = """
return [...document.querySelectorAll('.scroll')].filter(region =>
  region.clientWidth && region.scrollWidth > region.clientWidth + 1
  && getComputedStyle(region).overflowX != 'visible').length;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    downloads = tmp_path_factory.mktemp("downloads")
    with chromium(downloads=downloads) as opened:
        opened.downloads = downloads
        yield opened


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(demo_report(), tmp_path_factory.mktemp("demo"))[0]


def show(browser: Any, page: Path, width: int, colours: str = "light", media: str = "screen") -> None:
    # A window cannot be as narrow as a phone; the device that is emulated can.
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": colours}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    browser.get(page.as_uri())


@pytest.mark.parametrize(("width", "colours"), VIEWS)
def test_the_page_is_drawn_and_fits(browser: Any, demo: Path, width: int, colours: str) -> None:
    show(browser, demo, width, colours)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(MISDRAWN) == []
    assert browser.execute_script(UNTOLD) == 0
    assert browser.execute_script(SMALLEST_LETTERS) >= 10
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 31)"}[colours]


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_opening_the_data_does_not_widen_the_page(browser: Any, demo: Path, width: int) -> None:
    show(browser, demo, width)
    browser.execute_script("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("text", ["x" * 300, "<script>alert(1)</script>", "\"'><img src=x>", "ja漢字" * 60])
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_any_label_stays_in_its_place(browser: Any, tmp_path: Path, text: str, width: int) -> None:
    show(browser, write_report(report_of(text), tmp_path)[0], width)
    assert browser.title == text
    browser.execute_script("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(MISDRAWN) == []
    assert browser.get_log("browser") == []


def test_tables_are_not_clipped_in_print_and_the_ground_is_white(browser: Any, demo: Path) -> None:
    show(browser, demo, 720, "dark", "print")
    assert browser.execute_script(CLIPPED) == 0
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 720
    assert browser.execute_script("return getComputedStyle(document.body).color") == "rgb(28, 36, 48)"


def test_the_keyboard_reaches_a_wide_table_and_scrolls_it(browser: Any, demo: Path) -> None:
    show(browser, demo, PHONE)
    moved = browser.execute_script(
        "const region = document.querySelector('[role=region]'); region.focus(); region.scrollLeft = 50;"
        "return [document.activeElement === region, region.scrollLeft];"
    )
    assert moved == [True, 50]


def test_data_are_downloaded_from_the_page(browser: Any, demo: Path) -> None:
    show(browser, demo, DESK)
    browser.execute_script("document.querySelector('a[download=\"results.csv\"]').click()")
    saved = browser.downloads / "results.csv"
    for _ in range(100):
        if saved.exists():
            break
        time.sleep(0.05)
    assert saved.read_bytes() == (demo.parent / "data" / "results.csv").read_bytes()


def test_the_files_of_figures_show_by_themselves(browser: Any, demo: Path) -> None:
    for path in sorted((demo.parent / "figures").glob("*.svg")):
        show(browser, path, DESK)
        assert browser.execute_script(MISDRAWN) == [], path.name
        assert browser.get_log("browser") == []


@pytest.mark.parametrize(("width", "colours"), VIEWS)
def test_words_are_marked_in_place_whatever_they_are(
    browser: Any, tmp_path: Path, width: int, colours: str
) -> None:
    text = f"tea {'x' * 300} <script>alert(1)</script> 漢字\n\U0001f408 ok"
    passages = [[0, 3, 1.0], [4, 304, -0.6], [306, 312, 0.3], [331, 333, -0.2]]
    told = {"probability": 0.9, "threshold": 0.4, "assigned": True, "spans": passages}
    near = {"id": "y" * 200, "language": "it", "labels": ["z" * 100], "distance": 0.1, "text": "w" * 200}
    row = {"id": text, "language": "en", "labels": {text: told}, "neighbours": [near], "abstained": None}
    page = tmp_path / "why.html"
    page.write_text("".join(explanation_page("docs.jsonl", [(text, row)], 10)), "utf-8")
    show(browser, page, width, colours)
    assert browser.execute_script("return document.querySelector('.marked').textContent") == text
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    marks = browser.execute_script(
        "return [...document.querySelectorAll('.marked mark')].map(mark => [mark.className, mark.title])"
    )
    assert marks == [
        ["for mark-4", "+1.0"],
        ["against mark-2", "−0.60"],
        ["for mark-1", "+0.30"],
        ["against mark-1", "−0.20"],
    ]
    lines = browser.execute_script(
        "return ['for', 'against'].map(kind =>"
        " getComputedStyle(document.querySelector('.marked .' + kind)).textDecorationStyle)"
    )
    assert lines == ["solid", "dashed"]  # for those who see no colours
    assert browser.get_log("browser") == []
