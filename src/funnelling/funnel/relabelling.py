"""A fitted funnel gives fewer labels, with the same bits: tier 2 still takes those dropped into account."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.evaluation.measures import Counts
from funnelling.funnel.archive import FunnelArchive
from funnelling.funnel.attributes import ZERO_SHOT
from funnelling.methods.learning import Relabelling
from funnelling.methods.merging import by_class
from funnelling.svm.learner import decide
from funnelling.svm.scorers import SelectedScorer, Selection


def selected_tiers(attributes: Mapping[str, Any], selection: Selection) -> dict[str, Any]:
    """What gives the labels that are left, by attribute: tier 2, its probabilities, thresholds and scores."""
    selected: dict[str, Any] = {}
    for prefix in ("", ZERO_SHOT):
        if f"{prefix}meta_" in attributes:
            cuts = attributes.get(f"{prefix}cuts_", 0.0)
            selected[f"{prefix}meta_"] = SelectedScorer.of(attributes[f"{prefix}meta_"], selection)
            selected[f"{prefix}head_"] = attributes[f"{prefix}head_"].of_labels(selection.columns)
            selected[f"{prefix}cuts_"] = cuts[selection.columns] if isinstance(cuts, np.ndarray) else cuts
    if scores := attributes.get(f"{ZERO_SHOT}scores_"):
        selected[f"{ZERO_SHOT}scores_"] = {tag: selection.of(rows) for tag, rows in scores.items()}
    return selected


def selected_counts(
    held_out: Mapping[str, npt.NDArray[np.int64]],
    selection: Selection,
    exclusive: bool,
    archive: FunnelArchive | None,
) -> dict[str, npt.NDArray[np.int64]] | None:
    """How the funnel decides of documents that were held out, of the labels that are left.

    Where labels exclude each other, documents get the best of the rest, and those of a dropped label do not
    count: that takes their scores. None where these are not known.
    """
    if not exclusive:
        return {language: table[:, selection.columns] for language, table in held_out.items()}
    if archive is None or not archive.scores:
        return None
    counted = {}
    for language in held_out:
        truth = archive.targets[language][:, selection.columns]
        rows = truth.any(axis=1)
        if rows.any():
            decisions = decide(selection.of(archive.scores[language])[rows], exclusive=True)
            truth = truth[rows, 1:] if selection.margin else truth[rows]
            counted[language] = Counts.of(truth, decisions).table()
    return counted


def counts_under(
    relabelling: Relabelling, archive: FunnelArchive, thresholds: Any, exclusive: bool
) -> dict[str, Counts]:
    """How the funnel decides of documents that were held out, under labels that stand for several of its own.

    One of these is given where any of the old ones is. Documents without their only label do not count.
    """
    counts = {}
    decided = {tag: decide(scores - thresholds, exclusive) for tag, scores in archive.scores.items()}
    truth_by, decided_by = (
        by_class(rows, len(relabelling.old), exclusive) for rows in (archive.targets, decided)
    )
    for language in decided:
        truth, decisions = (relabelling.of_targets(each[language]) for each in (truth_by, decided_by))
        rows = truth.any(axis=1) if exclusive else np.ones(len(truth), dtype=bool)
        if rows.any():
            counts[language] = Counts.of(truth[rows], decisions[rows])
    return counts
