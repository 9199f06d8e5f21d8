"""``funnelling train --goal``: thresholds that are tuned, and told once."""

import json
from pathlib import Path

import pytest

from .command import succeed
from .conftest import Refuses


def test_tuned_thresholds_are_those_that_predictions_follow(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed("train", split_data, "-o", tmp_path / "tuned", "--goal", "recall=0.9", "--jobs", 1)
    capsys.readouterr()
    succeed("inspect", tmp_path / "tuned", "--json")
    thresholds = json.loads(capsys.readouterr().out)["thresholds"]
    assert list(thresholds) == ["en", "it"]
    succeed("inspect", tmp_path / "tuned", "--full")
    assert "\nThresholds  en, it: " in capsys.readouterr().out
    succeed("predict", tmp_path / "tuned", split_data)
    captured = capsys.readouterr()
    assert f"thresholds that are not all .5: funnelling inspect {tmp_path / 'tuned'} --json" in captured.err
    for row in map(json.loads, captured.out.splitlines()):
        assert "thresholds" not in row
        for label, score in row["probabilities"].items():
            assert (label in row["labels"]) == (score > thresholds[row["language"]].get(label, 0.5))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--goal", "accuracy"], ["accuracy", "micro-f1"]),
        (["--goal", "micro-f1", "--method", "naive"], ["naive does not support --goal"]),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    options: list[str], says: list[str], split_data: Path, refuses: Refuses
) -> None:
    refuses("train", split_data, "-o", "model", *options, says=says)
