"""What a fitted estimator tells: its model's answers, in the forms that scikit-learn has."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, validate_data

from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.label_set import LabelSet
from funnelling.matrices import FLOATS
from funnelling.methods.algorithm import Algorithm, Parameters
from funnelling.methods.inputs import Inputs, is_mapping
from funnelling.methods.labels import are_right, read_truth
from funnelling.methods.model import Languages, Model

if TYPE_CHECKING:  # scikit-learn has no types, and under a base without types no mistake would be found

    class BaseEstimator:
        def __sklearn_tags__(self) -> Any: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **metadata: bool | str | None) -> Self: ...
        def set_predict_request(self, **metadata: bool | str | None) -> Self: ...
        def set_predict_proba_request(self, **metadata: bool | str | None) -> Self: ...
        def set_decision_function_request(self, **metadata: bool | str | None) -> Self: ...
        def set_score_request(self, **metadata: bool | str | None) -> Self: ...

    class ClassifierMixin: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin

Labels = npt.NDArray[Any]  # 0 and 1, or after a 1-D y classes
Probabilities = npt.NDArray[np.float64]
Margins = npt.NDArray[np.float64]
XByLanguage = Mapping[str, Any]
T = TypeVar("T")


class FittedEstimator(ClassifierMixin, BaseEstimator):
    """An estimator that holds a fitted model, ``model_``; that is all that a fit leaves."""

    algorithm: ClassVar[Algorithm[Any]]
    model_: Model

    @classmethod
    def _of(cls, model: Model) -> Self:
        """The estimator of a model that was fitted before."""
        return cls._under(model.parameters, model.label_set)._become(model)

    @classmethod
    def _under(cls, parameters: Parameters, label_set: LabelSet | None = None) -> Self:
        """The unfitted estimator of an algorithm's parameters."""
        given = parameters.get_params(deep=False) | {"label_set": label_set}
        return cls(**{name: given[name] for name in signature(cls).parameters})

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels that the model gives."""
        return self.model_.labels.classes

    @property
    def languages_(self) -> list[str]:
        """The languages of the training documents."""
        return self.model_.languages

    @property
    def documents_(self) -> dict[str, int]:
        """How many training documents each language had."""
        return self.model_.documents

    @property
    def thresholds_(self) -> dict[str, npt.NDArray[np.float64]]:
        """For each language the probability of each label above which it is assigned.

        .5 for a label that training left no choice about. After a 1-D y the most probable class is
        predicted, and thresholds say nothing.
        """
        return {language: self.model_.thresholds(language) for language in self.model_.languages}

    @property
    def held_out_scores_(self) -> dict[str, dict[str, float]]:
        """For each language the measures on training documents that were held out from both tiers.

        Measures by name, and the number of ``documents``. Vocabularies, and thresholds that were tuned, saw
        the documents. Baselines have none.
        """
        return self.model_.held_out_measures()

    @property
    def history_(self) -> list[dict[str, Any]]:
        """What the model learned from, step by step."""
        return self.model_.history

    @property
    def label_set_(self) -> LabelSet:
        """What labels are called, which belong to which and which are not assigned, if that is known."""
        return _present(self.model_.label_set, "label set")

    @label_set_.setter
    def label_set_(self, label_set: LabelSet) -> None:
        self.model_ = replace(self.model_, label_set=label_set)

    @property
    def training_(self) -> ByLanguage:
        """What the model keeps of its training documents, unless it is compact."""
        return _present(self.model_.archive, "documents: it is compact")

    @overload
    def decision_function(self, X: XByLanguage, languages: None = None) -> dict[str, Margins]: ...
    @overload
    def decision_function(self, X: Any, languages: Languages = None) -> Margins: ...
    def decision_function(self, X: Any, languages: Languages = None) -> Any:
        """Scores: above 0 where `predict` says yes; of classes that exclude each other the highest wins.

        Texts without evidence have scores as well, though `predict` gives them no label, and a ``label_set_``
        changes none.

        Parameters
        ----------
        X, languages
            As in `predict`.

        Returns
        -------
        matrix
            With the columns of ``classes_``; a mapping where X is one. Of two classes that exclude each other
            there is one score per document, that of the second.
        """
        current, inputs = self._read(X, languages)
        return current.margins(inputs)

    @overload
    def predict(self, X: XByLanguage, languages: None = None) -> dict[str, Labels]: ...
    @overload
    def predict(self, X: Any, languages: Languages = None) -> Labels: ...
    def predict(self, X: Any, languages: Languages = None) -> Any:
        """The labels of documents: an indicator matrix with the columns of ``classes_``.

        After a 1-D y: one class per document. A mapping gives a mapping. A text without evidence, in which
        the model knows no word (nor whatever else its views look for), gets no label; after a 1-D y it gets
        the class that is most probable for a document of which nothing is known. A document in a language
        that the model does not know gets the most frequent labels, and a warning says so. A model that has a
        ``label_set_`` assigns no label that it excludes, and with a label those above it.

        Parameters
        ----------
        X : texts, or a matrix of vectors, or a mapping from language to either, as `fit` was given
        languages : one code per document; missing ones are detected, among those that the model knows

        Returns
        -------
        matrix or array
            Zeros and ones, a row per document and a column per label; or one class per document.

        Examples
        --------
        >>> from funnelling.research import NaiveClassifier
        >>> texts = ["the cat sleeps", "a dog barks"] * 5
        >>> model = NaiveClassifier().fit(texts, [["cat"], ["dog"]] * 5, languages=["en"] * 10)
        >>> model.predict(["a cat", "two dogs"], languages=["en", "en"]).tolist()
        [[1, 0], [0, 1]]
        """
        current, inputs = self._read(X, languages)
        return current.predict(inputs)

    @overload
    def predict_proba(self, X: XByLanguage, languages: None = None) -> dict[str, Probabilities]: ...
    @overload
    def predict_proba(self, X: Any, languages: Languages = None) -> Probabilities: ...
    def predict_proba(self, X: Any, languages: Languages = None) -> Any:
        """Calibrated probabilities, with the columns of ``classes_``.

        Parameters
        ----------
        X, languages
            As in `predict`.

        Returns
        -------
        matrix
            A row per document; a mapping where X is one. Rows sum to 1 only after a 1-D y.
        """
        current, inputs = self._read(X, languages)
        return current.classify(inputs)[1]

    def predict_labels(self, X: Any, languages: Languages = None) -> list[Any] | dict[str, list[Any]]:
        """The labels of documents by name: a list for each, or after a 1-D y a label.

        A document of which the model knows nothing, or whose language it does not know, gets none: an empty
        list, or None.

        Parameters
        ----------
        X, languages
            As in `predict`.

        Examples
        --------
        >>> from funnelling.research import NaiveClassifier
        >>> texts = ["the cat sleeps", "a dog barks"] * 5
        >>> model = NaiveClassifier().fit(texts, [["cat"], ["dog"]] * 5, languages=["en"] * 10)
        >>> model.predict_labels(["two dogs", "xyzzy"], languages=["en", "en"])
        [['dog'], []]
        """
        current, inputs = self._read(X, languages, "abstain")
        labels, _, known = current.classify_with_evidence(inputs)
        if is_mapping(labels):
            return {
                tag: current.labels.named(rows, known[tag] & current.knows(tag))
                for tag, rows in labels.items()
            }
        known = inputs.gather(
            {tag: rows & current.knows(tag) for tag, rows in inputs.divide(known, "X").items()}
        )
        return current.labels.named(labels, known)

    def explain(
        self,
        X: Any,
        languages: Languages = None,
        labels: Sequence[str] | None = None,
        top: int = 10,
    ) -> list[dict[str, Any]]:
        """Why texts get their labels: what words and what other labels added to the scores.

        What a method cannot know is left out. A text without evidence gets no label, and
        ``"abstained": "out-of-vocabulary"`` says so.

        Parameters
        ----------
        X, languages
            Texts, as in `predict`.
        labels : those to explain; by default those assigned, or the most probable ones where none is
        top : how many contributions are listed, the largest; the others are one sum

        Returns
        -------
        list of dict
            For each document its ``language``; under ``labels``, for each label its probability, score,
            threshold and what was added; and ``neighbours``, the training documents that are most like it.
        """
        current, inputs = self._read(X, languages, "error")
        return current.explain(inputs, labels=labels, top=top)

    def score(self, X: Any, y: Any, sample_weight: Any = None, languages: Languages = None) -> float:
        """The share of documents whose labels are all right, scikit-learn's accuracy.

        Parameters
        ----------
        X, languages
            As in `predict`.
        y : the right labels, in the form in which `fit` was given them
        sample_weight : what each document counts; by default all count alike
        """
        current, inputs = self._read(X, languages)
        truth, labels = inputs.divide(read_truth(y, self.classes_), "y"), current.predict(inputs)
        right = {
            language: are_right(rows, truth[language], self.classes_)
            for language, rows in inputs.divide(labels, "labels").items()
        }
        gathered = inputs.gather(right)
        flags = np.concatenate(list(gathered.values())) if is_mapping(gathered) else gathered
        return float(np.average(flags, weights=sample_weight))

    def supports(self, language: str) -> bool:
        """Whether documents in a language can be labelled; a code that is none only if it was learned."""
        return self._current_model.serves(language)

    # --- how ------------------------------------------------------------------------------------

    @property
    def _current_model(self) -> Model:
        """The fitted model, its estimator set to the parameters of now."""
        check_is_fitted(self, "model_")
        return self.model_.under(self.parameters)

    @property
    def parameters(self) -> Parameters:
        """Its parameters in the form in which its algorithm takes them."""
        kind = self.algorithm.parameters
        given = {each.name: getattr(self, each.name) for each in fields(kind) if each.init}
        parameters: Parameters = kind(**given)
        return parameters

    def _become(self, model: Model) -> Self:
        """Go on as this model."""
        widths = set(model.features.values())
        for name in ("feature_names_in_", "n_features_in_"):
            vars(self).pop(name, None)
        if len(widths) == 1:
            vars(self)["n_features_in_"] = widths.pop()
        if model.feature_names:
            vars(self)["feature_names_in_"] = np.array(model.feature_names, dtype=object)
        self.model_ = model
        return self

    def _read(self, X: Any, languages: Languages, unknown: str = "prior") -> tuple[Model, Inputs]:
        """The model of now, and new documents, of the kind that it can label."""
        current, check = self._current_model, partial(self._check_matrix, reset=False)
        if unknown == "prior":
            unknown = getattr(self, "unknown_language", unknown)
        return current, current.read(X, languages, unknown=unknown, check_matrix=check)

    def _check_matrix(self, X: Any, reset: bool) -> Any:
        """A plain matrix in scikit-learn's form."""
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = tags.input_tags.string = True
        return tags


def _present(value: T | None, what: str) -> T:
    """What a model has; as if there were no such attribute where it has none."""
    if value is None:
        raise AttributeError(f"The model has no {what}.")
    return value
