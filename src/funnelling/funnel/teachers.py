"""The documents that teach tier 2: all of them, or a sample where all would not fit into memory."""

import logging
from collections.abc import Mapping

import numpy as np

from funnelling.funnel.design import Design
from funnelling.funnel.tier_one import Teachers
from funnelling.matrices import Targets, by_language, sizes_of
from funnelling.methods.training_set import FOLDS, TrainingSet
from funnelling.randomness import stream
from funnelling.svm.path import amount, check_solution_size, gram_bytes, largest_gram

MOST_TEACHERS = 20_000  # where a kernel matrix of all documents would pass the memory limit
FEW_POSITIVES = 20  # of a label, which are taken first

logger = logging.getLogger(__name__)


def choose_teachers(design: Design, training: TrainingSet) -> Teachers | None:
    """The documents that teach tier 2, None for all; refused where even those would not fit into memory.

    Asked before tier 1, which may take hours.
    """
    if design.meta_estimator is not None:
        return None
    vectors = 2 if design.zero_shot_joint else 1
    teachers = sample_teachers(training.targets, training.seed, design.memory_limit, vectors)
    number = training.size if teachers is None else sum(int(rows.sum()) for rows in teachers.values())
    check_solution_size(vectors * number, training.labels, FOLDS + 1, design.memory_limit, "tier 2")
    if teachers is not None:
        logger.warning(
            "Tier 2 learns from %s of %s documents, for a kernel matrix of all would pass the "
            "memory_limit of %s.",
            f"{number:,}",
            f"{training.size:,}",
            amount(design.memory_limit),
        )
    return teachers


def sample_teachers(
    targets: Mapping[str, Targets], seed: int, memory_limit: float, vectors: int = 1
) -> Teachers | None:
    """The documents that tier 2 learns from: None means all, as in the paper, while their kernel matrix fits.

    ``vectors`` is how many of each document it learns from.

    Past that a sample teaches it: languages by their share, and rare labels before all others. With many
    documents tier 1 decides how good a model is, and an exact fit on a sample beats an approximate one
    on all of them, in quality and in time.
    """
    documents = sum(map(len, targets.values()))
    if gram_bytes(vectors * documents) <= memory_limit:
        return None
    size = min(MOST_TEACHERS, largest_gram(memory_limit)) // vectors
    turns = {
        language: (stream(seed, "tier 2", language).permutation(len(rows)) + 0.5) / max(len(rows), 1)
        for language, rows in targets.items()
    }
    turn, labels = np.concatenate(list(turns.values())), np.vstack(list(targets.values()))
    order = np.argsort(turn, kind="stable")
    first = max(1, min(FEW_POSITIVES, size // (2 * labels.shape[1])))
    rare = labels[order] & (np.cumsum(labels[order], axis=0) <= first)
    preferred = np.argsort(~rare.any(axis=1), kind="stable")
    chosen = np.zeros(documents, dtype=bool)
    chosen[order[preferred[:size]]] = True
    return by_language(chosen, sizes_of(targets))
