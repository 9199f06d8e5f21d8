"""What a model's documents become when it is given more of them, and its history, step by step.

A history has no time, no host and no folder, so that the same commands leave the same bytes; and no document
and no label, so that one which is to be forgotten is not remembered here.
"""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.corpus.blocks import SLOTS, Block, Places
from funnelling.corpus.by_language import ByLanguage, slot_columns, vector_contents
from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError, listed
from funnelling.formats.files import STANDARD
from funnelling.matrices import AnyTargets, filled_columns, length, match_format, stacked
from funnelling.methods.inputs import Inputs
from funnelling.methods.labels import read_further_labels, same_labels, spread
from funnelling.methods.model import FIRST_STEP, STEPS, Model
from funnelling.methods.training_set import NEW_DOCUMENT, PreviousFit
from funnelling.randomness import is_missing

DocumentRows = dict[str, list[int]]  # some documents, by language


@dataclass(frozen=True)
class Merged:
    """An archive that further documents came into, under all ``classes``.

    ``places`` says of each document, by language, where it was before, or `NEW_DOCUMENT`. The others name
    documents of the archive: those that are ``new``, and of those that were known the ones with other labels
    (``corrected``), with another text under their id (``replaced``), and those that came as they were
    (``unchanged``), though perhaps in another group (``regrouped``).
    """

    archive: ByLanguage
    classes: npt.NDArray[Any]
    places: dict[str, Places]
    new: DocumentRows
    corrected: DocumentRows
    replaced: DocumentRows
    unchanged: DocumentRows
    regrouped: DocumentRows = field(default_factory=dict)

    @property
    def untouched(self) -> set[str]:
        """The languages whose documents and labels are as they were."""
        return {tag for tag in self.archive.targets if not self._changed_in(tag)}

    @property
    def changed(self) -> int:
        """How many documents are new, or have other labels or another text."""
        return sum(len(self._changed_in(tag)) for tag in self.archive.targets)

    def _changed_in(self, language: str) -> set[int]:
        changes = (self.new, self.corrected, self.replaced, self.regrouped)
        return {row for change in changes for row in change.get(language, ())}


def previous_fit(model: Model, merged: Merged, exact: bool) -> PreviousFit:
    """A model that is about to be updated with these documents."""
    # After labels were dropped, classifiers have other columns than there are classes.
    same = np.array_equal(model.labels.classes, merged.classes) and not model.dropped
    untouched = merged.untouched if same else set()
    return PreviousFit(model, merged.places, untouched, merged.changed, same, exact)


def merge(
    archive: ByLanguage,
    labels: LabelSpace,
    inputs: Inputs,
    y: Any,
    groups: Any,
    ids: Any,
    slots: Corpus | None = None,
) -> Merged:
    """An archive with further documents; those that it knows are replaced where they stand.

    Documents bring their weights and the like where they are given as a corpus, too, for its ``slots``.
    """
    all_classes, targets = read_further_labels(y, inputs, labels)
    merging = _Merging.under(archive, labels, all_classes)
    columns = {} if slots is None else slot_columns(slots, all_classes.tolist())
    for language, block in inputs.blocks(ids, groups, targets, **columns).items():
        merging.add(language, block.kept(inputs.kind, archive.kind == "as written"))
    return merging.merged(labels.under(all_classes))


def correct(
    archive: ByLanguage, labels: LabelSpace, ids: Sequence[Any], y: Any, languages: Any = None
) -> Merged:
    """An archive with other labels for the documents of these ids; ``languages`` tell equal ids apart."""
    names = list(map(str, listed(ids, "ids")))
    rows_of = defaultdict[str, list[tuple[str, int]]](list)
    for language, rows in archive.find_ids(names).items():
        for row in rows.tolist():
            rows_of[archive.blocks[language].ids[row]].append((language, row))
    given = [None] * len(names) if languages is None else languages
    codes = [None if is_missing(tag) else tag for tag in given]
    inputs = Inputs({"": names}, {"": np.arange(len(names))}, texts=True)
    all_classes, targets = read_further_labels(y, inputs, labels)
    merging = _Merging.under(archive, labels, all_classes)
    corrections: dict[tuple[str, int], Any] = {}
    for number, (name, code) in enumerate(zip(names, codes, strict=True)):
        columns = filled_columns(targets[""], number)
        places = [(tag, row) for tag, row in rows_of[name] if code in (None, tag)]
        if not places:
            raise InputError(
                f"The training document {name!r} is not in {code!r}. Give its language, or none."
            )
        if len({tag for tag, _ in places}) > 1:
            tags = " and ".join(tag for tag, _ in places)
            raise InputError(f"Documents in {tags} have the id {name!r}. Give the language of each, too.")
        for tag, row in places:
            if not np.array_equal(corrections.setdefault((tag, row), columns), columns):
                raise InputError(f"The document {name!r} is corrected twice, to other labels. Leave one out.")
            merging.relabel(tag, row, columns)
    return merging.merged(labels.under(all_classes))


def with_targets(
    archive: ByLanguage,
    targets: Mapping[str, AnyTargets],
    labels: LabelSpace,
    columns: Sequence[Sequence[int]] | None = None,
) -> Merged:
    """An archive under other labels, each of which has a column in ``targets`` and stands for ``columns``."""
    return _Merging(archive, targets, columns).merged(labels)


class _Merging:
    """Documents on their way to others; ``targets`` are their labels, a column for every class."""

    def __init__(
        self,
        archive: ByLanguage,
        targets: Mapping[str, AnyTargets],
        columns: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self._archive = archive
        self._blocks = archive.with_targets(targets, columns).blocks
        self._first = targets
        self._labels: dict[str, dict[int, Places]] = {}  # of documents that were known, as they are now
        self._places: dict[str, Places] = {tag: np.arange(len(block)) for tag, block in self._blocks.items()}
        self._changes: dict[str, dict[str, dict[int, None]]] = {
            name: {} for name in ("new", "corrected", "replaced", "unchanged", "regrouped")
        }

    @classmethod
    def under(cls, archive: ByLanguage, labels: LabelSpace, classes: npt.NDArray[Any]) -> "_Merging":
        """The documents of an archive under all classes, those of its own labels among them."""
        known = spread(labels.by_class(archive.targets), labels.classes, classes)
        return cls(archive, known, same_labels(labels.classes, classes))

    def add(self, language: str, came: Block) -> None:
        """Bring one language's documents in: those that are known where they are, the others at the end."""
        block, names, contents = self._blocks.get(language), came.names, came.documents
        if self._archive.kind == "vectors":
            contents = vector_contents(came.content)
        found = self._archive.find(language, names, contents)
        new = np.array([row for row, places in enumerate(found) if not places], dtype=np.intp)
        added, places = came.take(new), np.full(len(new), NEW_DOCUMENT)
        if block is not None:
            added = self._updated(language, block, came, contents, found).followed_by(added)
            places = np.concatenate([self._places[language], places])
        self._blocks[language], self._places[language] = added, places
        for row in range(len(added) - len(new), len(added)):
            self._note("new", language, row)

    def _updated(
        self, language: str, block: Block, came: Block, contents: list[Any], found: list[list[int]]
    ) -> Block:
        """Known documents with what came of them; of two with the same id the last one counts."""
        if self._archive.kind == "vectors" and came.documents.shape[1] != block.documents.shape[1]:
            raise InputError(
                f"The vectors of {language!r} have {came.documents.shape[1]} features, and those before had "
                f"{block.documents.shape[1]}. Give the same features."
            )
        archived, groups = self._archive.contents(language), list(block.groups)
        named: dict[int, int] = {}
        latest: dict[int, int] = {}
        replaced: dict[int, int] = {}
        for row, places in enumerate(found):
            for place in places:
                self.relabel(language, place, filled_columns(came.targets, row))
                latest[place] = row
                replaced.pop(place, None)
                if contents[row] != archived[place]:
                    replaced[place] = row
                if came.groups[row] not in ("", groups[place]):
                    groups[place] = came.groups[row]
                    self._note("regrouped", language, place)
                if not came.unnamed[row]:
                    named[place] = row
        for place in replaced:
            self._note("replaced", language, place)
        block = replace(block, groups=groups).updated(came, ("ids", "unnamed"), named)
        return block.updated(came, ("content",), replaced).updated(came, ("beginnings", *SLOTS), latest)

    def relabel(self, language: str, row: int, labels: Places) -> None:
        """Give a document that is known the labels of these columns."""
        changed = not np.array_equal(filled_columns(self._first[language], row), labels)
        self._changes["corrected" if not changed else "unchanged"].get(language, {}).pop(row, None)
        self._note("corrected" if changed else "unchanged", language, row)
        self._labels.setdefault(language, {})[row] = labels

    def _note(self, change: str, language: str, row: int) -> None:
        self._changes[change].setdefault(language, {})[row] = None

    def _leave_out_unlabelled(self, labels: LabelSpace) -> None:
        """Documents of a label that was dropped since, and which got no other, are learned no more."""
        for language, block in list(self._blocks.items()):
            rows = labels.learnable(block.targets)
            if len(rows) == len(block):
                continue
            places = {row: place for place, row in enumerate(rows.tolist())}
            for change in self._changes.values():
                if language in change:
                    change[language] = {places[row]: None for row in change[language] if row in places}
            if len(rows):
                self._blocks[language] = block.take(rows)
                self._places[language] = self._places[language][rows]
            else:
                del self._blocks[language], self._places[language]

    def merged(self, labels: LabelSpace) -> Merged:
        """What has become of the documents."""
        for language, relabelled in self._labels.items():
            block = self._blocks[language]
            self._blocks[language] = replace(block, targets=_relabelled(block.targets, relabelled))
        self._leave_out_unlabelled(labels)
        blocks = {
            tag: replace(
                block,
                targets=labels.learned(block.targets),
                beginnings=block.beginnings if any(block.beginnings or ()) else None,
            )
            for tag, block in sorted(self._blocks.items())
        }
        changes = {
            name: {tag: sorted(rows) for tag, rows in each.items()} for name, each in self._changes.items()
        }
        for tag, rows in changes["unchanged"].items():
            moved = {*changes["corrected"].get(tag, ()), *changes["replaced"].get(tag, ())}
            changes["unchanged"][tag] = [row for row in rows if row not in moved]
        places = {language: self._places[language] for language in blocks}
        for language, rows in changes["replaced"].items():
            places[language][rows] = NEW_DOCUMENT
        archive = replace(self._archive, blocks=blocks)
        return Merged(archive, labels.classes, places, **changes)


def _relabelled(targets: AnyTargets, labels: Mapping[int, Places]) -> AnyTargets:
    """Labels in which some documents have those of other columns."""
    rows = np.repeat(np.arange(len(labels)), list(map(len, labels.values())))
    cells = np.ones(len(rows), dtype=bool), (rows, np.concatenate(list(labels.values())))
    others = match_format(targets, sparse.csr_array(cells, (len(labels), targets.shape[1])))
    order = np.arange(length(targets))
    order[list(labels)] = length(targets) + np.arange(len(labels))
    return stacked({"old": targets, "new": others})[order]


Fact = int | str | None | Mapping[str, int]


def remember_step(
    model: Model,
    step: str,
    *,
    file: str | os.PathLike[str] | None = None,
    **facts: Fact,
) -> Model:
    """A model that remembers one more step of its history, one of `STEPS`.

    Parameters
    ----------
    model : as it is after the step
    step : what was done
    file : what was read, of which the name is kept without its folders
    facts : counts, by language where there are some, and settings that matter, such as
        ``documents={"en": 20}, corrected=3``; those that are 0, empty or None are left out

    >>> from funnelling.research import NaiveClassifier
    >>> model = NaiveClassifier().fit(["a cat", "a dog"] * 5, [["cat"], ["dog"]] * 5, ["en"] * 10).model_
    >>> model = remember_step(model, "train", file="some/pets.csv", documents={"en": 10}, corrected=0)
    >>> model.history
    [{'step': 'train', 'file': 'pets.csv', 'documents': {'en': 10}, 'after': {'documents': 10, 'labels': 2}}]
    """
    if step not in STEPS:
        raise ValueError(f"{step!r} is no step of a history, which are {', '.join(STEPS)}")
    done: dict[str, Any] = {"step": step}
    if file is not None:
        path = os.fspath(file)
        done["file"] = "standard input" if path == STANDARD else os.path.basename(os.path.abspath(path))
    plain = {name: _plain(value) for name, value in facts.items() if value is not None}
    done |= {name: value for name, value in plain.items() if value}
    done["after"] = {"documents": sum(model.documents.values()), "labels": len(model.labels.classes)}
    return replace(model, history=[*model.history, done])


def is_whole(history: Sequence[Mapping[str, Any]], documents: int) -> bool:
    """Whether a history tells of all that a model with so many training documents learned from.

    It does not where the model was made, or changed since, in Python.
    """
    return (
        bool(history) and history[0]["step"] == FIRST_STEP and history[-1]["after"]["documents"] == documents
    )


def tuned_for_some(model: Model) -> bool:
    """Whether a model has thresholds that were tuned for some labels, as far as it remembers.

    An update loses them: then all labels get thresholds for the model's own goal.

    >>> from funnelling.research import NaiveClassifier
    >>> model = NaiveClassifier().fit(["a cat", "a dog"] * 5, [["cat"], ["dog"]] * 5, ["en"] * 10).model_
    >>> tuned = remember_step(model, "tune", goal="recall=.9", labels=1)
    >>> tuned_for_some(tuned)
    True
    >>> tuned_for_some(remember_step(tuned, "update"))
    False
    """
    for step in reversed(model.history):
        if step["step"] != "relabel" or "merged" in step:  # names and drops leave thresholds
            return step["step"] == "tune" and "labels" in step
    return False


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): int(number) for key, number in sorted(value.items()) if number}
    return value if isinstance(value, str) else int(value)
