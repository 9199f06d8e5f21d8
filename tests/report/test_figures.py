import re
from collections.abc import Sequence
from importlib.resources import files
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funnelling.report.content import Curves, Drawing, Points
from funnelling.report.curves import draw, standalone_svg, swatch
from funnelling.report.drawing import logarithmic_ticks, nice_ticks, text_width
from tests.report.demo import demo_report, report_of

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = {
    block.name: block
    for section in demo_report().sections
    for block in section.blocks
    if isinstance(block, Drawing)
}
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


def marks_of(figure: Drawing, panel: int = 0) -> ElementTree.Element:
    return ElementTree.fromstring(f"<svg>{draw(figure).panels[panel].marks}</svg>")


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]


def check_inside(figure: Drawing) -> None:
    """Everything with plain coordinates lies inside its panel."""
    for panel in draw(figure).panels:
        for element in ElementTree.fromstring(f"<svg>{panel.marks}</svg>").iter():
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
        if isinstance(block, Drawing):
            root = ElementTree.fromstring(standalone_svg(block))
            assert not [element for element in root.iter() if "script" in element.tag]
            check_inside(block)


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


def channels(colour: str) -> list[int]:
    return list(bytes.fromhex(colour[1:])) if colour.startswith("#") else [int(c) for c in colour.split()]


def luminance(colour: Sequence[float]) -> float:
    """How light a colour is, by the definition of WCAG."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: Sequence[float], second: Sequence[float]) -> float:
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


PAGE = files("funnelling.report").joinpath("templates", "page.css").read_text("utf-8")
LIGHT, DARK, _ = (
    {name: channels(colour) for name, colour in re.findall(r"--([\w-]+): (#\w+|\d+ \d+ \d+);", part)}
    for part in re.split(r"@media screen|\* \{", PAGE, maxsplit=2)
)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_colours_stand_out_from_the_ground(theme: dict[str, list[int]]) -> None:
    assert all(contrast(theme[f"series-{n}"], theme["ground"]) >= 3 for n in range(8))
    for ground in ("ground", "raised"):
        assert contrast(theme["faint"], theme[ground]) >= 4.5
        assert contrast(theme["link"], theme[ground]) >= 4.5
        assert contrast(theme["ink"], theme[ground]) >= 7


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_numbers_stand_out_from_their_shades(theme: dict[str, list[int]], share: float) -> None:
    (least, range_of_shades) = map(float, re.findall(r"calc\((\S+) \+ (\S+) \* var\(--share\)\)", PAGE)[0])
    alpha = least + range_of_shades * share
    shade = [alpha * a + (1 - alpha) * b for a, b in zip(theme["for"], theme["ground"], strict=True)]
    assert contrast(theme["ink"], shade) >= 4.5


def test_a_file_has_the_colours_of_the_light_page() -> None:
    svg = standalone_svg(Curves("c", "C", "curves", "x", "y", {"": {"a": [(0, 0.0), (5, 1.0)]}}))
    assert "var(" not in svg
    assert ".drawing .series-0 { color: #0072b2; }" in svg


def test_ticks_are_round_and_inside() -> None:
    assert [text for _, text in nice_ticks(-15, 25, 4)] == ["−10", "0", "10", "20"]
    assert [text for _, text in nice_ticks(0, 24_000, 4)] == ["0", "5k", "10k", "15k", "20k"]
    assert [text for _, text in logarithmic_ticks(1, 40, 5)] == ["1", "2", "5", "10", "20"]


def test_wide_letters_count_as_wide() -> None:
    assert text_width("漢字") == 24
    assert text_width("e\u0301") == text_width("e")


def test_points_in_one_place_are_one_mark_with_all_their_names() -> None:
    points = {"rare": (1.0, 0.5), "also rare": (1.0, 0.5), "frequent": (100.0, 0.9), "absent": (0.0, 0.0)}
    drawing = draw(Points("p", "P", "a", "label", "documents", "F1", points, logarithmic=True))
    assert drawing.panels[0].marks.count('class="mark') == 2  # what no scale has a place for is not drawn
    assert "rare, also rare: 1, 0.5" in drawing.panels[0].marks
