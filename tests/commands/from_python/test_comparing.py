"""Comparisons and experiments from Python, and what both read."""

import json
from pathlib import Path

import pytest

from funnelling import InputError, compare, read_corpus, write_documents
from funnelling.commands.compare import Compare
from funnelling.commands.corpora import read_trials
from funnelling.commands.sources import choose_methods
from funnelling.evaluation.pieces import check_new_files, check_results_folder
from funnelling.research import NaiveClassifier
from funnelling.research.commands import Experiment
from tests.research.experiments.made import made_corpus, made_trials


def test_methods_are_compared_and_reported(split_data: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    result = Compare(
        [str(split_data)],
        methods="naive,fun-tat",
        runs=2,
        set=["naive.C=1", "fun-tat.meta_C=1"],
        output=tmp_path / "out",
    ).run(lines.append)
    assert {name: method["runs"] for name, method in result["methods"].items()} == {"naive": 2, "fun-tat": 2}
    assert [line.partition(":")[0] for line in lines] == [
        "trial 1/2 naive",
        "trial 1/2 fun-tat",
        "trial 2/2 naive",
        "trial 2/2 fun-tat",
    ]
    assert json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8")) == result
    assert (tmp_path / "out" / "report.html").exists()


def test_the_function_has_the_numbers_of_the_command(split_data: Path) -> None:
    command = Compare([str(split_data)], methods="naive,fun-tat", jobs=1, fractions=[0.5]).run()
    given = [NaiveClassifier(n_jobs=1), "fun-tat"]
    for data in (split_data, read_corpus(split_data)):
        result = compare(data, given, fractions=[0.5], n_jobs=1)
        assert list(result["methods"]) == list(command["methods"])
        for name, method in command["methods"].items():
            assert result["methods"][name]["average"] == method["average"]
            half = result["methods"][name]["fractions"]["0.5"]
            assert half["languages"] == method["fractions"]["0.5"]["languages"]
    frame = result.to_frame()
    assert frame["method"].tolist() == list(command["methods"])
    assert frame["macro_f1"].tolist() == [
        method["average"]["macro_f1"] for method in command["methods"].values()
    ]


def test_methods_of_the_function_are_named(split_data: Path) -> None:
    two = [NaiveClassifier(), NaiveClassifier(C=1)]
    with pytest.raises(InputError, match="two methods have the same name"):
        compare(split_data, two)
    with pytest.raises(InputError, match="none of funnelling's estimators"):
        compare(split_data, {"sklearn": object()})
    result = compare(split_data, {"fixed": NaiveClassifier(C=1)}, runs=2)
    assert list(result["methods"]) == ["fixed"]
    assert result["methods"]["fixed"]["runs"] == 2


def test_without_a_folder_nothing_is_written(
    split_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Compare([str(split_data)], methods="naive", set=["naive.C=1"]).run()
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_gives_results_and_sections(tmp_path: Path) -> None:
    data = tmp_path / "made.jsonl"
    write_documents(data, made_corpus(each=30))
    command = Experiment("calibration", output=tmp_path / "out", data=[str(data)], set=["fun-tat.meta_C=1"])
    experiments = command.run()
    assert list(experiments.results) == ["calibration"]
    assert [section.name for section in experiments.sections] == ["calibration"]
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert page.startswith(f"# Experiment calibration on {data}")
    assert json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8")) == experiments.results


def test_methods_that_lack_resources_are_refused_or_skipped() -> None:
    trials = made_trials()
    with pytest.raises(InputError, match="clesa needs a reference corpus"):
        choose_methods(["naive", "clesa"], {}, trials, skip_lacking=False)
    names, notes = choose_methods(["naive", "clesa", "upper-bound"], {}, trials, skip_lacking=True)
    assert names == ["naive"]
    assert len(notes) == 1
    assert notes[0].startswith("Left out for what they lack: clesa (a reference corpus")
    assert choose_methods(["upper-bound"], {}, made_trials(parallel=True), False) == (["upper-bound"], [])


def test_trials_of_a_file_begin_with_its_split(split_data: Path) -> None:
    trials, notes = read_trials([str(split_data)], runs=2)
    assert [len(trial.test) for trial in trials] == [16, 16]
    assert trials[0].test.ids != trials[1].test.ids
    assert notes == []


def test_folders_of_something_else_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="holds no results"):
        check_results_folder(tmp_path, force=False)
    check_results_folder(tmp_path, force=True)
    with pytest.raises(InputError, match=r"thesis\.tex exists\. Choose another folder with -o"):
        check_new_files(tmp_path, [tmp_path / "thesis.tex"], force=False)
    (tmp_path / "pieces").mkdir()
    check_results_folder(tmp_path, force=False)
