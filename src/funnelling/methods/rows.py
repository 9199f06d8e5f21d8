"""Labels and probabilities of documents, as rows of plain values for the command line and the service."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.corpus.by_language import Contents
from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError, prefix_errors
from funnelling.formats import Document
from funnelling.formats.document import is_undetermined, quoted
from funnelling.formats.files import shown_name
from funnelling.matrices import XMC_MIN_LABELS, filled_columns, is_sparse
from funnelling.methods.explanation import OUT_OF_VOCABULARY
from funnelling.methods.model import Model, probability_thresholds
from funnelling.text.detection import Detected, detect_for_model
from funnelling.text.languages import is_served, normalise_tag, served_by

DEFAULT_THRESHOLD = 0.5
ABS_TOL = 1e-12
BATCH_DOCUMENTS = 1_000
BATCH_CHARACTERS = 4_000_000
NO_THRESHOLD = (
    "The model gives each document one label, the most probable: a threshold does not apply. Leave it out."
)
UNKNOWN_LANGUAGE = "unknown-language"  # why a row abstains, beside `OUT_OF_VOCABULARY`
NAMES_KEY = "label_names"  # of a row, where they are asked for
OTHER_LANGUAGES = "other languages"  # those that training had no documents in
ALL_LABELS = "all labels"  # what thresholds are told of where many labels have the same
XMC_DEFAULT_TOP = 5  # labels of a row, unless somebody says how many

Columns = npt.NDArray[np.intp]


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents in lists that are bounded in number and in characters."""
    batch: list[Any] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if len(batch) == BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class Predictor:
    """A fitted model that answers documents with plain rows.

    A row has the document's ``id``, its ``language``, its ``labels``, ``best_label``, the most probable one,
    with its ``probability``, why it has none (``abstained``), and ``probabilities``: of each label, or of
    the candidates, the most probable first, where the model's answers are sparse. A language that was
    missing is detected, among some ``languages`` or as `detect_for_model` does; such a row has
    ``language_detected`` and ``language_probability``. ``zero_shot`` marks a language without training
    documents.

    ``abstained`` is "out-of-vocabulary" for a document without a known feature, "unknown-language" for one in
    a language that the model cannot label, and else None. ``strict`` refuses documents in such a language.

    ``top`` shows only the most probable labels; `default_top` says how many where it is None, unless
    ``every`` label is to be shown. ``threshold`` assigns labels above that probability instead, which a
    single-label model refuses. Labels that the model's label set excludes are left out of all this.
    ``names`` is a language in which rows name the labels, as ``label_names``. With ``tell_thresholds`` a row
    has ``thresholds``, too: the probability above which a label is assigned, for the labels shown where that
    is not .5; `thresholds_of` tells them all at once.
    """

    def __init__(
        self,
        model: Model,
        top: int | None = None,
        threshold: float | None = None,
        strict: bool = True,
        tell_thresholds: bool = False,
        names: str | None = None,
        every: bool = False,
        languages: Sequence[str] = (),
    ) -> None:
        self._single = model.labels.single_label
        if threshold is not None and self._single:
            raise InputError(NO_THRESHOLD)
        self.model = model
        self.labels = model.labels.classes.tolist()
        self._show(model)
        self._names = None if names is None else names_of_labels(model, names)
        self.top = top if top is not None or every else default_top(model)
        self._all_assigned = top is None  # whether more are shown where more are assigned
        self.threshold = threshold
        self.strict = strict
        self._among = languages
        self.tell_thresholds = tell_thresholds
        self._told: dict[str, dict[Any, float]] = {}  # thresholds, by language

    def __call__(self, documents: Sequence[Document], source: str = "documents") -> Iterator[dict[str, Any]]:
        """The rows of documents, in their order; ``source`` names them in a refusal."""
        return self._answer(documents, source, self._rows, self._no_answer)

    def with_excluded(self, labels: Sequence[str]) -> "Predictor":
        """One that does not assign some further labels, which the model must have."""
        fewer = copy(self)
        fewer.model = self._with_label_set.following(exclude=labels)
        fewer._show(fewer.model)
        return fewer

    @cached_property
    def _with_label_set(self) -> Model:
        """The model, with a label set that says nothing where it has none: what it looks up is kept there."""
        return self.model if self.model.label_set is not None else self.model.following(LabelSet.of([]))

    def _show(self, model: Model) -> None:
        """Take the columns of labels to show, in the order to name them and in that of the model."""
        # Those not excluded; of two that are equally probable, the one to name first comes first.
        self._shown = np.arange(len(self.labels)) if model.rules is None else model.rules.order()
        self._listed = np.sort(self._shown)
        self._listed_labels = list(map(self.labels.__getitem__, self._listed.tolist()))
        self._places = np.zeros(len(self.labels), dtype=np.intp)  # of columns, in the order to name them
        self._places[self._shown] = np.arange(len(self._shown))

    def explain(
        self,
        documents: Sequence[Document],
        labels: Sequence[str] | None = None,
        top: int = 10,
        source: str = "documents",
    ) -> Iterator[dict[str, Any]]:
        """Why documents get their labels: rows with ``id``, ``language`` and what `Model.explain` gives."""

        def rows(known: Sequence[Document], languages: Sequence[str]) -> Iterator[dict[str, Any]]:
            for row in self.model.explain(self._contents(known, languages), None, labels, top):
                yield row if self._names is None else {**row, "labels": self._named(row["labels"])}

        def no_answer() -> dict[str, Any]:
            return {"labels": {}, "neighbours": [], "abstained": UNKNOWN_LANGUAGE}

        return self._answer(documents, source, rows, no_answer)

    def _answer(
        self,
        documents: Sequence[Document],
        source: str,
        rows: Callable[[Sequence[Document], Sequence[str]], Iterator[dict[str, Any]]],
        unknown: Callable[[], dict[str, Any]],
    ) -> Iterator[dict[str, Any]]:
        """A row per document: what ``rows`` gives where the model can label it, else ``unknown``."""
        languages = self._languages(documents, shown_name(source))
        servable = [i for i, (_, known, _) in enumerate(languages) if known]
        tags = [languages[i][0] for i in servable]
        unseen = {tag for tag in set(tags) if not is_served(tag, self.model.languages)}
        answers = rows([documents[i] for i in servable], tags) if servable else iter(())
        for document, (language, known, probability) in zip(documents, languages, strict=True):
            row: dict[str, Any] = {"id": document.id, "language": language}
            if probability is not None:
                row |= {"language_detected": True, "language_probability": probability}
            row |= next(answers) if known else unknown()
            row["language"] = language
            if known and language in unseen:
                row["zero_shot"] = True
            yield row

    def _no_answer(self) -> dict[str, Any]:
        names: dict[str, Any] = {} if self._names is None else {NAMES_KEY: []}
        answer = {"labels": [], **names, "best_label": None, "probability": None}
        return {**answer, "abstained": UNKNOWN_LANGUAGE, "probabilities": {}}

    def _languages(self, documents: Sequence[Document], source: str) -> list[tuple[str, bool, float | None]]:
        """The language of each document, whether the model knows it, and if detected its probability."""
        tags = [None if is_undetermined(each.language or "") else each.language for each in documents]
        missing = [document.text for document, tag in zip(documents, tags, strict=True) if tag is None]
        with prefix_errors(source):
            found = detect_for_model(missing, self.model.languages, self._among) if missing else []
        detected = iter(found)
        languages = []
        for document, tag in zip(documents, tags, strict=True):
            given = Detected(tag, None) if tag is not None else next(detected)
            language, problem = self._judge(given.language)
            if problem and self.strict:
                line = "" if document.line is None else f":{document.line}"
                raise InputError(f"{source}{line}: document {quoted(document.id)}: {problem}")
            languages.append((language, not problem, given.probability))
        return languages

    def _judge(self, tag: str) -> tuple[str, str]:
        """A tag in its normal form, and what is wrong with it, if anything."""
        try:
            language = normalise_tag(tag)
        except InputError as error:
            return tag, str(error)
        if self.model.serves(language):
            return language, ""
        return language, (
            f"the model does not know the language {quoted(language)}, only "
            f"{', '.join(self.model.languages)}. Without --strict such documents get no label."
        )

    def _rows(self, documents: Sequence[Document], languages: Sequence[str]) -> Iterator[dict[str, Any]]:
        labels, scores, evident = self.model.classify_with_evidence(self._contents(documents, languages))
        thresholds = {language: self._thresholds(language) for language in set(languages)}
        answers = (self._sparse_answers if is_sparse(scores) else self._dense_answers)(labels, scores)
        for language, answer, known in zip(languages, answers, evident, strict=True):
            assigned = [self.labels[column] for column in answer.assigned] if known else []
            has_best = known and answer.best is not None
            yield {
                "labels": assigned,
                **({} if self._names is None else {NAMES_KEY: list(map(self._name, assigned))}),
                "best_label": self.labels[answer.best] if has_best else None,
                "probability": answer.probability if has_best else None,
                "abstained": None if known else OUT_OF_VOCABULARY,
                **self._probabilities(answer, thresholds[language]),
            }

    def _contents(self, documents: Sequence[Document], languages: Sequence[str]) -> Contents:
        """Texts by the language of the model's that serves theirs."""
        served = {tag: served_by(tag, self.model.languages) for tag in set(languages)}
        return Contents.of_texts([each.text for each in documents], [served[tag] for tag in languages])

    def _dense_answers(self, labels: Any, scores: npt.NDArray[np.float64]) -> Iterator["_PredictedRow"]:
        for given, row in zip(labels, scores, strict=True):
            assigned = (
                self._assigned(given) if self.threshold is None else np.flatnonzero(row > self.threshold)
            )
            best = assigned[0] if self._single else self._shown[np.argmax(row[self._shown])]
            columns = self._listed
            if self.top is not None:
                by_probability = np.argsort(-row[self._shown], kind="stable")
                columns = self._shown[by_probability[: self._number(assigned)]]
            yield _PredictedRow(assigned, int(best), float(row[best]), columns, row[columns])

    def _sparse_answers(self, labels: Any, scores: Any) -> Iterator["_PredictedRow"]:
        """The same of candidates alone, the most probable first, without looking at other labels."""
        rows = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
        order = np.lexsort((self._places[scores.indices], -scores.data, rows))
        columns, values = scores.indices[order], scores.data[order]
        for i, (start, end) in enumerate(pairwise(scores.indptr.tolist())):
            ranked, probable = columns[start:end], values[start:end]
            if self.threshold is not None:
                assigned = ranked[probable > self.threshold]
            elif self._single:
                assigned = self._assigned(labels[i])
            else:
                assigned = ranked[np.isin(ranked, filled_columns(labels, i))]
            best = assigned[:1] if self._single else ranked[:1]
            top = self._number(assigned)
            yield _PredictedRow(
                assigned,
                int(best[0]) if len(best) else None,
                float(probable[ranked == best[0]].sum()) if len(best) else 0.0,
                ranked[:top],
                probable[:top],
            )

    def _number(self, assigned: Columns) -> int | None:
        """How many labels a row shows: unless somebody says, no fewer than it assigns."""
        if self.top is None or not self._all_assigned:
            return self.top
        return max(self.top, len(assigned))

    def _assigned(self, answer: Any) -> Columns:
        """The columns of a document's labels, given a row of 0 and 1, or its one class."""
        if not self._single:
            return np.flatnonzero(answer)
        return np.array([self._column_of[answer if isinstance(answer, str) else answer.item()]])

    @cached_property
    def _column_of(self) -> dict[Any, int]:
        return {label: column for column, label in enumerate(self.labels)}

    def _probabilities(self, answer: "_PredictedRow", thresholds: dict[Any, float]) -> dict[str, Any]:
        listed = answer.columns is self._listed
        labels = self._listed_labels if listed else [self.labels[each] for each in answer.columns.tolist()]
        shown = dict(zip(labels, answer.values.tolist(), strict=True))
        unusual = {label: thresholds[label] for label in labels if label in thresholds} if thresholds else {}
        return {"probabilities": shown, **({"thresholds": unusual} if unusual else {})}

    def _name(self, label: Any) -> str:
        return (self._names or {}).get(str(label), str(label))

    def _named(self, labels: dict[str, Any]) -> dict[str, Any]:
        """Explanations of labels, with what these are called."""
        return {label: {"name": self._name(label), **told} for label, told in labels.items()}

    def _thresholds(self, language: str) -> dict[Any, float]:
        """Those that rows tell, by label: none where the user chose one, or where all are as usual."""
        if not self.tell_thresholds or self.threshold is not None:
            return {}
        served = served_by(language, self.model.languages)
        if served not in self._told:
            self._told[served] = _unusual_thresholds(self.model, self.model.thresholds(served))
        return self._told[served]


class _PredictedRow(NamedTuple):
    """What a model says of a document: columns that are assigned, the best one, those to show, in order.

    There is no best one where nothing is a candidate.
    """

    assigned: Columns
    best: int | None
    probability: float
    columns: Columns
    values: npt.NDArray[np.float64]


def default_top(model: Model) -> int | None:
    """How many labels a row shows unless somebody says so: all, or of many labels the most probable ones."""
    return XMC_DEFAULT_TOP if len(model.labels.classes) > XMC_MIN_LABELS else None


def thresholds_of(model: Model) -> dict[str, dict[Any, float]]:
    """The probability above which a label is assigned, by language, where that is not .5.

    Where many labels have the same, it stands under "all labels".
    Languages that training had no documents in stand under "other languages", if they have their own funnel.
    """
    found = {tag: _unusual_thresholds(model, model.thresholds(tag)) for tag in model.languages}
    if getattr(model.fit_parameters, "zero_shot", None) is not None:
        fitted, columns = model.fitted, model.labels.columns
        others = probability_thresholds(fitted, OTHER_LANGUAGES, columns)
        found[OTHER_LANGUAGES] = _unusual_thresholds(model, others)
    return {name: _in_short(each, len(model.labels.classes)) for name, each in found.items() if each}


def _in_short(thresholds: dict[Any, float], labels: int) -> dict[Any, float]:
    if len(thresholds) == labels > XMC_MIN_LABELS and len(set(thresholds.values())) == 1:
        return {ALL_LABELS: next(iter(thresholds.values()))}
    return thresholds


def _unusual_thresholds(model: Model, thresholds: npt.NDArray[np.float64]) -> dict[Any, float]:
    """The thresholds that are not .5; a model that gives one label per document has none."""
    if not model.labels.has_thresholds:
        return {}
    # A method that decides at .5 says so up to the last bit.
    unusual = np.flatnonzero(np.abs(thresholds - DEFAULT_THRESHOLD) >= ABS_TOL)
    labels = model.labels.classes.tolist()
    return {labels[j]: float(thresholds[j]) for j in unusual}


def names_of_labels(model: Model, language: str) -> dict[str, str]:
    """What a model's labels are called in a language; refused where it has no names for them."""
    label_set = model.label_set
    if label_set is None or not label_set.names:
        raise InputError("The model has no names of its labels. Add --label-set FILE, or leave --names out.")
    return label_set.names_in(language)
