"""What a fitted method answers: scores, labels, probabilities, and why.

All of it comes from the scores, the calibrator and the thresholds of the fitted tree.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, partialmethod
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from funnelling.corpus.label_rules import rules_of
from funnelling.corpus.labels import label_columns
from funnelling.errors import InputError
from funnelling.matrices import FLOATS, Rows, Scored, Scores, length
from funnelling.methods.algorithm import Fitted, Run
from funnelling.methods.explanation import Explainer, LabelDecisions, ViewPredictions
from funnelling.methods.inputs import Inputs, is_mapping, read_inputs
from funnelling.methods.labels import are_right, read_truth
from funnelling.methods.learning import LearningOn
from funnelling.plain import Estimator, check_fitted
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import map_threads
from funnelling.svm import Calibration
from funnelling.text.languages import is_language, is_served

logger = logging.getLogger(__name__)

Languages = Sequence[str | None] | None  # one code per document, None where it is to be detected
Labels = npt.NDArray[Any]  # 0 and 1, or after a 1-D y classes
Probabilities = npt.NDArray[np.float64]
Margins = npt.NDArray[np.float64]
ByLanguage = Mapping[str, Any]


class Answering(LearningOn):
    """A fitted method that is asked about documents."""

    def _run(self) -> Run:
        """How the fitted tree is run, by the parameters of now."""
        return Run(self.n_jobs)

    def _fitted(self, language: str) -> Fitted:
        """What labels documents in a language: of one that is not known, how frequent labels are."""
        known = language in self.languages_ or self.serves_unseen(language)
        return self.model_.fitted if known else self.model_.prior

    def _languages_at_once(self) -> int | None:
        """How many languages can be scored at a time, by threads; None and -1 as in ``n_jobs``."""
        return 1

    def serves_unseen(self, language: str) -> bool:
        """Whether documents in a language without training documents can be labelled."""
        if hasattr(self, "model_"):
            return self.model_.fitted.serves(language)
        return self.algorithm.serves_unseen(self, language)

    # --- what users ask -------------------------------------------------------------------------

    @overload
    def decision_function(self, X: ByLanguage, languages: None = None) -> dict[str, Margins]: ...
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
        inputs = self._read(X, languages)
        # In double, so that scores keep their order, and their ties, when they are rounded.
        margins = {tag: each.scores.astype(np.float64) for tag, each in self._margins(inputs)}
        return inputs.gather({tag: self.model_.labels.squeeze(scores) for tag, scores in margins.items()})

    @overload
    def predict(self, X: ByLanguage, languages: None = None) -> dict[str, Labels]: ...
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
        >>> from funnelling import NaiveClassifier
        >>> texts = ["the cat sleeps", "a dog barks"] * 5
        >>> model = NaiveClassifier().fit(texts, [["cat"], ["dog"]] * 5, languages=["en"] * 10)
        >>> model.predict(["a cat", "two dogs"], languages=["en", "en"]).tolist()
        [[1, 0], [0, 1]]
        """
        inputs = self._read(X, languages)
        return inputs.gather({tag: self._assigned(tag, scored) for tag, scored in self._scored(inputs)})

    @overload
    def predict_proba(self, X: ByLanguage, languages: None = None) -> dict[str, Probabilities]: ...
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
        return self.classify(X, languages)[1]

    @overload
    def classify(
        self, X: ByLanguage, languages: None = None
    ) -> tuple[dict[str, Labels], dict[str, Probabilities]]: ...
    @overload
    def classify(self, X: Any, languages: Languages = None) -> tuple[Labels, Probabilities]: ...
    def classify(self, X: Any, languages: Languages = None) -> tuple[Any, Any]:
        """What `predict` and `predict_proba` give, for the work of one of them."""
        return self.classify_with_evidence(X, languages)[:2]

    @overload
    def classify_with_evidence(
        self, X: ByLanguage, languages: None = None
    ) -> tuple[dict[str, Labels], dict[str, Probabilities], dict[str, Rows]]: ...
    @overload
    def classify_with_evidence(
        self, X: Any, languages: Languages = None
    ) -> tuple[Labels, Probabilities, Rows]: ...
    def classify_with_evidence(self, X: Any, languages: Languages = None) -> tuple[Any, Any, Any]:
        """What `classify` gives, and whether there is evidence: one bool per document.

        There is none in a text where the model knows nothing: an empty one, or one of unknown words alone.
        Vectors of the user's own are always evidence.
        """
        inputs = self._read(X, languages)
        labels, probabilities, evident = {}, {}, {}
        for language, scored in self._scored(inputs):
            labels[language], probabilities[language] = self._answers(language, scored)
            evident[language] = scored.in_vocabulary
        return inputs.gather(labels), inputs.gather(probabilities), inputs.gather(evident)

    def explain(
        self,
        X: Any,
        languages: Languages = None,
        labels: Sequence[str] | None = None,
        top: int = 10,
    ) -> list[dict[str, Any]]:
        """Why texts get their labels: what words and what other labels added to the scores.

        What a method cannot know is left out. A text without evidence gets no label, and
        ``"evidence": False`` says so.

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
        columns = None if labels is None else label_columns(self.classes_, labels)
        inputs = self._read(X, languages, only_known=True)
        if inputs.positions is None:
            raise InputError("Give texts as one list, with their languages beside it.")
        explanations: dict[int, dict[str, Any]] = {}
        for language, documents in inputs.documents.items():
            rows = self._explained(language, documents, columns, top)
            for position, row in zip(inputs.positions[language].tolist(), rows, strict=True):
                explanations[position] = {"language": language, **row}
        return [explanations[position] for position in sorted(explanations)]

    def opinions(self, X: Any, languages: Languages = None) -> dict[str, ViewPredictions]:
        """What the model says of texts, in the end and on the way there, by language.

        Parameters
        ----------
        X, languages
            As in `predict`.
        """
        inputs = self._read(X, languages, only_known=True)
        found = {}
        with progress_bar("labels", sum(inputs.sizes().values()), bool(self.verbose), "documents") as advance:
            for language, documents in inputs.documents.items():
                scored, posteriors = self.model_.fitted.scores_and_posteriors(
                    language, documents, self._run()
                )
                found[language] = ViewPredictions(
                    self._decisions(language, scored),
                    scored.in_vocabulary,
                    {
                        view: self._under_rules(self.model_.labels.probabilities(each))
                        for view, each in posteriors.items()
                    },
                )
                advance(length(documents))
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None, languages: Languages = None) -> float:
        """The share of documents whose labels are all right, scikit-learn's accuracy.

        Parameters
        ----------
        X, languages
            As in `predict`.
        y : the right labels, in the form in which `fit` was given them
        sample_weight : what each document counts; by default all count alike
        """
        inputs = self._read(X, languages)
        truth = inputs.divide(read_truth(y, self.classes_), "y")
        right = {
            language: are_right(self._assigned(language, scored), truth[language], self.classes_)
            for language, scored in self._scored(inputs)
        }
        gathered = inputs.gather(right)
        flags = np.concatenate(list(gathered.values())) if is_mapping(gathered) else gathered
        return float(np.average(flags, weights=sample_weight))

    def serves(self, language: str) -> bool:
        """Whether documents in a language can be labelled; a code that is none only if it was learned."""
        check_fitted(self, "model_")
        return is_served(language, self.languages_) or (
            is_language(language) and self.serves_unseen(language)
        )

    def thresholds(self, language: str) -> npt.NDArray[np.float64]:
        """The probability of each label above which `predict` says yes, in one language.

        .5 for a label that training left no choice about. After a 1-D y the most probable class is
        predicted, and thresholds say nothing.
        """
        check_fitted(self, "model_")
        return probability_thresholds(self._fitted(language), language, self.model_.labels.columns)

    # --- how ------------------------------------------------------------------------------------

    def _explained(
        self, language: str, documents: Any, columns: npt.NDArray[np.intp] | None, top: int
    ) -> Iterator[dict[str, Any]]:
        """Rows of `explain` for one language's documents; None for the labels that are of most interest."""
        model = self.model_
        evidence = model.fitted.evidence(language, documents, self._run(), model.archive)
        decisions = self._decisions(language, Scored(evidence.scores, evidence.in_vocabulary))
        return Explainer(self.model_.labels, top).explain(evidence, decisions, columns)

    def _check_matrix(self, X: Any, reset: bool) -> Any:
        """A plain matrix in scikit-learn's form."""
        from sklearn.utils.validation import validate_data

        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=reset)

    def _read(self, X: Any, languages: Sequence[str | None] | None, only_known: bool = False) -> Inputs:
        """New documents, of the kind that the model can label; they may have to be in languages it knows."""
        check_fitted(self, "model_")
        check_matrix = partial(self._check_matrix, reset=False)
        inputs = read_inputs(X, languages, self.languages_, self.model_.texts, check_matrix)
        for language, documents in inputs.documents.items():
            if language not in self.languages_ and not self.serves_unseen(language):
                unknown = f"The model does not know the language {language!r}."
                if only_known:
                    raise InputError(f"{unknown} It knows {', '.join(self.languages_)}.")
                logger.warning("%s Its documents get the most frequent labels.", unknown)
                continue
            if inputs.texts:
                continue
            # A language without training documents shares the columns of all.
            features = self.model_.features.get(language, next(iter(self.model_.features.values())))
            if documents.shape[1] != features:
                raise InputError(
                    f"X has {documents.shape[1]} features in language {language!r}, where the model was "
                    f"fitted on {features}."
                )
        return inputs

    def _scored(self, inputs: Inputs) -> Iterator[tuple[str, Scored]]:
        """The scores of each language's documents, several languages at a time."""
        sizes, languages = inputs.sizes(), list(inputs.documents)

        def scored(place: int) -> Scored:
            language = languages[place]
            return self._fitted(language).scores(language, inputs.documents[language], self._run())

        at_once = self._languages_at_once() if len(languages) > 1 else 1
        with progress_bar("labels", sum(sizes.values()), bool(self.verbose), "documents") as advance:
            results = map_threads(scored, len(languages), at_once)
            for language, result in zip(languages, results, strict=True):
                yield language, result
                advance(sizes[language])

    def _margins(self, inputs: Inputs) -> Iterator[tuple[str, Scored]]:
        """The scores less their thresholds: above 0 where the answer is yes."""
        for language, scored in self._scored(inputs):
            yield language, self._less_thresholds(language, scored)

    def _less_thresholds(self, language: str, scored: Scored) -> Scored:
        return Scored(scored.scores - self._fitted(language).score_thresholds(language), scored.in_vocabulary)

    def _decisions(self, language: str, scored: Scored) -> LabelDecisions:
        labels, probabilities = self._answers(language, scored)
        assigned = self.model_.labels.indicators(labels) & scored.in_vocabulary[:, None]
        return LabelDecisions(probabilities, assigned, self.thresholds(language))

    def _assigned(self, language: str, scored: Scored) -> npt.NDArray[Any]:
        """The labels of one language's documents."""
        if rules_of(self) is None:
            return self.model_.labels.answers(self._less_thresholds(language, scored))
        return self._answers(language, scored)[0]

    def _answers(self, language: str, scored: Scored) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """The labels and the probabilities of one language's documents."""
        margins, rules = self._less_thresholds(language, scored), rules_of(self)
        probabilities = self._probabilities(language, scored.scores)
        if rules is None:
            return self.model_.labels.answers(margins), probabilities
        return self.model_.labels.answers_under(rules, margins, probabilities, self.thresholds(language))

    def _under_rules(self, posteriors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What a view believes of the labels that may be given, as the final probabilities say it."""
        rules = rules_of(self)
        return posteriors if rules is None else self.model_.labels.probabilities_under(rules, posteriors)

    def _probabilities(self, language: str, scores: Scores) -> npt.NDArray[np.float64]:
        return self.model_.labels.probabilities(self._fitted(language).calibrator(language)(scores))

    set_predict_request = partialmethod(Estimator._request, "predict")
    set_predict_proba_request = partialmethod(Estimator._request, "predict_proba")
    set_decision_function_request = partialmethod(Estimator._request, "decision_function")
    set_score_request = partialmethod(Estimator._request, "score")


def probability_thresholds(fitted: Fitted, language: str, columns: int) -> npt.NDArray[np.float64]:
    """The probability of each label above which the answer is yes."""
    calibrator = fitted.calibrator(language)
    scores = np.broadcast_to(np.asarray(fitted.score_thresholds(language), dtype=np.float64), (1, columns))
    thresholds: npt.NDArray[np.float64] = calibrator(scores)[0]
    if isinstance(calibrator, Calibration):
        thresholds[calibrator.trivial] = 0.5
    return thresholds
