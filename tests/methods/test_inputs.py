"""Whatever form documents come in, they are sorted by language and results go back in that form."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from funnelling.errors import InputError
from funnelling.methods.inputs import ONE_LANGUAGE, is_mapping, is_texts, read_inputs
from funnelling.text.languages import served_by

MATRIX = np.arange(12.0).reshape(4, 3)
CODES = ["it", "en", "it", "en"]


@pytest.mark.parametrize(
    "X",
    [
        ["a", "b"],
        ("a", "b"),
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        pd.Series(["a", "b"]),
        pd.Series(["a", "b"], dtype="string"),
        [],
        ["a", None],
    ],
)
def test_strings_are_texts(X: Any) -> None:
    assert is_texts(X)


@pytest.mark.parametrize(
    "X",
    [
        MATRIX,
        MATRIX.tolist(),
        sparse.csr_matrix(MATRIX),
        sparse.dok_matrix(MATRIX),
        pd.DataFrame(MATRIX),
        np.array([["a"]]),
        np.zeros(3),
        {"it": ["a"]},
        5,
        None,
    ],
)
def test_vectors_are_not(X: Any) -> None:
    assert not is_texts(X)


def test_a_mapping_is_one_by_language() -> None:
    assert is_mapping({"it": MATRIX})
    assert not is_mapping(sparse.dok_matrix(MATRIX)), "a dict by birth, but a matrix"


def test_a_matrix_alone_is_one_language() -> None:
    inputs = read_inputs(MATRIX, None)
    assert list(inputs.documents) == [ONE_LANGUAGE]
    np.testing.assert_array_equal(inputs.documents[ONE_LANGUAGE], MATRIX)
    assert not inputs.texts


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("codes", [CODES, np.array(CODES), pd.Series(CODES), tuple(CODES)])
def test_a_matrix_is_cut_by_language(form: Any, codes: Any) -> None:
    inputs = read_inputs(form(MATRIX), codes)
    assert list(inputs.documents) == ["en", "it"]
    english = inputs.documents["en"]
    dense = english.toarray() if sparse.issparse(english) else english
    np.testing.assert_array_equal(dense, MATRIX[[1, 3]])
    assert inputs.sizes() == {"en": 2, "it": 2}


@pytest.mark.parametrize(
    "texts", [list("abcd"), np.array(list("abcd")), pd.Series(list("abcd"), index=[7, 7, 1, 0])]
)
def test_texts_are_cut_by_language_under_normal_tags(texts: Any) -> None:
    inputs = read_inputs(texts, ["IT", "pt-BR", "it", "pt_BR"])
    assert {code: list(part) for code, part in inputs.documents.items()} == {
        "it": ["a", "c"],
        "pt_BR": ["b", "d"],
    }
    assert inputs.texts


@given(st.lists(st.sampled_from(["it", "en", "fr"]), min_size=1, max_size=30))
def test_what_is_cut_is_gathered_in_the_old_order(codes: list[str]) -> None:
    values = np.arange(2 * len(codes)).reshape(-1, 2)
    inputs = read_inputs(values.astype(float), codes)
    np.testing.assert_array_equal(inputs.gather(inputs.divide(values, "values")), values)
    labels = [[str(i)] for i in range(len(codes))]
    divided = inputs.divide(labels, "y")
    assert [divided[code].pop(0) for code in codes] == labels


def test_a_mapping_stays_one() -> None:
    inputs = read_inputs({"it": MATRIX, "en": MATRIX[:2, :2]}, None)
    assert list(inputs.documents) == ["en", "it"], "in alphabetical order"
    results = {"en": np.zeros(2), "it": np.ones(4)}
    assert inputs.gather(results) is not results
    assert inputs.gather(results).keys() == results.keys()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool])
def test_small_integers_become_floats_before_they_can_overflow(dtype: type) -> None:
    part = read_inputs({"it": sparse.coo_matrix(MATRIX.astype(dtype))}, None).documents["it"]
    assert part.format == "csr"
    assert part.dtype == np.float64


def test_single_precision_is_kept() -> None:
    assert read_inputs({"it": MATRIX.astype(np.float32)}, None).documents["it"].dtype == np.float32


def test_missing_languages_are_detected_among_those_given() -> None:
    texts = ["the cat is on the table", "il gatto è sul tavolo della cucina", "der Hund ist im Garten"]
    inputs = read_inputs(texts, ["en", None, "it"])
    assert {code: list(where) for code, where in inputs.positions.items()} == {"en": [0], "it": [1, 2]}


def test_missing_languages_are_detected_among_those_a_model_knows() -> None:
    texts = ["the cat is on the table", "il gatto è sul tavolo della cucina"]
    assert list(read_inputs(texts, None, known=["en", "it"]).documents) == ["en", "it"]
    assert list(read_inputs(texts, None, known=["it"]).documents) == ["it"]


def test_a_regional_variant_is_served_by_its_language() -> None:
    assert served_by("pt_BR", ["en", "pt"]) == "pt"
    assert served_by("pt_BR", ["pt", "pt_BR"]) == "pt_BR"
    assert served_by("pt", ["pt_BR"]) == "pt"
    assert served_by("fr", ["en"]) == "fr"
    assert list(read_inputs(["a", "b"], ["pt-BR", "pt"], known=["pt"]).documents) == ["pt"]


def refusal(X: Any, languages: Any = None, known: Any = None) -> str:
    with pytest.raises(InputError) as error:
        read_inputs(X, languages, known)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_refusals_of_documents() -> None:
    assert refusal("ciao") == "X is one text. Put it in a list."
    assert refusal([]) == "X holds no documents. Give at least one."
    assert refusal(["a", None]) == "X: document 1 is None. Leave it out or make it a string."
    assert refusal(pd.Series(["a", float("nan")])).startswith("X: document 1 is None.")
    assert refusal(["a", float("nan")]).startswith("X: document 1 is nan.")
    assert refusal({}) == "X is an empty mapping: give at least one language."
    assert refusal({"it": ["a"], "en": []}) == "X holds no documents. Give at least one."
    assert refusal({"it": ["a"], "en": MATRIX}).startswith("X: some languages hold texts and others vectors.")
    assert refusal({0: MATRIX}) == "X: 0 is no name of a language. Use strings as keys."


def test_refusals_of_languages() -> None:
    assert refusal(MATRIX, ["it"]) == "languages has 1 entries for 4 documents."
    assert refusal(["a", "b"], ["it"]) == "languages has 1 entries for 2 documents."
    assert refusal({"it": MATRIX}, CODES).startswith("A mapping names its languages itself")
    assert refusal(MATRIX, ["it", None, "it", "en"]).startswith("languages: None of document 1 is no name")
    assert refusal(MATRIX, [float("nan")] * 4).startswith("languages: nan of document 0 is no name")
    assert refusal(["a"], ["Italian!"]).startswith("'Italian!' is not a language tag.")
    assert refusal(MATRIX, None, ["en", "it"]) == "The model knows en, it: give each vector's language."


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        read_inputs({"it": np.array([[bad]])}, None)


def test_refusals_of_what_runs_along_the_documents() -> None:
    inputs = read_inputs(MATRIX, CODES)
    with pytest.raises(InputError, match=r"^y has 3 entries for 4 documents\.$"):
        inputs.divide([1, 2, 3], "y")
    mapped = read_inputs({"it": MATRIX}, None)
    for wrong in ({"en": [1] * 4}, {}, [1] * 4, {"it": [1] * 4, "en": []}):
        with pytest.raises(InputError, match=r"^y must be a mapping with the same languages as X\.$"):
            mapped.divide(wrong, "y")
    with pytest.raises(InputError, match=r"^groups: 3 entries for the 4 documents of 'it'\.$"):
        mapped.divide({"it": [1, 2, 3]}, "groups")


def damaged(form: str, place: int) -> Any:
    """A sparse matrix with an entry that is not in it."""
    X = getattr(sparse.csr_array(MATRIX), f"to{form}")()
    if form == "lil":
        X.rows[1][0] = place
    else:
        (X.col if form == "coo" else X.indices)[3] = place
    return X


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("place", [2**28, -(2**28)])
def test_an_entry_outside_a_sparse_matrix_is_refused_before_anything_follows_it(
    form: str, place: int
) -> None:
    """Compiled code would read, and write, at that place in memory."""
    X = damaged(form, place)
    assert refusal(X).startswith("X is a damaged sparse matrix (")
    assert refusal(X, CODES).startswith("X is a damaged sparse matrix (")
    assert refusal({"it": X}).startswith("X is a damaged sparse matrix (")
    with pytest.raises(InputError, match="y is a damaged sparse matrix"):
        read_inputs(MATRIX, CODES).divide(X, "y")
    with pytest.raises(InputError, match="y is a damaged sparse matrix"):
        read_inputs({"it": MATRIX}, None).divide({"it": X}, "y")


@pytest.mark.parametrize("value", [1e15, -1e15, 1e300])
@pytest.mark.parametrize("of", [np.array, sparse.csr_array])
def test_values_too_large_to_tell_a_margin_are_refused_at_once(value: float, of: Any) -> None:
    X = np.where(MATRIX == 5, value, MATRIX)
    for given_as in (of(X), {"it": of(X)}):
        assert refusal(given_as) == "X holds values beyond 1e+12. Scale the features to about 1."
