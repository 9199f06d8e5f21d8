"""What a user would write in place of our methods, and uses like one: from texts to labels.

scikit-learn works in threads here, where each worker process would hold a copy of the documents.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Self

import numpy as np
from joblib import parallel_config
from sklearn.base import ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_union
from sklearn.svm import LinearSVC

from funnelling.corpus import Corpus
from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.matrices import Matrix, stacked
from funnelling.spaces.base import Space
from funnelling.spaces.outside import EncoderSpace
from funnelling.spaces.words import PooledSpace
from funnelling.svm.learner import C_GRID, Search
from funnelling.text import tfidf
from recipe import Recipe

Texts = Mapping[str, list[str]]  # by language
Answers = Mapping[str, Any]  # by language: a 1-D array of labels, or an indicator matrix

FOLDS = 5
RECIPE_LIMIT = 5e8  # documents² · labels: some minutes


class Peer(ABC):
    """Something that learns one label per document from a 1-D array, several from lists."""

    def __init__(self, jobs: int, seed: int) -> None:
        self.jobs = jobs
        self.seed = seed

    def fit(self, documents: Corpus) -> Self:
        y: Any = documents.y
        self.exclusive_ = isinstance(y, np.ndarray)
        if self.exclusive_:
            self.classes_ = np.unique(y)
        else:
            self.classes_ = np.array(sorted({label for labels in y for label in labels}), dtype=object)
            y = np.array([[label in labels for label in self.classes_] for labels in map(set, y)])
        rows = _rows(documents.known_languages())
        # Some searches try a C at which LinearSVC does not converge, and a label may be missing in a fold.
        with warnings.catch_warnings(), parallel_config(backend="threading"):
            warnings.simplefilter("ignore")
            self._fit(_texts(documents.texts, rows), {language: y[own] for language, own in rows.items()})
        return self

    def predict(self, texts: Sequence[str], *, languages: Sequence[str], **_: Any) -> Any:
        rows = _rows(languages)
        answers = self._predict(_texts(texts, rows))
        places = np.argsort(_joined(rows))
        return _joined(answers)[places]

    @property
    def labels(self) -> LabelSpace:
        """What `as_indicators` asks for."""
        return LabelSpace(self.classes_, self.exclusive_)

    @abstractmethod
    def _fit(self, texts: Texts, y: Answers) -> None: ...

    @abstractmethod
    def _predict(self, texts: Texts) -> Answers: ...

    def _for_labels(self, classifier: ClassifierMixin, jobs: int) -> ClassifierMixin:
        """A classifier, one per label where documents may have several."""
        return classifier if self.exclusive_ else OneVsRestClassifier(classifier, n_jobs=jobs)


class Pipeline(Peer):
    """Words and characters of all languages, a linear SVM, with scikit-learn's defaults."""

    def __init__(self, jobs: int, seed: int, class_weight: str | None = None) -> None:
        super().__init__(jobs, seed)
        self.class_weight = class_weight

    def _fit(self, texts: Texts, y: Answers) -> None:
        characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5))
        self.vectorizer_ = make_union(TfidfVectorizer(), characters)
        X = self.vectorizer_.fit_transform(list(chain(*texts.values())))
        svm = self._for_labels(LinearSVC(class_weight=self.class_weight), self.jobs)
        self.svm_ = svm.fit(X, _joined(y))

    def _predict(self, texts: Texts) -> Answers:
        return {
            language: self.svm_.predict(self.vectorizer_.transform(own)) for language, own in texts.items()
        }


class SpacePeer(Peer):
    """One classifier over the vectors of all languages in one of our spaces."""

    @abstractmethod
    def _space(self) -> Space: ...

    @abstractmethod
    def _fitted(self, X: Matrix, y: Any) -> ClassifierMixin: ...

    def _fit(self, texts: Texts, y: Answers) -> None:
        self.space_ = self._space()
        X = stacked(self.space_.fit(texts, {})).astype(np.float64)
        self.classifier_ = self._fitted(X, _joined(y))

    def _predict(self, texts: Texts) -> Answers:
        return {
            language: self.classifier_.predict(self.space_.vectors(language, own))
            for language, own in texts.items()
        }


class SearchedLinearSVC(SpacePeer):
    """`LinearSVC` over the vectors of `pooled`, its C searched as there: same grid, folds and end."""

    def _space(self) -> Space:
        return PooledSpace()

    def _fitted(self, X: Matrix, y: Any) -> ClassifierMixin:
        folds = KFold(FOLDS, shuffle=True, random_state=self.seed)
        search, self.tried_ = Search(), []
        for C in C_GRID:
            svm = self._for_labels(LinearSVC(C=C), 1)
            decisions = cross_val_predict(svm, X, y, cv=folds, n_jobs=self.jobs)
            reached = f1_score(y, decisions, average="micro")
            self.tried_.append(C)
            if search.improves(reached):
                self.C_ = C
            if search.is_over:
                break
        return self._for_labels(LinearSVC(C=self.C_), self.jobs).fit(X, y)


class EncoderHead(SpacePeer):
    """Logistic regression over the vectors of an encoder, which stays as it is."""

    def __init__(self, jobs: int, seed: int, encoder: str) -> None:
        super().__init__(jobs, seed)
        self.encoder = encoder

    def _space(self) -> Space:
        return EncoderSpace(self.encoder)

    def _fitted(self, X: Matrix, y: Any) -> ClassifierMixin:
        return self._for_labels(LogisticRegression(max_iter=1_000), self.jobs).fit(X, y)


class TextRecipe(Peer):
    """The recipe over tf-idf vectors of each language, tier 2's C searched."""

    def _fit(self, texts: Texts, y: Answers) -> None:
        self.vectorizers_ = {
            language: tfidf.TfidfVectorizer(language).fit(own) for language, own in texts.items()
        }
        targets = (
            y if not self.exclusive_ else {each: own[:, None] == self.classes_ for each, own in y.items()}
        )
        self.recipe_ = Recipe(None, self.jobs, self.seed).fit(self._vectors(texts), targets)

    def _predict(self, texts: Texts) -> Answers:
        scores = self.recipe_.scores(self._vectors(texts))
        if self.exclusive_:
            return {language: self.classes_[own.argmax(axis=1)] for language, own in scores.items()}
        return {language: own > 0 for language, own in scores.items()}

    def _vectors(self, texts: Texts) -> dict[str, Matrix]:
        return {
            language: self.vectorizers_[language].transform(own).astype(np.float64)
            for language, own in texts.items()
        }


PEERS: dict[str, Callable[[int, int], Peer]] = {
    "linear-svc": SearchedLinearSVC,
    "pipeline": Pipeline,
    "pipeline-balanced": partial(Pipeline, class_weight="balanced"),
    "recipe": TextRecipe,
}


def parse_peers(text: str) -> list[str]:
    """Names of peers from ``linear-svc,pipeline``, or none.

    >>> parse_peers("pipeline, recipe"), parse_peers("")
    (['pipeline', 'recipe'], [])
    """
    names = [name.strip() for name in text.split(",")] if text.strip() else []
    for name in names:
        if name not in PEERS:
            raise InputError(f"There is no peer {name!r}. Choose from {', '.join(PEERS)}.")
    return names


def takes_hours(name: str, train: Corpus) -> bool:
    """Whether a peer would take hours to learn from so many documents and labels: only the recipe does."""
    return name == "recipe" and len(train) ** 2 * len(train.label_set()) > RECIPE_LIMIT


def _rows(languages: Sequence[str]) -> dict[str, Any]:
    """Where each language's documents are."""
    return {
        str(language): np.flatnonzero(np.array(languages) == language) for language in np.unique(languages)
    }


def _texts(texts: Sequence[str], rows: Mapping[str, Any]) -> dict[str, list[str]]:
    return {language: [texts[row] for row in own] for language, own in rows.items()}


def _joined(arrays: Mapping[str, Any]) -> Any:
    return np.concatenate(list(arrays.values()))
