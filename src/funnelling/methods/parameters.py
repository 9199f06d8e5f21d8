"""Refusals of an estimator's parameters, by name and value."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError
from funnelling.randomness import is_seed


def check_positive(estimator: Any, *names: str, other: str = "") -> None:
    """Refuse what is neither a positive number nor None."""
    for name in names:
        value = getattr(estimator, name)
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 < float(value) < float("inf")):
            raise InputError(f"{name} must be a positive number{other}, not {value!r}.")


def check_c(estimator: Any, *names: str) -> None:
    """Refuse what is neither a positive number nor a way to search for one."""
    given = (name for name in names if getattr(estimator, name) != "grid")
    check_positive(estimator, *given, other=" or grid")


def check_whole(estimator: Any, *names: str, least: int = 1) -> None:
    """Refuse what is no whole number, or below the least."""
    for name in names:
        value = getattr(estimator, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise InputError(f"{name} must be a whole number from {least} on, not {value!r}.")


def check_flag(estimator: Any, *names: str) -> None:
    """Refuse what is neither true nor false."""
    for name in names:
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{name} must be true or false, not {value!r}.")


def check_choice(estimator: Any, name: str, choices: Collection[str]) -> None:
    """Refuse what is none of the choices."""
    value = getattr(estimator, name)
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")


def check_jobs(estimator: Any) -> None:
    """Refuse what is no number of threads."""
    jobs = estimator.n_jobs
    if jobs is not None and (not isinstance(jobs, Integral) or isinstance(jobs, bool) or jobs == 0):
        raise InputError(f"n_jobs must be a number of threads, -1 for one per core, or None, not {jobs!r}.")


def check_random_state(estimator: Any) -> None:
    """Refuse what is no seed."""
    seed = estimator.random_state
    if seed is not None and not isinstance(seed, Integral | np.random.RandomState) and seed is not np.random:
        raise InputError(f"random_state must be a whole number or None, not {seed!r}.")
    if isinstance(seed, Integral) and not is_seed(int(seed)):
        raise InputError(f"random_state must be from 0 to 2^64 - 1, not {seed}.")


def check_label_set(given: Any) -> None:
    """Refuse what is no label set, or one of no labels."""
    if given is None:
        return
    if not isinstance(given, LabelSet):
        raise InputError(
            f"label_set must be a LabelSet, not {type(given).__name__}. Read a file with read_label_set."
        )
    if not len(given):
        raise InputError("label_set has no labels. Leave it out.")
