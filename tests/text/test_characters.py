"""Runs of characters: what they are, and that they need no language."""

import unicodedata
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from anyascii import anyascii
from hypothesis import given
from hypothesis import strategies as st

from funnelling.text.characters import WORD_BOUNDARY, CharacterVectorizer
from funnelling.text.tokens import fold_accents, tidy


def runs(chunk: str, length: int, longest: int, latin: bool = False) -> Iterator[str]:
    """The runs of a chunk, one after the other, by their definition."""
    for word in spelled(chunk).split() if latin else [fold_accents(chunk)]:
        text = f"{WORD_BOUNDARY}{word}{WORD_BOUNDARY}"
        if len(text) <= length:
            yield text
            continue
        for size in range(length, min(longest, len(text)) + 1):
            for start in range(len(text) - size + 1):
                yield text[start : start + size]


def spelled(chunk: str) -> str:
    """A chunk in Latin letters; signs stay."""
    characters = [anyascii(each) if unicodedata.category(each)[0] in "LMN" else each for each in tidy(chunk)]
    return "".join(characters).lower()


@given(st.text(alphabet="abc+e漢", min_size=1, max_size=20), st.integers(1, 6))
def test_runs_cover_a_chunk_with_its_edges(chunk: str, length: int) -> None:
    chunk_runs = list(runs(chunk, length, length))
    text = f"{WORD_BOUNDARY}{chunk}{WORD_BOUNDARY}"
    assert chunk_runs[0] == text[:length]
    assert chunk_runs[-1] == text[-length:]
    assert len(chunk_runs) == max(1, len(text) - length + 1)


def test_related_words_share_runs_and_accents_do_not_matter() -> None:
    X = CharacterVectorizer(min_df=1).fit_transform(["información", "informazione", "katze"])
    similarity = (X @ X.T).toarray()
    assert similarity[0, 1] > 0.05
    assert similarity[0, 2] == 0


def test_a_text_without_blanks_is_seen_whole() -> None:
    texts = ["漢字" * 200, "仮名" * 200, "漢字"]
    X = CharacterVectorizer(length=2, min_df=1).fit_transform(texts)
    assert X[[0]].nnz > 0
    assert (X[[0]] @ X[[2]].T).toarray()[0, 0] > 0


def test_rows_do_not_depend_on_their_neighbours() -> None:
    texts = ["the quick brown fox", "il gatto dorme", "", "c++ x86-64"]
    vectorizer = CharacterVectorizer(min_df=1).fit(texts)
    together = vectorizer.transform(texts).toarray()
    alone = np.vstack([vectorizer.transform([text]).toarray() for text in texts])
    assert np.array_equal(together, alone)
    assert not together[2].any()


def plain_count(text: str, length: int, longest: int, latin: bool) -> Counter[str]:
    return Counter(run for chunk in text.lower().split() for run in runs(chunk, length, longest, latin))


@given(
    st.lists(st.text(alphabet="abB cé漢яЯß+ 😀\n\u0301", max_size=30), max_size=6),
    st.integers(1, 4),
    st.integers(0, 3),
    st.booleans(),
)
def test_counts_are_those_of_the_runs_of_all_chunks(
    texts: list[str], length: int, further: int, latin: bool
) -> None:
    counts = CharacterVectorizer(length, longest=length + further, latin=latin).count(texts)
    found: list[Counter[str]] = [Counter() for _ in texts]
    for row, column, frequency in zip(counts.rows, counts.columns, counts.frequencies, strict=True):
        assert counts.words[column] not in found[row], "one entry per pair"
        found[row][counts.words[column]] = int(frequency)
    assert found == [plain_count(text, length, length + further, latin) for text in texts]
    assert counts.documents == len(texts)
    assert (np.diff(counts.rows) >= 0).all()


@pytest.mark.parametrize("size", [16, 5_000])
@pytest.mark.parametrize("latin", [False, True])
def test_long_chunks_are_counted_like_others(size: int, latin: bool) -> None:
    text = ("abcяé" * size)[:size]
    counts = CharacterVectorizer(3, longest=6, latin=latin).count([f"{text} {text} ab"])
    expected = plain_count(f"{text} {text} ab", 3, 6, latin)
    found = {counts.words[column]: n for column, n in zip(counts.columns, counts.frequencies, strict=True)}
    assert found == expected


class TestLatin:
    @pytest.mark.parametrize(
        ("one", "other"),
        [("Москва", "Moskva"), ("Ελλάδα", "Ellada"), ("Straße", "strasse"), ("e\u0301te\u0301", "été")],
    )
    def test_scripts_meet(self, one: str, other: str) -> None:
        vectorizer = CharacterVectorizer(3, longest=6, latin=True, min_df=1).fit([one, other, "zzz"])
        X = vectorizer.transform([one, other]).toarray()
        np.testing.assert_array_equal(X[0], X[1])
        assert X.any()

    def test_without_it_they_do_not(self) -> None:
        X = CharacterVectorizer(3, longest=6, min_df=1).fit_transform(["Москва", "Moskva"])
        assert (X @ X.T).toarray()[0, 1] == 0

    def test_letters_are_spelled_and_signs_stay(self) -> None:
        assert list(runs("東ß", 6, 9, latin=True))[-1] == " dongss "
        assert list(runs("😀", 3, 6, latin=True)) == [" 😀 "]

    def test_an_emoji_is_no_evidence_for_its_name(self) -> None:
        vectorizer = CharacterVectorizer(3, longest=6, latin=True, min_df=1).fit(["cat", "dog", "good 🐘"])
        assert vectorizer.transform(["🐈"]).nnz == 0
        assert vectorizer.transform(["🐘"]).nnz == 1

    def test_a_chunk_that_spells_nothing_has_no_runs(self) -> None:
        assert not list(runs("\u0301", 3, 6, latin=True))
        X = CharacterVectorizer(3, longest=6, latin=True, min_df=1).fit(["abc", "abd"]).transform(["\u0301"])
        assert X.nnz == 0


class TestRareRuns:
    @pytest.mark.parametrize(
        ("texts", "least"), [(29, 1), (30, 2), (1_999, 2), (2_000, 3), (4_999, 3), (5_000, 5)]
    )
    def test_how_many_texts_a_run_must_be_in_grows_with_them(self, texts: int, least: int) -> None:
        vectorizer = CharacterVectorizer(3).learn(["one", "two", "3x_", "4x_", "5x_"], [1, 2, 3, 4, 5], texts)
        assert len(vectorizer.vocabulary_) == 6 - least

    def test_what_is_asked_for_is_done(self) -> None:
        vectorizer = CharacterVectorizer(3, min_df=2).learn(["one", "two"], [1, 2], 5_000)
        assert vectorizer.vocabulary_ == ["two"]
