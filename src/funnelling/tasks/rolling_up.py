"""Documents that get the parents of their labels when they are read, where that was asked for."""

from dataclasses import replace
from typing import TYPE_CHECKING

from funnelling.corpus import Corpus
from funnelling.corpus.label_set import LabelSet
from funnelling.errors import counted
from funnelling.evaluation.splits import Trial
from funnelling.formats.files import shown_name
from funnelling.methods.model import label_set_for
from funnelling.tasks.sources import FilePath

if TYPE_CHECKING:
    from funnelling.methods.model import Method


def label_set_to_learn(path: FilePath | None, labels: list[str], roll_up: bool) -> LabelSet | None:
    """The label set of a file for a model that is to learn some labels; None without a file."""
    if path is None:
        return None
    label_set = label_set_for(path, labels)
    return label_set.rolled_up() if roll_up else label_set


def rolled_up(corpus: Corpus, label_set: LabelSet | None) -> Corpus:
    """Documents with all labels above theirs, where the label set says so."""
    if label_set is None or not label_set.roll_up:
        return corpus
    labels = [None if own is None else label_set.closed(own) for own in corpus.labels]
    return replace(corpus, labels=labels)


def rolled_up_sides(trial: Trial, model: "Method | LabelSet | None") -> Trial:
    """`rolled_up` of all sides, by a label set or that of a model."""
    label_set = model if isinstance(model, LabelSet) else getattr(model, "label_set_", None)
    return Trial(*(rolled_up(side, label_set) for side in trial))


def without_parents(train: Corpus, label_set: LabelSet | None, path: FilePath | None) -> list[str]:
    """A line on documents that have a label and not its parents, if the model will give both."""
    if label_set is None or path is None or label_set.roll_up or not label_set.has_parents:
        return []
    known = set(train.label_set())
    lacking = sum(
        bool(known.intersection(label_set.closed(own or ())) - {*(own or ())}) for own in train.labels
    )
    if not lacking:
        return []
    return [
        f"{shown_name(path)}: {counted(lacking, 'document')} of {len(train):,} lack labels above theirs, "
        "which the model will give with them. Add --roll-up to learn them so."
    ]
