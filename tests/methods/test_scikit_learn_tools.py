"""The Python interface among scikit-learn's own tools, over tables and arrays of texts and languages."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from funnelling import (
    Corpus,
    Document,
    FunnellingClassifier,
    InputError,
    ThresholdTuning,
    load_model,
    make_scorer,
    measure,
)
from funnelling.methods.model import warn_of_languages
from tests.artificial import text_corpus

TEXTS, LISTS, LANGUAGES = text_corpus(60)
CORPUS = Corpus.from_documents(
    Document(str(row), text, language, tuple(labels))
    for row, (text, labels, language) in enumerate(zip(TEXTS, LISTS, LANGUAGES, strict=True))
)
ONE = np.array([labels[0] if labels else "none" for labels in LISTS], dtype=object)
TABLE = pd.DataFrame({"text": TEXTS, "language": LANGUAGES})
FOLDS = KFold(2, shuffle=True, random_state=0)
FORMS: dict[str, Any] = {
    "frame": TABLE,
    "dict": {"text": TEXTS, "language": LANGUAGES},
    "array": CORPUS.X,
    "column of texts": {"text": pd.Series(TEXTS), "language": np.array(LANGUAGES)},
}


def funnel(**parameters: Any) -> FunnellingClassifier:
    return FunnellingClassifier(**{"views": ["own", "mixed"], "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def fitted() -> FunnellingClassifier:
    return funnel().fit(TEXTS, LISTS, languages=LANGUAGES)


@pytest.mark.parametrize("form", FORMS)
def test_a_table_has_its_languages(form: str, fitted: FunnellingClassifier) -> None:
    expected = fitted.predict_proba(TEXTS, languages=LANGUAGES)
    np.testing.assert_array_equal(funnel().fit(FORMS[form], LISTS).predict_proba(FORMS[form]), expected)


def test_columns_that_are_not_read_are_named_once() -> None:
    with pytest.warns(UserWarning, match=r"^X: columns that are not read: id, split\.$") as warned:
        funnel().fit(TABLE.assign(id="x", split="train"), LISTS)
    assert len(warned) == 1


def test_the_matrix_of_a_corpus_has_all_its_labels() -> None:
    assert CORPUS.label_matrix().shape == (60, len(CORPUS.label_set()))


def test_labels_have_their_names(fitted: FunnellingClassifier) -> None:
    found = fitted.predict_labels([*TEXTS[:6], "xyzzy", "tervetuloa"], languages=[*LANGUAGES[:6], "en", "fi"])
    names = [fitted.classes_[row == 1].tolist() for row in fitted.predict(TEXTS[:6], languages=LANGUAGES[:6])]
    assert found == [*names, [], []]
    single = funnel().fit(TABLE, ONE)
    expected = [*single.predict(TABLE[:2]).tolist(), None]
    assert single.predict_labels([*TEXTS[:2], "xyzzy"], languages=[*LANGUAGES[:2], "en"]) == expected


def test_records_are_the_rows_of_the_command_line(fitted: FunnellingClassifier) -> None:
    rows = fitted.predict_records(
        [TEXTS[0], "xyzzy", "tervetuloa"], languages=[LANGUAGES[0], "en", "fi"], ids="abc"
    )
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert [row["abstained"] for row in rows] == [None, *["out-of-vocabulary"] * 2]
    assert rows[0]["labels"] == fitted.predict_labels(TEXTS[:1], languages=LANGUAGES[:1])[0]
    with pytest.raises(InputError, match=r"^ids has 1 entries for 2 documents\.$"):
        fitted.predict_records(["a", "b"], ids=["a"])


def test_scorers_and_searches_need_no_routing() -> None:
    Y = CORPUS.label_matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert (cross_val_score(funnel(), CORPUS.X, Y, scoring="f1_micro", cv=FOLDS) > 0.3).all()
        grid = {"thresholds__goal": ["macro-f1", "precision=.8"]}
        search = GridSearchCV(funnel(thresholds=ThresholdTuning()), grid, scoring="f1_micro", cv=FOLDS)
        assert search.fit(TABLE, Y).best_params_["thresholds__goal"] in grid["thresholds__goal"]


def test_our_scorers_take_labels_in_every_form(fitted: FunnellingClassifier) -> None:
    matrix = CORPUS.label_matrix(fitted.classes_)
    frame = pd.DataFrame(matrix[:, ::-1].astype(int), columns=fitted.classes_[::-1])
    scorer = make_scorer("macro-f1")
    expected = measure(matrix, fitted.predict(TABLE)).average["macro_f1"]
    for y in (LISTS, matrix, frame):
        assert scorer(fitted, TABLE, y) == pytest.approx(expected)
    scores = cross_val_score(funnel(), CORPUS.X, ONE, scoring=make_scorer("accuracy"), cv=FOLDS)
    assert (scores > 0.3).all()


def test_a_fold_without_a_language_warns_once() -> None:
    order = np.argsort(TABLE.language.to_numpy(), kind="stable")[:45]  # en, en, it: a file sorted by language
    grid = {"memory_limit": [8e9, 7e9]}
    warn_of_languages.cache_clear()
    search = GridSearchCV(funnel(views=["own"]), grid, scoring="f1_micro", cv=KFold(3))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        search.fit(TABLE.iloc[order], CORPUS.label_matrix()[order])
    (said,) = (str(each.message) for each in warned)
    assert said.startswith("The model does not know the language 'it'. It knows en. Documents in it get the")
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_language_that_is_not_known_may_be_refused() -> None:
    model = funnel(views=["own"], unknown_language="error").fit(TABLE, LISTS)
    with pytest.raises(InputError, match=r"^The model does not know the language 'fi'\. It knows en, it\.$"):
        model.predict(["tervetuloa"], languages=["fi"])


def test_pipelines_stacks_and_calibration_take_tables() -> None:
    pipe = make_pipeline(funnel()).fit(FORMS["dict"], ONE)
    assert pipe.predict({"text": TEXTS[:2], "language": LANGUAGES[:2]}).shape == (2,)
    stack = StackingClassifier([("funnel", funnel())], LogisticRegression(), cv=2).fit(TABLE, ONE)
    assert stack.predict(TABLE[:3]).shape == (3,)
    calibrated = CalibratedClassifierCV(funnel(), cv=2).fit(TABLE, ONE)
    np.testing.assert_allclose(calibrated.predict_proba(TABLE[:3]).sum(axis=1), 1)


def test_a_copy_by_pickle_or_a_folder_answers_alike(fitted: FunnellingClassifier, tmp_path: Path) -> None:
    expected = fitted.predict_proba(TABLE)
    joblib.dump(fitted, tmp_path / "model.joblib")
    fitted.save(tmp_path / "model")
    fitted.save(tmp_path / "small", keep="nothing")
    copies = [pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model.joblib")]
    for copy in (*copies, load_model(tmp_path / "model"), load_model(tmp_path / "small")):
        np.testing.assert_array_equal(copy.predict_proba(TABLE), expected)
    loaded = load_model(tmp_path / "model")
    assert loaded.get_params() == fitted.get_params()
    np.testing.assert_array_equal(loaded.fit(TABLE, LISTS).predict_proba(TABLE), expected)
    with pytest.raises(InputError, match="compact"):
        load_model(tmp_path / "small").update(TABLE, LISTS)


def test_views_beside_auto_are_resources() -> None:
    with pytest.raises(InputError, match="only an Encoder or Embeddings can stand beside 'auto', not 'lri'"):
        funnel(views=["auto", "lri"]).fit(TABLE, LISTS)
    with pytest.raises(InputError, match=r"^views must be 'auto' or a list of views"):
        funnel(views=None).fit(TABLE, LISTS)


def test_what_a_command_has_set_stays(tmp_path: Path) -> None:
    from funnelling.methods.registry import make_method
    from funnelling.storage import save

    settings = {"fun-views": {"views": ["own", "mixed"], "combine": "concat", "base_C": 2.0}}
    model = make_method("fun-views", settings=settings).fit(CORPUS)
    save(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, FunnellingClassifier)
    expected = loaded.predict_proba(TABLE)
    np.testing.assert_array_equal(loaded.fit(TABLE, LISTS, ids=CORPUS.ids).predict_proba(TABLE), expected)
