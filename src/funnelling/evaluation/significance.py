"""Which methods the best one truly beats: paired t-tests, and the daggers of the paper's tables."""

from collections.abc import Collection, Iterable, Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from funnelling.errors import InputError

# Scores lie between -1 and 1; differences below this are rounding.
_ROUNDING = 1e-12


NO_RIVALS = ("upper-bound",)  # it reads more than others may, and is measured on English alone


class Significance(TypedDict):
    """The best method, and for each rival the p-value of its difference from it."""

    best: str | None
    p: dict[str, float | None]


def significance(scores: Mapping[str, ArrayLike], exclude: Collection[str] = NO_RIVALS) -> Significance:
    """The method of the best mean, and p of a paired two-tailed t-test between it and each rival.

    A method's scores are those of its (trial, language) pairs, in the same order for all; fewer than
    two pairs give a p of None. Excluded methods are left out. Between equal means the first is best.

    >>> result = significance({"naive": [.5, .6, .5], "fun-tat": [.6, .8, .8], "upper-bound": [.9, .9, .9]})
    >>> result["best"], {method: round(p, 3) for method, p in result["p"].items()}
    ('fun-tat', {'naive': 0.074})
    >>> significance({"naive": [.5, .6], "fun-tat": [.6]})
    Traceback (most recent call last):
    funnelling.errors.InputError: naive has 2 scores and fun-tat 1: they must be paired.
    """
    samples = {
        method: np.asarray(values, dtype=float).ravel()
        for method, values in scores.items()
        if method not in exclude
    }
    if not samples:
        return {"best": None, "p": {}}
    _check(samples)
    best = max(samples, key=lambda method: samples[method].mean())
    return {
        "best": best,
        "p": {
            method: paired_p(samples[best], sample) for method, sample in samples.items() if method != best
        },
    }


def dagger(p: float | None) -> str:
    """The mark of a method that is not clearly different from the best: the likelier that is, the fewer.

    >>> [dagger(p) for p in (0.2, 0.05, 0.01, 0.001, 0.0001, None)]
    ['†', '†', '††', '††', '', '']
    """
    if p is None or p < 0.001:
        return ""
    return "†" if p >= 0.05 else "††"


def rivals_of(methods: Iterable[str]) -> list[str]:
    """The methods that are tested against each other."""
    return [method for method in methods if method not in NO_RIVALS]


def paired_p(a: ArrayLike, b: ArrayLike) -> float | None:
    """The p of a paired two-tailed t-test between two methods' scores; of fewer than two pairs None.

    >>> round(paired_p([.5, .6, .5], [.6, .8, .8]), 3)
    0.074
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(first) < 2:
        return None
    differences = first - second
    if np.ptp(differences) <= _ROUNDING:
        # Without variance t is infinite, or 0/0 where nothing differs.
        return 1.0 if abs(differences[0]) <= _ROUNDING else 0.0

    from scipy.stats import ttest_rel

    return float(ttest_rel(first, second).pvalue)


def _check(samples: Mapping[str, NDArray[np.float64]]) -> None:
    first = next(iter(samples))
    for method, sample in samples.items():
        if len(sample) != len(samples[first]):
            raise InputError(
                f"{first} has {len(samples[first])} scores and {method} {len(sample)}: they must be paired."
            )
        if not len(sample) or not np.isfinite(sample).all():
            raise InputError(f"{method} needs at least one score, and every score a finite number.")
