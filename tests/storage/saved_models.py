"""Models of every kind that a folder may hold, for the tests of storage and for processes of their own.

python -m tests.storage.saved_models save FOLDER JOBS     fit each case and save it
python -m tests.storage.saved_models answer FOLDER        load each case and write down what it says
"""

import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from funnelling import ManyLabelsClassifier, load_model
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.matrices import dense
from funnelling.research import DCIClassifier, NaiveClassifier, PooledClassifier, WordsAndCharactersClassifier
from funnelling.storage import save_model
from tests.artificial import text_corpus, vector_corpus
from tests.funnels import any_funnel

VECTORS = vector_corpus()
TEXTS, LABELS, LANGUAGES = text_corpus(documents=60)
FIRST_LABELS = [(labels or ["none"])[0] for labels in LABELS]
ODD_NAMES = {"en": "a/b", "it": "a b%2Fc ü"}


def _named(parts: dict[str, Any]) -> dict[str, Any]:
    return {ODD_NAMES[language]: part for language, part in parts.items()}


# what a model is fitted on: X, y, languages
DATA: dict[str, tuple[Any, Any, Any]] = {
    "texts": (TEXTS, LABELS, LANGUAGES),
    "texts of one label": (TEXTS, FIRST_LABELS, LANGUAGES),
    "mapping": (VECTORS.X, VECTORS.y, None),
    "mapping of odd names": (_named(VECTORS.X), _named(VECTORS.y), None),
    "matrix": (VECTORS.stacked, VECTORS.indicator, VECTORS.languages),
    "large vectors": (VECTORS.stacked * [4e6, *[1] * 11], VECTORS.indicator, VECTORS.languages),
    "matrix of two classes": (VECTORS.stacked, VECTORS.indicator[:, 0], VECTORS.languages),
    "matrix of truth values": (VECTORS.stacked, VECTORS.indicator[:, 0] > 0, VECTORS.languages),
    "matrix of numbers": (VECTORS.stacked, VECTORS.indicator.sum(axis=1), VECTORS.languages),
    "one language": (VECTORS.X["en"], VECTORS.y["en"], None),
}


def _fun(**parameters: Any) -> FunnelEstimator:
    return any_funnel(**{"views": None, "random_state": 0, "meta_C": 1, **parameters})


# case: (an unfitted model, what it is fitted on)
CASES: dict[str, tuple[Any, str]] = {
    "fun-tat": (_fun(meta_C=None), "texts"),
    "fun-kfcv": (_fun(variant="kfcv", folds=3), "texts"),
    "fun-auto": (_fun(views="auto"), "texts"),
    "odds": (_fun(views=["own", "mixed"], final_estimator="odds"), "texts"),
    "odds of one label": (_fun(views=["mixed", "own-mixed"], final_estimator="odds"), "texts of one label"),
    "naive": (NaiveClassifier(random_state=0), "texts"),
    "pooled": (PooledClassifier(random_state=0), "texts"),
    "words-and-characters": (WordsAndCharactersClassifier(random_state=0), "texts"),
    "fun-many": (ManyLabelsClassifier(random_state=0), "texts"),
    "fun-many of one label": (ManyLabelsClassifier(random_state=0), "texts of one label"),
    "fun-many of vectors": (ManyLabelsClassifier(random_state=0), "mapping"),
    "dci of vectors": (DCIClassifier(random_state=0), "mapping"),
    "large numbers in vectors": (_fun(views=["own", "pooled"]), "large vectors"),
    "numbers of NumPy": (_fun(random_state=np.int64(3), meta_gamma=np.float64(0.3)), "mapping"),
    "calibration none": (_fun(calibration="none"), "mapping"),
    "calibration fixed": (_fun(calibration="fixed"), "mapping"),
    "one label a document": (_fun(), "texts of one label"),
    "one label a document naive": (NaiveClassifier(C=1, random_state=0), "texts of one label"),
    "two classes": (_fun(), "matrix of two classes"),
    "classes of truth values": (_fun(), "matrix of truth values"),
    "classes of numbers": (_fun(), "matrix of numbers"),
    "mapping fun-tat": (_fun(), "mapping"),
    "mapping fun-kfcv": (_fun(variant="kfcv", folds=3), "mapping"),
    "mapping naive": (NaiveClassifier(C=1, random_state=0), "mapping"),
    "mapping of odd names": (_fun(), "mapping of odd names"),
    "matrix pooled": (PooledClassifier(C=1, random_state=0), "matrix"),
    "one language": (_fun(), "one language"),
    "base estimator": (_fun(base_estimator=LogisticRegression()), "texts"),
    "base estimators": (_fun(base_estimator={"en": SGDClassifier(loss="log_loss"), "it": None}), "mapping"),
    "meta estimator": (_fun(final_estimator=LogisticRegression(C=10)), "mapping"),
    "both estimators": (
        _fun(base_estimator=ComplementNB(), final_estimator=make_pipeline(StandardScaler(), LinearSVC())),
        "texts",
    ),
    "calibrated estimator": (
        _fun(base_estimator=CalibratedClassifierCV(LinearSVC(), cv=2, ensemble=False)),
        "mapping",
    ),
    "neural network": (_fun(final_estimator=MLPClassifier([4], max_iter=5)), "mapping"),
    "vectorizer": (_fun(vectorizer=TfidfVectorizer(min_df=2, sublinear_tf=True)), "texts"),
    "vectorizers": (_fun(vectorizer={"en": TfidfVectorizer(), "it": None}), "texts"),
    "vectorizer pooled": (
        PooledClassifier(C=1, vectorizer=TfidfVectorizer(stop_words=["il"]), random_state=0),
        "texts",
    ),
}


def fitted(case: str, jobs: int = 1) -> Any:
    model, data = CASES[case]
    X, y, languages = DATA[data]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, of small data and few iterations
        return deepcopy(model).set_params(n_jobs=jobs).fit(X, y, languages=languages)


def answers(case: str, model: Any) -> dict[str, Any]:
    """All that a model says of the documents it was fitted on."""
    X, _, languages = DATA[CASES[case][1]]
    said: dict[str, Any] = {}
    for question in ("predict", "predict_proba", "decision_function"):
        answer = getattr(model, question)(X, languages=languages)
        by_language = answer if isinstance(answer, dict) else {"": answer}
        said |= {f"{question} {tag}": dense(part) for tag, part in by_language.items()}
    return said


def spelled_out(said: dict[str, Any]) -> dict[str, str]:
    """Answers to the bit: their type and their bytes, or the strings of classes."""
    return {
        question: f"{answer.dtype} {answer.tolist() if answer.dtype == object else answer.tobytes().hex()}"
        for question, answer in said.items()
    }


def small_model(**parameters: Any) -> FunnelEstimator:
    """A fun-tat of vectors, for tests of which the model itself matters little."""
    model = _fun(**parameters)
    return model.fit(VECTORS.stacked, VECTORS.indicator, languages=VECTORS.languages)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a model folder with their bytes."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def main(command: str, folder: Path, jobs: int = 1) -> None:
    run: dict[str, Callable[[str], object]] = {
        "save": lambda case: save_model(fitted(case, jobs), folder / case),
        "answer": lambda case: (folder / case / "answers.txt").write_text(
            repr(spelled_out(answers(case, load_model(folder / case)))), encoding="utf-8"
        ),
    }
    for case in CASES:
        run[command](case)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
