"""How a report came about: what was run, on which data, with which versions, and how long it took."""

import os
import platform
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from funnelling.errors import counted
from funnelling.evaluation.pieces import this_machine
from funnelling.evaluation.splits import Trial

_PACKAGES = ("funnelling", "numpy", "scipy", "scikit-learn")


def facts(
    data: str,
    trials: Sequence[Trial],
    seed: int,
    seconds: float,
    machines: Sequence[str] = (),
    more: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What stands at the end of a report; the machine at hand did the work where none is named."""
    return run_facts(
        {
            "Data": f"{data}: {_described(trials[0])}",
            "Trials": str(len(trials)),
            "Seed": str(seed),
            **(more or {}),
            "Time": f"{seconds:,.0f} seconds" + (f" ({seconds / 60:.0f} minutes)" if seconds > 120 else ""),
        },
        machines,
    )


def run_facts(more: Mapping[str, str], machines: Sequence[str] = ()) -> dict[str, str]:
    """What is said of any command that was run, around what there is ``more`` to say of this one."""
    return {
        **_command(),
        **more,
        "Date": time.strftime("%Y-%m-%d"),
        "Versions": ", ".join(
            [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in _PACKAGES)]
        ),
        "Machine": "; ".join(machines or [this_machine()]),
    }


def _command() -> dict[str, str]:
    """The command as it was typed, where it was one: Python users call the same functions."""
    typed = os.path.basename(sys.argv[0])
    ours = typed.startswith("funnelling") or typed == "__main__.py"
    return {"Command": shlex.join(["funnelling", *sys.argv[1:]])} if ours else {}


def _described(trial: Trial) -> str:
    languages = trial.train.by_language()
    one_each = ", one per document" if trial.train.one_label else ""
    parallel = f", {counted(len(trial.parallel), 'further version')} of them" if len(trial.parallel) else ""
    return (
        f"{counted(len(trial.train), 'training document')}{parallel}, {len(trial.test):,} for test, "
        f"{counted(len(languages), 'language')} ({', '.join(languages)}), "
        f"{counted(len(trial.train.label_set()), 'label')}{one_each}"
    )
