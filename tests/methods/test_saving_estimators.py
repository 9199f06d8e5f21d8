"""What a folder keeps of an estimator, beside its model."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from funnelling import InputError, load_model
from funnelling.research import NaiveClassifier
from funnelling.storage import load, save, save_model
from tests.artificial import text_corpus
from tests.funnels import any_funnel

TEXTS, LABELS, LANGUAGES = text_corpus(40)


@pytest.mark.parametrize("which", ["base_estimator", "final_estimator"])
def test_estimators_of_ours_within_a_funnel_come_back(which: str, tmp_path: Path) -> None:
    parameters: dict[str, Any] = {which: NaiveClassifier(C=1.0)}
    model = any_funnel(views=None, random_state=0, **parameters).fit(TEXTS, LABELS, LANGUAGES)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(
        loaded.predict_proba(TEXTS, LANGUAGES), model.predict_proba(TEXTS, LANGUAGES)
    )


@dataclass(eq=False, repr=False)
class Further(NaiveClassifier):
    """An estimator of the user's, with a parameter of its own."""

    further: int = 5


def test_a_class_of_the_users_own_is_refused_but_works(tmp_path: Path) -> None:
    model = Further(C=1.0).fit(TEXTS, LABELS, LANGUAGES)
    assert model.predict(TEXTS, LANGUAGES).any()
    with pytest.raises(InputError, match="Further is a class of your own"):
        save_model(model, tmp_path / "m")
    with pytest.raises(InputError, match="Give a fitted estimator of funnelling, not int"):
        save_model(3, tmp_path / "m")  # type: ignore[arg-type]
    save_model(model.model_, tmp_path / "m")
    assert type(load_model(tmp_path / "m")) is NaiveClassifier


def test_columns_of_a_data_frame_keep_their_names(tmp_path: Path) -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=["a", "b", "c"])
    model = NaiveClassifier(C=1.0).fit(X, ["x", "y"] * 10)
    save_model(model, tmp_path / "m")
    for each in (
        model,
        load_model(tmp_path / "m"),
        load_model(tmp_path / "m").update(X + 1, ["x", "y"] * 10),
    ):
        assert each.feature_names_in_.tolist() == ["a", "b", "c"]  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match="feature names should match"):
            each.predict(X[["b", "a", "c"]])


def test_a_goal_that_was_set_since_is_not_taken_for_that_of_the_thresholds() -> None:
    def tuned(**later: str) -> Any:
        model = any_funnel(views=None, random_state=0, thresholds="recall=.95")
        return model.fit(TEXTS, LABELS, LANGUAGES).set_params(**later).tune("macro-f1").total()

    assert tuned(thresholds="nonsense") == tuned()


def test_what_was_set_since_the_fit_goes_along(tmp_path: Path) -> None:
    model = any_funnel(views=None, random_state=0).fit(TEXTS, LABELS, LANGUAGES)
    save_model(model.set_params(zero_shot="pooled", base_C=2.0), tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.get_params() == model.get_params()
    assert loaded.model_.built == {"zero_shot": None}
    again = loaded.fit(TEXTS, LABELS, LANGUAGES).predict_proba(TEXTS, LANGUAGES)
    np.testing.assert_array_equal(again, model.fit(TEXTS, LABELS, LANGUAGES).predict_proba(TEXTS, LANGUAGES))


def test_a_forged_parameter_of_the_fit_is_refused(tmp_path: Path) -> None:
    model = any_funnel(views=None, random_state=0).fit(TEXTS, LABELS, LANGUAGES).model_
    for built in ({"embeddings": "/etc"}, {"views": ["nope"]}):
        with pytest.raises(InputError):
            save(replace(model, built=built), tmp_path / "m")
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").built == {}
