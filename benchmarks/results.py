"""Results that are kept for each kind of machine, and what got worse since.

Machines are noisy: seconds are compared beside those of the peers in the same run. Where all peers take twice
as long as before, twice as long is no worse.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from funnelling.errors import counted
from funnelling.evaluation.registry import MEASURES
from funnelling.runtime.messages import say
from measuring import short

Result = Mapping[str, Any]  # of methods.py: its corpora, by name, and the machine
Costs = Mapping[str, Any]  # of one method: seconds, bytes, measures

FOLDER = Path(__file__).parent / "results"
FIFTH = 1.2  # how many times as much is worse
SHORTEST = 0.2  # seconds: what takes less is not compared, a hiccup would be a fifth of it


def kind_of(machine: Mapping[str, Any]) -> str:
    """The kind of a machine as a file name.

    >>> kind_of({"cpu": "Intel(R) Xeon(R) @ 2.20GHz", "cores": 2})
    'intel-r-xeon-r-2-20ghz-2-cores'
    """
    return re.sub(r"[^a-z0-9]+", "-", f"{machine['cpu']} {counted(machine['cores'], 'core')}".lower()).strip(
        "-"
    )


def save(folder: Path, result: Result) -> None:
    """Keep results; those of corpora that this run did not measure stay."""
    corpora = {**_read(folder, result).get("corpora", {}), **result["corpora"]}
    folder.mkdir(parents=True, exist_ok=True)
    path = _path(folder, result)
    path.write_text(json.dumps({**result, "corpora": corpora}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    say(f"Saved in {path.name}.")


def compare(folder: Path, result: Result, peers: Sequence[str]) -> list[str]:
    """A line for each cost and each measure that is worse by more than a fifth than in the saved results."""
    earlier = _read(folder, result).get("corpora", {})
    lines = []
    for corpus, now in result["corpora"].items():
        before = earlier.get(corpus)
        if before is None:
            say(f"{corpus}: no results of {_path(folder, result).stem} to compare with.")
        elif before["setting"] != now["setting"]:
            say(f"{corpus}: the saved results are of another size, seed or number of jobs.")
        else:
            lines += [f"{corpus}, {line}" for line in worse(before["methods"], now["methods"], peers)]
    return lines


def worse(before: Mapping[str, Costs], now: Mapping[str, Costs], peers: Sequence[str]) -> Iterator[str]:
    """A line for each figure of a method that is worse by more than a fifth, seconds beside the peers'.

    >>> before = {"naive": {"fit_seconds": 2.0, "accuracy": 0.8}, "pipeline": {"fit_seconds": 1.0}}
    >>> now = {"naive": {"fit_seconds": 6.0, "accuracy": 0.7}, "pipeline": {"fit_seconds": 2.0}}
    >>> list(worse(before, now, ["pipeline"]))
    ['naive: fit seconds 2 before, 6 now, 1.50 times worse.']
    """
    both = [name for name in now if name in before]
    rivals = [name for name in both if name in peers]
    for name in both:
        if name in peers:
            continue
        for what in now[name]:
            if what not in before[name]:
                continue
            was, value = before[name][what], now[name][what]
            times = _times_worse(what, was, value)
            if what.endswith("_seconds"):
                if value < SHORTEST:
                    continue
                times /= _drift([(before[rival][what], now[rival][what]) for rival in rivals])
            if times > FIFTH:
                title = what.replace("_", " ")
                yield f"{name}: {title} {short(was)} before, {short(value)} now, {times:.2f} times worse."


def _times_worse(what: str, was: float, value: float) -> float:
    return was / max(value, 1e-9) if what in MEASURES else value / was


def _drift(peers: Sequence[tuple[float, float]]) -> float:
    """How many times as long the peers took as before: the machine, or what else runs on it, has changed."""
    return geometric_mean(now / before for before, now in peers) if peers else 1.0


def _read(folder: Path, result: Result) -> Any:
    path = _path(folder, result)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _path(folder: Path, result: Result) -> Path:
    return folder / f"{kind_of(result['machine'])}.json"
