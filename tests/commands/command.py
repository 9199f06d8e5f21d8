"""Running commands: for real in a process of their own, or quickly in this one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from funnelling.commands import main
from funnelling.commands.declaring import Command
from funnelling.commands.evaluate import Evaluate
from funnelling.commands.explain import Explain
from funnelling.commands.predict import Predict
from funnelling.commands.relabel import Relabel
from funnelling.commands.train import Train
from funnelling.commands.tune import Tune
from funnelling.commands.update import Forget, Update
from funnelling.runtime.messages import Reporter, silent

WORDS = {
    "en": ("printer", "password", "invoice", "network", "window", "garden", "letter", "kitchen"),
    "it": ("stampante", "parola", "fattura", "rete", "finestra", "giardino", "lettera", "cucina"),
    "de": ("Drucker", "Kennwort", "Rechnung", "Netzwerk", "Fenster", "Garten", "Brief", "Küche"),
}
LABELS = ("hardware", "account", "money")


def documents(languages: Iterable[str] = ("en", "it"), each: int = 24, **fields: Any) -> list[dict[str, Any]]:
    """Documents whose labels show in their words: word j of the first three means label j."""
    made = []
    for language in languages:
        words = WORDS[language]
        for i in range(each):
            chosen = [j for j in range(len(LABELS)) if (i + 1) >> j & 1]
            text = " ".join([*(words[j] for j in chosen), words[3 + i % 5], words[3 + i // 5 % 5]])
            labels = [LABELS[j] for j in chosen]
            made.append({"id": f"{language}-{i}", "language": language, "text": text, "labels": labels})
    return [{**document, **fields} for document in made]


def one_label_documents(
    languages: Iterable[str] = ("en", "it"), each: int = 36, labels: int = 3
) -> list[dict[str, Any]]:
    """Documents with one label each, which shows in a word but for every seventh."""
    made = []
    for language in languages:
        words = WORDS[language]
        for i in range(each):
            label = i // 3 % labels
            shown = label if i % 7 else (label + 1) % labels
            text = " ".join([words[shown], words[3 + i % 5], words[3 + i // 5 % 5]])
            made.append(
                {"id": f"{language}-{i}", "language": language, "text": text, "labels": [LABELS[label]]}
            )
    return made


def with_splits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Documents with splits, every third for test."""
    return [{**row, "split": "train" if i % 3 else "test"} for i, row in enumerate(rows)]


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def environment(**extra: str) -> dict[str, str]:
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "error::DeprecationWarning:funnelling",
        **extra,
    }


def hear_interrupts() -> None:
    """In a new process: those that a shell starts in the background are deaf to Ctrl-C, and so are theirs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "funnelling", *map(str, arguments)]


def run_command(
    *arguments: object, cwd: Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run ``funnelling`` as a user would, in a folder."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        env=environment(**env or {}),
        capture_output=True,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, hidden or not: files with their bytes, folders with None."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def assert_refused(*arguments: object, cwd: Path, says: Iterable[str], stdin: str | bytes = b"") -> None:
    """A command answers with one line on standard error and status 2, and changes nothing."""
    before = contents(cwd)
    done = run_command(*arguments, cwd=cwd, stdin=stdin)
    assert_one_line(done.stderr, says)
    assert (done.returncode, done.stdout) == (2, "")
    assert contents(cwd) == before


def assert_one_line(stderr: str, says: Iterable[str]) -> None:
    assert stderr.count("\n") == 1, stderr
    assert stderr.endswith("\n")
    assert stderr.startswith("funnelling")
    for part in says:
        assert part in stderr, (part, stderr)
    # The last sentence is the cure.
    assert stderr.rstrip().endswith((".", "?", "…", "[neural]'", "[parquet]'", "[spreadsheet]'")), stderr


def succeed(*arguments: object) -> None:
    """Run a command in this process, which must end well; capture what it prints with capsys."""
    assert main([str(argument) for argument in arguments]) == 0


def as_function(kind: type[Command], *names: str) -> Callable[..., Any]:
    """A command as a function of Python, whose first arguments are the fields of some names."""

    def call(*values: Any, report: Reporter = silent, **options: Any) -> Any:
        return kind(**dict(zip(names, values, strict=False)), **options).run(report)

    return call


train, predict, evaluate, explain, update, forget, relabel, tune = (
    as_function(Train, "method", "data", "output"),
    as_function(Predict, "model", "data", "output"),
    as_function(Evaluate, "model", "data"),
    as_function(Explain, "model", "data", "output", "label", "top"),
    as_function(Update, "model", "data", "output"),
    as_function(Forget, "model", "ids", "output"),
    as_function(Relabel, "model", "map", "output"),
    as_function(Tune, "model", "goal", "output"),
)
