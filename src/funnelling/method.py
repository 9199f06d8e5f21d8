"""The contract that the funnels and every baseline share.

`Method` checks and sorts what the user gives, makes vectors of texts, and turns scores into decisions
and probabilities. A method writes only its idea: ``_fit`` and ``_scores``.
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from funnelling.errors import InputError
from funnelling.inputs import Inputs, is_mapping, is_texts, read_inputs, read_labels
from funnelling.randomness import assign_folds, seed_of
from funnelling.svm import Calibration, Temperature
from funnelling.svm.calibration import fit_calibration, fit_temperature
from funnelling.svm.gram import Matrix
from funnelling.svm.learner import decide

FOLDS = 5  # of every inner cross-validation: calibration, choice of C

Scores = npt.NDArray[np.floating[Any]]
Head = Calibration | Temperature


@dataclass
class Training:
    """What a method learns from: vectors, targets, folds and groups by language."""

    vectors: dict[str, Matrix]
    targets: dict[str, npt.NDArray[np.bool_]]
    folds: dict[str, npt.NDArray[np.intp]]
    groups: dict[str, Sequence[Any] | None]
    exclusive: bool
    seed: int

    @property
    def labels(self) -> int:
        return int(next(iter(self.targets.values())).shape[1])

    def stacked_targets(self) -> npt.NDArray[np.bool_]:
        return np.vstack(list(self.targets.values()))

    def stacked_folds(self) -> npt.NDArray[np.intp]:
        return np.concatenate(list(self.folds.values()))

    def fit_head(self, held_out: Scores, targets: npt.NDArray[np.bool_]) -> Head:
        """What makes probabilities of a method's final scores."""
        if self.exclusive:
            return fit_temperature(held_out, targets)
        return fit_calibration("platt", held_out, targets)


class Method(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """A classifier of documents in several languages under one set of labels."""

    vectorizer: Any
    random_state: Any
    n_jobs: int | None
    verbose: int

    # --- what a method writes -------------------------------------------------------------------

    @abstractmethod
    def _fit(self, training: Training) -> None:
        """Learn from checked input."""

    @abstractmethod
    def _scores(self, language: str, vectors: Matrix) -> Scores:
        """Scores of one language's documents: (documents, columns)."""

    @abstractmethod
    def _head(self, language: str) -> Head:
        """What turns that language's scores into probabilities."""

    def _cuts(self, language: str) -> npt.NDArray[np.float64] | float:  # noqa: ARG002
        """The scores above which the answer is yes; the paper's methods say yes above 0."""
        return 0.0

    def _fit_vectors(self, texts: dict[str, list[str]]) -> dict[str, Matrix]:
        """Vectors of the training texts: each language has a feature space of its own."""
        self.vectorizers_ = {language: self._vectorizer(language) for language in texts}
        return {language: self.vectorizers_[language].fit_transform(texts[language]) for language in texts}

    def _vectors(self, language: str, texts: list[str]) -> Matrix:
        return self.vectorizers_[language].transform(texts)

    # --- what every method has ------------------------------------------------------------------

    def fit(self, X: Any, y: Any, languages: Sequence[str | None] | None = None, groups: Any = None) -> Self:
        """Learn from documents and their labels.

        Parameters
        ----------
        X : texts, or a matrix of vectors, or a mapping from language to either
            A matrix is one language unless `languages` says otherwise. In a mapping each language has
            a feature space of its own.
        y : label lists, an indicator matrix, or a 1-D array (one label a document); a mapping if X is
        languages : a code a document, for texts or a matrix; missing ones are detected from the text
        groups : documents of one group (translations, versions) are never split by an inner fold
        """
        self._validate_parameters()
        if languages is None and not is_mapping(X) and not is_texts(X):
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        inputs = read_inputs(X, languages)
        labels = read_labels(y, inputs)
        divided = inputs.divide(groups, "groups") if groups is not None else {}
        seed = seed_of(self.random_state)
        self.classes_ = labels.classes
        self.languages_ = list(inputs.parts)
        self.exclusive_ = labels.exclusive
        self.texts_ = inputs.texts
        vectors = self._fit_vectors(inputs.parts) if inputs.texts else inputs.parts
        folds = {
            language: assign_folds(
                FOLDS, size, seed, "folds", language=language, groups=divided.get(language)
            )
            for language, size in inputs.sizes().items()
        }
        groups_by_language = {language: divided.get(language) for language in inputs.parts}
        self._fit(Training(vectors, labels.targets, folds, groups_by_language, labels.exclusive, seed))
        return self

    def decision_function(self, X: Any, languages: Sequence[str | None] | None = None) -> Any:
        """Scores: above 0 where `predict` says yes; one label a document goes to the highest."""
        inputs = self._read(X, languages)
        return inputs.gather(
            {language: self._squeeze(scores) for language, scores in self._decisions(inputs).items()}
        )

    def predict(self, X: Any, languages: Sequence[str | None] | None = None) -> Any:
        """The labels of documents: an indicator matrix with the columns of ``classes_``.

        After a 1-D y: one class a document. A mapping gives a mapping.
        """
        inputs = self._read(X, languages)
        return inputs.gather(
            {language: self._labels(scores) for language, scores in self._decisions(inputs).items()}
        )

    def predict_proba(self, X: Any, languages: Sequence[str | None] | None = None) -> Any:
        """Calibrated probabilities, with the columns of ``classes_``."""
        inputs = self._read(X, languages)
        results = {}
        for language, part in inputs.parts.items():
            probabilities = self._head(language)(self._language_scores(language, part, inputs.texts))
            if self.exclusive_ and probabilities.shape[1] == 1:
                probabilities = np.hstack([1 - probabilities, probabilities])
            results[language] = probabilities
        return inputs.gather(results)

    def thresholds(self, language: str) -> npt.NDArray[np.float64]:
        """The probability of each label above which `predict` says yes, in one language."""
        check_is_fitted(self, "classes_")
        cuts = np.broadcast_to(np.asarray(self._cuts(language), dtype=np.float64), (1, self._columns()))
        thresholds: npt.NDArray[np.float64] = self._head(language)(cuts)[0]
        return thresholds

    # --- how ------------------------------------------------------------------------------------

    def _validate_parameters(self) -> None:
        """Refuse parameters that cannot be used; methods with parameters of their own extend it."""

    def _columns(self) -> int:
        return 1 if self.exclusive_ and len(self.classes_) == 2 else len(self.classes_)

    def _vectorizer(self, language: str) -> Any:
        from funnelling.text.tfidf import TfidfVectorizer

        given = self.vectorizer
        if isinstance(given, Mapping):
            given = given.get(language)
        return TfidfVectorizer(language=language) if given is None else clone(given)

    def _read(self, X: Any, languages: Sequence[str | None] | None) -> Inputs:
        check_is_fitted(self, "classes_")
        if languages is None and not is_mapping(X) and not self.texts_:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        inputs = read_inputs(X, languages, known=self.languages_)
        if inputs.texts != self.texts_:
            fitted, given = ("texts", "vectors") if self.texts_ else ("vectors", "texts")
            raise InputError(f"The model was fitted on {fitted}, and X holds {given}.")
        unknown = [language for language in inputs.parts if language not in self.languages_]
        if unknown:
            raise InputError(
                f"The model does not know the language {unknown[0]!r}. It knows {', '.join(self.languages_)}."
            )
        return inputs

    def _language_scores(self, language: str, part: Any, texts: bool) -> Scores:
        return self._scores(language, self._vectors(language, part) if texts else part)

    def _decisions(self, inputs: Inputs) -> dict[str, Scores]:
        return {
            language: self._language_scores(language, part, inputs.texts) - self._cuts(language)
            for language, part in inputs.parts.items()
        }

    def _squeeze(self, scores: Scores) -> Scores:
        return scores[:, 0] if self.exclusive_ and scores.shape[1] == 1 else scores

    def _labels(self, decisions: Scores) -> npt.NDArray[Any]:
        if not self.exclusive_:
            return decide(decisions, exclusive=False).astype(int)
        binary = decisions.shape[1] == 1
        chosen = (decisions[:, 0] > 0).astype(int) if binary else decisions.argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[chosen]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
