"""Saved results are those of one kind of machine, and what got worse by more than a fifth is found."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Script = Callable[[str], ModuleType]
PEERS = ["linear-svc", "pipeline"]
MACHINE = {"cpu": "Neoverse-N1", "cores": 2}


def _methods(**changes: Any) -> dict[str, Any]:
    """What was measured of one method and two peers, with some changes to the method's."""
    costs = {"fit_seconds": 2.0, "predict_seconds": 0.5, "peak_bytes": 10**9, "micro_f1": 0.8}
    return {"naive": {**costs, **changes}, "linear-svc": {**costs}, "pipeline": {**costs}}


def _result(methods: dict[str, Any], jobs: int = 2) -> dict[str, Any]:
    return {"corpora": {"posts": {"setting": {"jobs": jobs}, "methods": methods}}, "machine": MACHINE}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"fit_seconds": 2.5}, "naive: fit seconds 2 before, 2.5 now, 1.25 times worse."),
        ({"predict_seconds": 0.7}, "naive: predict seconds 0.5 before, 0.7 now, 1.40 times worse."),
        (
            {"peak_bytes": 2 * 10**9},
            "naive: peak bytes 1,000,000,000 before, 2,000,000,000 now, 2.00 times worse.",
        ),
        ({"micro_f1": 0.5}, "naive: micro f1 0.8 before, 0.5 now, 1.60 times worse."),
    ],
)
def test_more_than_a_fifth_worse_is_named(script: Script, change: dict[str, float], line: str) -> None:
    assert list(script("results").worse(_methods(), _methods(**change), PEERS)) == [line]


@pytest.mark.parametrize(
    "change", [{"fit_seconds": 2.3}, {"fit_seconds": 1.0}, {"peak_bytes": 11 * 10**8}, {"micro_f1": 0.7}]
)
def test_less_than_a_fifth_is_not(script: Script, change: dict[str, float]) -> None:
    assert not list(script("results").worse(_methods(), _methods(**change), PEERS))


def test_seconds_are_compared_beside_those_of_the_peers(script: Script) -> None:
    worse = script("results").worse
    now = _methods(fit_seconds=4.0)
    now["linear-svc"]["fit_seconds"], now["pipeline"]["fit_seconds"] = 3.0, 5.0
    assert not list(worse(_methods(), now, PEERS))  # the machine is slow today
    now = _methods()
    now["linear-svc"]["fit_seconds"], now["pipeline"]["fit_seconds"] = 1.0, 1.2
    (line,) = worse(_methods(), now, PEERS)
    assert "1.83 times worse" in line
    del now["pipeline"]
    (line,) = worse(_methods(), now, PEERS)  # only peers of both runs count
    assert "2.00 times worse" in line


def test_what_takes_no_time_is_not_compared(script: Script) -> None:
    before = _methods(predict_seconds=0.01)
    assert not list(script("results").worse(before, _methods(predict_seconds=0.1), PEERS))
    assert list(script("results").worse(before, _methods(predict_seconds=0.5), PEERS))


def test_results_are_kept_for_each_kind_of_machine(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = script("results")
    assert results.compare(tmp_path, _result(_methods()), PEERS) == []
    assert capsys.readouterr().err == "posts: no results of neoverse-n1-2-cores to compare with.\n"
    results.save(tmp_path, _result(_methods()))
    assert [path.name for path in tmp_path.iterdir()] == ["neoverse-n1-2-cores.json"]
    (line,) = results.compare(tmp_path, _result(_methods(fit_seconds=3.0)), PEERS)
    assert line.startswith("posts, naive: fit seconds")
    capsys.readouterr()
    assert results.compare(tmp_path, _result(_methods(fit_seconds=3.0), jobs=1), PEERS) == []
    assert "another size, seed or number of jobs" in capsys.readouterr().err


def test_saving_keeps_other_corpora(script: Script, tmp_path: Path) -> None:
    results = script("results")
    other = {"corpora": {"titles": {"setting": {}, "methods": _methods()}}, "machine": MACHINE}
    results.save(tmp_path, _result(_methods()))
    results.save(tmp_path, other)
    worse = results.compare(tmp_path, _result(_methods(micro_f1=0.1)), PEERS)
    assert len(worse) == 1
