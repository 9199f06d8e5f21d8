"""Campaigns find nothing in the code as it is, and find what is planted; ``make attack`` is far longer."""

import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'funnelling[serve]'")
if sys.platform != "linux":
    pytest.skip("attacks look into /proc", allow_module_level=True)

from attack.campaigns import CAMPAIGNS
from attack.plants import PLANTS
from attack.running import Tally, table
from attack.texts import shape_of

ROOT = Path(__file__).parents[2]
ROUNDS = {
    "models": "12",
    "files": "30",
    "signals": "2",
    "writers": "2",
    "requests": "7",
    "texts": "8",
    "vectors": "25",
}
# What is planted, in which rounds of which campaign it is found, and as what.
FOUND = {
    "no-lock": ("writers", "0-3", "lost"),
    "no-bound": ("requests", "0-0", "let in"),
    "no-bound-on-lines": ("files", "16-16", "over memory"),
    "no-check-of-places": ("vectors", "0-29", "died"),
    "traceback": ("models", "2-2", "traceback"),
    "half-write": ("signals", "0-0", "lost"),
    "quadratic": ("texts", "{marks}-{marks}", "hung"),
    "trust": ("models", "2-2", "let in"),
    "trust-estimators": ("models", "5-5", "let in"),
}
QUICK = "half-write"


def attack(home: Path, campaign: str, rounds: str, *options: str) -> tuple[int, list[dict[str, str]], str]:
    """Run a campaign; its status, what it found, and what it said."""
    marks = next(number for number in count() if shape_of(number) == "two marks")
    arguments = [
        "--only",
        campaign,
        "--rounds",
        rounds.format(marks=marks),
        "--home",
        str(home),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "attack", *arguments, "--seed", "1", *options],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = [json.loads(path.read_text("utf-8")) for path in home.glob("findings/*/finding.json")]
    return done.returncode, found, done.stdout + done.stderr


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_finds_nothing(campaign: str, tmp_path: Path) -> None:
    status, found, said = attack(tmp_path, campaign, ROUNDS[campaign])
    assert (status, found) == (0, []), said


@pytest.mark.parametrize(
    "plant", [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PLANTS]
)
def test_finds_what_is_planted(plant: str, tmp_path: Path) -> None:
    campaign, rounds, kind = FOUND[plant]
    status, found, said = attack(tmp_path, campaign, rounds, "--plant", plant)
    assert status == 1, said
    assert kind in {each["kind"] for each in found}, said
    assert all(f"--only {campaign}" in each["again"] for each in found)


def test_the_table_counts_every_kind() -> None:
    tally = Tally("models")
    tally.kinds.update(refused=3, traceback=1)
    tally.seconds = 2.4
    header, row, total = table([tally]).splitlines()
    assert header.split()[:4] == ["campaign", "tried", "refused", "answered"]
    assert row.split() == ["models", "4", "3", "0", "0", "0", "0", "0", "1", "0", "2"]
    assert total.split() == ["all", *row.split()[1:]]
