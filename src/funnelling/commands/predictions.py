"""How predictions stand in a file, beside the columns of the documents."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from funnelling.commands.options import Predicting, Probabilities
from funnelling.errors import InputError, counted
from funnelling.formats.document import Document, join_labels, to_record
from funnelling.formats.parquet import Kind
from funnelling.formats.tables import JSON_LINES, PARQUET
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.explanation import OUT_OF_VOCABULARY
from funnelling.methods.model import Model
from funnelling.methods.rows import UNKNOWN_LANGUAGE, default_top, thresholds_of

_KEPT = "input_"  # before the name of a column of the input's that is called like one of ours
_OWN_NAMES = "label_names"
_ALL = "probabilities"
_DETECTED = ("language_detected", "language_probability")
_FIELDS = (*_DETECTED, "labels", "best_label", "probability", "abstained", _ALL, "zero_shot")
_NAMES = ("id", "language")  # the input's own, where it has them
ZERO_SHOT = "zero-shot"
REASONS = {OUT_OF_VOCABULARY: "out of vocabulary", UNKNOWN_LANGUAGE: "in an unknown language"}
MAX_LANGUAGES_NAMED = 10  # in a line

Counts = Counter[tuple[str, str]]

_log = logging.getLogger(__name__)


class PredictionTable:
    """How a row of `Predictor` stands in a file with a certain ending.

    ``labels`` are those of the model, for ``probabilities`` "wide": a column ``probability:LABEL`` for each.
    "list" is one column, or field, that has them all, and "none" leaves them out. By default JSON Lines and
    Parquet have a list, which they are made for, and other tables only where ``top`` keeps it short.
    ``names`` says whether predictions name the labels.
    """

    def __init__(
        self,
        ending: str,
        labels: Sequence[object],
        probabilities: Probabilities | None = None,
        top: int | None = None,
        names: bool = False,
    ) -> None:
        nested = ending in (JSON_LINES, PARQUET)
        if probabilities == "wide" and ending == JSON_LINES:
            raise InputError(
                "--probabilities wide makes columns, and JSON Lines has none. "
                "Choose a name that ends in .csv, .tsv, .xlsx or .parquet."
            )
        if probabilities == "wide" and len(labels) > XMC_MIN_LABELS:
            raise InputError(
                f"--probabilities wide would make {len(labels):,} columns. Use --probabilities list, and "
                "--top for more of them."
            )
        self._probabilities = probabilities or ("list" if nested or top is not None else "none")
        self._joins = not nested
        self._wide: dict[object, str] = {}
        if self._probabilities == "wide":
            self._wide = {label: f"probability:{label}" for label in labels}
        self._has_names = names
        listed: Kind = "text" if self._joins else "list"
        self.columns: dict[str, Kind] = {
            "labels": listed,
            **({_OWN_NAMES: listed} if names else {}),
            "best_label": "text",
            "probability": "number",
            "abstained": "text",
            **({_ALL: "text" if self._joins else "map"} if self._probabilities == "list" else {}),
            **dict.fromkeys(self._wide.values(), "number"),
        }
        self._ours = frozenset(
            [*_FIELDS, *([_OWN_NAMES] if names else [])] if ending == JSON_LINES else self.columns
        )
        self.renamed: dict[str, str] = {}  # columns of the input's, once rows have been made

    def rows(
        self, documents: Iterable[Document], predictions: Iterable[Mapping[str, Any]]
    ) -> Iterator[dict[str, object]]:
        """The rows of a table: the input's columns, ``id`` and ``language`` where it lacks them, and ours."""
        for document, prediction in zip(documents, predictions, strict=True):
            row = self._fields(document)
            for name in _NAMES:
                if row.get(name) in (None, ""):
                    row[name] = prediction[name]
            yield row | self._answer(prediction)

    def objects(
        self, documents: Iterable[Document], predictions: Iterable[Mapping[str, Any]]
    ) -> Iterator[dict[str, object]]:
        """The objects of JSON Lines: the input's fields, then those of the prediction."""
        for document, prediction in zip(documents, predictions, strict=True):
            fields = self._fields(document)
            others = {name: value for name, value in fields.items() if name not in _NAMES}
            yield others | self.plain(prediction)

    def plain(self, prediction: Mapping[str, Any]) -> dict[str, Any]:
        """A prediction alone, with all probabilities or without."""
        if self._probabilities == "list":
            return dict(prediction)
        return {name: value for name, value in prediction.items() if name != _ALL}

    def _fields(self, document: Document) -> dict[str, object]:
        fields = to_record(document) if document.fields is None else document.fields
        return {self._free_name(name): value for name, value in fields.items()}

    def _free_name(self, name: str) -> str:
        """A name for a column of the input's that none of ours has."""
        own = name
        while own.startswith(_KEPT):  # one that was kept before is kept again: no two get the same name
            own = own.removeprefix(_KEPT)
        if own not in self._ours:
            return name
        return self.renamed.setdefault(name, _KEPT + name)

    def _listed(self, texts: Sequence[str]) -> object:
        if not self._joins:
            return texts
        return join_labels(texts) if texts else None  # an empty cell

    def _answer(self, prediction: Mapping[str, Any]) -> dict[str, object]:
        best, shown = prediction["best_label"], prediction[_ALL]
        answer: dict[str, object] = {
            "labels": self._listed([str(label) for label in prediction["labels"]]),
            **({_OWN_NAMES: self._listed(prediction[_OWN_NAMES])} if self._has_names else {}),
            "best_label": None if best is None else str(best),
            "probability": prediction["probability"],
            "abstained": prediction["abstained"],
        }
        if self._probabilities == "list":
            all_shown = {str(label): probability for label, probability in shown.items()}
            answer[_ALL] = all_shown if all_shown or not self._joins else None
        for label, probability in shown.items() if self._wide else ():
            answer[self._wide[label]] = probability
        return answer


def counting(rows: Iterable[dict[str, Any]], counts: Counts) -> Iterator[dict[str, Any]]:
    """The rows of predictions, counted as they pass: by why they abstain, or zero-shot, and by language."""
    for row in rows:
        counts[row["abstained"] or (ZERO_SHOT if "zero_shot" in row else ""), row["language"]] += 1
        yield row


def summary(name: str, counts: Mapping[tuple[str, str], int]) -> list[str]:
    """What to report at the end on all rows of a file, of which `counting` made the counts.

    >>> summary("new.csv", {("", "en"): 98, ("out-of-vocabulary", "en"): 1, ("unknown-language", "fi"): 1})
    ['new.csv: 100 documents, 2 without an answer (1 out of vocabulary, 1 in an unknown language: fi 1).']
    """
    shown = {
        kind: {tag: n for (of, tag), n in counts.items() if of == kind} for kind in (*REASONS, ZERO_SHOT)
    }
    totals = {kind: sum(shown[kind].values()) for kind in REASONS if shown[kind]}
    whole, lacking = sum(counts.values()), sum(totals.values())
    reasons = [f"{n:,} {REASONS[kind]}" if len(totals) > 1 else REASONS[kind] for kind, n in totals.items()]
    tags = _tags(shown[UNKNOWN_LANGUAGE])
    missing = (
        f", {lacking:,} without an answer ({', '.join(reasons)}{tags and ': '}{tags})" if lacking else ""
    )
    lines = [f"{name}: {counted(whole, 'document')}{missing}."]
    if shown[ZERO_SHOT]:
        number = counted(sum(shown[ZERO_SHOT].values()), "document")
        lines.append(
            f"{name}: {number} in languages without training documents ({_tags(shown[ZERO_SHOT])}), answered "
            "through the shared views (zero-shot)."
        )
    return lines


def _tags(numbers: Mapping[str, int]) -> str:
    most = sorted(numbers, key=lambda tag: -numbers[tag])
    more = ", …" if len(most) > MAX_LANGUAGES_NAMED else ""
    return ", ".join(f"{tag} {numbers[tag]:,}" for tag in most[:MAX_LANGUAGES_NAMED]) + more


def say_renamed(renamed: Mapping[str, str]) -> None:
    """Tell which columns of the input have another name in the output."""
    if renamed:
        pairs = ", ".join(f"{old} as {new}" for old, new in renamed.items())
        _log.info(f"The input has columns called like those of the prediction, and they are kept: {pairs}.")


def table_of(how: Predicting, ending: str, model: Model) -> PredictionTable:
    """How rows stand in a file; refuses options that its format cannot follow."""
    rules = model.rules
    columns = slice(None) if rules is None else ~rules.excluded
    labels = model.labels.classes[columns].tolist()
    top = default_top(model) if how.top is None else how.top
    return PredictionTable(ending, labels, how.probabilities, top, how.names is not None)


def thresholds_shown(how: Predicting, model: Model) -> list[dict[str, object]]:
    """The rows of a table of thresholds: where they are not .5, or the one that was given for all."""
    if how.threshold is not None:
        return [{"language": "all", "label": "all", "threshold": how.threshold}]
    return [
        {"language": language, "label": str(label), "threshold": threshold}
        for language, thresholds in thresholds_of(model).items()
        for label, threshold in thresholds.items()
    ]
