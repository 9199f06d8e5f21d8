"""The experiments by the names users type.

Light enough to be imported for ``--help``: a module is loaded when its experiment runs.
"""

from typing import NamedTuple

from funnelling.errors import InputError, did_you_mean


class ExperimentSpec(NamedTuple):
    """What an experiment shows, and the module that runs it and writes its section of a report."""

    summary: str
    module: str


_HERE = "funnelling.research.experiments"
EXPERIMENTS = {
    "methods": ExperimentSpec("all methods, with deviations and significance", f"{_HERE}.tables"),
    "per-language": ExperimentSpec("improvement over Naive in each language", f"{_HERE}.tables"),
    "mono-binary": ExperimentSpec(
        "what other labels bring, and what other languages bring", f"{_HERE}.mono_binary"
    ),
    "learning-curves": ExperimentSpec(
        "fractions of one language's training documents", f"{_HERE}.contributions"
    ),
    "contributions": ExperimentSpec(
        "which languages help most, and which are helped", f"{_HERE}.contributions"
    ),
    "calibration": ExperimentSpec("Fun(TAT) without calibration", f"{_HERE}.tables"),
    "efficiency": ExperimentSpec("training and test times", f"{_HERE}.tables"),
    "zero-shot": ExperimentSpec("languages added one by one", f"{_HERE}.zero_shot"),
}
ALL_EXPERIMENTS = "all"
DEFAULT_METHODS = ("naive", "pooled", "lri", "dci", "fun-kfcv", "fun-tat")  # of the tables
ALWAYS = ("naive", "fun-tat", "fun-zero-shot")  # what experiments read, whatever the tables show


def parse_experiments(name: str) -> list[str]:
    """The experiments that a name stands for, or several with commas between them.

    >>> parse_experiments("methods, calibration")
    ['methods', 'calibration']
    >>> parse_experiments("contribution")
    Traceback (most recent call last):
    funnelling.errors.InputError: no experiment 'contribution'. Did you mean contributions?
    """
    names = [each.strip() for each in name.split(",")]
    if ALL_EXPERIMENTS in names:
        return list(EXPERIMENTS)
    for each in names:
        if each not in EXPERIMENTS:
            hint = did_you_mean(each, [ALL_EXPERIMENTS, *EXPERIMENTS], choose=True)
            raise InputError(f"no experiment {each!r}{hint}")
    return list(dict.fromkeys(names))
