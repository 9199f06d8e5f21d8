"""The funnel in plain scikit-learn: Algorithm 1 of Esuli, Moreo and Sebastiani (TOIS 2019).

A funnel classifies documents of many languages under one set of classes, in two tiers. Tier 1 has a base
classifier h¹ per language. It reads φ¹(d), the vector of document d in the words of its language, and gives a
score h¹(d, c) for each class c. From it a calibration function f makes a posterior: Pr(c|d) = f(h¹(d, c)).

Tier 2 is one meta-classifier h² for all languages. It reads φ²(d) = (Pr(c₁|d), …, Pr(cₙ|d)), the vector of
posteriors. A dimension of φ² is a class, whatever the language, so the training documents of all languages
train h² together. That is how a language with few training documents learns from the others.

The variants differ in the posteriors that train h². In Fun(TAT), "tat", the h¹ that scores a training
document was trained on it. In Fun(KFCV), "kfcv", it was not: cross-validation left the document out. In both,
a new document passes through the h¹ and f trained on all documents of its language, and then through h².

A document has any number of classes, so a classifier is one binary SVM per class, which says yes above 0.
Where each document has exactly one class, set ``meta_C`` and take the class with the highest score of h².
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.svm import SVC

Array = npt.NDArray[Any]
Classifier = Callable[[Any], Array]  # from vectors of documents to (documents, classes) scores, or posteriors
FOLDS = 5  # of the cross-validations that fit Platt's sigmoids and choose C
GRID = (0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)  # C of the meta-classifier


@dataclass
class Funnel:
    """A funnel, of either variant.

    ``calibration`` is "platt" (the paper's Calib), "fixed" (NoCalib) or "none" (NoProb). Without ``meta_C``,
    cross-validated micro-F1 chooses the C of the meta-classifier; the paper names no criterion. ``k`` is the
    number of folds of Fun(KFCV). A clone of ``vectorizer`` per language makes the vectors φ¹.

    >>> texts = {"en": ["a cat sleeps", "a dog barks"] * 9, "it": ["il gatto dorme", "un cane abbaia"] * 9}
    >>> labels = np.array([[1, 0], [0, 1]] * 9)
    >>> funnel = Funnel(meta_C=1.0).fit(texts, {"en": labels, "it": labels})
    >>> funnel.predict({"it": ["un cane", "il gatto"]})["it"].astype(int).tolist()
    [[0, 1], [1, 0]]
    """

    variant: Literal["tat", "kfcv"] = "tat"
    calibration: Literal["platt", "fixed", "none"] = "platt"
    base_C: float = 1.0
    meta_C: float | None = None
    k: int = 10
    vectorizer: Any = field(default_factory=lambda: TfidfVectorizer(min_df=3, sublinear_tf=True))

    def fit(self, documents: Mapping[str, Any], labels: Mapping[str, Array]) -> "Funnel":
        """Train both tiers, on ``labels`` that are (documents, classes) indicators by language."""
        self.phi1, self.f_of_h1, self.phi2, folds = {}, {}, {}, {}
        for language, texts in documents.items():
            self.phi1[language] = clone(self.vectorizer).fit(texts)
            X, Y = self.phi1[language].transform(texts), labels[language].astype(bool)
            folds[language] = deal_folds(FOLDS, language, len(Y))
            self.f_of_h1[language] = self._tier_one(X, Y, folds[language])
            self.phi2[language] = self.f_of_h1[language](X)
            if self.variant == "kfcv":
                fold_of_document = deal_folds(self.k, language, len(Y))
                for fold in np.unique(fold_of_document):
                    out = fold_of_document == fold
                    f_of_h1 = self._tier_one(X[~out], Y[~out], folds[language][~out])
                    trained = Y[~out].any(axis=0)  # the other classes keep the posteriors of Fun(TAT)
                    self.phi2[language][np.ix_(out, trained)] = f_of_h1(X[out])[:, trained]
        phi2, Y = (np.vstack([each[language] for language in documents]) for each in (self.phi2, labels))
        self.h2 = self._tier_two(phi2, Y.astype(bool), np.concatenate(list(folds.values())))
        return self

    def _tier_one(self, X: Any, Y: Array, folds: Array) -> Classifier:
        """A language's base classifier h¹ and calibration function f, as one: from vectors to posteriors."""
        svm = {"kernel": "linear", "C": self.base_C}
        h1, mixed = train(X, Y, svm), Y.any(axis=0) & ~Y.all(axis=0)
        a, b = np.ones(Y.shape[1]), np.zeros(Y.shape[1])  # "fixed" leaves them so
        if self.calibration == "platt":
            held_out = cross_validate(X, Y, folds, svm)
            a[mixed], b[mixed] = fit_platt(held_out[:, mixed], Y[:, mixed])
        f: Any = (lambda h: h) if self.calibration == "none" else (lambda h: expit(a * h + b))
        return lambda X: np.where(mixed, f(h1(X)), Y.all(axis=0))  # 0 without positives, 1 without negatives

    def _tier_two(self, phi2: Array, Y: Array, folds: Array) -> Classifier:
        """The meta-classifier h² of all languages, from posteriors to scores."""
        svm = {"kernel": "rbf", "gamma": 1 / Y.any(axis=0).sum()}

        def micro_f1(C: float) -> Any:
            return f1_score(Y, cross_validate(phi2, Y, folds, svm | {"C": C}) > 0, average="micro")

        self.C = max(GRID, key=micro_f1) if self.meta_C is None else self.meta_C
        return train(phi2, Y, svm | {"C": self.C})

    def scores(self, language: str, texts: Any) -> Array:
        """The scores h²(d, c) of documents in a language."""
        return self.h2(self.f_of_h1[language](self.phi1[language].transform(texts)))

    def predict(self, documents: Mapping[str, Any]) -> dict[str, Array]:
        """The classes of documents, as (documents, classes) indicators by language."""
        return {language: self.scores(language, texts) > 0 for language, texts in documents.items()}


def deal_folds(k: int, language: str, documents: int) -> Array:
    """A random fold for each document; translations of it may be in other folds."""
    return np.random.default_rng([k, *language.encode()]).permutation(np.arange(documents) % k)


def train(X: Any, Y: Array, svm: Mapping[str, Any]) -> Classifier:
    """A classifier h: one SVM per class; -1 or 1 for a class that no document has or all have."""
    svms = {c: SVC(tol=1e-5, **svm).fit(X, y) for c, y in enumerate(Y.T) if y.any() and not y.all()}

    def h(X: Any, c: int) -> Any:
        return svms[c].decision_function(X) if c in svms else np.full(X.shape[0], 1.0 if Y[0, c] else -1.0)

    return lambda X: np.column_stack([h(X, c) for c in range(Y.shape[1])])


def cross_validate(X: Any, Y: Array, folds: Array, svm: Mapping[str, Any]) -> Array:
    """Scores of the training documents, each from a classifier that has not seen the document's fold."""
    scores = np.empty(Y.shape)
    for fold in np.unique(folds):
        out = folds == fold
        scores[out] = train(X[~out], Y[~out], svm)(X[out])
    return scores


def fit_platt(h: Array, Y: Array) -> tuple[Array, Array]:
    """Fit Platt's sigmoid 1 / (1 + exp(-(a·h + b))) of each class to held-out scores and smoothed targets."""
    positives, negatives = Y.sum(axis=0), (~Y).sum(axis=0)
    targets = np.where(Y, (positives + 1) / (positives + 2), 1 / (negatives + 2))

    def fit(c: int, slope: float | None = None) -> Any:
        def loss(ab: Array) -> Any:  # cross-entropy
            z = (ab[0] if slope is None else slope) * h[:, c] + ab[-1]
            return (np.logaddexp(0, z) - targets[:, c] * z).sum()

        return minimize(loss, [0.0, 0.0] if slope is None else [0.0]).x

    a, b = np.reshape([fit(c) for c in range(Y.shape[1])], (-1, 2)).T
    falls = a <= 0  # chance, where positives are few: such classes take the median slope of the others
    a[falls] = 1.0 if falls.all() else np.median(a[~falls])
    b[falls] = [fit(c, a[c]).item() for c in np.flatnonzero(falls).tolist()]
    return a, b
