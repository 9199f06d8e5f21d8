"""Ctrl-C and SIGTERM: a clean message, status 130 or 143, and everything as it was before."""

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from funnelling.commands import main

from .command import command, contents, documents, environment, hear_interrupts, succeed, write_jsonl

MESSAGE = "funnelling: interrupted; no file and no model is left half-written."


def _start(*arguments: object, cwd: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command(*arguments),
        cwd=cwd,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )


def _wait_for(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stderr is not None
    for said in process.stderr:
        if said.startswith(line):
            return
    raise AssertionError(f"{line!r} was never said")


def _interrupt(
    process: "subprocess.Popen[str]", blow: int = signal.SIGINT, status: int = 130
) -> tuple[str, str]:
    assert process.poll() is None, "it ended before it could be interrupted"
    process.send_signal(blow)
    out, err = process.communicate(timeout=60)
    assert process.returncode == status, f"{out}\n{err}"
    return out, err


@pytest.fixture
def long_work(tmp_path: Path) -> Path:
    """Documents that take far longer to learn from than a test should."""
    rng = np.random.default_rng(0)
    rows = [
        {
            "language": ("en", "it")[i % 2],
            "text": " ".join(f"word{j}" for j in rng.integers(3_000, size=40)),
            "labels": [f"label{j}" for j in rng.integers(300, size=5)],
        }
        for i in range(3_000)
    ]
    write_jsonl(tmp_path / "long.jsonl", rows)
    write_jsonl(tmp_path / "docs.jsonl", documents())
    return tmp_path


@pytest.mark.parametrize(("blow", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_while_training(blow: int, status: int, long_work: Path) -> None:
    succeed("train", long_work / "docs.jsonl", "-o", long_work / "model", "--jobs", 1)
    before = contents(long_work)
    arguments = ("train", "long.jsonl", "-o", "model", "--force", "--jobs", 2, "--method", "fun-kfcv")
    process = _start(*arguments, cwd=long_work)
    _wait_for(process, "long.jsonl:")
    time.sleep(1)
    assert _interrupt(process, blow, status) == ("", MESSAGE + "\n")
    assert contents(long_work) == before


def test_while_measuring(long_work: Path) -> None:
    write_jsonl(long_work / "docs.jsonl", documents(("en", "it", "de"), each=200))
    before = contents(long_work)
    process = _start("train", "docs.jsonl", "-o", "model", "--jobs", 1, cwd=long_work)
    _wait_for(process, "Measuring")
    assert _interrupt(process) == ("", MESSAGE + "\n")
    assert contents(long_work) == before


def test_while_predicting(model: Path, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("old")
    before = contents(tmp_path)
    process = _start("predict", model, "-", "-o", "out.jsonl", "--force", cwd=tmp_path)
    assert process.stdin is not None
    process.stdin.write('{"text": "invoice", "language": "en"}\n')
    process.stdin.flush()
    while contents(tmp_path) == before:  # until the draft of the output is there
        time.sleep(0.05)
    assert _interrupt(process) == ("", MESSAGE + "\n")
    assert contents(tmp_path) == before


def test_while_comparing(long_work: Path) -> None:
    process = _start(
        "compare", "long.jsonl", "--methods", "naive,fun-tat", "-o", "out", "--jobs", 2, cwd=long_work
    )
    time.sleep(3)
    assert _interrupt(process)[1].endswith(MESSAGE + "\n")
    assert not list(long_work.glob("**/.*"))


@pytest.mark.parametrize(("blow", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_that_a_library_makes_another_error_of(
    blow: int, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As NumPy does while it is loaded."""

    def describe(*_: object) -> None:
        try:
            signal.raise_signal(blow)
        except KeyboardInterrupt:
            raise ImportError("could not import module") from None

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("funnelling.commands.inspect.inspect_model", describe)
    try:
        assert main(["inspect", "hf://owner/model"]) == status
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == f"{MESSAGE}\n"
