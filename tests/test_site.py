"""The documentation site: all is on it, found and linked, and it is read on a phone, without a network."""

import argparse
import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

import funnelling
import funnelling.commands
import funnelling.evaluation
import funnelling.research
from funnelling.commands import build_parser
from funnelling.commands.parsing import add_general, every_parser, subcommands
from tests.browser import chromium
from tests.conftest import Shared

pytest.importorskip("sphinx_gallery", reason="needs what builds the site: pip install 'funnelling[docs]'")

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "docs" / "site" / "build.py"
_LINKS = runpy.run_path(str(ROOT / "docs" / "site" / "links.py"))
read_pages, broken = _LINKS["read_pages"], _LINKS["broken"]
MAIN = "FunnellingClassifier"  # whose page has the methods that all estimators share
PHONE, DESK = 390, 1280
SECONDS = 60  # a machine may be busy with other things
# Kinds of pages: the first, a chapter with wide tables, long names, long lines, pictures, a search.
KINDS = [
    "index.html",
    "reproduction.html",
    f"api/funnelling.{MAIN}.html",
    "commands/funnelling-train.html",
    "benchmarks.html",
    "examples/index.html",
]
WIDER = """
return [...document.querySelectorAll('body *')].filter(part => {
  const box = part.getBoundingClientRect();
  return box.width && box.left >= 0 && box.right > document.documentElement.clientWidth + 1
    && !part.closest('.table-wrapper, pre, .highlight, .sidebar-drawer, .toc-drawer, svg, .visually-hidden');
}).map(part => part.outerHTML.slice(0, 120));
"""


def build(builder: str, folder: Path, *options: str) -> None:
    command = [sys.executable, str(BUILD), builder, str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="session")
def site(shared: Shared) -> Path:
    """The site, with examples that are shown and not run."""
    return shared("site", lambda folder: build("html", folder / "html", "--no-examples")) / "html"


@pytest.fixture(scope="session")
def shown(site: Path) -> dict[str, set[str]]:
    """What the site describes, by kind: ``py:method``, ``std:cmdoption``, …"""
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    return {kind: set(entries) for kind, entries in inventory.data.items()}


# --- what is on it ----------------------------------------------------------------------------------


def public_names() -> Iterator[str]:
    """Each public name, and the methods that a user may call of each class."""
    inner = runpy.run_path(str(ROOT / "docs" / "site" / "docstrings.py"))["INNER"]
    research = ((name, funnelling.research) for name in funnelling.research.__all__)
    public_names = ((name, funnelling) for name in funnelling.__all__ if name != "__version__")
    for name, owner in (*public_names, *research):
        yield name
        public = getattr(owner, name)
        if not inspect.isclass(public) or issubclass(public, Exception):
            continue
        for method, _ in inspect.getmembers(public, callable):
            requests = re.fullmatch(r"set_\w+_request", method)  # scikit-learn's, and described there
            if not method.startswith("_") and method not in inner and not requests:
                yield f"{name}.{method}"


def missing_names(names: Iterable[str], shown: dict[str, set[str]]) -> list[str]:
    described = {name for kind, entries in shown.items() if kind.startswith("py:") for name in entries}
    return [
        name
        for name in names
        if not {f"funnelling.{name}", f"funnelling.research.{name}"} & described
        and f"funnelling.{MAIN}.{name.partition('.')[2]}" not in described
    ]


def test_every_public_name_is_on_the_site(shown: dict[str, set[str]]) -> None:
    assert not missing_names(public_names(), shown)


def test_every_measure_is_on_the_site(shown: dict[str, set[str]]) -> None:
    described = {name for kind, entries in shown.items() if kind.startswith("py:") for name in entries}
    assert {f"funnelling.evaluation.{name}" for name in funnelling.evaluation.__all__} <= described


def test_a_name_that_is_not_on_the_site_is_found(
    shown: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(funnelling, "__all__", [*funnelling.__all__, "planted"])
    monkeypatch.setattr(funnelling, "planted", lambda: None, raising=False)
    monkeypatch.setattr(funnelling.Corpus, "planted", lambda _self: None, raising=False)
    assert missing_names(public_names(), shown) == ["Corpus.planted", "planted"]


def flags(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Each command with each of its options that ``--help`` shows."""
    for _, command in every_parser(parser):
        for action in command._actions:
            if action.help is not argparse.SUPPRESS:
                yield from ((command.prog, flag) for flag in action.option_strings)


def described(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Where each option is to be described: the program's page has the general ones for all commands."""
    general = {
        flag
        for group in parser._action_groups
        if group.title == "general options"
        for action in group._group_actions
        for flag in action.option_strings
    }
    for program, flag in flags(parser):
        if program == parser.prog or flag not in general:
            yield program, flag


def missing_flags(parser: argparse.ArgumentParser, shown: dict[str, set[str]]) -> list[str]:
    wanted = (f"{program.replace(' ', '-')}.{flag}" for program, flag in described(parser))
    return [flag for flag in wanted if flag not in shown["std:cmdoption"]]


def test_every_option_of_every_command_is_on_the_site(shown: dict[str, set[str]]) -> None:
    assert not missing_flags(build_parser(), shown)


def test_an_option_that_is_not_on_the_site_is_found(shown: dict[str, set[str]]) -> None:
    parser = build_parser()
    parser.add_argument("--planted", help="what is new")
    subcommands(parser)["train"].add_argument("--planted-there", help="what is new")
    assert sorted(missing_flags(parser, shown)) == [
        "funnelling-train.--planted-there",
        "funnelling.--planted",
    ]


def test_a_general_option_that_is_not_on_the_site_is_found(
    shown: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def add_further(parser: argparse.ArgumentParser) -> None:
        add_general(parser)
        parser._action_groups[-1].add_argument("--planted", help="what is new")

    monkeypatch.setattr(funnelling.commands, "add_general", add_further)
    assert missing_flags(build_parser(), shown) == ["funnelling.--planted"]


def test_a_command_page_leads_to_general_options_and_to_its_chapters(
    site: Path, pages: dict[Path, Any]
) -> None:
    for command in ("train", "compare"):
        links = pages[site / "commands" / f"funnelling-{command}.html"].links
        assert {"funnelling.html", "../choosing.html"} <= set(links)


def test_no_address_that_is_not_a_page_is_a_link(pages: dict[Path, Any]) -> None:
    schemes = {urlsplit(link).scheme for page in pages.values() for link in page.links}
    assert schemes <= {"", "http", "https", "data"}  # data: of reports


# --- man pages --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def man_folder(shared: Shared) -> Path:
    return shared("man", lambda folder: build("man", folder / "man")) / "man"


@pytest.fixture(scope="module")
def man_pages(man_folder: Path) -> dict[str, str]:
    """The man pages as a terminal of 80 columns shows them, by name."""
    if shutil.which("man") is None:
        pytest.skip("no man here: install man-db to read man pages")
    return {page.stem: _shown_by_man(page) for page in man_folder.glob("*.1")}


def _shown_by_man(page: Path) -> str:
    environment = {**os.environ, "MANWIDTH": "80", "MANOPT": "", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["man", "--local-file", str(page)], capture_output=True, text=True, encoding="utf-8", env=environment
    )
    assert done.returncode == 0, done.stderr
    return re.sub(r".\x08|\x1b\[[\d;]*m|\x1b\]8;.*?(\x1b\\\\|\x07)", "", done.stdout)  # bold, colours, links


def test_every_command_has_a_man_page_with_its_options(man_folder: Path) -> None:
    for program, flag in described(build_parser()):
        page = "-".join(program.split()[:2])  # actions stand on the page of their command
        text = (man_folder / f"{page}.1").read_text(encoding="utf-8")
        assert flag in text.replace("\\-", "-"), f"{program} {flag}"
    assert "train a model on labelled documents" in (man_folder / "funnelling-train.1").read_text(
        encoding="utf-8"
    )


def test_man_pages_have_the_sections_of_man_pages(man_pages: dict[str, str]) -> None:
    sections = {page: re.findall(r"^[A-Z][A-Z ]+$", text, re.MULTILINE) for page, text in man_pages.items()}
    wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "GENERAL OPTIONS", "ENVIRONMENT"]
    assert sections["funnelling"] == [*wanted, "EXIT STATUS", "SEE ALSO"]
    assert all({*wanted[:4], "SEE ALSO"} <= {*found} for found in sections.values())
    status = man_pages["funnelling"].partition("EXIT STATUS")[2]
    assert re.findall(r"^ {5,7}(\d+) ", status, re.MULTILINE) == ["0", "1", "2", "3", "130", "143"]


def test_man_pages_name_each_other_and_fit_a_terminal(man_pages: dict[str, str]) -> None:
    for page, text in man_pages.items():
        assert f"{page}(1)" in man_pages["funnelling"] or page == "funnelling"
        assert "funnelling(1)" in text or page == "funnelling"
        assert "<>" not in text
        assert max(map(len, text.splitlines())) <= 80, page


# --- links ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Any]:
    return read_pages(site)


def test_links_lead_somewhere(pages: dict[Path, Any]) -> None:
    assert not list(broken(pages))


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#there">b</a> <a href="c.html">c</a>', encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="here"> <a href="#here">a</a>', encoding="utf-8")
    assert list(broken(read_pages(tmp_path))) == ["a.html: b.html#there", "a.html: c.html"]


def test_the_site_loads_nothing_from_other_hosts(site: Path, pages: dict[Path, Any]) -> None:
    loads = {load for page in pages.values() for load in page.loads}
    assert not [load for load in loads if urlsplit(load).netloc]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)\s]*", styles)


def test_comments_about_figures_are_not_on_the_site(pages: dict[Path, Any]) -> None:
    marks = ("<!-- measured", "<!-- checked")
    assert not [path for path, page in pages.items() if any(mark in page.text for mark in marks)]


def test_every_report_of_an_experiment_is_reached_from_the_site(site: Path, pages: dict[Path, Any]) -> None:
    reports = [path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/reports/*/*.html")]
    assert reports
    assert set(reports) <= set(pages[site / "reports.html"].links)
    assert all("../../reports.html" in pages[site / report].links for report in reports)  # and back


def test_the_first_page_leads_to_the_repository_and_shows_the_version(
    pages: dict[Path, Any], site: Path
) -> None:
    page = pages[site / "index.html"]
    repository = "https://github.com/funnelling/funnelling"
    assert {repository, f"{repository}/issues", "install.html"} <= set(page.links)
    assert f"Version {version('funnelling')}" in page.text


def test_the_gallery_and_each_example_say_what_to_install(site: Path) -> None:
    wanted = sorted(path.stem for path in (ROOT / "examples").glob("[0-9]*.py"))
    for name in ["index", *wanted]:
        text = (site / "examples" / f"{name}.html").read_text(encoding="utf-8")
        assert "funnelling[examples]" in text, name


def test_no_two_entries_of_the_menu_have_one_name(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    names = re.findall(r'class="toctree-l[12]"><a class="reference [^>]*>([^<]+)<', text)
    assert len(names) > 30
    assert not [name for name, count in Counter(names).items() if count > 1]


# --- in a browser -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium("performance") as opened:
        yield opened


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site as ``python -m http.server`` serves it."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def show(browser: Any, url: str, width: int, colours: str = "light") -> None:
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": colours}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen", "features": features})
    browser.get(url)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("recall", "/in-use"),
        ("add a language", "/in-use"),
        ("update", "/commands/funnelling-update"),
        ("cluster", "/scale"),
        ("quiet", "/settings"),
        ("install", "/install"),
    ],
)
def test_search_finds_among_the_first_three(browser: Any, address: str, words: str, found: str) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    show(browser, f"{address}/index.html", DESK)
    field = browser.find_element("css selector", ".sidebar-search")
    field.send_keys(words)
    field.submit()
    WebDriverWait(browser, SECONDS).until(
        lambda there: any(found in link for link in result_links(there)[:3]),
        f"{found} is not among the first results for {words}",
    )


def result_links(browser: Any) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll('#search-results .search li > a')].map(link => link.href)"
    )


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("page", KINDS)
def test_a_page_fits_its_window_and_asks_no_other_host(
    browser: Any, address: str, page: str, width: int
) -> None:
    browser.get_log("browser"), browser.get_log("performance")
    show(browser, f"{address}/{page}", width, "dark" if width == PHONE else "light")
    assert browser.execute_script(WIDER) == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []
    log = " ".join(entry["message"] for entry in browser.get_log("performance"))
    requests = map(urlsplit, re.findall(r'"url":"([^"]+)"', log))
    hosts = {url.netloc for url in requests if url.scheme in ("http", "https")}
    assert hosts == {urlsplit(address).netloc}


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_a_heading_is_larger_than_those_below_it(browser: Any, address: str, width: int) -> None:
    show(browser, f"{address}/api/funnelling.{MAIN}.html", width)
    script = """
    const parts = ['h1', 'h2', 'h3', 'h4'].map(name => document.createElement(name));
    document.querySelector('article').append(...parts);
    return parts.map(part => parseFloat(getComputedStyle(part).fontSize));
    """
    sizes = browser.execute_script(script)
    assert sizes == sorted(set(sizes), reverse=True)


def test_dark_and_light_are_told_apart(browser: Any, address: str) -> None:
    grounds = []
    for colours in ("light", "dark"):
        show(browser, f"{address}/index.html", DESK, colours)
        grounds.append(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] == "rgb(255, 255, 255)"
    assert grounds[0] != grounds[1]


# --- as it is published -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_site_is_built_with_its_examples_run(tmp_path: Path) -> None:
    build("html", tmp_path / "html")
    assert not list(broken(read_pages(tmp_path / "html")))
