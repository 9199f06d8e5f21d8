"""``funnelling compare``: the contract's JSON, several runs and files, and going on after an interruption."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.methods.learning import Method

from .command import contents, documents, run_command, succeed, with_splits, write_jsonl

METHODS = ("naive", "fun-tat")
ARGUMENTS = ("--methods", ",".join(METHODS), "--jobs", 1)


def _compare(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capsys.readouterr()
    succeed("compare", *arguments, *ARGUMENTS, "--json")
    return json.loads(capsys.readouterr().out)


def _without_times(result: Any) -> Any:
    methods = result["methods"].items()
    kept = {
        name: {key: value for key, value in method.items() if "seconds" not in key}
        for name, method in methods
    }
    return {**result, "methods": kept}


@pytest.mark.parametrize("runs", [1, 2])
def test_json_is_the_contracts(runs: int, split_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = _compare(capsys, split_data, "--runs", runs)
    assert result["command"] == "compare"
    scores = {name: method["average"]["micro_f1"] for name, method in result["methods"].items()}
    assert list(scores) == sorted(METHODS, key=lambda name: -scores[name])
    for method in result["methods"].values():
        assert set(method) >= {
            "average",
            "weighted",
            "deviation",
            "language_deviation",
            "languages",
            "fit_seconds",
            "predict_seconds",
            "runs",
        }
        assert all(type(method["average"][measure]) is float for measure in PAPER_MEASURES)
        assert all(type(method["language_deviation"][measure]) is float for measure in PAPER_MEASURES)
        if runs == 1:
            assert method["deviation"] is None
        else:
            assert all(type(method["deviation"][measure]) is float for measure in PAPER_MEASURES)
        assert method["runs"] == runs
        assert method["fit_seconds"] > 0 < method["predict_seconds"]
        assert list(method["languages"]) == ["en", "it"]
        for values in method["languages"].values():
            assert all(type(values[measure]) is float for measure in PAPER_MEASURES)
            assert values["documents"] == 8
            assert type(values["documents"]) is int
    assert set(result["best"]) == {*PAPER_MEASURES, "macro_f1", "macro_k"}
    for measure, best in result["best"].items():
        (other,) = set(METHODS) - {best}
        assert result["methods"][best]["p_value"][measure] is None
        assert 0 <= result["methods"][other]["p_value"][measure] <= 1
    assert list(result["pairs"]) == list(result["best"])
    for pairs in result["pairs"].values():
        assert {frozenset((pair["a"], pair["b"])) for pair in pairs} == set(
            map(frozenset, combinations(METHODS, 2))
        )
        assert all(set(pair) == {"a", "b", "difference", "p", "p_groups"} for pair in pairs)
        assert all(0 <= pair["p"] <= 1 >= pair["p_groups"] > 0 for pair in pairs)


def test_the_first_run_is_what_train_and_evaluate_find(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = _compare(capsys, split_data)
    succeed("train", split_data, "-o", tmp_path / "model", "--method", "fun-tat")
    capsys.readouterr()
    succeed("evaluate", tmp_path / "model", split_data, "--json")
    evaluated = json.loads(capsys.readouterr().out)["scores"]
    assert result["methods"]["fun-tat"]["average"] == evaluated["average"]
    assert result["methods"]["fun-tat"]["languages"] == evaluated["languages"]


def test_the_table(split_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("compare", split_data, *ARGUMENTS)
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].split() == ["method", "micro-F1", "macro-F1", "fit", "s"]
    rows = {line.split("  ")[0]: line.split() for line in lines[1:4]}
    assert {name: row[4:] for name, row in rows.items()} == {
        "naive": ["one", "classifier", "per", "language"],
        "fun-tat": ["the", "paper's", "funnel"],
        "(assigns nothing)": [],
    }
    assert [float(line.removeprefix("(assigns nothing)").split()[-1]) for line in lines[3:4]] == [0]
    assert lines[4] == "! Fewer than 30 test documents: these metrics are unreliable."
    best, other = list(rows)[:2]
    assert lines[5] in (
        f"{best} is not significantly better than any other method (paired t-test, p ≥ .05).",
        f"{best} is significantly better than {other} (paired t-test, p < .05).",
    )
    assert lines[6:] == [f"Next: funnelling train {split_data} --method {best} -o model"]
    assert [line.partition(":")[0] for line in captured.err.splitlines()] == [
        "trial 1/1 naive",
        "trial 1/1 fun-tat",
    ]


def test_fractions_are_rows_with_an_extrapolation(
    split_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("compare", split_data, "--methods", "naive", "--jobs", 1, "--fractions", ".25,.5,1")
    succeed(*command)
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].split() == ["method", "share", "documents", "micro-F1", "macro-F1", "fit", "s"]
    assert [line.split()[:4] for line in lines[1:4]] == [
        ["naive", share, "%", documents] for share, documents in (("25", "8"), ("50", "16"), ("100", "32"))
    ]
    assert re.fullmatch(
        r"Twice as many documents may add -?\.\d\d to \.\d\d macro-F1 \(extrapolated\)\.", lines[5]
    )
    assert "25 % of the documents, trial 1/1 naive" in captured.err
    succeed(*command, "--json")
    naive = json.loads(capsys.readouterr().out)["methods"]["naive"]
    assert list(naive["fractions"]) == ["0.25", "0.5", "1"]
    assert naive["fractions"]["1"]["average"] == naive["average"]
    low, high = naive["doubling"]["macro_f1"]
    assert low < high


def test_a_variant_is_a_row_of_its_own(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decided_otherwise = ("--set", "fun-tat:at-half.thresholds=0.5", "-o", tmp_path / "results")
    methods = ("--methods", "naive,fun-tat,fun-tat:at-half", "--jobs", 1)
    succeed("compare", split_data, *methods, *decided_otherwise)
    rows = capsys.readouterr().out.splitlines()
    assert [row for row in rows if row.startswith("fun-tat:at-half ")]
    result = json.loads((tmp_path / "results" / "comparison.json").read_text())
    assert set(result["methods"]) == {"naive", "fun-tat", "fun-tat:at-half"}
    assert {pair["b"] for pair in result["pairs"]["micro_f1"]} == {"fun-tat", "fun-tat:at-half"}
    assert not list((tmp_path / "results").rglob("*:*")), "not every system takes it in the name of a file"


def test_several_files_are_several_trials(
    split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_jsonl(tmp_path / "other.jsonl", with_splits(documents(("en", "it", "de"))[::-1]))
    # With C given, Naive's decisions have nothing random.
    fixed = ["--set", "naive.C=1"]
    both, *single = (
        _compare(capsys, *files, *fixed) for files in ([split_data, other], [split_data], [other])
    )
    assert both["methods"]["naive"]["runs"] == 2
    for measure, value in both["methods"]["naive"]["average"].items():
        mean = sum(result["methods"]["naive"]["average"][measure] for result in single) / 2
        assert value == pytest.approx(mean)
    assert list(both["methods"]["naive"]["languages"]) == ["de", "en", "it"]


def test_same_seed_same_numbers_and_other_seed_others(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again, other = (_without_times(_compare(capsys, data, "--seed", seed)) for seed in (0, 0, 1))
    assert first == again != other


class TestStore:
    @pytest.fixture
    def fits(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The methods that were fitted, as they come."""
        fitted: list[str] = []
        fit = Method.fit

        def noted(method: Method, train: Any) -> Any:
            fitted.append(method.algorithm.name)
            return fit(method, train)

        monkeypatch.setattr(Method, "fit", noted)
        return fitted

    def test_what_it_holds(
        self, split_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        result = _compare(capsys, split_data, "-o", tmp_path / "out")
        assert json.loads((tmp_path / "out" / "comparison.json").read_text()) == result
        assert "| method | micro-F1 |" in (tmp_path / "out" / "report.md").read_text()
        assert (tmp_path / "out" / "report.html").exists()
        assert len(list((tmp_path / "out" / "pieces").iterdir())) == 2

    def test_nothing_is_found_twice(
        self, split_data: Path, tmp_path: Path, fits: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = _compare(capsys, split_data, "-o", tmp_path / "out")
        assert fits == ["naive", "funnelling"]
        assert _compare(capsys, split_data, "-o", tmp_path / "out") == first  # times and all
        assert len(fits) == 2
        # A method or a run more costs only what is new.
        succeed("compare", split_data, "-o", tmp_path / "out", "--methods", "naive,pooled,fun-tat")
        assert fits[2:] == ["pooled"]
        _compare(capsys, split_data, "-o", tmp_path / "out", "--runs", 2)
        assert fits[3:] == ["naive", "funnelling"]

    def test_an_interrupted_comparison_goes_on(
        self,
        split_data: Path,
        tmp_path: Path,
        fits: list[str],
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        whole = _compare(capsys, split_data, "--runs", 2)
        noted, fits[:] = Method.fit, []

        def interrupted(method: Method, train: Any) -> Any:
            if len(fits) == 2:
                raise KeyboardInterrupt
            return noted(method, train)

        from funnelling.commands import main

        monkeypatch.setattr(Method, "fit", interrupted)
        arguments = ["compare", str(split_data), "-o", str(tmp_path / "out"), "--runs", "2", "--methods"]
        assert main([*arguments, ",".join(METHODS)]) == 130
        kept = contents(tmp_path / "out")
        assert len([name for name in kept if name.endswith(".json")]) == 2
        monkeypatch.setattr(Method, "fit", noted)
        fits.clear()
        result = _compare(capsys, split_data, "-o", tmp_path / "out", "--runs", 2)
        assert len(fits) == 2
        assert _without_times(result) == _without_times(whole)
        assert kept.items() <= contents(tmp_path / "out").items()

    @pytest.mark.parametrize(
        "change",
        [["--seed", 1], ["--set", "naive.C=1", "--set", "fun-tat.meta_C=1"]],
        ids=["seed", "settings"],
    )
    def test_another_question_gets_another_answer(
        self,
        change: list[object],
        split_data: Path,
        tmp_path: Path,
        fits: list[str],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        _compare(capsys, split_data, "-o", tmp_path / "out")
        _compare(capsys, split_data, "-o", tmp_path / "out", *change)
        assert len(fits) == 4

    def test_settings_of_one_method_leave_the_others_alone(
        self, split_data: Path, tmp_path: Path, fits: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        _compare(capsys, split_data, "-o", tmp_path / "out")
        _compare(capsys, split_data, "-o", tmp_path / "out", "--set", "naive.C=1")
        assert fits[2:] == ["naive"]

    def test_other_documents_are_measured_anew(
        self, split_data: Path, tmp_path: Path, fits: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        _compare(capsys, split_data, "-o", tmp_path / "out")
        rows = with_splits(documents())
        rows[0]["text"] += " indeed"
        _compare(capsys, write_jsonl(tmp_path / "other.jsonl", rows), "-o", tmp_path / "out")
        assert len(fits) == 4

    def test_a_piece_that_cannot_be_read_is_found_anew(
        self, split_data: Path, tmp_path: Path, fits: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = _compare(capsys, split_data, "-o", tmp_path / "out")
        for piece in (tmp_path / "out" / "pieces").glob("naive-*"):
            piece.write_text(piece.read_text()[:20])
        assert _without_times(_compare(capsys, split_data, "-o", tmp_path / "out")) == _without_times(first)
        assert fits[2:] == ["naive"]


def test_in_a_process_of_its_own(split_data: Path, tmp_path: Path) -> None:
    done = run_command("compare", split_data, *ARGUMENTS, "--runs", 2, "-o", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 5
    assert done.stderr.endswith("Report: out/report.html\n")
    assert json.loads(done.stdout)["methods"]["naive"]["runs"] == 2
