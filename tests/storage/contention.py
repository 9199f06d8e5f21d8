"""Processes that write to one model folder and read from it at once, round after round.

Every model says which documents it learned from, so that after a round it can be told whether what is there
is what some order of the writers would have left, one after the other.
"""

import itertools
import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from funnelling import InputError, load_model
from funnelling.research import NaiveClassifier
from funnelling.runtime import alone
from funnelling.storage import describe_model, save_model
from tests.commands.command import update

Outcome = Literal["saved", "refused", "killed"]
Ledger = frozenset[str]  # the ids of a model's documents
BASE: Ledger = frozenset(f"base-{number}" for number in range(8))
REFUSALS = ("exists. Choose another path or add --force.", "has changed meanwhile. Run the command again.")


@dataclass(frozen=True)
class Act:
    """What a writer does in a round: it saves a model of its own, or teaches a document to the one there."""

    token: str
    teaches: bool
    force: bool
    outcome: Outcome = "killed"


def contend(
    folder: Path,
    rounds: int,
    writers: int = 2,
    readers: int = 1,
    seed: int = 0,
    *,
    killed: float = 0.1,
    fresh: bool = False,
    prepare: Callable[[], object] = bool,
) -> Counter[str]:
    """Let processes write to a folder and read from it; gives what happened, how often.

    Refuses, by an `AssertionError`, a round that does not leave a whole model which the writers' acts make
    in some order, a reader that fails, and a refusal without a cause. In a share of the rounds a writer is
    ``killed``. ``fresh`` rounds have a folder of their own, which does not exist or is empty. ``prepare`` is
    called in each process first.
    """
    draw, counts = random.Random(seed), Counter[str]()
    folder.mkdir(parents=True, exist_ok=True)
    model, before = folder / "model", None if fresh else BASE
    if not fresh:
        save_model(_base(), model)
    with _processes(_write, writers, prepare) as writing, _processes(_read, readers, prepare) as reading:
        for reader in reading:
            reader.send(model)
        for number in range(rounds):
            if fresh:
                model = folder / f"model-{number}"
                if draw.random() < 0.3:
                    model.mkdir()
            acts = [
                Act(f"{number}-{writer}", not fresh and draw.random() < 0.6, not fresh or draw.random() < 0.5)
                for writer in range(writers)
            ]
            victim = draw.randrange(writers) if draw.random() < killed else None
            acts = _take_turns(writing, acts, model, victim, draw.uniform(0, 0.2))
            counts += Counter(act.outcome for act in acts)
            before = _check_round(model, before, acts)
            if fresh:
                before = None
            for reader in reading:
                assert not reader.poll(), f"round {number}: a reader failed: {reader.recv()}"
        for reader in reading:
            reader.send(None)
            counts["read"] += reader.recv()
    if not fresh:
        save_model(_base(), model, force=True)
        assert not list(model.glob(".*")), "a save leaves drafts of killed processes behind"
    return counts


def without_locks() -> None:
    """Plant the bug that processes which write do not wait for each other."""
    alone.fcntl = SimpleNamespace(flock=lambda *_: None, LOCK_EX=0, LOCK_NB=0)  # type: ignore[assignment]


def _check_round(model: Path, before: Ledger | None, acts: Sequence[Act]) -> Ledger | None:
    """What is in a folder after a round, which must be whole, and what acts make of it in some order."""
    after = None
    if (model / "model.json").exists():
        try:
            after = _ledger(load_model(model))
        except InputError as error:
            raise AssertionError(f"the model is lost: {error} after {acts}") from None
    possible = set(_outcomes(before, acts))
    assert after in possible, f"{sorted(after or ())} is none of {possible} after {acts}"
    if not any(act.outcome == "killed" for act in acts):
        names = {path.name for path in model.iterdir()}
        kinds = sorted(name.split("-")[0] for name in names - {"report.html"})
        assert kinds == ["README.md", "arrays", "model.json"], names
    return after


def _outcomes(before: Ledger | None, acts: Sequence[Act]) -> Iterator[Ledger | None]:
    """What acts may leave, in any order that explains refusals; who was killed may have saved first."""
    dead = [act.outcome == "killed" for act in acts]
    for saved in itertools.product(*([True, False] if each else [False] for each in dead)):
        done = [
            replace(act, outcome="saved") if by_the_dead else act
            for act, by_the_dead in zip(acts, saved, strict=True)
        ]
        for order in itertools.permutations(done):
            state, explained = before, True
            for act in order:
                if act.outcome == "saved":
                    explained &= state is not None if act.teaches else act.force or state is None
                    state = (state or BASE) | {act.token} if act.teaches else BASE | {act.token}
                elif act.outcome == "refused":
                    others = any(other is not act and other.outcome == "saved" for other in done)
                    explained &= others if act.teaches else not act.force and state is not None
            if explained:
                yield state


def _take_turns(
    writing: list[Any], acts: list[Act], model: Path, victim: int | None, moment: float
) -> list[Act]:
    for writer, act in zip(writing, acts, strict=True):
        writer.send((model, act))
    if victim is not None:
        time.sleep(moment)
        writing[victim].kill()
    done = []
    for writer, act in zip(writing, acts, strict=True):
        outcome = writer.recv()
        if writer.is_dead():
            writer.restart()
        assert outcome in ("saved", "refused", None), outcome
        done.append(replace(act, outcome=outcome or "killed"))
    return done


# --- processes ----------------------------------------------------------------------------------


class _Process:
    """A process that is talked to, and started again once it was killed."""

    def __init__(self, work: Callable[..., None], prepare: Callable[[], object]) -> None:
        self.work, self.prepare = work, prepare
        self.restart()

    def restart(self) -> None:
        """Start a process, which is there when this ends."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=self.work, args=(theirs, self.prepare), daemon=True)
        self.process.start()
        theirs.close()
        assert self.recv() == "ready"

    def send(self, what: object) -> None:
        self.pipe.send(what)

    def recv(self) -> Any:
        """What the process says; None where it was killed before."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def poll(self) -> bool:
        return self.pipe.poll()

    def is_dead(self) -> bool:
        return self.process.exitcode is not None

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


@contextmanager
def _processes(
    work: Callable[..., None], number: int, prepare: Callable[[], object]
) -> Iterator[list[_Process]]:
    processes = [_Process(work, prepare) for _ in range(number)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()


def _write(pipe: Connection, prepare: Callable[[], object]) -> None:
    prepare()
    _base()
    pipe.send("ready")
    while True:
        model, act = pipe.recv()
        try:
            _do(act, model)
            pipe.send("saved")
        except InputError as error:
            pipe.send("refused" if str(error).endswith(REFUSALS) else f"{act}: {error}")
        except Exception as error:
            pipe.send(f"{act}: {error!r}")


def _read(pipe: Connection, prepare: Callable[[], object]) -> None:
    prepare()
    pipe.send("ready")
    model, reads = pipe.recv(), 0
    try:
        while not pipe.poll():
            load_model(model)
            describe_model(model)
            reads += 2
        pipe.send(reads)
    except Exception as error:
        pipe.send(repr(error))


# --- models -------------------------------------------------------------------------------------


def _do(act: Act, model: Path) -> None:
    if act.teaches:
        document = {"id": act.token, "text": f"loan {act.token}", "labels": ["money"], "language": "en"}
        data = model.parent / f"{act.token}.jsonl"
        data.write_text(json.dumps(document) + "\n")
        update(model, data, force=True)
        data.unlink()
    else:
        own = deepcopy(_base()).update([f"game {act.token}"], [["sport"]], ["en"], ids=[act.token])
        save_model(own, model, force=act.force)


@cache
def _base() -> NaiveClassifier:
    texts = [f"{words} {number}" for number in range(4) for words in ("loan bank", "game ball")]
    model = NaiveClassifier(C=1, random_state=0)
    return model.fit(texts, [["money"], ["sport"]] * 4, languages=["en"] * 8, ids=sorted(BASE))


def _ledger(model: Any) -> Ledger:
    return frozenset().union(*(block.ids for block in model.training_.blocks.values()))
