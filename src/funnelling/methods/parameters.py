"""Parameters of methods: fields of a dataclass, each with its default and with what it takes."""

from collections.abc import Callable, Collection
from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError
from funnelling.randomness import is_seed


def check_parameters(estimator: Any) -> None:
    """Refuse parameters whose values their fields do not allow."""
    for each in fields(estimator):
        if check := each.metadata.get("check"):
            check(each.name, getattr(estimator, each.name))


def checked(default: Any, check: Callable[[str, Any], None]) -> Any:
    """A parameter that a function checks, given its name and value."""
    return field(default=default, metadata={"check": check})


def _limited(default: Any, takes: Callable[[Any], bool], what: str) -> Any:
    """A parameter whose values must satisfy ``takes``; messages call them ``what``."""

    def check(name: str, value: Any) -> None:
        if not takes(value):
            raise InputError(f"{name} must be {what}, not {value!r}.")

    return checked(default, check)


def positive(default: float | None, what: str = "a positive number") -> Any:
    """A positive number; or None, where that is the default."""
    return _limited(default, lambda value: (value is None and default is None) or _is_positive(value), what)


def c_setting(default: float | str | None) -> Any:
    """The C of an SVM, or None or "grid" to search for it."""
    return _limited(
        default,
        lambda value: value is None or (isinstance(value, str) and value == "grid") or _is_positive(value),
        "a positive number or grid",
    )


def share(default: float, *, zero_allowed: bool = False) -> Any:
    """A share between 0 and 1; 0 itself only if ``zero_allowed``."""
    what = "from 0 to below 1" if zero_allowed else "between 0 and 1"

    def takes(value: Any) -> bool:
        return isinstance(value, Real) and (0 < float(value) < 1 or (zero_allowed and value == 0))

    return _limited(default, takes, what)


def whole(default: int, least: int = 1) -> Any:
    """A whole number."""
    return _limited(
        default, lambda value: _is_whole(value) and value >= least, f"a whole number from {least} on"
    )


def flag(default: bool) -> Any:
    """True or false."""
    return _limited(default, lambda value: isinstance(value, bool | np.bool_), "true or false")


def choice(default: str | None, choices: Collection[str]) -> Any:
    """One of some names; or None, where that is the default."""

    def takes(value: Any) -> bool:
        return (value is None and default is None) or (isinstance(value, str) and value in choices)

    return _limited(default, takes, f"one of {', '.join(choices)}")


def in_bytes(default: float) -> Any:
    """A number of bytes."""
    return _limited(default, lambda value: isinstance(value, Real) and float(value) > 0, "a number of bytes")


def jobs() -> Any:
    """A number of threads."""
    return _limited(
        None,
        lambda value: value is None or (_is_whole(value) and value != 0),
        "a number of threads, -1 for one per core, or None",
    )


def seed() -> Any:
    """A seed, or a generator of scikit-learn's kind."""
    return checked(None, _check_seed)


def _check_seed(name: str, value: Any) -> None:
    if isinstance(value, Integral):
        if not is_seed(int(value)):
            raise InputError(f"{name} must be from 0 to 2^64 - 1, not {value}.")
    elif value is not None and not isinstance(value, np.random.RandomState) and value is not np.random:
        raise InputError(f"{name} must be a whole number or None, not {value!r}.")


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < float("inf")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


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
