"""What all benchmarks share: timing, a name for the machine, output, one line for bad input."""

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from funnelling.commands import parsing, printing
from funnelling.commands.declaring import Command
from funnelling.errors import InputError, counted
from funnelling.report.tables import Table, plain
from funnelling.runtime.messages import say
from funnelling.svm import solver_name

Result = TypeVar("Result")


def run(main: Callable[[], None]) -> None:
    """Run a script; bad input is one line on standard error and status 2."""
    try:
        main()
    except InputError as error:
        say(f"{Path(sys.argv[0]).name}: {error}")
        sys.exit(2)


def add_options(parser: argparse.ArgumentParser, *kinds: type[Command]) -> None:
    """Add options that commands share, with their defaults."""
    for kind in kinds:
        parsing.add_options(parser, kind)
        for each in fields(kind):
            default = list(each.default) if each.default == () else each.default
            parser.set_defaults(**{each.name: default})


def timed(call: Callable[[], Result], times: int = 1) -> tuple[float, Result]:
    """The median seconds of some calls, and the result of the last."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


def machine() -> dict[str, Any]:
    """What the figures depend on, and nothing that identifies the machine."""
    libraries = ("funnelling", "numpy", "scipy", "scikit-learn")
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.system(),
        "solver": solver_name(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in libraries}},
    }


def _cpu() -> str:
    """The processor's name by lscpu, which knows ARM's by their numbers; elsewhere its architecture."""
    if shutil.which("lscpu"):
        lscpu = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        if match := re.search(r"^Model name:\s*(.+)$", lscpu.stdout, re.MULTILINE):
            return match[1]
    return platform.machine()


def short(value: float) -> str:
    """A number with three significant digits.

    >>> short(0.01234), short(12.34), short(1234.5)
    ('0.0123', '12.3', '1,234')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def sizes(corpus: Mapping[str, int]) -> str:
    """The description of a corpus in words.

    >>> sizes({"languages": 4, "test_documents": 1556})
    '4 languages, 1,556 test documents'
    """
    return ", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in corpus.items())


def show(result: Mapping[str, Any], tables: Iterable[tuple[str, Table]], as_json: bool) -> None:
    """Print a result: as JSON, or as tables with their captions, for people."""
    if as_json:
        printing.print_json(result)
        return
    for caption, table in tables:
        print(f"{caption}\n{plain(table)}\n")
    print(in_words(result["machine"]))


def in_words(machine: Mapping[str, Any]) -> str:
    """A machine in one line."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    cores = counted(machine["cores"], "core")
    return f"{machine['cpu']}, {cores}, {machine['system']}, solver {machine['solver']}; {versions}"
