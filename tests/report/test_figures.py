import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funnelling.report.content import Bars, Curves, Figure, HeatMap, Points
from funnelling.report.figures import draw, standalone_svg
from funnelling.report.figures.bars import luminance, shade
from funnelling.report.figures.curves import swatch
from funnelling.report.figures.drawing import DARK, LIGHT, Theme, logarithmic_ticks, nice_ticks, text_width
from tests.report.demo import demo_report, report_of

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = {
    block.name: block
    for section in demo_report().sections
    for block in section.blocks
    if isinstance(block, Figure)
}
values = st.one_of(st.none(), st.floats(-1e9, 1e9, allow_subnormal=False))
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


def marks_of(figure: Figure, panel: int = 0) -> ElementTree.Element:
    return ElementTree.fromstring(f"<svg>{draw(figure, 'x').panels[panel].marks}</svg>")


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]


def bars(series: dict[str, list[float | None]], categories: list[str] | None = None) -> Bars:
    length = len(next(iter(series.values())))
    return Bars("b", "B", "bars", categories or [f"c{n}" for n in range(length)], series, "score", "c")


def check_inside(figure: Figure) -> None:
    """Everything with plain coordinates lies inside its panel."""
    for panel in draw(figure, "x").panels:
        for element in ElementTree.fromstring(f"<svg>{panel.marks}</svg>").iter():
            if element.tag in {"pattern", "linearGradient"} or "hatch" in element.get("class", ""):
                continue
            for name, most in [
                ("x", panel.width),
                ("y", panel.height),
                ("x1", panel.width),
                ("x2", panel.width),
            ]:
                assert -0.01 <= float(element.get(name, 0)) <= most + 0.01, (element.tag, element.attrib)
            if element.tag == "rect":
                assert float(element.get("width", 0)) >= 0
                assert float(element.get("x", 0)) + float(element.get("width", 0)) <= panel.width + 0.01
            for x, y in re.findall(
                r"[ML](-?[\d.]+) (-?[\d.]+)",
                element.get("d", "") if element.get("class", "").startswith(("line", "band")) else "",
            ):
                assert -0.01 <= float(x) <= panel.width
                assert -0.01 <= float(y) <= panel.height


@pytest.mark.parametrize("name", FIGURES)
def test_a_file_of_a_figure_stands_alone(name: str) -> None:
    figure = FIGURES[name]
    root = ElementTree.fromstring(standalone_svg(figure))
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title") == figure.title
    assert root.findtext(f"{SVG}desc") == figure.alternative
    assert root.find(f"{SVG}style") is not None
    assert standalone_svg(figure) == standalone_svg(figure)
    check_inside(figure)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\"'&", "\0\x1b", "x" * 300, ""])
def test_labels_do_not_become_markup(text: str) -> None:
    for block in report_of(text).sections[0].blocks:
        if isinstance(block, Figure):
            root = ElementTree.fromstring(standalone_svg(block))
            assert not [element for element in root.iter() if "script" in element.tag]
            check_inside(block)


def test_few_bars_share_a_panel_many_have_one_per_series() -> None:
    assert len(draw(bars({"a": [1.0] * 3, "b": [2.0] * 3}), "x").panels) == 1
    many = draw(bars({"a": [1.0] * 11, "b": [2.0] * 11}), "x")
    assert [panel.title for panel in many.panels] == ["a", "b"]


def test_bars_of_a_panel_are_told_apart_without_colour() -> None:
    root = marks_of(bars({"first": [1.0], "second": [2.0], "third": [3.0]}))
    patterns = {rect.get("fill") for rect in root.iter("rect") if rect.get("fill")}
    assert patterns == {"url(#x-pattern-1)", "url(#x-pattern-2)"}
    assert {"first", "second", "third"} <= set(texts(root))


def test_bars_go_to_both_sides_of_zero_with_their_values() -> None:
    root = marks_of(bars({"a": [-15.0, 25.5, 0.0, None]}))
    down, up, nothing = with_class(root, "bar")
    (zero,) = with_class(root, "zero")
    place = float(zero.get("x1", ""))
    assert float(down.get("x", "")) + float(down.get("width", "")) == pytest.approx(place, abs=0.02)
    assert float(up.get("x", "")) == pytest.approx(place, abs=0.02)
    assert float(down.get("width", "")) / float(up.get("width", "")) == pytest.approx(15 / 25.5, abs=0.01)
    assert float(nothing.get("width", "")) == 0
    assert {"−15.0", "25.5", "0.0", "–"} <= set(texts(root))


def test_panels_of_bars_share_their_scale() -> None:
    figure = bars({"a": [10.0] * 11, "b": [20.0] * 11})
    short, long = (float(with_class(marks_of(figure, n), "bar")[0].get("width", "")) for n in (0, 1))
    assert long / short == pytest.approx(2, abs=0.01)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(values, min_size=4, max_size=4), min_size=1, max_size=7))
def test_any_bars_are_drawn_inside(series: list[list[float | None]]) -> None:
    check_inside(bars({f"s{number}": line for number, line in enumerate(series)}))


def test_curves_go_through_their_points() -> None:
    figure = Curves("c", "C", "curves", "x", "y", {"": {"a": [(0, 0.0), (5, 1.0), (10, 0.5)]}})
    (line,) = with_class(marks_of(figure), "line")
    (x0, y0), (x1, y1), (x2, y2) = [
        tuple(map(float, pair)) for pair in re.findall(r"([\d.]+) ([\d.]+)", line.get("d", ""))
    ]
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y0 - y1 == pytest.approx(2 * (y0 - y2), abs=0.02)


def test_a_logarithmic_axis_sets_equal_ratios_apart_equally() -> None:
    points = [(1.0, 0.0), (10.0, 0.5), (100.0, 1.0), (0.0, 0.0)]
    figure = Curves("c", "C", "curves", "n", "y", {"": {"a": points}}, logarithmic=True)
    (line,) = with_class(marks_of(figure), "line")
    x0, x1, x2 = (float(x) for x in re.findall(r"[ML]([\d.]+) ", line.get("d", "")))
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert "n (logarithmic) – not drawn: points without a place" in texts(marks_of(figure))


def test_the_other_axis_may_be_logarithmic_too() -> None:
    points = [(1.0, 0.01), (10.0, 0.1), (100.0, 1.0), (10.0, 0.0)]
    panels = {"": {"a": points}}
    figure = Curves("c", "C", "curves", "n", "y", panels, logarithmic=True, logarithmic_y=True)
    (line,) = with_class(marks_of(figure), "line")
    places = re.findall(r"[ML]([\d.]+) ([\d.]+)", line.get("d", ""))
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(float, pair)) for pair in places)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.02)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.02)
    assert {"y (logarithmic)", "n (logarithmic) – not drawn: points without a place"} <= set(
        texts(marks_of(figure))
    )


def test_series_of_curves_differ_in_mark_dash_and_colour() -> None:
    swatches = [ElementTree.fromstring(f"<g>{swatch(position)}</g>") for position in range(8)]
    assert len({path.get("d") for root in swatches for path in root if "mark" in path.get("class", "")}) == 8
    looks = {tuple((path.get("class"), path.get("stroke-dasharray")) for path in root) for root in swatches}
    assert len(looks) == 8


def test_a_series_looks_the_same_in_every_panel() -> None:
    line = [(0.0, 0.0), (1.0, 1.0)]
    figure = Curves("c", "C", "curves", "x", "y", {"p": {"a": line, "b": line}, "q": {"b": line}})
    assert with_class(marks_of(figure, 1), "line")[0].get("class") == "line series-1"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), max_size=30), st.booleans(), st.booleans(), st.booleans())
def test_any_curves_are_drawn_inside(
    points: list[tuple[float, float]], diagonal: bool, logarithmic: bool, logarithmic_y: bool
) -> None:
    panels = {"p": {"a": points, "b": points[:1]}, "q": {"a": []}}
    axes = (diagonal, logarithmic, logarithmic_y)
    check_inside(Curves("c", "C", "curves", "x", "y", panels, *axes))
    check_inside(Curves("c", "C", "curves", "x", "y", {"": panels["p"]}, *axes))


def test_a_heat_map_prints_every_number_and_its_scale() -> None:
    figure = HeatMap("h", "H", "heat", "r", "c", ["a", "b"], ["c", "d"], [[0.25, 1.0], [None, 0.5]])
    root = marks_of(figure)
    assert len(with_class(root, "cell")) == 3
    assert len(with_class(root, "empty")) == 1
    assert {".25", "1", "–", ".50"} <= set(texts(root))
    assert texts(root).count(".25") == 2  # in its cell and at the end of the scale


def test_numbers_stand_out_from_their_shades() -> None:
    lightness = [luminance(shade(step / 200)) for step in range(201)]
    assert lightness == sorted(lightness)
    for step, light in enumerate(lightness):
        better = max(1.05 / (light + 0.05), (light + 0.05) / 0.05)
        assert better >= 4.5, step
    figure = HeatMap("h", "H", "heat", "r", "c", ["a"], ["c", "d"], [[0.0, 1.0]])
    root = marks_of(figure)
    assert [len(with_class(root, name)) for name in ("on-dark", "on-light")] == [1, 1]


def contrast(first: str, second: str) -> float:
    low, high = sorted(luminance(tuple(bytes.fromhex(colour[1:]))) for colour in (first, second))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_colours_stand_out_from_the_ground(theme: Theme) -> None:
    assert all(contrast(colour, theme.ground) >= 3 for colour in theme.series)
    assert contrast(theme.faint, theme.ground) >= 4.5
    assert contrast(theme.ink, theme.ground) >= 7


def test_ticks_are_round_and_inside() -> None:
    assert [text for _, text in nice_ticks(-15, 25, 4)] == ["−10", "0", "10", "20"]
    assert [text for _, text in nice_ticks(0, 24_000, 4)] == ["0", "5k", "10k", "15k", "20k"]
    assert [text for _, text in logarithmic_ticks(1, 40, 5)] == ["1", "2", "5", "10", "20"]


def test_wide_letters_count_as_wide() -> None:
    assert text_width("漢字") == 24
    assert text_width("e\u0301") == text_width("e")


def test_points_in_one_place_are_one_mark_with_all_their_names() -> None:
    points = {"rare": (1.0, 0.5), "also rare": (1.0, 0.5), "frequent": (100.0, 0.9), "absent": (0.0, 0.0)}
    drawing = draw(Points("p", "P", "a", "label", "documents", "F1", points, logarithmic=True), "p")
    assert drawing.panels[0].marks.count('class="mark') == 2  # what no scale has a place for is not drawn
    assert "rare, also rare: 1, 0.5" in drawing.panels[0].marks
