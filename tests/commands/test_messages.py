"""What commands say on standard error: as lines, as JSON, or only what is wrong."""

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from funnelling.commands import COMMANDS, main
from funnelling.commands.declaring import NegativeResultError

from .command import documents, environment, run_command, succeed, write_jsonl

TRAIN = ("train", "docs.jsonl", "-o", "model", "--method", "naive", "--jobs", "1", "--no-measure")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "docs.jsonl", documents())
    return tmp_path


def records(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("words", [("--quiet", *TRAIN), (*TRAIN, "--quiet")])
def test_quiet(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    succeed(*words)
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "Model: model" in captured.out  # results are no messages


def on_terminal(*words: str) -> tuple[int, str]:
    """The status of a command, and what it shows on a terminal, where bars come at once."""
    script = (
        "import sys\nfrom funnelling.runtime import progress\nprogress.TICK_S = 0.001\n"
        "from funnelling.commands import main\nsys.exit(main(sys.argv[1:]))"
    )
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script, *words], stdout=subprocess.DEVNULL, stderr=theirs, env=environment()
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 2**16):
                shown += part
        except OSError:  # what Linux says at the end
            pass
        os.close(ours)
    return process.returncode, shown.decode()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_quiet_on_a_terminal() -> None:
    for words in (TRAIN, ("predict", "model", "docs.jsonl", "-o", "labels.csv")):
        status, shown = on_terminal(*words)
        assert (status, "%|" in shown or "00:00" in shown) == (0, True), (
            "no bar, so that silence says nothing"
        )
        assert on_terminal(*words, "--force", "--quiet") == (0, "")


@pytest.mark.parametrize("words", [("--log-json", *TRAIN), (*TRAIN, "--log-json")])
def test_json(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    succeed(*words)
    captured = capsys.readouterr()
    said = records(captured.err)
    assert "Training naive" in str(said[1]["message"])
    for record in said:
        assert (record["level"], str(record["logger"]).partition(".")[0]) == ("info", "funnelling")
        assert datetime.fromisoformat(str(record["time"])).tzinfo is not None
    assert "Model: model" in captured.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--log-json", "trian"], "no command 'trian'. Did you mean train?"),
        (["train", "--log-json"], "required: DATA"),
        (["predict", "none", "docs.jsonl", "--log-json"], "no such model folder"),
        (["predict", "none", "docs.jsonl", "--quiet", "--log-json"], "no such model folder"),
        (["research", "corpora", "--log-json", "--config", "none"], "none: no such file"),
    ],
)
def test_errors_in_json(words: list[str], message: str, folder: Path) -> None:
    done = run_command(*words, cwd=folder)
    (record,) = records(done.stderr)
    assert (done.returncode, done.stdout, record["level"]) == (2, "", "error")
    assert message in str(record["message"])


def test_errors_are_said_quietly_too(folder: Path) -> None:
    done = run_command("predict", "none", "docs.jsonl", "--quiet", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("funnelling: none: no such model folder")


def test_a_file_can_ask_for_it(folder: Path) -> None:
    Path("mine.toml").write_text("log-json = true\n[research.corpora]\nquiet = true\n", encoding="utf-8")
    done = run_command("predict", "none", "docs.jsonl", "--config", "mine.toml", cwd=folder)
    assert records(done.stderr)[0]["level"] == "error"
    assert run_command("research", "corpora", "--config", "mine.toml", cwd=folder).stderr == ""


def test_an_internal_error_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("funnelling.research.commands.ListCorpora.run", fail)
    line = "internal error: RuntimeError: broken. Report it with the traceback that FUNNELLING_DEBUG=1 shows."
    assert main(["research", "corpora"]) == 1
    assert capsys.readouterr() == ("", f"funnelling: {line}\n")
    assert main(["research", "corpora", "--log-json"]) == 1
    (record,) = records(capsys.readouterr().err)
    assert (record["level"], record["message"]) == ("critical", line)
    assert "RuntimeError: broken" in str(record["exception"])
    monkeypatch.setenv("FUNNELLING_DEBUG", "1")
    with pytest.raises(RuntimeError, match="broken"):
        main(["research", "corpora"])


def test_a_negative_result_is_shown_and_has_a_status_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def disappoint(*_: object, **__: object) -> None:
        raise NegativeResultError("micro-F1 .1 is below .6.", {"scores": {"f1": "0.1"}})

    monkeypatch.setattr("funnelling.research.commands.ListCorpora.run", disappoint)
    assert main(["research", "corpora", "--json"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"scores": {"f1": "0.1"}}
    assert captured.err == "funnelling: micro-F1 .1 is below .6.\n"


def test_every_command_takes_them(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit, match="0"):
            main([*name.split(), "--help"])
        printed = capsys.readouterr().out
        assert all(option in printed for option in ("--config", "--quiet", "--log-json")), name
