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


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where it ran and what it printed."""
    folder = tmp_path_factory.mktemp("quickstart")
    done = run_command("quickstart", "-o", "first try", "--jobs", 1, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "Training naive …\nTraining fun-tat …\n"
    return folder, done.stdout


def test_fun_tat_is_above_naive_on_all_four_averages(ended: tuple[Path, str]) -> None:
    _, printed = ended
    lines = printed.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("language"))
    assert lines[header - 1].split() == ["micro-F1", "macro-F1", "micro-K", "macro-K"]
    assert lines[header].split() == ["language", *["Naive", "Fun(TAT)"] * 4]
    assert max(map(len, lines[header - 1 : header + 10])) <= 80
    average = next(line for line in lines if line.startswith("average")).split()[1:]
    scores = [float(score) for score in average]
    assert all(fun > naive for naive, fun in zip(scores[::2], scores[1::2], strict=True))
    assert len([line for line in lines[header + 2 :] if line.startswith(("da", "de", "en"))]) == 3


def test_the_guide_has_its_table(ended: tuple[Path, str]) -> None:
    """To the last digit or so: other processors round otherwise."""
    folder, _ = ended
    with (folder / "first try" / "data" / "methods.csv").open(encoding="utf-8", newline="") as file:
        measured = {row[0]: row[1:5] for row in csv.reader(file)}
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").replace("*", "")
    table = page[page.index("\n| 1,750 documents") :]
    for method in ("Naive", "Fun(TAT)"):
        row = next(line for line in table.splitlines() if line.startswith(f"| {method} |"))
        shown = [float(cell) for cell in row.split("|")[2:6]]
        assert shown == pytest.approx([float(score) for score in measured[method]], abs=0.0011)


def test_what_it_leaves(ended: tuple[Path, str]) -> None:
    folder, printed = ended
    assert sorted(os.listdir(folder)) == ["first try"]
    assert sorted(os.listdir(folder / "first try")) == [
        *("data", "documents.jsonl", "figures", "model", "report.html", "report.md")
    ]
    assert "Model:  'first try/model'" in printed
    report = (folder / "first try" / "report.md").read_text(encoding="utf-8")
    assert "| language | micro-F1 Naive | micro-F1 Fun(TAT) |" in report


def test_its_next_commands_work_as_printed(ended: tuple[Path, str]) -> None:
    folder, printed = ended
    after = printed[printed.index("Next:") + len("Next:") :]
    commands = [shlex.split(line) for line in after.strip().splitlines()]
    assert [command[:2] for command in commands] == [
        ["funnelling", "predict"],
        ["funnelling", "inspect"],
        ["funnelling", "train"],
    ]
    program = str(Path(sys.executable).parent / "funnelling")
    outputs = [
        subprocess.run(
            [program, *command[1:]], cwd=folder, env=environment(), capture_output=True, text=True, check=True
        ).stdout
        for command in commands[:2]
    ]
    rows = [json.loads(line) for line in outputs[0].splitlines()]
    assert len(rows) == 2450
    assert all(len(row["probabilities"]) == 3 for row in rows)
    assert outputs[1].startswith("Method      fun-tat\n")
    assert "\nMeasured on 700 test documents.\n" in outputs[1]


def test_again_needs_force(ended: tuple[Path, str]) -> None:
    folder, _ = ended
    done = run_command("quickstart", "-o", "first try", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == (
        "funnelling: first try/model exists. Choose another folder with -o or add --force.\n"
    )
