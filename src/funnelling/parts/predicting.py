"""Label a folder of parts: one pass, one part of predictions per part of documents."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from funnelling.corpus.label_rules import rules_of
from funnelling.errors import InputError
from funnelling.formats import parts_of, read_part
from funnelling.formats.files import writing
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.predictions import PredictionTable, Scores, say_renamed
from funnelling.formats.tables import PARQUET, write_table
from funnelling.methods.model import Method, follow_label_set
from funnelling.methods.rows import Predictor, batches, thresholds_of, usual_top
from funnelling.runtime.messages import MODEL
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.spread import in_processes
from funnelling.storage import load_model
from funnelling.storage.places import folder_of, lasting

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

    def following(self, model: Method) -> Method:
        """The model with the label set, and without the labels, that these options name."""
        return follow_label_set(model, self.label_set, self.exclude)

    def predictor(self, model: Method) -> Predictor:
        """What labels documents; refuses options that the model cannot follow."""
        return Predictor(model, self.top, self.threshold, self.strict, names=self.names)

    def table(self, ending: str, model: Method) -> PredictionTable:
        """How rows stand in a file; refuses options that its format cannot follow."""
        rules = rules_of(model)
        columns = slice(None) if rules is None else ~rules.excluded
        labels = model.classes_[columns].tolist()
        top = usual_top(model) if self.top is None else self.top
        return PredictionTable(ending, labels, self.scores, top, self.names is not None)

    def thresholds(self, model: Method) -> list[dict[str, object]]:
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
        for _, (found, not_labelled) in in_processes(_predict_part, calls, jobs):
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
def _load(model: str, _digest: str) -> Any:
    return load_model(model, mapped=True)


def _digest(model: str) -> str:
    try:
        return hashlib.sha256((folder_of(model) / MODEL).read_bytes()).hexdigest()
    except OSError:
        load_model(model)  # says what is wrong
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
