"""``funnelling train --optimise``: thresholds that are tuned, and shown with predictions."""

import json
from pathlib import Path

import pytest

from .command import succeed
from .conftest import Refuses


def test_tuned_thresholds_stand_beside_predictions(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", split_data, "-o", tmp_path / "tuned", "--optimise", "recall=0.9", "--jobs", 1)
    capsys.readouterr()
    succeed("predict", tmp_path / "tuned", split_data)
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert row["thresholds"]
    for label, score in row["scores"].items():
        assert (label in row["labels"]) == (score > row["thresholds"].get(label, 0.5))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--optimise", "accuracy"], ["accuracy", "micro-f1"]),
        (["--optimize", "accuracy"], ["accuracy", "micro-f1"]),
        (["--optimise", "micro-f1", "--method", "naive"], ["naive", "Leave it out"]),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    options: list[str], says: list[str], split_data: Path, refuses: Refuses
) -> None:
    refuses("train", split_data, "-o", "model", *options, says=says)
