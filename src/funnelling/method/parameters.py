"""Refusals of an estimator's parameters, by name and value."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from funnelling.errors import InputError


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
