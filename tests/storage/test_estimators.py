"""Estimators of others: scikit-learn's own are saved without pickle, all else is refused in one line."""

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from safetensors.numpy import save as save_arrays
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from skops.io import dumps

from funnelling import InputError, load_model
from funnelling.research import NaiveClassifier
from funnelling.storage import folders, save_model

from .saved_models import DATA, small_model


class Foreign(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of somebody else's."""

    def fit(self, _X: Any, y: Any) -> "Foreign":
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return np.asarray(X).sum(axis=1)


FOREIGN = f"{__name__}.Foreign"


class TestWhatCannotBeSaved:
    @pytest.mark.parametrize(
        ("parameters", "says"),
        [
            (
                {"base_estimator": Foreign()},
                f"base_estimator is a {FOREIGN}, and only",
            ),
            (
                {"base_estimator": {"en": Foreign()}},
                f"base_estimator.en is a {FOREIGN}",
            ),
            ({"final_estimator": Foreign()}, f"final_estimator is a {FOREIGN}"),
            (
                {"base_estimator": make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression())},
                f"base_estimator is a sklearn.pipeline.Pipeline and holds a {__name__}.<lambda>",
            ),
            (
                {"base_estimator": make_pipeline(FunctionTransformer(np.copy), LogisticRegression())},
                "base_estimator is a sklearn.pipeline.Pipeline and holds a numpy.copy",
            ),
            (
                {"final_estimator": RandomForestClassifier(n_estimators=2)},
                "holds a sklearn.tree._tree.Tree, which cannot be loaded safely",
            ),
            ({"random_state": np.random.RandomState(0)}, "random_state is a numpy.random.mtrand.RandomState"),
        ],
        ids=[
            "foreign",
            "foreign of a language",
            "foreign meta",
            "lambda",
            "function",
            "forest",
            "random state",
        ],
    )
    def test_is_refused_in_one_line(self, parameters: dict[str, Any], says: str, tmp_path: Path) -> None:
        model = small_model(**parameters)
        with pytest.raises(InputError) as refusal:
            save_model(model, tmp_path / "m")
        assert says in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert not list(tmp_path.iterdir())

    def test_a_vectorizer_with_a_tokenizer_of_its_own(self, tmp_path: Path) -> None:
        texts, labels, languages = DATA["texts"]
        vectorizer = TfidfVectorizer(tokenizer=lambda text: text.split(), token_pattern=None)
        model = NaiveClassifier(C=1, vectorizer=vectorizer).fit(texts, labels, languages=languages)
        with pytest.raises(InputError, match=r"vectorizer is a sklearn.*TfidfVectorizer and holds a tests"):
            save_model(model, tmp_path / "m")


class Evil(BaseEstimator):  # type: ignore[misc]
    """What an author of evil would put into a model."""


def test_a_forged_estimator_is_refused(tmp_path: Path) -> None:
    save_model(small_model(base_estimator=LogisticRegression()), tmp_path / "m")
    document = json.loads((tmp_path / "m" / "model.json").read_text(encoding="utf-8"))
    arrays = load_file(tmp_path / "m" / next(iter(document["files"])))
    for content in (dumps(Evil()), pickle.dumps(Evil()), b"PK rubbish"):
        arrays["/parameters/base_estimator"] = np.frombuffer(content, dtype=np.uint8)
        packed = save_arrays(arrays)
        digest = hashlib.sha256(packed).hexdigest()
        name = folders.arrays_name(digest)
        folders.write(tmp_path / "m", {**document, "files": {name: digest}}, {name: packed})
        with pytest.raises(InputError, match="the model is damaged: its content does not fit together"):
            load_model(tmp_path / "m")
