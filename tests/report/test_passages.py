"""Marked texts: the text stays what it is, nothing becomes markup, strong words are dark."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from funnelling.report.passages import excerpt, marked_terminal
from funnelling.report.rendering import templates
from funnelling.text.excerpts import GAP


def marked_html(text: str, passages: list[list[float]], language: str = "") -> str:
    return str(templates().get_template("macros.html").module.marked(text, passages, language))  # type: ignore[attr-defined]


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[str, list[list[float]]]:
    text = draw(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"]), max_size=60)
    )
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    amounts = st.floats(-5, 5).filter(bool)
    return text, [[a, b, draw(amounts)] for a, b in zip(edges[::2], edges[1::2], strict=False)]


@given(marked_texts())
def test_the_text_stays_what_it_is(given_text: tuple[str, list[list[float]]]) -> None:
    text, passages = given_text
    drawn = marked_html(text, passages)
    assert html.unescape(re.sub("<[^<>]*>", "", drawn)) == text
    assert re.sub("\x1b\\[[0-9;]*m", "", marked_terminal(text, passages)) == text
    # Nothing that a text holds becomes a tag.
    assert set(re.findall("<(/?[a-z]+)", drawn)) <= {"p", "/p", "mark", "/mark"}


@given(marked_texts(), st.integers(1, 60))
def test_an_excerpt_is_part_of_the_text_and_its_passages_still_fit(
    given_text: tuple[str, list[list[float]]], length: int
) -> None:
    text, passages = given_text
    cut, inside = excerpt(text, passages, length)
    core = cut.removeprefix(f"{GAP} ").removesuffix(f" {GAP}") if len(text) > length else cut
    assert core in text or cut in text
    assert len(core) <= max(length, len(text) if len(text) <= length else 0) + len(f"{GAP} ")
    words = [text[int(a) : int(b)] for a, b, _ in passages]
    assert all(cut[int(a) : int(b)] in words for a, b, _ in inside)


def test_an_excerpt_has_the_words_that_added_most() -> None:
    text = "filler " * 50 + "the decisive word " + "filler " * 50
    place = text.index("decisive")
    cut, inside = excerpt(text, [[0, 6, 0.1], [place, place + 8, -3]], 60)
    assert cut.startswith(GAP)
    assert cut.endswith(GAP)
    (only,) = inside
    assert cut[only[0] : only[1]] == "decisive"
    assert only[2] == -3


def test_sign_and_size_show_without_colours_and_in_numbers() -> None:
    drawn = marked_html("good bad so", [[0, 4, 2.0], [5, 8, -1.0], [9, 11, 0.01]], "pt_BR")
    assert 'lang="pt-BR"' in drawn
    assert '<mark class="for mark-4" title="+2.0">good</mark>' in drawn
    assert '<mark class="against mark-2" title="−1.0">bad</mark>' in drawn
    assert drawn.endswith(" so</p>")  # what adds next to nothing is not marked
