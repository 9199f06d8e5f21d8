import math
import re
import string
from dataclasses import replace
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funnelling.report.content import Bars, Drawing, HeatMap, Report, Section, Shaped, TableBlock
from funnelling.report.rendering import html_page, markdown_page
from funnelling.report.tables import Table, escape_markdown, inline_markdown
from tests.report.demo import demo_report, report_of
from tests.report.reading import Element, read_page

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    "\" onload='x",
    "</title></svg></style>",
    "&lt;b&gt;",
    "x" * 300,
    "\0\x1f\ufffe",
    "`[a](b)`",
]


@pytest.fixture(scope="module")
def page() -> Element:
    return read_page(html_page(demo_report()))


def paragraph(text: str) -> Element:
    """The page's one paragraph of a text."""
    return read_page(html_page(Report("r", [text]))).one("p")


def page_with(*blocks: TableBlock | Bars | HeatMap) -> Element:
    return read_page(html_page(Report("r", [], [Section("s", "S", [], blocks)])))


def all_elements(element: Element) -> list[Element]:
    children = [child for child in element.children if isinstance(child, Element)]
    return [element, *(inner for child in children for inner in all_elements(child))]


def test_the_page_needs_nothing_from_outside_and_runs_nothing(page: Element) -> None:
    assert not page.all("script")
    assert not page.all("img")
    for element in all_elements(page):
        assert not [name for name in element.attributes if name.startswith("on")]
        assert "src" not in element.attributes
    assert [link.attributes["href"] for link in page.all("link")] == ["data:,"]
    assert "@import" not in page.one("style").text
    assert "url(" not in page.one("style").text
    policies = [meta for meta in page.all("meta") if meta.attributes.get("http-equiv")]
    assert policies[0].attributes["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_the_page_says_its_language_title_and_that_it_fits_phones(page: Element) -> None:
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("head").one("title").text == page.one("h1").text == demo_report().title
    viewport = next(meta for meta in page.all("meta") if meta.attributes.get("name") == "viewport")
    assert "width=device-width" in viewport.attributes["content"]


def test_names_of_places_are_unique_and_every_reference_finds_one(page: Element) -> None:
    places = [e.attributes["id"] for e in all_elements(page) if "id" in e.attributes]
    assert len(places) == len(set(places))
    for element in all_elements(page):
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(element.attributes.get(name, "").split()) <= set(places)
        target = element.attributes.get("href", "")
        assert not target.startswith("#") or target[1:] in places


def test_contents_are_listed_where_there_is_more_than_one_section(page: Element) -> None:
    headings = [heading.text for heading in page.all("h2")]
    assert [link.text for link in page.one("nav").all("a")] == headings
    assert headings[-1] == "How this was made"
    assert not read_page(html_page(Report("one", [], [Section("a", "A")]))).all("nav")


def test_a_table_has_a_caption_and_headers_of_columns_rows_and_groups(page: Element) -> None:
    table = page.all("table")[0]
    assert table.one("caption").text == "Averages over ten trials, with deviations"
    groups, header = table.one("thead").all("tr")
    assert [(cell.attributes["scope"], cell.attributes["colspan"]) for cell in groups.all("th")] == [
        ("colgroup", "4"),
        ("colgroup", "4"),
    ]
    assert {cell.attributes["scope"] for cell in header.all("th")} == {"col"}
    for row in table.one("tbody").all("tr"):
        assert row.one("th").attributes["scope"] == "row"
        assert all("number" in cell.classes for cell in row.all("td"))


def test_tables_scroll_in_regions_that_the_keyboard_reaches(page: Element) -> None:
    regions = [div for div in page.all("div") if div.attributes.get("role") == "region"]
    assert all(div.attributes["tabindex"] == "0" and div.attributes["aria-label"] for div in regions)
    inside = [table for div in regions for table in div.all("table")]
    assert len(inside) == len(page.all("table"))


def test_the_best_cells_are_bold_and_the_legend_says_so(page: Element) -> None:
    table = page.all("table")[0]
    best = [cell for cell in table.all("td") if "best" in cell.classes]
    assert len(best) == 8
    assert all(cell.one("b").text == cell.text for cell in best)
    assert "bold: the best" in page.text
    plain = TableBlock("t", "T", Table(["a"], [["b"]]))
    assert "bold: the best" not in html_page(Report("x", [], [Section("s", "S", [], [plain])]))


def test_every_figure_has_a_title_a_sentence_and_its_data(page: Element) -> None:
    blocks = [block for section in demo_report().sections for block in section.blocks]
    for element, block in zip(page.all("figure"), blocks, strict=True):
        assert element.one("h3").text == block.title
        if isinstance(block, Drawing | Shaped):
            assert element.one("figcaption").one("p").text == block.alternative
            assert len(element.one("tbody").all("tr")) == len(block.table().rows)
        drawn = [svg for svg in element.all("svg") if svg.attributes.get("role") == "img"]
        assert bool(drawn) == isinstance(block, Drawing)
        for svg in drawn:
            title, description = svg.attributes["aria-labelledby"].split()
            texts = {e.attributes["id"]: e.text for e in all_elements(svg) if "id" in e.attributes}
            assert texts[title].startswith(block.title)
            assert texts[description].strip()


def test_bars_go_to_both_sides_of_zero_with_their_values() -> None:
    figure = Bars("b", "B", "bars", ["w", "x", "y", "z"], {"a": [-10.0, 30.0, 0.0, None]}, "score", "c")
    cells = page_with(figure).one("tbody").all("td")
    assert [cell.text for cell in cells] == ["−10", "30", "0", "–"]
    assert [cell.attributes.get("style") for cell in cells] == [
        "--from:0.000;--to:0.250",
        "--from:0.250;--to:1.000",
        "--from:0.250;--to:0.250",
        None,
    ]


def test_bars_of_all_series_share_their_scale_and_its_title() -> None:
    figure = Bars("b", "B", "bars", ["x"], {"a": [0.2], "b": [0.4]}, "score", "c")
    table = page_with(figure).one("table")
    assert [cell.attributes["style"].split("--to:")[1] for cell in table.all("td")[1:]] == ["0.500", "1.000"]
    assert table.all("th")[0].text == "score"


def test_a_heat_map_prints_every_number_in_its_shade() -> None:
    figure = HeatMap("h", "H", "heat", "r", "c", ["a", "b"], ["c", "d"], [[0.25, 1.0], [None, 0.5]])
    cells = page_with(figure).one("tbody").all("td")
    assert [cell.text for cell in cells] == [".25", "1.00", "–", ".50"]
    styles = [cell.attributes.get("style") for cell in cells]
    assert styles == ["--share:0.000", "--share:1.000", None, "--share:0.333"]


numbers = st.one_of(st.none(), st.floats(-1e9, 1e9), st.sampled_from([math.inf, math.nan]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=1, max_size=7))
def test_any_values_have_a_place_on_the_scale(rows: list[list[float | None]]) -> None:
    names = [f"n{number}" for number in range(len(rows))]
    bars = Bars("b", "B", "bars", list("wxyz"), dict(zip(names, rows, strict=True)))
    for figure in (bars, HeatMap("h", "H", "heat", "r", "c", names, list("wxyz"), rows)):
        for cell in page_with(figure).one("tbody").all("td"):
            shares = [float(share) for share in re.findall(r":([^;]+)", cell.attributes.get("style", ""))]
            assert shares == sorted(shares)
            assert all(0 <= share <= 1 for share in shares)


def test_the_summary_stands_before_the_contents() -> None:
    report = replace(demo_report(), summary={"Best method": "Fun, see `compare`"})
    header = read_page(html_page(report)).one("header")
    assert (header.one("dt").text, header.one("dd").one("code").text) == ("Best method", "compare")
    assert header.children.index(header.one("dl")) < header.children.index(header.one("nav"))
    assert "- Best method: Fun, see `compare`" in markdown_page(report)


def test_data_can_be_downloaded_from_the_page_itself(page: Element) -> None:
    links = {
        a.attributes["download"]: a.attributes["href"] for a in page.all("a") if "download" in a.attributes
    }
    assert len(links) == sum(len(section.blocks) for section in demo_report().sections)
    kind, data = links["gains.csv"].split(",", 1)
    assert kind == "data:text/csv;charset=utf-8"
    assert unquote(data).startswith("language,LRI,CLESA,KCCA,Fun(kfcv),Fun(tat)\r\nda,")


def test_columns_of_words_are_not_set_as_numbers() -> None:
    table = Table(["a", "words", "scores"], [["x", "da", ".5†"], ["y", "1st", "–"], ["z", "", "-.1 ± .2"]])
    page = page_with(TableBlock("t", "T", table))
    assert [["number" in cell.classes for cell in row.all("td")] for row in page.one("tbody").all("tr")] == [
        [False, True]
    ] * 3


def test_facts_are_a_list_of_definitions_at_the_end(page: Element) -> None:
    facts = demo_report().facts
    assert [term.text for term in page.all("dl")[-1].all("dt")] == list(facts)
    assert [value.text for value in page.all("dl")[-1].all("dd")] == list(facts.values())  # no markup in them


def test_equal_reports_are_equal_bytes() -> None:
    assert html_page(demo_report()) == html_page(demo_report())


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_never_become_markup(text: str) -> None:
    tags = [element.tag for element in all_elements(read_page(html_page(report_of(text))))]
    harmless = [element.tag for element in all_elements(read_page(html_page(report_of("y"))))]
    allowed = {"code", "a", "title"}
    assert [tag for tag in tags if tag not in allowed] == [tag for tag in harmless if tag not in allowed]
    assert "script" not in tags


def test_empty_texts_are_no_obstacle() -> None:
    assert len(read_page(html_page(report_of(""))).all("figure")) == 8


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Cn"])))
def test_any_text_survives(text: str) -> None:
    plain = text.translate(str.maketrans("`[", "''"))
    page = read_page(html_page(report_of(plain)))
    assert page.one("h1").text == plain
    assert page.all("h2")[0].text == plain
    assert page.one("header").all("p")[0].text == plain
    assert page.all("table")[0].all("th")[1].text == plain
    assert page.all("figure")[0].one("h3").text == plain
    assert {term.text for term in page.all("dt")} == {plain}


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JavaScript:x",
        "data:text/html,x",
        "vbscript:x",
        "file:///x",
        "java&#9;script:x",
        "\x01x:y",
    ],
)
def test_links_that_could_run_something_stay_text(target: str) -> None:
    assert not paragraph(f"[x]({target})").all("a")
    assert "](" not in inline_markdown(f"[x]({target})").replace("\\](", "")


@pytest.mark.parametrize(
    "target", ["https://a.org/b_(c)?d=e&f#g", "mailto:a@b.org", "#section-a", "data/x.csv"]
)
def test_links_to_the_web_mail_and_places_nearby_are_links(target: str) -> None:
    assert paragraph(f"see [x]({target}).").one("a").attributes["href"] == target


@given(st.text(alphabet=string.printable))
def test_escaped_markdown_keeps_every_letter(text: str) -> None:
    visible = " ".join(re.sub(r"[\x0b\x0c]", "\ufffd", text).split())
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escape_markdown(text)) == visible
