"""Runs of characters: what they are, and that they need no language."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from funnelling.text.characters import EDGE, CharacterVectorizer, runs


@given(st.text(alphabet="abc+e漢", min_size=1, max_size=20), st.integers(1, 6))
def test_runs_cover_a_chunk_with_its_edges(chunk: str, length: int) -> None:
    chunk_runs = runs(chunk, length, length)
    text = f"{EDGE}{chunk}{EDGE}"
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
