"""Columns and tables of other libraries are what their lists are: the same documents, the same bits."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import MultiLabelBinarizer

from funnelling.errors import InputError
from funnelling.methods.classifiers import NaiveClassifier
from tests.artificial import text_corpus, vector_corpus
from tests.funnels import any_funnel

TEXTS, LISTS, CODES = text_corpus(24)
ONE = [labels[0] if labels else "none" for labels in LISTS]
NAMES = sorted({label for labels in LISTS for label in labels})
INDICATOR = MultiLabelBinarizer(classes=NAMES).fit_transform(LISTS)

Column = Callable[[list[Any]], Any]


def with_odd_index(values: list[Any], **options: Any) -> Any:
    return pd.Series(values, index=[7] * len(values), **options)


def arrow_backed(values: list[Any]) -> Any:
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values])))


COLUMNS: dict[str, Column] = {
    "pandas": with_odd_index,
    "pandas, objects": lambda values: with_odd_index(values, dtype=object),
    "pandas, Arrow": arrow_backed,
    "polars": pl.Series,
    "Arrow": lambda values: pa.chunked_array([values]),
    "datasets": lambda values: datasets.Dataset.from_dict({"a": values})["a"],
}
SCALARS: dict[str, Column] = {
    **COLUMNS,
    "pandas, nullable": lambda values: with_odd_index(values).convert_dtypes(),
    "pandas, categories": lambda values: with_odd_index(values, dtype="category"),
    "pandas, array": lambda values: pd.Series(values).array,
    "polars, categories": lambda values: pl.Series(values, dtype=pl.Categorical),
    "NumPy": lambda values: np.array(values, dtype=object),
}
TABLES: dict[str, Callable[[dict[Any, list[Any]]], Any]] = {
    "pandas": lambda columns: pd.DataFrame(columns, index=[3] * len(next(iter(columns.values())))),
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "datasets": datasets.Dataset.from_dict,
}
columns = pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
scalars = pytest.mark.parametrize("column", SCALARS.values(), ids=SCALARS)
tables = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def fitted(X: Any, y: Any, languages: Any = None) -> Any:
    return NaiveClassifier(C=1.0, random_state=0).fit(X, y, languages=languages)


def same(model: Any, other: Any) -> bool:
    """Whether two models have the same classes, and say the same of the texts to the bit."""
    probabilities = [each.predict_proba(TEXTS, languages=CODES) for each in (model, other)]
    return model.classes_.tolist() == other.classes_.tolist() and np.array_equal(*probabilities)


class TestColumns:
    @scalars
    def test_texts_and_languages(self, column: Column) -> None:
        model = fitted(TEXTS, LISTS, CODES)
        texts, codes = column(TEXTS), column(CODES)
        assert same(fitted(texts, LISTS, codes), model)
        np.testing.assert_array_equal(
            model.predict(texts, languages=codes), model.predict(TEXTS, languages=CODES)
        )
        assert model.score(texts, LISTS, languages=codes) == model.score(TEXTS, LISTS, languages=CODES)
        assert model.explain(texts, languages=codes) == model.explain(TEXTS, languages=CODES)

    @columns
    def test_label_lists(self, column: Column) -> None:
        model = fitted(TEXTS, column(LISTS), CODES)
        assert same(model, fitted(TEXTS, LISTS, CODES))
        assert model.score(TEXTS, column(LISTS), languages=CODES) == model.score(
            TEXTS, LISTS, languages=CODES
        )

    @scalars
    def test_one_label_each(self, column: Column) -> None:
        model = fitted(TEXTS, column(ONE), CODES)
        assert model.model_.labels.single_label
        assert same(model, fitted(TEXTS, ONE, CODES))
        assert model.score(TEXTS, column(ONE), languages=CODES) == model.score(TEXTS, ONE, languages=CODES)

    @pytest.mark.parametrize(
        "name", ["pandas", "pandas, Arrow", "pandas, nullable", "pandas, categories", "polars", "datasets"]
    )
    def test_one_number_each(self, name: str) -> None:
        numbers = [len(label) for label in ONE]
        assert same(fitted(TEXTS, SCALARS[name](numbers), CODES), fitted(TEXTS, numbers, CODES))

    def test_lists_as_parquet_gives_them_back(self) -> None:
        arrays = pd.Series([np.array(labels, dtype=object) for labels in LISTS])
        assert same(fitted(TEXTS, arrays, CODES), fitted(TEXTS, LISTS, CODES))

    @pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA, "", " "])
    @pytest.mark.parametrize("column", [list, with_odd_index, lambda values: np.array(values, dtype=object)])
    def test_a_language_that_is_missing_is_detected(self, column: Column, missing: Any) -> None:
        codes = [missing if number % 3 == 0 else code for number, code in enumerate(CODES)]
        detected = [None if number % 3 == 0 else code for number, code in enumerate(CODES)]
        assert same(fitted(TEXTS, LISTS, column(codes)), fitted(TEXTS, LISTS, detected))

    def test_groups_and_ids(self) -> None:
        groups = [str(number // 2) if number % 3 else None for number in range(len(TEXTS))]
        ids = [f"d{number}" for number in range(len(TEXTS))]

        def model(column: Column) -> Any:
            return any_funnel(views=None, meta_C=1.0, random_state=0).fit(
                TEXTS, LISTS, CODES, groups=column(groups), ids=column(ids)
            )

        for column in SCALARS.values():
            assert same(model(column), model(list))

    def test_learning_on(self) -> None:
        def model(column: Column) -> Any:
            first = any_funnel(views=None, meta_C=1.0, random_state=0).fit(TEXTS, LISTS, CODES)
            return first.update(
                column(["le chat dort", "le chien"] * 3), column([["cats"], []] * 3), ["fr"] * 6
            )

        for column in COLUMNS.values():
            assert same(model(column), model(list))


class TestTables:
    @tables
    def test_one_column_is_that_column(self, table: Any) -> None:
        X, y, languages = table({"t": TEXTS}), table({"y": LISTS}), table({"l": CODES})
        assert same(fitted(X, y, languages), fitted(TEXTS, LISTS, CODES))
        assert same(fitted(X, table({"y": ONE}), languages), fitted(TEXTS, ONE, CODES))

    @pytest.mark.parametrize("kind", [int, bool, float])
    @tables
    def test_one_hot_columns_give_their_names(self, table: Any, kind: type) -> None:
        y = table({name: INDICATOR[:, place].astype(kind).tolist() for place, name in enumerate(NAMES)})
        model = fitted(TEXTS, y, CODES)
        assert same(model, fitted(TEXTS, LISTS, CODES))
        assert model.classes_.dtype == object

    @tables
    def test_one_hot_columns_keep_their_order(self, table: Any) -> None:
        turned = table({name: INDICATOR[:, NAMES.index(name)].tolist() for name in NAMES[::-1]})
        model = fitted(TEXTS, turned, CODES)
        assert model.classes_.tolist() == NAMES[::-1]
        bare = fitted(TEXTS, INDICATOR[:, ::-1], CODES)
        np.testing.assert_array_equal(
            model.predict_proba(TEXTS, languages=CODES), bare.predict_proba(TEXTS, languages=CODES)
        )
        score = bare.score(TEXTS, INDICATOR[:, ::-1], languages=CODES)
        straight = table({name: INDICATOR[:, place].tolist() for place, name in enumerate(NAMES)})
        for truth in (turned, straight, LISTS):
            assert model.score(TEXTS, truth, languages=CODES) == score, "columns are known by their names"
        assert bare.score(TEXTS, turned, languages=CODES) == score, "or by their place, where none has one"

    def test_a_model_of_one_hot_columns_learns_on(self) -> None:
        turned = pd.DataFrame(INDICATOR[:, ::-1], columns=NAMES[::-1])
        model = any_funnel(views=None, meta_C=1.0, random_state=0).fit(TEXTS, turned, CODES)
        further = ["le chat", "le chien", "la maison"] * 3, ["fr"] * 9
        model.update(further[0], pd.DataFrame({"cats": [1, 0, 0] * 3, "dogs": [0, 1, 0] * 3}), further[1])
        assert model.classes_.tolist() == NAMES[::-1], "nothing new, nothing moved"
        assert (model.predict(TEXTS, CODES) == INDICATOR[:, ::-1]).mean() > 0.8
        model.update(["la vache", "le lait"] * 3, [["cows"], []] * 3, ["fr"] * 6)
        assert model.classes_.tolist() == [*NAMES[::-1], "cows"], "columns stay, new ones come after"
        columns = [model.classes_.tolist().index(name) for name in NAMES]
        assert (model.predict(TEXTS, CODES)[:, columns] == INDICATOR).mean() > 0.8

    def test_one_hot_columns_measure_a_model_of_one_label_each(self) -> None:
        model = fitted(TEXTS, ONE, CODES)
        score = model.score(TEXTS, ONE, languages=CODES)
        assert model.score(TEXTS, pd.get_dummies(pd.Series(ONE)), languages=CODES) == score
        assert 0 < score <= 1

    def test_names_that_are_numbers(self) -> None:
        assert fitted(TEXTS, pd.DataFrame(INDICATOR), CODES).classes_.tolist() == [0, 1, 2, 3]
        model = fitted(TEXTS, pd.DataFrame(INDICATOR, columns=[7, 3, 5, 1]), CODES)
        assert model.classes_.tolist() == [7, 3, 5, 1]
        with pytest.raises(InputError, match="in the order of classes_"):
            model.score(TEXTS, pd.DataFrame(INDICATOR, columns=[1, 3, 5, 7]), languages=CODES)

    def test_a_table_for_each_language(self) -> None:
        corpus = vector_corpus()
        names = ["a", "b", "c"]
        y = {
            "en": pd.DataFrame(corpus.y["en"], columns=names),
            "it": pd.DataFrame(corpus.y["it"], columns=names)[names[::-1]],
        }
        model = fitted(corpus.X, y)
        bare = fitted(corpus.X, corpus.y)
        assert model.classes_.tolist() == names
        for language, scores in bare.decision_function(corpus.X).items():
            np.testing.assert_array_equal(model.decision_function(corpus.X)[language], scores)
        assert model.score(corpus.X, y) == bare.score(corpus.X, corpus.y)
        with pytest.raises(InputError, match=r"^y: the tables of the languages have different columns\."):
            fitted(corpus.X, {**y, "it": y["it"][["a", "b"]]})

    @pytest.mark.parametrize(
        "table",
        [
            pd.DataFrame,
            lambda X: pd.DataFrame(X, columns=list("abcdefghijkl")),
            lambda X: pl.DataFrame(X, schema=list("abcdefghijkl")),
        ],
    )
    def test_numbers_are_vectors(self, table: Any) -> None:
        corpus = vector_corpus()
        with pytest.raises(InputError, match=r"^The model was fitted on texts, and X holds vectors\.$"):
            fitted(TEXTS, LISTS, CODES).predict(table(corpus.stacked))
        X = table(corpus.stacked)
        model, bare = (fitted(each, corpus.indicator, corpus.languages) for each in (X, corpus.stacked))
        np.testing.assert_array_equal(
            model.decision_function(X, corpus.languages),
            bare.decision_function(corpus.stacked, corpus.languages),
        )

    def test_scikit_learn_s_scores(self) -> None:
        y = pd.DataFrame(INDICATOR[:, ::-1], columns=NAMES[::-1])
        model = NaiveClassifier(C=1.0, random_state=0)
        texts = pd.Series(TEXTS)
        by_table = cross_val_score(model, texts, y, scoring="f1_micro", cv=2)
        np.testing.assert_array_equal(
            by_table, cross_val_score(model, texts, y.to_numpy(), scoring="f1_micro", cv=2)
        )
        assert by_table.min() > 0.3


def refusal(X: Any, y: Any, languages: Any = None) -> str:
    with pytest.raises(InputError) as error:
        fitted(X, y, languages)
    assert "\n" not in str(error.value)
    return str(error.value)


class TestRefusals:
    @tables
    def test_a_whole_table(self, table: Any) -> None:
        whole = table({"id": CODES, "body": TEXTS, "label": ONE, "lang": CODES})
        shown = "is a table with the columns id, body, label, lang"
        assert refusal(whole, ONE) == f'X {shown}. Give its texts, such as df["body"].'
        assert refusal(TEXTS, whole) == (
            f"y {shown}, and 'id' holds more than 0 and 1. Give one column of labels, such as df[\"label\"], "
            "or a column of 0 and 1 for each label."
        )
        assert refusal(TEXTS, ONE, whole) == f'languages {shown}. Give one, such as df["lang"].'

    def test_a_lazy_table(self, recwarn: pytest.WarningsRecorder) -> None:
        lazy = pl.DataFrame({"text": TEXTS}).lazy()
        assert refusal(lazy, ONE) == "X is a table that has not been read yet. Collect it first."
        assert not len(recwarn)

    @pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
    @pytest.mark.parametrize("column", [list, with_odd_index, lambda values: np.array(values, dtype=object)])
    def test_a_text_or_label_that_is_missing(self, column: Column, missing: Any) -> None:
        assert refusal(column([*TEXTS[:-1], missing]), ONE).startswith("X: document 23 is ")
        for labels in (ONE, LISTS):
            message = refusal(TEXTS, column([*labels[:5], missing, *labels[6:]]), CODES)
            assert message.startswith("y: document 5 has no labels (N")
            assert message.endswith("Leave such documents out: corpus.labelled(), or dropna() of a table.")

    @pytest.mark.parametrize("column", [np.array, pd.Series, pl.Series])
    def test_a_number_that_is_missing(self, column: Any) -> None:
        numbers = [1.0, 2.0, float("nan"), *[3.0] * 21]
        assert refusal(TEXTS, column(numbers), CODES).startswith("y: document 2 has no labels (N")

    @pytest.mark.parametrize("column", [pd.Series, pl.Series, lambda values: pd.DataFrame({"t": values})])
    def test_nothing_but_missing_texts(self, column: Any) -> None:
        assert refusal(column([None] * 24), ONE).startswith("X: document 0 is None.")

    def test_one_hot_columns(self) -> None:
        y = pd.DataFrame(INDICATOR, columns=NAMES)
        y.loc[3, "cats"] = None
        assert refusal(TEXTS, y, CODES) == (
            "y: document 3 has nothing in column 'cats'. Give 0 or 1, or leave the document out."
        )
        twice = pd.DataFrame(INDICATOR, columns=["a", "b", "a", "c"])
        assert refusal(TEXTS, twice, CODES) == "y has several columns 'a'. Give each label one column."

    @pytest.mark.parametrize("jobs", [0, "x", 1.5, True])
    def test_threads(self, jobs: Any) -> None:
        with pytest.raises(InputError, match=r"^n_jobs must be a number of threads"):
            NaiveClassifier(n_jobs=jobs).fit(TEXTS, ONE, CODES)

    @pytest.mark.parametrize("seed", ["a", 1.5, [1]])
    def test_seeds(self, seed: Any) -> None:
        with pytest.raises(InputError, match=r"^random_state must be a whole number or None"):
            NaiveClassifier(random_state=seed).fit(TEXTS, ONE, CODES)


WORDS = st.lists(st.sampled_from(["cat", "dog", "gatto", "cane", "house", "è", "", "\u2003"]), max_size=4)
DOCUMENTS = st.lists(
    st.tuples(
        WORDS.map(" ".join), st.sets(st.sampled_from(["a", "b", "ü"])), st.sampled_from(["en", "it", None])
    ),
    min_size=1,
    max_size=12,
)


@given(
    DOCUMENTS,
    st.sampled_from(sorted(SCALARS)),
    st.sampled_from(sorted(COLUMNS)),
    st.sampled_from(["lists", "one", "one-hot"]),
    st.sampled_from(["pandas", "polars", "pandas, nullable"]),
)
@settings(max_examples=60, deadline=None)
def test_any_frame_fits_as_its_lists_do(
    documents: list[tuple[str, set[str], str | None]], scalar: str, column: str, form: str, table: str
) -> None:
    documents = [*documents, ("cat house", {"a"}, "en"), ("gatto", {"b", "ü"}, "it")]
    texts, labels, codes = ([row[place] for row in documents] for place in range(3))
    lists = [sorted(each) for each in labels]
    plain: Any = lists
    if form == "one":
        plain = ["".join(each) for each in lists]
        y = SCALARS[scalar](plain)
    elif form == "one-hot":
        y = TABLES[table]({name: [name in each for each in labels] for name in ("a", "b", "ü")})
    else:
        y = COLUMNS[column](lists)
    model, other = fitted(SCALARS[scalar](texts), y, SCALARS[scalar](codes)), fitted(texts, plain, codes)
    assert same(model, other)


def test_the_package_loads_none_of_these_libraries() -> None:
    code = (
        "import sys, funnelling.funnel, funnelling.formats.frames; "
        "print({'pandas', 'polars', 'pyarrow', 'datasets'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
