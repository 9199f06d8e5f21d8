"""The part of a text that is shown: no longer than asked for, and with what counted most."""

from hypothesis import given
from hypothesis import strategies as st

from funnelling.text.excerpts import telling_part


def _passages(text: str, weights: list[float]) -> list[tuple[int, int, float]]:
    passages, start = [], 0
    for word, weight in zip(text.split(" "), weights, strict=False):
        passages.append((start, start + len(word), weight))
        start += len(word) + 1
    return passages


@given(
    st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=80),
    st.lists(st.floats(-5, 5), max_size=80),
    st.integers(20, 200),
)
def test_the_part_has_the_word_that_counted_most(
    words: list[str], weights: list[float], longest: int
) -> None:
    text = " ".join(words)
    passages = _passages(text, weights)
    start, end = telling_part(text, passages, longest)
    assert 0 <= start <= end <= len(text)
    assert end - start <= longest
    whole = sum(abs(weight) for _, _, weight in passages)
    inside = sum(abs(weight) for a, b, weight in passages if start <= a and b <= end)
    assert inside >= max((abs(weight) for _, _, weight in passages), default=0) - 1e-9 * whole
    assert start == 0 or text[start - 1] == " "
    assert end == len(text) or text[end] == " "


def test_a_short_text_is_whole() -> None:
    assert telling_part("short", [], 10) == (0, 5)


def test_a_text_without_blanks_is_cut_anywhere() -> None:
    assert telling_part("x" * 100, [(90, 91, 1.0)], 20) == (80, 100)
