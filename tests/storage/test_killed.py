"""Commands that change a model, killed at any moment: the model is the old one or the new one, and whole."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

import pytest

from funnelling import load_model
from funnelling.commands import COMMANDS, main
from funnelling.commands.options import Changing
from funnelling.storage import check_writable, describe_model
from tests.commands.command import (
    LABELS,
    command,
    contents,
    documents,
    environment,
    hear_interrupts,
    write_jsonl,
)
from tests.commands.command import with_splits as split

from .steps import at_each_step

PAGES = ("README.md", "report.html")
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143}
MESSAGE = "funnelling: interrupted; no file and no model is left half-written.\n"


def _update(folder: Path) -> list[object]:
    rows = documents(each=30)
    rows = [{**row, "id": f"new-{row['id']}", "text": f"{row['text']} {row['text'][:3]}"} for row in rows]
    return [write_jsonl(folder / "more.jsonl", rows), "--force", "--jobs", 1]


def _forget(folder: Path) -> list[object]:
    (folder / "ids.txt").write_text("en-1\nit-2\n")
    return ["--ids", folder / "ids.txt"]


def _relabel(folder: Path) -> list[object]:
    (folder / "map.csv").write_text(f"from,to\n{LABELS[0]},devices\n")
    return ["--map", folder / "map.csv"]


def _tune(folder: Path) -> list[object]:  # noqa: ARG001
    return ["--goal", "recall=.9"]


# What follows the command and its model; files are written to a folder.
ARGUMENTS: dict[str, Callable[[Path], list[object]]] = {
    "update": _update,
    "forget": _forget,
    "relabel": _relabel,
    "tune": _tune,
}


@dataclass(frozen=True)
class Case:
    """A command, an old model, and what the command makes of it."""

    name: str
    further: list[object]
    old: Path
    new: Path

    def arguments(self, model: Path) -> list[object]:
        return [self.name, model, *self.further]

    def copy(self, folder: Path) -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.old, folder)
        return folder

    def check_whole(self, model: Path) -> bool:
        """Whether a folder holds the new model, when it must be either the old or the new one, to the bit."""
        is_new = _state(model) == _state(self.new)
        expected = self.new if is_new else self.old
        assert _state(model) == _state(expected)
        for page in PAGES:
            if (model / page).exists():
                assert (model / page).read_bytes() == (expected / page).read_bytes()
        assert _answers(model) == _answers(expected)
        describe_model(model)
        return is_new

    def check_usable(self, model: Path, is_new: bool) -> None:
        """A further run ends as one that nobody disturbed, and leaves nothing of the killed one behind."""
        if is_new:
            check_writable(model, force=True)  # as every command does before it changes a model
            assert contents(model) == contents(self.new)
        else:
            assert run(*self.arguments(model)) == 0
            assert contents(model) == contents(self.new)


def _state(model: Path) -> bytes:
    return (model / "model.json").read_bytes()


def _answers(model: Path) -> bytes:
    loaded = load_model(model)
    rows = [row for row in documents(each=6) if row["language"] in loaded.languages_]
    scores = loaded.decision_function([row["text"] for row in rows], [row["language"] for row in rows])
    answers: bytes = scores.tobytes()
    return answers


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    data = write_jsonl(folder / "docs.jsonl", split(documents(each=30)))
    train = ["train", data, "-o", folder / "model", "--method", "fun-tat", "--jobs", 1]
    assert main([*map(str, train)]) == 0
    return folder / "model"


@pytest.fixture(scope="module", params=list(ARGUMENTS))
def case(request: pytest.FixtureRequest, old: Path, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp(request.param)
    made = Case(request.param, ARGUMENTS[request.param](folder), old, folder / "new")
    made.copy(made.new)
    assert main([*map(str, made.arguments(made.new))]) == 0
    assert _state(made.new) != _state(old)
    return made


@pytest.fixture(autouse=True)
def _hear_interrupts() -> Iterator[None]:
    """Processes that a shell started in the background are deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_every_command_that_changes_a_model_is_here() -> None:
    kinds = {name: resolve_name(entry.place) for name, entry in COMMANDS.items()}
    assert {*ARGUMENTS} == {name for name, kind in kinds.items() if issubclass(kind, Changing)}


def run(*arguments: object) -> int:
    return main([*map(str, arguments)])


def test_killed_at_every_step(case: Case, tmp_path: Path) -> None:
    """What a killed process leaves behind is what was there before its next step."""
    model, left = case.copy(tmp_path / "model"), tmp_path / "left"
    with at_each_step(model, lambda step: shutil.copytree(model, left / str(step))):
        assert run(*case.arguments(model)) == 0
    outcomes = []
    for step in range(1, len(list(left.iterdir())) + 1):
        outcomes.append(case.check_whole(left / str(step)))
        if step % 9 == 4 or outcomes[-2:] == [False, True]:
            case.check_usable(left / str(step), outcomes[-1])
    assert outcomes == sorted(outcomes)  # once the model is the new one it stays that
    assert set(outcomes) == {False, True}
    assert contents(model) == contents(case.new)


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("blow", list(STOPPED))
def test_told_to_stop_at_a_step(
    case: Case, blow: int, every: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The old model with its pages, or the new one with its own, and one line that says so."""
    struck_at = 2 + blow % every
    while struck_at:
        model = case.copy(tmp_path / "model")
        steps = []

        def strike(step: int, steps: list[int] = steps, struck_at: int = struck_at) -> None:
            steps.append(step)
            if step == struck_at:
                os.kill(os.getpid(), blow)

        with at_each_step(model, strike):
            status = run(*case.arguments(model))
        assert contents(model) in (contents(case.old), contents(case.new))
        if len(steps) < struck_at:
            assert status == 0
            break
        assert status == STOPPED[signal.Signals(blow)]
        assert capsys.readouterr().err.endswith(MESSAGE)
        struck_at += every


def _struck_at(moment: float, blow: int, *arguments: object, cwd: Path) -> tuple[int, str]:
    with subprocess.Popen(
        command(*arguments),
        cwd=cwd,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    ) as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        process.send_signal(blow)
        said = process.communicate()[1]
    return process.returncode, said


def _check_killed(case: Case, moment: float, folder: Path) -> None:
    model = case.copy(folder / "model")
    _struck_at(moment, signal.SIGKILL, *case.arguments(model), cwd=folder)
    case.check_usable(model, case.check_whole(model))


def test_killed_in_a_process_of_its_own(case: Case, tmp_path: Path) -> None:
    _check_killed(case, random.Random(case.name).uniform(0.5, 3), tmp_path)


@pytest.mark.slow
def test_killed_at_random_moments(case: Case, tmp_path: Path) -> None:
    model = case.copy(tmp_path / "model")
    start = time.perf_counter()
    assert _struck_at(300, signal.SIGKILL, *case.arguments(model), cwd=tmp_path)[0] == 0
    seconds = time.perf_counter() - start
    assert contents(model) == contents(case.new)
    draw = random.Random(case.name)
    for _ in range(40):
        _check_killed(case, draw.uniform(0.1, 1.1) * seconds, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("blow", list(STOPPED))
def test_told_to_stop_at_random_moments(case: Case, blow: int, tmp_path: Path) -> None:
    draw = random.Random(case.name)
    for _ in range(10):
        model = case.copy(tmp_path / "model")
        status, said = _struck_at(draw.uniform(1, 3), blow, *case.arguments(model), cwd=tmp_path)
        assert contents(model) in (contents(case.old), contents(case.new))
        assert status in (0, STOPPED[signal.Signals(blow)], -blow)  # it may be over, or not have begun
        if status > 0:
            assert said.endswith(MESSAGE)


def test_two_commands_at_once_go_one_after_the_other(old: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(old, model)
    before = describe_model(model)["languages"]
    german = write_jsonl(tmp_path / "german.jsonl", documents(["de"]))
    further = [{**row, "id": f"new-{row['id']}", "text": f"{row['text']} xyz"} for row in documents(["en"])]
    english = write_jsonl(tmp_path / "english.jsonl", further)
    processes = [
        subprocess.Popen(
            command("update", model, data, "--force", "--jobs", 1),
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for data in (german, english)
    ]
    said = "".join(process.communicate()[1] for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    assert f"Waiting for another process that writes to {model}.\n" in said
    after = describe_model(model)["languages"]
    assert after == {"de": 24, "en": before["en"] + 24, "it": before["it"]}
    assert len(list(model.iterdir())) == 4
