"""Label the documents of a file or of a folder of parts, one row or object per document."""

import hashlib
import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from funnelling.commands.options import FilePath
from funnelling.commands.sources import layout_for, load_text_model, say_unknown
from funnelling.errors import InputError
from funnelling.formats import is_text_folder, parts_of, read_documents, read_part
from funnelling.formats.document import Document, join_labels, to_record
from funnelling.formats.files import STANDARD, writing
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import Kind
from funnelling.formats.tables import (
    JSON_LINES,
    PARQUET,
    XLSX,
    check_writable,
    ending_of,
    to_json,
    write_table,
)
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.model import Model
from funnelling.methods.rows import Predictor, batches, default_top, thresholds_of
from funnelling.runtime.messages import MODEL
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.spread import map_processes
from funnelling.storage import load
from funnelling.storage.places import folder_of, lasting

Scores = Literal["none", "list", "wide"]

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


MANIFEST = "_predictions.json"  # what the predictions in a folder were made with


@dataclass(frozen=True)
class PredictionOptions:
    """Which labels a row of predictions shows and assigns; see `Predictor` and `PredictionTable`."""

    top: int | None = None
    threshold: float | None = None
    strict: bool = False
    scores: Scores | None = None
    names: str | None = None
    label_set: str | None = None
    exclude: tuple[str, ...] = ()

    def following(self, model: Model) -> Model:
        """The model with the label set, and without the labels, that these options name."""
        return model.following(self.label_set, self.exclude)

    def predictor(self, model: Model) -> Predictor:
        """What labels documents; refuses options that the model cannot follow."""
        return Predictor(model, self.top, self.threshold, self.strict, names=self.names)

    def table(self, ending: str, model: Model) -> PredictionTable:
        """How rows stand in a file; refuses options that its format cannot follow."""
        rules = model.rules
        columns = slice(None) if rules is None else ~rules.excluded
        labels = model.labels.classes[columns].tolist()
        top = default_top(model) if self.top is None else self.top
        return PredictionTable(ending, labels, self.scores, top, self.names is not None)

    def thresholds(self, model: Model) -> list[dict[str, object]]:
        """The rows of a table of thresholds: where they are not .5, or the one that was given for all."""
        if self.threshold is not None:
            return [{"language": "all", "label": "all", "threshold": self.threshold}]
        return [
            {"language": language, "label": str(label), "threshold": threshold}
            for language, thresholds in thresholds_of(model).items()
            for label, threshold in thresholds.items()
        ]


def predict_parts(
    model: str,
    data: str,
    output: str,
    options: PredictionOptions,
    *,
    force: bool = False,
    layout: Layout = AS_FOUND,
    jobs: int | None = None,
    verbose: int = 0,
) -> Counter[str]:
    """Write the predictions for each part of ``data`` to a part of the same name in ``output``, as Parquet.

    Parts that are there already stay as they are, if the same model made them with the same options. Return
    how many documents were not labelled, by what stands for their language.
    """
    folder = Path(output)
    parts = parts_of(data)
    path = lasting(model)
    origin = {"model": _digest(path), **asdict(options), "layout": repr(layout)}
    origin["exclude"] = sorted(options.exclude)  # as it is read again
    if options.label_set is not None:
        origin["label_set"] = hashlib.sha256(Path(options.label_set).read_bytes()).hexdigest()
    _claim(folder, origin, force)
    missing = [part for part in parts if not _target(folder, part).exists()]
    calls = [(path, part, str(_target(folder, part)), options, layout) for part in missing]
    renamed: dict[str, str] = {}
    unknown: Counter[str] = Counter()
    with progress_bar("predict", len(parts), bool(verbose), "parts") as advance:
        advance(len(parts) - len(missing))
        for _, (found, not_labelled) in map_processes(_predict_part, calls, jobs):
            renamed |= found
            unknown += not_labelled
            advance(1)
    say_renamed(renamed)
    return unknown


def _predict_part(
    model: str, part: str, target: str, options: PredictionOptions, layout: Layout
) -> tuple[dict[str, str], Counter[str]]:
    """Label a part; gives the columns of the input that had to be renamed, and what was not labelled."""
    fitted = options.following(_load(model, _digest(model)))
    predictor, table = options.predictor(fitted), options.table(PARQUET, fitted)

    def rows() -> Iterator[dict[str, object]]:
        for batch in batches(read_part(part, layout, labels=False, keep_fields=True)):
            yield from table.rows(batch, predictor(batch, part))

    write_table(
        target, rows(), table.columns, force=True, attached={"thresholds": options.thresholds(fitted)}
    )
    return table.renamed, predictor.unknown


@lru_cache(maxsize=1)
def _load(model: str, _digest: str) -> Model:
    return load(model, mapped=True)


def _digest(model: str) -> str:
    try:
        return hashlib.sha256((folder_of(model) / MODEL).read_bytes()).hexdigest()
    except OSError:
        load(model)  # says what is wrong
        raise


def _target(folder: Path, part: str) -> Path:
    name = os.path.basename(part).lower().removesuffix(".gz")
    return folder / f"{Path(name).stem}.parquet"


def _claim(folder: Path, origin: dict[str, Any], force: bool) -> None:
    """Make the folder ours: it is new, or its parts were made the same way, or they are removed."""
    manifest = folder / MANIFEST
    folder.mkdir(parents=True, exist_ok=True)
    old_parts = [path for path in folder.iterdir() if path.suffix == ".parquet"]
    if old_parts and _read(manifest) != origin:
        if not force or not manifest.exists():
            raise InputError(
                f"{folder}: holds files that this model did not make with these options. "
                "Choose another folder" + (" or add --force." if manifest.exists() else ".")
            )
        for path in old_parts:
            path.unlink()
    with writing(manifest, force=True) as stream:
        json.dump(origin, stream)


def _read(manifest: Path) -> Any:
    try:
        return json.loads(manifest.read_text())
    except (OSError, ValueError):
        return None


DEFAULTS = PredictionOptions()


def predict(
    model: FilePath,
    data: FilePath,
    output: FilePath = STANDARD,
    options: PredictionOptions = DEFAULTS,
    *,
    layout: Layout = AS_FOUND,
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
) -> None:
    """Write a row with labels and probabilities for each document.

    Parameters
    ----------
    model : folder of the model
    data : file of documents, or a folder of such files; or a text of two words or more
    output : file whose ending says what it is (.csv, .tsv, .xlsx, .parquet or .jsonl), with the documents'
        own columns in front; or - for JSON Lines on standard output, without them; for a folder of documents
        it may be a folder, too, which gets one Parquet file of predictions per file of documents
    options : how many labels a row shows, and which are assigned
    layout : where the fields of documents are in the file, as far as that is not to be found
    jobs : processes that label a folder's files
    force : whether an output that exists is replaced
    verbose : above 0 for a progress bar
    """
    target = os.fspath(output)
    parts = os.path.isdir(data) and not is_text_folder(data) and _is_folder(target)
    ending = PARQUET if parts else _ending_of(target)
    classifier = options.following(load_text_model(model))
    predictor, table = options.predictor(classifier), options.table(ending, classifier)
    layout = layout_for(classifier, layout)
    unknown = predictor.unknown
    if parts:
        unknown = predict_parts(
            os.fspath(model),
            os.fspath(data),
            target,
            options,
            force=force,
            layout=layout,
            jobs=jobs,
            verbose=verbose,
        )
    elif _is_stream(target):
        documents = read_documents(data, layout, labels=False)
        with (
            writing(target, force) as stream,
            # A bar among the rows would make both unreadable.
            progress_bar("predict", None, bool(verbose) and not os.isatty(1), "documents") as advance,
        ):
            for batch in batches(documents):
                for row in predictor(batch, os.fspath(data)):
                    stream.write(to_json(table.plain(row)) + "\n")
                stream.flush()  # whatever reads along gets whole rows
                advance(len(batch))
    else:
        beside = table.objects if ending == JSON_LINES else table.rows

        def rows() -> Iterator[dict[str, object]]:
            with progress_bar("predict", None, bool(verbose), "documents") as advance:
                for batch in batches(read_documents(data, layout, labels=False, keep_fields=True)):
                    yield from beside(batch, predictor(batch, os.fspath(data)))
                    advance(len(batch))

        thresholds = options.thresholds(classifier)
        write_table(
            target,
            rows(),
            table.columns,
            force,
            title="predictions",
            attached={"thresholds": thresholds} if thresholds else {},
            verbose=verbose,
        )
        say_renamed(table.renamed)
    say_unknown(unknown)
    if options.threshold is None and thresholds_of(classifier):
        _say_where_thresholds_stand(os.fspath(model), target, ending)


def _is_folder(output: str) -> bool:
    """Whether a folder is to take the predictions for a folder: any name but that of a file of rows."""
    if _is_stream(output):
        return False
    try:
        return os.path.isdir(output) or not ending_of(output)
    except InputError:
        return True


def _ending_of(output: str) -> str:
    return JSON_LINES if _is_stream(output) else check_writable(output)


def _is_stream(output: str) -> bool:
    """Whether a name is that of standard output, a pipe or a device, of which an ending says nothing."""
    is_special = os.path.exists(output) and not os.path.isfile(output) and not os.path.isdir(output)
    return output == STANDARD or is_special


def _say_where_thresholds_stand(model: str, output: str, ending: str) -> None:
    places = {
        XLSX: f'the sheet "thresholds" of {output} has them',
        PARQUET: f"the metadata of {output} (funnelling.thresholds) has them",
    }
    where = places.get(ending, f"funnelling inspect {model} --json has them")
    _log.info(f"Labels are assigned above thresholds that are not all .5: {where}.")
