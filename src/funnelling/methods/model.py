"""The fitted model: what it knows and what it answers, without scikit-learn."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.by_language import ByLanguage, Contents
from funnelling.corpus.label_files import label_set_for
from funnelling.corpus.label_rules import LabelRules
from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import LabelSpace, known_columns, label_columns
from funnelling.errors import InputError
from funnelling.evaluation.measures import ALL_LABELS
from funnelling.formats.layout import Layout
from funnelling.matrices import Scored, length
from funnelling.methods.algorithm import NOTHING, Algorithm, Fitted, Parameters, Prior, Run
from funnelling.methods.explanation import Explainer, LabelDecisions, ViewPredictions
from funnelling.methods.inputs import Inputs, read_inputs
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import map_threads
from funnelling.state import (
    MAX_COLUMNS,
    Between,
    Count,
    OneOf,
    check_fields,
    check_value,
    expect,
    expect_by,
)
from funnelling.svm import Calibration
from funnelling.text.languages import is_language, is_served

Languages = Sequence[str | None] | None  # one code per document, None where it is to be detected
OF_ALGORITHM = OneOf(())  # what it may be depends on the algorithm


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """A fitted model. It is never changed: an update makes another one.

    ``parameters`` are what its estimator is set to. ``built`` has those that shape the fitted tree, or its
    thresholds, as the fit had them, where they are set to something else now: learning on goes by the shape
    in ``built``, the next fit by ``parameters``. ``label_documents`` are the training documents that each
    label has, ``documents`` their numbers by language, ``features`` the columns of each language's vectors
    where it was fitted on such and not on ``texts``, and ``feature_names`` what a data frame called them. It
    keeps its documents in an ``archive`` unless it is compact. It knows labels that are ``named`` by their
    names alone, and learned labels that are ``dropped`` and gives them no more. ``reading`` is what was said
    of how to read its documents, ``history`` what it learned from, step by step; see
    `funnelling.methods.merging`.

    Its methods take texts or vectors as the estimators do, or `Contents`, which were read before. The
    estimators say what the answers are.
    """

    algorithm: Annotated[Algorithm[Any], OF_ALGORITHM]
    parameters: Annotated[Parameters, OF_ALGORITHM]
    built: dict[str, Any] = field(default_factory=dict)
    labels: LabelSpace
    label_documents: list[Count]
    documents: dict[str, Annotated[int, Between(1, MAX_COLUMNS)]]
    features: dict[str, Count]
    texts: bool
    fitted: Annotated[Fitted, OF_ALGORITHM]
    archive: ByLanguage | None = None
    label_set: LabelSet | None = None
    feature_names: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    reading: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: its rules are made again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def languages(self) -> list[str]:
        """The languages of its training documents."""
        return list(self.documents)

    @property
    def fit_parameters(self) -> Parameters:
        """The parameters that it learns on with: those of now, but for what shapes the fitted tree."""
        shape = {name: value for name, value in self.built.items() if name in self.algorithm.built_of}
        return self.parameters.copied(**shape)

    def under(self, parameters: Parameters) -> "Model":
        """The same model, whose estimator is set to these parameters."""
        fit, now = (each.get_params(deep=False) for each in (self.parameters, parameters))
        fit |= self.built
        names = (*self.algorithm.built_of, *self.algorithm.tuned_by)
        built = {name: fit[name] for name in names if fit[name] != now[name]}
        return replace(self, parameters=parameters, built=built)

    def running(self, **options: Any) -> "Model":
        """The same model under other runtime options, ``n_jobs`` and ``verbose`` among them."""
        return replace(self, parameters=self.parameters.copied(**options))

    def compact(self) -> "Model":
        """The model that labels alike, and keeps nothing of its documents."""
        parameters = self.parameters.copied(keep=NOTHING)
        return replace(self, parameters=parameters, archive=None, fitted=self.fitted.compact())

    @cached_property
    def rules(self) -> LabelRules | None:
        """What its label set makes of its answers; None where it leaves them as they are."""
        if self.label_set is None:
            return None
        rules = self.label_set.rules(self.labels.classes)
        return rules if rules.excluded.any() or self.labels.brings_parents(rules) else None

    def following(
        self, given: str | os.PathLike[str] | LabelSet | None = None, exclude: Sequence[str] = ()
    ) -> "Model":
        """The model with a label set, or that of a file, in place of its own, and further labels excluded."""
        own, classes = self.label_set, self.labels.classes
        label_set = own
        if given is not None:
            labels = [str(label) for label in classes.tolist()]
            label_set = given if isinstance(given, LabelSet) else label_set_for(given, labels)
            label_set = label_set.rolled_up() if own is not None and own.roll_up else label_set
        if exclude:
            label_set = LabelSet.of([]) if label_set is None else label_set
            known_columns(label_set.rules(classes).hierarchy.columns, exclude)  # refuses what it has not
            label_set = label_set.excluding(exclude)
        if label_set is None:
            return self
        label_set.rules(classes).check()
        return replace(self, label_set=label_set)

    # --- what users ask -------------------------------------------------------------------------

    def read(
        self,
        X: Any,
        languages: Languages = None,
        *,
        unknown: str = "prior",
        check_matrix: Callable[[Any], Any] = lambda X: X,
    ) -> Inputs:
        """New documents, of the kind that it can label.

        Those in an ``unknown`` language get the most frequent labels ("prior", with a warning), or are
        refused ("error"). "abstain" says nothing of them.
        """
        known, among = self.languages, self.detect_among
        inputs = read_inputs(X, languages, known, self.texts, check_matrix, among=among)
        others = []
        for language, documents in inputs.documents.items():
            if not self.knows(language):
                others.append(repr(language))
            elif not self.texts:
                # A language without training documents shares the columns of all.
                features = self.features.get(language, next(iter(self.features.values())))
                if documents.shape[1] != features:
                    raise InputError(
                        f"X has {documents.shape[1]} features in language {language!r}, where the model was "
                        f"fitted on {features}."
                    )
        if others and unknown == "error":
            raise InputError(_not_known(tuple(others), tuple(self.languages)))
        if others and unknown == "prior":
            warn_of_languages(tuple(others), tuple(self.languages))
        return inputs

    def margins(self, X: Any, languages: Languages = None) -> Any:
        """Scores less their thresholds; of many labels the scores of candidates."""
        inputs = self._contents(X, languages)
        if self.labels.sparse:
            return inputs.gather({tag: scored.scores for tag, scored in self._scored(inputs)})
        # In double, so that scores keep their order, and their ties, when they are rounded.
        margins = {}
        for tag, scored in self._scored(inputs):
            margins[tag] = self.labels.squeeze(self._less_thresholds(tag, scored).scores.astype(np.float64))
        return inputs.gather(margins)

    def predict(self, X: Any, languages: Languages = None) -> Any:
        """The labels of documents."""
        inputs = self._contents(X, languages)
        return inputs.gather({tag: self._assigned(tag, scored) for tag, scored in self._scored(inputs)})

    def classify(self, X: Any, languages: Languages = None) -> tuple[Any, Any]:
        """The labels of documents, and their probabilities."""
        return self.classify_with_evidence(X, languages)[:2]

    def classify_with_evidence(self, X: Any, languages: Languages = None) -> tuple[Any, Any, Any]:
        """The labels of documents, their probabilities, and whether there is evidence, one bool for each."""
        inputs = self._contents(X, languages)
        labels, probabilities, evident = {}, {}, {}
        for language, scored in self._scored(inputs):
            labels[language], probabilities[language] = self._answers(language, scored)
            evident[language] = scored.in_vocabulary
        return inputs.gather(labels), inputs.gather(probabilities), inputs.gather(evident)

    def explain(
        self, X: Any, languages: Languages = None, labels: Sequence[str] | None = None, top: int = 10
    ) -> list[dict[str, Any]]:
        """Why texts get their labels: for each what words and what other labels added to the scores."""
        columns = None if labels is None else label_columns(self.labels.classes, labels)
        inputs = self._contents(X, languages, "error")
        if inputs.positions is None:
            raise InputError("Give texts as one list, with their languages beside it.")
        explainer = Explainer(self.labels, top, self._decisions, columns)
        explanations: dict[int, dict[str, Any]] = {}
        for language, documents in inputs.documents.items():
            rows = self.fitted.explained(language, documents, self.run, self.archive, explainer)
            for position, row in zip(inputs.positions[language].tolist(), rows, strict=True):
                explanations[position] = {"language": language, **row}
        return [explanations[position] for position in sorted(explanations)]

    def opinions(self, X: Any, languages: Languages = None) -> dict[str, ViewPredictions]:
        """What the model says of texts, in the end and on the way there, by language."""
        inputs = self._contents(X, languages, "error")
        found = {}
        number = sum(inputs.sizes().values())
        with progress_bar("labels", number, self.shows_progress, "documents") as advance:
            for language, documents in inputs.documents.items():
                scored, posteriors = self.fitted.scores_and_posteriors(language, documents, self.run)
                views = {view: self.labels.probabilities(each) for view, each in posteriors.items()}
                if self.rules is not None:
                    rules = self.rules
                    views = {tag: self.labels.probabilities_under(rules, each) for tag, each in views.items()}
                decisions = self._decisions(language, scored)
                found[language] = ViewPredictions(decisions, scored.in_vocabulary, views)
                advance(length(documents))
        return found

    def knows(self, language: str) -> bool:
        """Whether a language, as the model calls it, has training documents or a view that sees it."""
        return language in self.documents or self.fitted.serves(language)

    def serves(self, language: str) -> bool:
        """Whether documents in a language can be labelled; a code that is none only if it was learned."""
        return is_served(language, self.languages) or (is_language(language) and self.fitted.serves(language))

    def thresholds(self, language: str) -> npt.NDArray[np.float64]:
        """The probability of each label above which the answer is yes, in one language."""
        fitted = self._fitted(language)
        if self.labels.sparse:
            return np.full(len(self.labels.classes), fitted.score_thresholds(language))
        return probability_thresholds(fitted, language, self.labels.columns)

    def held_out_measures(self, labels: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
        """How good it is on training documents that were held out, by language, where that is known."""
        columns = ALL_LABELS if labels is None else np.isin(self.labels.classes, labels)
        return self.fitted.held_out_measures(self.labels, columns)

    # --- how ------------------------------------------------------------------------------------

    @property
    def run(self) -> Run:
        """How the fitted tree is run."""
        return self.parameters.run

    @property
    def detect_among(self) -> Sequence[str] | None:
        """The languages that missing ones are detected among, if they are given."""
        return getattr(self.parameters, "detect_among", None)

    @property
    def shows_progress(self) -> bool:
        return bool(self.parameters.verbose)

    def _fitted(self, language: str) -> Fitted:
        """What labels documents in a language: of one that is not known, how frequent labels are."""
        if self.knows(language):
            return self.fitted
        return Prior(self.labels, np.array(self.label_documents), sum(self.documents.values()))

    def _contents(self, X: Any, languages: Languages, unknown: str = "prior") -> Contents:
        return X if isinstance(X, Contents) else self.read(X, languages, unknown=unknown)

    def _scored(self, inputs: Contents) -> Iterator[tuple[str, Scored]]:
        """The scores of each language's documents, several languages at a time."""
        sizes, languages = inputs.sizes(), list(inputs.documents)

        def scored(place: int) -> Scored:
            language = languages[place]
            return self._fitted(language).scores(language, inputs.documents[language], self.run)

        at_once: int | None = 1
        if len(languages) > 1:
            at_once = self.algorithm.languages_at_once(self.fit_parameters, self.fitted.chosen)
        with progress_bar("labels", sum(sizes.values()), self.shows_progress, "documents") as advance:
            results = map_threads(scored, len(languages), at_once)
            for language, result in zip(languages, results, strict=True):
                yield language, result
                advance(sizes[language])

    def _less_thresholds(self, language: str, scored: Scored) -> Scored:
        return Scored(scored.scores - self._fitted(language).score_thresholds(language), scored.in_vocabulary)

    def _decisions(self, language: str, scored: Scored) -> LabelDecisions:
        labels, probabilities = self._answers(language, scored)
        given: Any = self.labels.indicators(labels)
        evident = scored.in_vocabulary[:, None]
        assigned = sparse.csr_array(given.multiply(evident)) if self.labels.sparse else given & evident
        return LabelDecisions(probabilities, assigned, self.thresholds(language))

    def _assigned(self, language: str, scored: Scored) -> npt.NDArray[Any]:
        """The labels of one language's documents."""
        if self.rules is None and not self.labels.sparse:
            return self.labels.answers(self._less_thresholds(language, scored))
        return self._answers(language, scored)[0]

    def _answers(self, language: str, scored: Scored) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """The labels and the probabilities of one language's documents."""
        fitted, labels = self._fitted(language), self.labels
        if labels.sparse:
            threshold = fitted.score_thresholds(language)
            return labels.sparse_answers(self.rules, scored.scores, threshold, self.label_documents)
        margins = self._less_thresholds(language, scored)
        probabilities = labels.probabilities(fitted.calibrator(language)(scored.scores))
        if self.rules is None:
            return labels.answers(margins), probabilities
        return labels.answers_under(self.rules, margins, probabilities, self.thresholds(language))

    def check(self) -> None:
        """Refuse a state that was read from a file and could not label documents, or learn on."""
        _check(self)


def _check(model: Model) -> None:
    """Refuse what `Model.check` refuses."""
    check_fields(model)
    with suppress(InputError):  # of parameters that were set since, and hold from the next fit on
        model.parameters.check()
    known = {*model.algorithm.built_of, *model.algorithm.tuned_by}
    expect(model.built.keys() <= known, "the parameters of the fit")
    model.algorithm.check_built(model.fit_parameters)
    template = getattr(model.parameters, "vectorizer", None)
    expect(isinstance(template, Mapping | None) or hasattr(template, "fit_transform"), "the vectorizer")
    expect(type(model.fitted) is model.algorithm.fitted, "what was fitted")
    check_fields(model.fitted, place="fitted")
    expect(model.labels.sparse == model.algorithm.sparse_labels, "whether there are many labels")
    classes = model.labels.classes
    expect(classes.ndim == 1, "the list of labels")
    expect(len(set(classes.tolist())) == len(classes) > 0, "the list of labels")
    expect(len(model.label_documents) == len(classes), "the numbers of labels")
    expect(bool(model.documents), "the numbers of documents")
    expect_by(model.features, () if model.texts else model.documents, "the numbers of features")
    check_history(model.history)
    Layout(**model.reading)
    if model.label_set is not None:
        model.label_set.check_state()
        model.label_set.rules(classes).check()
    features = None if model.texts else model.features
    if model.archive is not None:
        model.archive.check_documents(model.labels, features)
        expect(model.archive.sizes == model.documents, "what is kept of documents")
    model.fitted.check(model.documents, features, model.labels)


@cache
def warn_of_languages(others: tuple[str, ...], known: tuple[str, ...]) -> None:
    """Warn once of languages that a model of others does not know: a search asks again and again."""
    said = f"{_not_known(others, known)} Documents in it get the most frequent labels."
    warnings.warn(said, stacklevel=2)


def _not_known(others: tuple[str, ...], known: tuple[str, ...]) -> str:
    several = "s" if len(others) > 1 else ""
    return f"The model does not know the language{several} {', '.join(others)}. It knows {', '.join(known)}."


def probability_thresholds(fitted: Fitted, language: str, columns: int) -> npt.NDArray[np.float64]:
    """The probability of each label above which the answer is yes."""
    calibrator = fitted.calibrator(language)
    scores = np.broadcast_to(np.asarray(fitted.score_thresholds(language), dtype=np.float64), (1, columns))
    thresholds: npt.NDArray[np.float64] = calibrator(scores)[0]
    if isinstance(calibrator, Calibration):
        thresholds[calibrator.trivial] = 0.5
    return thresholds


FIRST_STEP = "train"  # the step that a whole history begins with
STEPS = (FIRST_STEP, "update", "forget", "relabel", "tune")


def check_history(history: Any) -> None:
    """Refuse what is no history of a model."""
    for step in history:
        expect(step["step"] in STEPS, "a step of the history")
        check_value(step["after"], dict[str, Count], "a step of the history", {})
        expect(step["after"].keys() == {"documents", "labels"}, "a step of the history")
