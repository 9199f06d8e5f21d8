"""Signals at random moments to every command that writes: what it writes is there whole, or as it was."""

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from attack.campaign import Outcome, Round
from attack.material import documents_file, write_archives
from attack.processes import Running, fork, run, start
from funnelling import load_model
from tests.commands.command import LABELS, contents, documents, write_jsonl

BLOWS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143}
MESSAGE = "funnelling: interrupted; no file and no model is left half-written.\n"
DRAFT = ".funnelling-"
SECONDS = 60.0  # in which any of these commands ends


@dataclass(frozen=True)
class Writing:
    """A command, what it writes, and whether that is the same bytes each time."""

    command: str
    output: str
    same: bool = True


CASES = {
    writing.command.partition(" ")[0]: writing
    for writing in (
        Writing("predict model - -o out.jsonl --force", "out.jsonl"),
        Writing("train docs.jsonl -o trained --method fun-tat --jobs 1 --force", "trained"),
        Writing("update model more.jsonl --jobs 1 --force", "model"),
        Writing("tune model --goal recall=.9", "model"),
        Writing("evaluate model docs.jsonl -o evaluated --force", "evaluated", same=False),
        Writing("forget model --ids ids.txt", "model"),
        Writing("relabel model --map map.csv", "model"),
        Writing("update model german.jsonl --jobs 1 --force", "model"),
        Writing("explain model docs.jsonl --html page.html --force", "page.html"),
        Writing(
            "compare docs.jsonl --methods naive,pooled -o compared --jobs 1 --force", "compared", same=False
        ),
        Writing(
            "research experiment calibration --data docs.jsonl -o tried --jobs 1 --force", "tried", same=False
        ),
        Writing(
            "research build jrc-acquis --source laws --languages en,it -o laws.jsonl.gz --force",
            "laws.jsonl.gz",
        ),
    )
}


class Signals:
    """Strikes commands, looks at what they leave, and runs them again."""

    def __init__(self, home: Path) -> None:
        self._home = home / "material" / "signals"
        self._old = self._home / "old"
        if not self._old.exists():
            _prepare(self._old, documents_file(home))
        self._seconds: dict[str, float] = {}

    def attempt(self, turn: Round) -> Outcome:
        draw = turn.draw("signals")
        name = list(CASES)[turn.number % len(CASES)]
        blow = BLOWS[(turn.number + turn.number // len(CASES)) % len(BLOWS)]
        new = self._new(name)
        place = turn.folder / "work"
        shutil.copytree(self._old, place)
        what = f"{blow.name} to {name}"
        # Mostly in a copy of this process, which has loaded all that a new one would load first.
        running = (start if draw.random() < 0.2 else fork)(CASES[name].command.split(), place)
        _strike(running, blow, self._seconds[name], place, draw)
        said = running.said()  # what runs again says it in the same place
        for found in (
            *_stopped(running, blow),
            *self._whole(CASES[name], place, new),
            *(_drafts(place) if blow != signal.SIGKILL else ()),
            *self._again(CASES[name], place, new),
        ):
            kind, reason = found
            return Outcome(kind, what, f"{said}\n{reason}")
        return Outcome("answered" if running.status == 0 else "refused", what)

    def close(self) -> None:
        pass

    def _new(self, name: str) -> Path:
        """What the command leaves that nobody disturbs."""
        new = self._home / name
        if name not in self._seconds:
            shutil.copytree(self._old, new)
            started = time.monotonic()
            done = run(CASES[name].command.split(), new, SECONDS)
            self._seconds[name] = time.monotonic() - started
            assert done.status == 0, done.said()
        return new

    def _whole(self, case: Writing, place: Path, new: Path) -> Iterator[tuple[str, str]]:
        """What there is of an output that is neither the old one nor the new one."""
        before, after, now = (_files(folder / case.output) for folder in (self._old, new, place))
        for name, content in now.items():
            if DRAFT in name:
                continue
            if case.same and content not in (before.get(name), after.get(name)):
                yield "lost", f"{case.output}/{name} is neither the old file nor the new one"
            if name.endswith(".json"):
                try:
                    json.loads(content)
                except ValueError:
                    yield "lost", f"{case.output}/{name} is cut off"
        if "model.json" in before and "model.json" not in now:
            yield "lost", "no model is there any more"
        if "model.json" in now:
            try:
                load_model(place / case.output)
            except Exception as error:
                yield "lost", repr(error)

    def _again(self, case: Writing, place: Path, new: Path) -> Iterator[tuple[str, str]]:
        """What is wrong once the command has run again."""
        after = _files(new / case.output)
        is_new = case.same and _files(place / case.output) == after
        done = run(case.command.split(), place, SECONDS)
        if done.status is None:
            yield "hung", f"run again, it does not end within {SECONDS} s"
        elif done.status not in ((0, 2) if is_new else (0,)):
            yield "lost", f"run again, it ends with status {done.status}: {done.said()}"
        elif case.same and not is_new and _files(place / case.output) != after:
            yield "lost", "run again, it does not give what it gives undisturbed"
        elif _files(place / case.output).keys() != after.keys():
            yield "lost", f"run again, it leaves {sorted(_files(place / case.output).keys() ^ after.keys())}"
        yield from _drafts(place)


def _strike(running: Running, blow: signal.Signals, seconds: float, place: Path, draw: random.Random) -> None:
    """Send a signal at any moment, or just when something is written."""
    until = time.monotonic() + SECONDS
    while not running.is_listening() and running.poll() is None:
        time.sleep(0.001)
    if draw.random() < 0.5:
        time.sleep(draw.uniform(0, seconds))
    else:
        before = _traces(place)
        while running.poll() is None and _traces(place) == before and time.monotonic() < until:
            time.sleep(0.0005)
        time.sleep(draw.choice((0, 0.001, 0.005, 0.02)))
    running.send(blow)
    running.wait(SECONDS)


def _stopped(running: Running, blow: signal.Signals) -> Iterator[tuple[str, str]]:
    """What is wrong with how a command ended."""
    if running.status is None:
        running.send(signal.SIGKILL)
        running.wait(SECONDS)
        yield "hung", f"it does not end within {SECONDS} s"
    elif "Traceback" in running.said():
        yield "traceback", f"status {running.status}"
    elif running.status not in (0, -blow, STOPPED.get(blow)):  # it may be over
        yield "died", f"status {running.status}"


def _drafts(place: Path) -> Iterator[tuple[str, str]]:
    if left := [str(path.relative_to(place)) for path in place.rglob(f"{DRAFT}*")]:
        yield "lost", f"left behind: {', '.join(left)}"


def _files(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {"": path.read_bytes()}
    return {name: content for name, content in contents(path).items() if content is not None}


def _traces(place: Path) -> set[tuple[str, int]]:
    """What changes as soon as anything is written."""
    traces = set()
    for folder in (place, place / "model"):
        for entry in os.scandir(folder):
            with suppress(FileNotFoundError):  # of a draft
                traces.add((entry.path, entry.stat().st_mtime_ns))
    return traces


def _prepare(folder: Path, docs: Path) -> None:
    """A folder with a model and all that the commands read."""
    folder.mkdir(parents=True)
    shutil.copy(docs, folder / "docs.jsonl")
    rows = documents(each=30)
    more = [{**row, "id": f"new-{row['id']}", "text": f"{row['text']} {row['text'][:3]}"} for row in rows]
    write_jsonl(folder / "more.jsonl", more)
    write_jsonl(folder / "german.jsonl", documents(["de"]))
    (folder / "ids.txt").write_text("en-1\nit-2\n")
    (folder / "map.csv").write_text(f"from,to\n{LABELS[0]},devices\n")
    write_archives(folder / "laws")
    (folder / "out.jsonl").write_text("the old answers\n")
    (folder / "trained").mkdir()
    done = run(["train", "docs.jsonl", "-o", "model", "--method", "fun-tat", "--jobs", "1"], folder, SECONDS)
    assert done.status == 0, done.said()
