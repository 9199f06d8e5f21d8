"""The benchmarks run, at sizes that take seconds, and give what their README says."""

import doctest
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, run
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from funnelling import Corpus
from funnelling.formats import Document
from funnelling.svm.kernels import native
from tests.commands.command import documents, environment, one_label_documents, with_splits, write_jsonl

from .conftest import BENCHMARKS

SIDES = {"funnelling", "recipe"}


def _run(script: Path, *arguments: object) -> "CompletedProcess[str]":
    command = [sys.executable, str(script), *map(str, arguments)]
    return run(command, capture_output=True, text=True, env=environment(), check=False)


def _result(script: str, *arguments: object) -> Any:
    done = _run(BENCHMARKS / script, *arguments, "--jobs", 1, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {"cpu", "cores", "solver", "versions"} <= set(result["machine"])
    assert str(BENCHMARKS.parent) not in done.stdout
    return result


def _assert_compared(result: Any) -> None:
    for measured in ("fit_seconds", "predict_seconds", "micro_f1", "macro_f1_paper"):
        assert set(result[measured]) == SIDES
        assert min(result[measured].values()) > 0
    for step in ("fit", "predict"):
        seconds = result[f"{step}_seconds"]
        assert result[f"{step}_ratio"] == pytest.approx(seconds["recipe"] / seconds["funnelling"])
    for measured in ("micro_f1", "macro_f1_paper"):
        assert result[measured]["funnelling"] == pytest.approx(result[measured]["recipe"], abs=0.05)


def test_fit_compares_both_sides_with_and_without_a_grid_search() -> None:
    result = _result("fit.py", "--shape", "2x60x6x300", "--repeats", 1)
    _assert_compared(result)
    _assert_compared(result["grid"])
    assert result["meta_C"] == {"funnelling": 100, "recipe": 100}
    assert result["corpus"] == {
        "languages": 2,
        "labels": 6,
        "documents": 120,
        "test_documents": 120,
        "features": 300,
    }


def test_fit_takes_the_largest_languages_and_labels_of_a_file(tmp_path: Path) -> None:
    rows = [*documents(["en", "it"], each=60), *documents(["de"], each=30)]
    data = write_jsonl(tmp_path / "docs.jsonl", with_splits(rows))
    options = ("--data", data, "--languages", 2, "--labels", 2, "--no-grid", "--no-recipe")
    done = _run(BENCHMARKS / "fit.py", *options, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 languages, 2 labels, 80 documents, 40 test documents, ")
    rows_shown = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert {"fit", "predict", "micro-F1", "paper's"} <= set(rows_shown)
    assert "recipe" not in done.stdout


def test_predict_times_single_documents_and_batches() -> None:
    result = _result("predict.py", "--shape", "2x60x5x200", "--documents", 40, "--calls", 4)
    for side in SIDES:
        assert 0 < result["latency_ms"][side]["p50"] <= result["latency_ms"][side]["p99"]
    assert [batch["documents"] for batch in result["batches"]] == [10, 100, 120]
    assert all(batch["ratio"] > 0 and set(batch["seconds"]) == SIDES for batch in result["batches"])
    assert result["corpus"]["documents"] == 80


def test_memory_counts_in_grams() -> None:
    result = _result("memory.py", "--shape", "2x300x5x200", "--no-grid")["shapes"]["2x300x5x200"]
    assert result["gram_bytes"] == 4 * 600**2
    cost = result["funnelling"]
    assert 0 < cost["added_bytes"] < cost["peak_bytes"]
    assert cost["grams"] == cost["added_bytes"] / result["gram_bytes"]
    assert cost["seconds"] > 0


def test_growth_fits_an_exponent_and_keeps_the_recipe_to_its_limit(tmp_path: Path) -> None:
    options = ("--base", "2x60x5x200", "--vary", "documents", "--doublings", 1, "--recipe-limit", 1e-3)
    figure = tmp_path / "growth.svg"
    grown = _result("growth.py", *options, "--figure", figure)["growth"]["documents"]
    first, second = grown["steps"]
    assert (first["size"], second["size"]) == (60, 120)
    assert first["recipe_seconds"] > 0
    assert "recipe_seconds" not in second
    factor = second["funnelling_seconds"] / first["funnelling_seconds"]
    assert grown["exponents"]["funnelling_seconds"] == pytest.approx(np.log2(factor))
    assert grown["exponents"]["recipe_seconds"] is None
    drawn = figure.read_text("utf-8")
    assert all(
        name in drawn for name in ("documents", "funnelling, seconds", "recipe, seconds", "2x60x5x200")
    )


@pytest.mark.skipif(native is None, reason="nothing compiled")
def test_each_instruction_set_stands_beside_scikit_learn(tmp_path: Path) -> None:
    posts = write_jsonl(tmp_path / "posts.jsonl", with_splits(one_label_documents()))
    options = ("--shape", "2x60x6x300", "--posts", posts, "--repeats", 1, "--jobs", 1, "--json")
    done = _run(BENCHMARKS / "instructions.py", *options)
    # A set that was slower than a narrower one, as noise makes some, is named.
    assert done.returncode == ("which is narrower." in done.stderr), done.stderr
    result = json.loads(done.stdout)
    assert native.instructions() in result["ratios"]
    for name, ratios in result["ratios"].items():
        assert len(ratios) == 5
        for figure, ratio in ratios.items():
            rival = result["scikit_learn_seconds"][figure]
            assert ratio == pytest.approx(rival / result["seconds"][name][figure])


def test_missing_data_are_one_line_with_the_cure(tmp_path: Path) -> None:
    scripts = shutil.copytree(BENCHMARKS, tmp_path / "repository" / "benchmarks")
    done = _run(scripts / "fit.py")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("fit.py: ../shared/data/debian-comparable-11.jsonl.gz is missing.")
    assert "--data FILE" in done.stderr
    assert "--shape" in done.stderr


@pytest.mark.parametrize(("one_label", "options"), [(True, ()), (False, ("--folds", 2))])
def test_methods_stand_beside_scikit_learns_pipeline(
    one_label: bool, options: tuple[object, ...], tmp_path: Path
) -> None:
    rows = with_splits(documents(["en", "it"], each=24))
    if one_label:
        rows = [{**row, "labels": row["labels"][:1] or ["none"]} for row in rows]
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    methods = ("--methods", "words-and-characters", "--set", "words-and-characters.min_df=2")
    peers = ("--peers", "pipeline-balanced", "--results", tmp_path / "results")
    done = _run(BENCHMARKS / "methods.py", data, *methods, *peers, *options, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    name, _, header, _, *lines = done.stdout.strip().splitlines()[:-2]
    measures = (
        ["accuracy", "macro-F1"]
        if one_label
        else ["micro-F1", "paper's macro-F1", "micro-K", "paper's macro-K"]
    )
    assert name == "docs.jsonl"
    assert header.strip("| ").split(" | ") == [*measures, "fit s", "predict s", "peak GB"]
    titles = ["Words + characters", "pipeline-balanced"]
    assert [line.strip("| ").split(" | ")[0] for line in lines] == titles


def test_folds_read_no_test_row(tmp_path: Path) -> None:
    rows = with_splits(documents(["en", "it"], each=24))
    without = [row for row in rows if row["split"] == "train"]
    figures = []
    for number, some in enumerate((rows, without)):
        data = write_jsonl(tmp_path / f"{number}.jsonl", some)
        options = ("--methods", "naive", "--peers", "", "--folds", 2, "--results", tmp_path / "results")
        measured = _result("methods.py", data, *options)["corpora"][data.name]["methods"]["naive"]
        figures.append(
            {name: measured[name] for name in ("micro_f1", "macro_f1_paper", "micro_k", "macro_k_paper")}
        )
    assert figures[0] == figures[1]
    done = _run(BENCHMARKS / "methods.py", data, "--folds", 1)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_methods_say_what_got_worse_since_results_were_saved(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", with_splits(documents(["en", "it"], each=24)))
    options = (data, "--methods", "naive", "--peers", "", "--results", tmp_path / "results")
    saved = _result("methods.py", *options, "--save")
    (path,) = (tmp_path / "results").iterdir()
    assert json.loads(path.read_text("utf-8")) == saved
    saved["corpora"]["docs.jsonl"]["methods"]["naive"]["peak_bytes"] //= 2
    path.write_text(json.dumps(saved), "utf-8")
    done = _run(BENCHMARKS / "methods.py", *options, "--jobs", 1)
    assert done.returncode == 1
    assert "docs.jsonl, naive: peak bytes" in done.stderr.splitlines()[-1]


@pytest.fixture
def corpora(script: Callable[[str], ModuleType]) -> ModuleType:
    """Where the scripts take their data from."""
    return script("corpora")


@pytest.mark.parametrize(("text", "size"), [("rcv", (9, 1000, 73, 4200)), ("2x40x90x300", (2, 40, 90, 300))])
def test_a_drawn_corpus_has_its_shape(corpora: ModuleType, text: str, size: tuple[int, ...]) -> None:
    languages, documents, labels, features = size
    corpus = corpora.draw_corpus(corpora.Shape.parse(text), seed=0)
    assert len(corpus.by_language) == languages
    for vectors in corpus.by_language.values():
        assert vectors.train.shape == vectors.test.shape == (documents, features)
        assert vectors.train_labels.shape == vectors.test_labels.shape == (documents, labels)
        assert vectors.train.dtype == np.float64
        assert np.allclose((vectors.train**2).sum(axis=1), 1)
        assert vectors.train_labels.any(axis=1).all()
    assert np.vstack(list(corpus.train_labels.values())).any(axis=0).all()


def test_a_drawn_language_depends_on_seed_and_number_alone(corpora: ModuleType) -> None:
    def drawn(languages: int, seed: int) -> csr_array:
        return corpora.draw_corpus(corpora.Shape(languages, 30, 5, 100), seed).train["l01"]

    first, again, other = drawn(2, seed=0), drawn(3, seed=0), drawn(2, seed=1)
    assert (first != again).nnz == 0
    assert (first != other).nnz > 0


@pytest.mark.parametrize("text", ["rvc", "2x40x5", "2x0x5x100", "2x40x5x100x1"])
def test_unknown_shapes_are_refused(corpora: ModuleType, text: str) -> None:
    with pytest.raises(corpora.InputError, match="Use rcv, jrc, large or LANGUAGESxDOCUMENTS"):
        corpora.Shape.parse(text)


@pytest.mark.parametrize(
    "name", ["bars", "instructions", "labelling", "measuring", "peers", "results", "texts"]
)
def test_examples_in_docstrings(script: Callable[[str], ModuleType], name: str) -> None:
    assert doctest.testmod(script(name)).failed == 0


def test_suggested_documents_stand_beside_documents_drawn_at_random(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", with_splits(documents(["en", "it"], each=90)))
    options = (data, "--learner", "naive", "--label-up-to", 60, "--steps", 3)
    (trial,) = _result("labelling.py", *options)["trials"]
    for points in trial.values():
        assert [point["labelled"] for point in points] == [40, 60]
        assert set(points[0]["languages"]) == {"en", "it"}
    assert trial["at random"][0] == trial["suggested"][0]
    done = _run(BENCHMARKS / "labelling.py", data, "--learner", "naive", "--jobs", 1)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--label-up-to 2000 is out of reach" in done.stderr


@pytest.mark.slow
def test_scale_trains_and_labels_folders_of_parts() -> None:
    options = ["--documents", "400", "--method", "fun-tat"]
    (measured,) = _result("scale.py", *options)["sizes"].values()
    assert measured["train"]["seconds"] > 0
    assert measured["predict"]["peak_bytes"] > 1e7
    assert 0 <= measured["micro_f1"] <= 1


def test_a_language_that_is_added_is_measured_beside_training_anew(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", with_splits(documents(["en", "it"], each=60)))
    kept = tmp_path / "result.json"
    options = (data, "--method", "fun-tat", "--only-languages", "--languages", "it", "--output", kept)
    result = _result("learning_on.py", *options)
    assert json.loads(kept.read_text()) == result
    added = result["corpora"]["docs.jsonl"]["it"]
    assert added["before"] is None
    assert set(added["largest_fall_of_others"]) == set(added["ratio"]) | {"at_once"} == {"update", "at_once"}


@pytest.mark.slow
def test_learning_on_is_measured_beside_training_anew(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", with_splits(documents(["en", "it"], each=60)))
    measured = _result("learning_on.py", data, "--method", "fun-tat")["corpora"]["docs.jsonl"]
    assert set(measured) == {"documents", "half", "hundredth"}
    for update in (measured["half"], measured["hundredth"]):
        assert sum(update["documents"].values()) == measured["documents"] == 80
        assert update["same_bits"]["exact"]
        assert update["difference"]["exact"] == 0
        assert set(update["ratio"]) == {"update", "exact"}


def test_calibration_errors_stand_beside_their_noise(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", with_splits(documents(["en", "it"], each=60)))
    options = (data, "--methods", "naive,pooled", "--redraws", 5)
    measured = _result("calibration.py", *options)["corpora"]["docs.jsonl"]
    assert set(measured) == {"naive", "pooled"}
    for kind in ("pairs", "languages", "labels"):
        for of_method in measured.values():
            assert 0 < of_method[kind]["error"] < 1
            assert of_method[kind]["noise"] > 0


def test_calibration_errors_are_averaged_over_languages_and_over_labels(
    script: Callable[[str], ModuleType],
) -> None:
    truth = np.array([[1, 0], [0, 0], [1, 1]], dtype=bool)
    probabilities = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.9]])
    averages = script("calibration").averages(truth, probabilities, np.array(["en", "en", "it"]))
    # Of the pairs at .5, one in four is positive overall, one in two of the first label, none of the second.
    assert averages["pairs"] == pytest.approx((4 * 0.25 + 2 * 0.1) / 6)
    assert averages["languages"] == pytest.approx((0.25 + 0.1) / 2)
    assert averages["labels"] == pytest.approx(((2 * 0 + 0.1) / 3 + (2 * 0.5 + 0.1) / 3) / 2)


def test_test_sets_are_redrawn_by_groups(script: Callable[[str], ModuleType]) -> None:
    names = ["a", "a", "b", None, None]
    rows = [Document(str(number), "text", group=name) for number, name in enumerate(names)]
    redraws = script("calibration").redraws
    drawn = [each.tolist() for each in redraws(Corpus.from_documents(rows), 20, seed=0)]
    assert all(each.count(0) == each.count(1) for each in drawn)
    assert {row for each in drawn for row in each} == set(range(5))
    assert drawn == [each.tolist() for each in redraws(Corpus.from_documents(rows), 20, seed=0)]


def test_splits_that_share_labels_out_stand_beside_those_drawn_by_lot(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "docs.jsonl", with_splits(documents(["en", "it"], each=30)))
    script = BENCHMARKS / "splits.py"
    for options in ((), ("--method", "naive", "--outer")):
        done = _run(script, data, "--runs", 2, "--jobs", 1, *options)
        assert done.returncode == 0, done.stderr
        rows = [line.split("  ")[0] for line in done.stdout.splitlines()[1:]]
        assert rows[:2] == ["by lot", "labels shared out"]
