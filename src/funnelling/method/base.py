"""The contract that the funnels and every baseline share.

`Method` checks and sorts what the user gives, makes vectors of texts, and turns scores into decisions
and probabilities. A method writes only its idea: ``_fit`` and ``_scores``.
"""

import logging
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from funnelling.errors import InputError
from funnelling.matrices import FLOATS, Matrix, Scores, check_vectors
from funnelling.method.inputs import Inputs, is_mapping, is_texts, read_inputs
from funnelling.method.labels import are_right, check_learnable, read_labels
from funnelling.method.training_set import Head, Prepared, Training
from funnelling.randomness import seed_of
from funnelling.svm import Calibration
from funnelling.svm.learner import decide
from funnelling.text.languages import is_served
from funnelling.text.vocabularies import fit_own
from funnelling.work.progress import Advance, progress_bar

logger = logging.getLogger(__name__)


class Method(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """A classifier of documents in several languages under one set of labels."""

    vectorizer: Any
    memory_limit: float
    random_state: Any
    n_jobs: int | None
    verbose: int
    reads_parallel: ClassVar[bool] = False  # whether it learns from ``parallel`` rows too

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

    def _fit_vectors(
        self,
        documents: dict[str, Any],
        targets: dict[str, npt.NDArray[np.bool_]],  # noqa: ARG002
        seed: int,  # noqa: ARG002
    ) -> dict[str, Matrix]:
        """Vectors of the training documents: each language has a feature space of its own."""
        if not self.texts_:
            return documents
        self.vectorizers_, vectors = fit_own(documents, self.vectorizer, bool(self.verbose))
        return vectors

    def _vectors(self, language: str, documents: Any) -> Matrix:
        return self.vectorizers_[language].transform(documents) if self.texts_ else documents

    def linear(self, language: str) -> Any:  # noqa: ARG002
        """The scorer of a language's vectors, None where the method has no such."""
        return None

    def feature_names(self, language: str) -> Sequence[str] | None:
        """What the columns of a language's vectors stand for, None where they have no names."""
        vectorizer = getattr(self, "vectorizers_", {}).get(language)
        names = getattr(vectorizer, "get_feature_names_out", None)
        return None if names is None else list(names())

    def usable(self, languages: Sequence[str]) -> list[str]:
        """Which of the languages of training documents the method can learn from, with what it was given."""
        return list(languages)

    def serves_unseen(self, language: str) -> bool:  # noqa: ARG002
        """Whether documents in a language without training documents can be labelled."""
        return False

    # --- what every method has ------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        languages: Sequence[str | None] | None = None,
        groups: Any = None,
        ids: Any = None,
    ) -> Self:
        """Learn from documents and their labels.

        Parameters
        ----------
        X : texts, or a matrix of vectors, or a mapping from language to either
            A matrix is one language unless `languages` says otherwise. In a mapping each language has
            a feature space of its own and is called what its key says.
        y : label lists, an indicator matrix, or a 1-D array (one label a document); a mapping if X is
        languages : a code a document, for texts or a matrix; missing ones are detected from the text
        groups : documents of one group (translations, versions) are never split by an inner fold
        ids : what `explain` calls the documents; by default their numbers
        """
        self._validate_parameters()
        self._forget()
        inputs = read_inputs(self._checked(X, reset=True), languages)
        labels = read_labels(y, inputs)
        divided = inputs.divide(groups, "groups") if groups is not None else {}
        named = inputs.names() if ids is None else inputs.divide(ids, "ids")
        self.classes_ = labels.classes
        self.exclusive_ = labels.exclusive
        self.texts_ = inputs.texts
        self.languages_ = self._learned_languages(list(inputs.parts))
        documents = {language: inputs.parts[language] for language in self.languages_}
        targets = {language: labels.targets[language] for language in self.languages_}
        seed = seed_of(self.random_state)
        fitted = self._fit_vectors(documents, targets, seed)
        vectors = {language: check_vectors(X) for language, X in fitted.items()}
        given = vectors if inputs.texts else documents
        self.features_ = {language: int(X.shape[1]) for language, X in given.items()}
        return self._learn(
            Training.of(
                documents,
                vectors,
                targets,
                {language: divided.get(language) for language in documents},
                {language: [str(name) for name in named[language]] for language in documents},
                labels.exclusive,
                seed,
                self.n_jobs,
            )
        )

    def fit_prepared(self, prepared: Prepared) -> Self:
        """Learn from texts whose vectors were made before, in each language's own words.

        The result is that of `fit` on the texts. Methods that see texts in another way refuse.
        """
        self._validate_parameters()
        if not self.learns_own_words():
            raise InputError(f"{self._name()} needs the texts themselves. Use fit.")
        check_learnable(prepared.targets.values())
        self._forget()
        self.classes_ = prepared.classes
        self.exclusive_ = False
        self.texts_ = True
        self.languages_ = self._learned_languages(list(prepared.vectors))
        self.vectorizers_ = prepared.vectorizers
        self.features_ = {language: int(X.shape[1]) for language, X in prepared.vectors.items()}
        seed = seed_of(self.random_state)
        return self._learn(
            Training.of(
                prepared.vectors,
                prepared.vectors,
                prepared.targets,
                prepared.groups,
                prepared.ids,
                False,
                seed,
                self.n_jobs,
            )
        )

    def on_device(self, device: str) -> Self:
        """The method, at work on "cpu" or "cuda" from now on, where it can be on either."""
        return self.set_params(device=device) if "device" in self.get_params(deep=False) else self

    def learns_own_words(self) -> bool:
        """Whether vectors of each language's own words are all that the method learns from."""
        return self.vectorizer is None and type(self)._fit_vectors is Method._fit_vectors

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # nothing of an earlier fit outlives this one

    def _learn(self, training: Training) -> Self:
        self.documents_ = {language: len(part) for language, part in training.targets.items()}
        self._fit(training)
        return self

    def decision_function(self, X: Any, languages: Sequence[str | None] | None = None) -> Any:
        """Scores: above 0 where `predict` says yes; one label a document goes to the highest."""
        inputs = self._read(X, languages)
        return inputs.gather(
            {language: self._squeeze(decisions) for language, decisions in self._decisions(inputs)}
        )

    def predict(self, X: Any, languages: Sequence[str | None] | None = None) -> Any:
        """The labels of documents: an indicator matrix with the columns of ``classes_``.

        After a 1-D y: one class a document. A mapping gives a mapping.
        """
        inputs = self._read(X, languages)
        return inputs.gather(
            {language: self._labels(decisions) for language, decisions in self._decisions(inputs)}
        )

    def predict_proba(self, X: Any, languages: Sequence[str | None] | None = None) -> Any:
        """Calibrated probabilities, with the columns of ``classes_``."""
        return self.classify(X, languages)[1]

    def classify(self, X: Any, languages: Sequence[str | None] | None = None) -> tuple[Any, Any]:
        """What `predict` and `predict_proba` give, for the work of one of them."""
        inputs = self._read(X, languages)
        decided, probable = {}, {}
        for language, scores in self._scored(inputs):
            decided[language] = self._labels(scores - self._cuts(language))
            probable[language] = self._probabilities(language, scores)
        return inputs.gather(decided), inputs.gather(probable)

    def explain(
        self,
        X: Any,
        languages: Sequence[str | None] | None = None,
        labels: Sequence[str] | None = None,
        top: int = 10,
    ) -> list[dict[str, Any]]:
        """Why texts get their labels: what words and what other labels added to the scores.

        ``labels`` are explained, or those assigned, or the most probable ones where none is. The ``top``
        contributions by size are told, the others as one sum. What a method cannot tell is not there.
        """
        from funnelling.method.explanation import explain_documents

        return explain_documents(self, X, languages, labels, top)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, languages: Sequence[str | None] | None = None
    ) -> float:
        """The share of documents whose labels are all right, scikit-learn's accuracy."""
        inputs = self._read(X, languages)
        truth = inputs.divide(y, "y")
        right = {
            language: are_right(self._labels(decisions), truth[language], self.classes_)
            for language, decisions in self._decisions(inputs)
        }
        gathered = inputs.gather(right)
        flags = np.concatenate(list(gathered.values())) if is_mapping(gathered) else gathered
        return float(np.average(flags, weights=sample_weight))

    def serves(self, language: str) -> bool:
        """Whether documents in a language can be labelled."""
        check_is_fitted(self, "classes_")
        return is_served(language, self.languages_) or self.serves_unseen(language)

    def final_c(self) -> Any:
        """The C of the final classifiers, by language where each has its own; None where there is none."""
        return getattr(self, "meta_C_", None) or getattr(self, "C_", None)

    def thresholds(self, language: str) -> npt.NDArray[np.float64]:
        """The probability of each label above which `predict` says yes, in one language.

        .5 for a label that training left no choice about. After a 1-D y the most probable class is
        predicted, and thresholds say nothing.
        """
        check_is_fitted(self, "classes_")
        head = self._head(language)
        cuts = np.broadcast_to(np.asarray(self._cuts(language), dtype=np.float64), (1, self._columns()))
        thresholds: npt.NDArray[np.float64] = head(cuts)[0]
        if isinstance(head, Calibration):
            thresholds[head.trivial] = 0.5
        return thresholds

    # --- how ------------------------------------------------------------------------------------

    def _validate_parameters(self) -> None:
        """Refuse parameters that cannot be used; methods with parameters of their own extend it."""
        if not isinstance(self.memory_limit, Real) or not self.memory_limit > 0:
            raise InputError(f"memory_limit must be a number of bytes, not {self.memory_limit!r}.")

    def _check_positive(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and 0 < float(value) < float("inf")):
                raise InputError(f"{name} must be a positive number, not {value!r}.")

    def _check_count(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name} must be a whole number from 1 on, not {value!r}.")

    def _columns(self) -> int:
        return 1 if self.exclusive_ and len(self.classes_) == 2 else len(self.classes_)

    def _learned_languages(self, languages: list[str]) -> list[str]:
        """The languages to learn from; the others are named."""
        usable = self.usable(languages)
        without = ", ".join(sorted(set(languages) - set(usable)))
        if not usable:
            raise InputError(
                f"{self._name()} has no resources for any language of the training documents: {without}."
            )
        if without:
            logger.warning("%s leaves out languages it has no resources for: %s.", self._name(), without)
        return usable

    def _name(self) -> str:
        return type(self).__name__.removesuffix("Classifier").lower()

    def _read(self, X: Any, languages: Sequence[str | None] | None) -> Inputs:
        check_is_fitted(self, "classes_")
        texts = all(map(is_texts, X.values())) if is_mapping(X) else is_texts(X)
        if texts != self.texts_:
            fitted, given = ("texts", "vectors") if self.texts_ else ("vectors", "texts")
            raise InputError(f"The model was fitted on {fitted}, and X holds {given}.")
        inputs = read_inputs(self._checked(X, reset=False), languages, known=self.languages_)
        unknown = [
            language
            for language in inputs.parts
            if language not in self.languages_ and not self.serves_unseen(language)
        ]
        if unknown:
            raise InputError(
                f"The model does not know the language {unknown[0]!r}. It knows {', '.join(self.languages_)}."
            )
        for language, part in inputs.parts.items():
            # A language without training documents shares the columns of all.
            features = self.features_.get(language, next(iter(self.features_.values())))
            if not texts and part.shape[1] != features:
                raise InputError(
                    f"X has {part.shape[1]} features in language {language!r}, where the model was fitted "
                    f"on {features}."
                )
        return inputs

    def _checked(self, X: Any, reset: bool) -> Any:
        """X, a plain matrix brought into scikit-learn's form; `read_inputs` checks texts and mappings."""
        if is_mapping(X) or is_texts(X):
            return X
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=reset)

    def _progress(self, description: str, documents: int) -> AbstractContextManager[Advance]:
        return progress_bar(description, documents, bool(self.verbose), "documents")

    def _scored(self, inputs: Inputs) -> Iterator[tuple[str, Scores]]:
        """The scores of each language's documents."""
        with self._progress("labels", sum(inputs.sizes().values())) as advance:
            for language, size in inputs.sizes().items():
                yield language, self._scores(language, self._vectors(language, inputs.parts[language]))
                advance(size)

    def _decisions(self, inputs: Inputs) -> Iterator[tuple[str, Scores]]:
        """The scores less the cuts: above 0 where the answer is yes."""
        return ((language, scores - self._cuts(language)) for language, scores in self._scored(inputs))

    def _probabilities(self, language: str, scores: Scores) -> npt.NDArray[np.float64]:
        probabilities: npt.NDArray[np.float64] = self._head(language)(scores)
        if self.exclusive_ and probabilities.shape[1] == 1:
            probabilities = np.hstack([1 - probabilities, probabilities])
        return probabilities

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
