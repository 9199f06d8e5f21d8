"""How predictions stand in a file, beside the columns of the documents."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from funnelling.commands.options import Predicting, Scores
from funnelling.errors import InputError
from funnelling.formats.document import Document, join_labels, to_record
from funnelling.formats.parquet import Kind
from funnelling.formats.tables import JSON_LINES, PARQUET
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.model import Model
from funnelling.methods.rows import default_top, thresholds_of

_KEPT = "input_"  # before the name of a column of the input's that is called like one of ours
_OWN_NAMES = "label_names"
_NAMES = ("id", "language")  # the input's own, where it has them

_log = logging.getLogger(__name__)


class PredictionTable:
    """How a row of `Predictor` stands in a file with a certain ending.

    ``labels`` are those of the model, for ``scores`` "wide": a column ``score:LABEL`` for each. "list" is one
    column, or field, that has them all, and "none" leaves them out. By default JSON Lines and Parquet have a
    list, which they are made for, and other tables only where ``top`` keeps it short. ``names`` says whether
    predictions tell what labels are called.
    """

    def __init__(
        self,
        ending: str,
        labels: Sequence[object],
        scores: Scores | None = None,
        top: int | None = None,
        names: bool = False,
    ) -> None:
        nested = ending in (JSON_LINES, PARQUET)
        if scores == "wide" and ending == JSON_LINES:
            raise InputError(
                "--scores wide makes columns, and JSON Lines has none. "
                "Choose a name that ends in .csv, .tsv, .xlsx or .parquet."
            )
        if scores == "wide" and len(labels) > XMC_MIN_LABELS:
            raise InputError(
                f"--scores wide would make {len(labels):,} columns. Use --scores list, and --top for more of "
                "them."
            )
        self._scores = scores or ("list" if nested or top is not None else "none")
        self._joins = not nested
        self._wide = {label: f"score:{label}" for label in labels} if self._scores == "wide" else {}
        self._has_names = names
        listed: Kind = "text" if self._joins else "list"
        self.columns: dict[str, Kind] = {
            "labels": listed,
            **({_OWN_NAMES: listed} if names else {}),
            "best_label": "text",
            "probability": "number",
            "note": "text",
            **({"scores": "text" if self._joins else "map"} if self._scores == "list" else {}),
            **dict.fromkeys(self._wide.values(), "number"),
        }
        fields = ("labels", "best_label", "probability", "scores", "zero_shot", "evidence")
        self._ours = frozenset(
            [*fields, *([_OWN_NAMES] if names else [])] if ending == JSON_LINES else self.columns
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
        """A prediction alone, with its scores or without."""
        if self._scores == "list":
            return dict(prediction)
        return {name: value for name, value in prediction.items() if name != "scores"}

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

    def _listed(self, texts: Sequence[str] | None) -> object:
        return texts if texts is None or not self._joins else join_labels(texts)

    def _answer(self, prediction: Mapping[str, Any]) -> dict[str, object]:
        labels, best, scores = (prediction[name] for name in ("labels", "best_label", "scores"))
        texts = None if labels is None else [str(label) for label in labels]
        answer: dict[str, object] = {
            "labels": self._listed(texts),
            **({_OWN_NAMES: self._listed(prediction[_OWN_NAMES])} if self._has_names else {}),
            "best_label": None if best is None else str(best),
            "probability": prediction["probability"],
            "note": note_on(prediction) or None,
        }
        if self._scores == "list":
            answer["scores"] = scores and {str(label): score for label, score in scores.items()}
        for label, score in (scores or {}).items() if self._wide else ():
            answer[self._wide[label]] = score
        return answer


def note_on(prediction: Mapping[str, Any]) -> str:
    """What one should know of a prediction before trusting it, if anything.

    >>> note_on({"labels": [], "zero_shot": True, "evidence": False})
    'zero-shot; no known word'
    """
    notes = []
    if prediction["labels"] is None:
        notes.append("language not known to the model")
    if prediction.get("zero_shot"):
        notes.append("zero-shot")
    if not prediction.get("evidence", True):
        notes.append("no known word")
    return "; ".join(notes)


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
    return PredictionTable(ending, labels, how.scores, top, how.names is not None)


def thresholds_shown(how: Predicting, model: Model) -> list[dict[str, object]]:
    """The rows of a table of thresholds: where they are not .5, or the one that was given for all."""
    if how.threshold is not None:
        return [{"language": "all", "label": "all", "threshold": how.threshold}]
    return [
        {"language": language, "label": str(label), "threshold": threshold}
        for language, thresholds in thresholds_of(model).items()
        for label, threshold in thresholds.items()
    ]
