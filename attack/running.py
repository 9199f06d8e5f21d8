"""Campaigns one after the other, each within its share of the time; findings saved so that they repeat."""

import itertools
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attack.campaign import FOUND, WELL, Outcome, Round
from attack.campaigns import CAMPAIGNS, begin

_SAID_SECONDS = 15.0  # between lines of progress
_SAVED = 64 * 2**20  # bytes of a finding's folder; larger ones are told only


@dataclass
class Tally:
    """What came of a campaign."""

    name: str
    kinds: Counter[str] = field(default_factory=Counter)
    findings: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0


def run_all(
    names: Sequence[str], seed: int, seconds: float, rounds: Iterable[int] | None, home: Path
) -> list[Tally]:
    """Run campaigns; ``rounds`` are those to run, within the time, or as many as it allows."""
    home = home.absolute()
    shutil.rmtree(home / "material", ignore_errors=True)
    (home / "material").mkdir(parents=True)
    until = time.monotonic() + seconds
    shares = {name: CAMPAIGNS[name].share for name in names}
    tallies = []
    for name in names:
        # What one leaves of its share the others have.
        share = (until - time.monotonic()) * shares[name] / sum(shares.values())
        del shares[name]
        tallies.append(_run(name, seed, share, itertools.count() if rounds is None else rounds, home))
    return tallies


def _run(name: str, seed: int, seconds: float, rounds: Iterable[int], home: Path) -> Tally:
    tally, started = Tally(name), time.monotonic()
    said = started
    scratch = home / "scratch" / name
    campaign = begin(name, seed, home)
    try:
        for number in rounds:
            if time.monotonic() - started > seconds:
                break
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            outcome = campaign.attempt(Round(number, seed, scratch))
            tally.kinds[outcome.kind] += 1
            if outcome.is_found:
                tally.findings.append(outcome)
                _save(outcome, name, seed, number, scratch, home)
            if time.monotonic() - said > _SAID_SECONDS:
                said = time.monotonic()
                _say(f"{name}: {tally.kinds.total()} tried, {len(tally.findings)} found")
    finally:
        campaign.close()
        shutil.rmtree(scratch, ignore_errors=True)
    tally.seconds = time.monotonic() - started
    return tally


def _save(outcome: Outcome, name: str, seed: int, number: int, scratch: Path, home: Path) -> None:
    """Keep a finding with the files of its round, and say how to have it again."""
    again = f"python -m attack --only {name} --seed {seed} --rounds {number}-{number}"
    place = home / "findings" / f"{name}-{seed}-{number}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    told = {"kind": outcome.kind, "what": outcome.what, "again": again, "said": outcome.said}
    (place / "finding.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    files = [path for path in scratch.rglob("*") if path.is_file() and not path.is_symlink()]
    if sum(path.stat().st_size for path in files) <= _SAVED:
        for path in files:
            target = place / path.relative_to(scratch)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    last = (outcome.said.strip().splitlines() or [""])[-1][:200]
    _say(f"{name}: {outcome.kind.upper()}: {outcome.what}: {last}\n  again: {again}\n  saved: {place}")


def table(tallies: Sequence[Tally]) -> str:
    """One row for each campaign, and one for all."""
    total = Tally("all", sum((tally.kinds for tally in tallies), Counter()))
    total.seconds = sum(tally.seconds for tally in tallies)
    rows: list[tuple[str, ...]] = [("campaign", "tried", *WELL, *FOUND, "seconds")]
    for tally in [*tallies, total]:
        counts = [tally.kinds.total(), *(tally.kinds[kind] for kind in (*WELL, *FOUND))]
        rows.append((tally.name, *map(str, counts), f"{tally.seconds:.0f}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
