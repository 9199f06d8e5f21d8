"""``funnelling quickstart``: what a newcomer sees first works as printed."""

import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .command import environment, run_command

ROOT = Path(__file__).parents[2]
METHODS = ["naive", "words-and-characters", "fun-tat", "fun-auto"]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where it ran and what it printed."""
    folder = tmp_path_factory.mktemp("quickstart")
    done = run_command("quickstart", "-o", "first try", "--jobs", 1, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "Built-in corpus, descriptions of software: 1,750 training documents, 700 for test, "
        "7 languages (da, de, en, es, fr, it, pt), 32 labels.",
        *(f"Training {name} ({i} of 4) …" for i, name in enumerate(METHODS, start=1)),
    ]
    return folder, done.stdout


def test_one_table_in_which_fun_auto_is_best(ended: tuple[Path, str]) -> None:
    _, printed = ended
    lines = printed.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("language"))
    assert lines[header - 1].split() == ["macro-F1"]
    assert lines[header].split() == ["language", *METHODS]
    rows = [line.split() for line in lines[header + 2 : header + 10]]
    assert [row[0] for row in rows] == ["da", "de", "en", "es", "fr", "it", "pt", "average"]
    naive, words, fun_tat, fun_auto = map(float, rows[-1][1:])
    assert naive < fun_tat < words < fun_auto
    assert "is the best here" not in printed


def test_the_guide_has_its_table(ended: tuple[Path, str]) -> None:
    """To the last digit or so: other processors round otherwise."""
    folder, _ = ended
    with (folder / "first try" / "data" / "methods.csv").open(encoding="utf-8", newline="") as file:
        measured = {row[0]: row[1:5] for row in csv.reader(file)}
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").replace("*", "")
    table = page[page.index("\n| 1,750 documents") :]
    for method in ("Naive", "Words + characters", "Fun(TAT)", "Fun(auto)"):
        row = next(line for line in table.splitlines() if line.startswith(f"| {method} |"))
        shown = [float(cell) for cell in row.split("|")[2:6]]
        assert shown == pytest.approx([float(score.rstrip("†")) for score in measured[method]], abs=0.0011)


def test_what_it_leaves(ended: tuple[Path, str]) -> None:
    folder, printed = ended
    assert sorted(os.listdir(folder)) == ["first try"]  # before the next commands
    assert sorted(os.listdir(folder / "first try")) == [
        *("data", "documents.jsonl", "figures", "model", "report.html", "report.md")
    ]
    assert "Model:  'first try/model'" in printed
    report = (folder / "first try" / "report.md").read_text(encoding="utf-8")
    assert "| language | micro-F1 Naive | micro-F1 Words + characters | micro-F1 Fun(TAT) |" in report


def test_its_next_commands_work_as_printed(ended: tuple[Path, str]) -> None:
    folder, printed = ended
    after = printed[printed.index("Next:") + len("Next:") :]
    commands = [shlex.split(line) for line in after.strip().splitlines()]
    assert [command[:2] for command in commands] == [
        ["funnelling", "predict"],
        ["funnelling", "explain"],
        ["funnelling", "train"],
    ]
    program = str(Path(sys.executable).parent / "funnelling")
    model = commands[0][2]
    outputs = [
        subprocess.run(
            [program, *words], cwd=folder, env=environment(), capture_output=True, text=True, check=True
        ).stdout
        for words in (*(command[1:] for command in commands[:2]), ["inspect", model, "--json"])
    ]
    assert len((folder / "labels.csv").read_text(encoding="utf-8").splitlines()) > 2450
    assert "GNOME" in outputs[1]
    assert json.loads(outputs[2])["method"] == "fun-auto"


def test_again_needs_force(ended: tuple[Path, str]) -> None:
    folder, _ = ended
    done = run_command("quickstart", "-o", "first try", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == (
        "funnelling: first try/model exists. Choose another folder with -o or add --force.\n"
    )
