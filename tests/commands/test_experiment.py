"""``funnelling research experiment``: any corpus, a report at the end, and nothing lost when it is killed."""

import json
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from funnelling.commands.corpora import read_trials
from funnelling.formats import write_documents
from funnelling.research.experiments.registry import ALL_EXPERIMENTS, parse_experiments
from tests.research.corpora.makers import write_indices
from tests.research.experiments.made import made_corpus

from .command import command, environment, run_command, succeed
from .conftest import Refuses

QUICK = ("--methods", "naive,fun-tat", "--fractions", "0,.5,1", "--jobs", 1)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "made.jsonl"
    write_documents(path, made_corpus(each=150))
    return path


def numbers(folder: Path) -> Any:
    """The results of a folder without what a clock says."""

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: timeless(part) for key, part in value.items() if "seconds" not in key}
        return value

    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return timeless(results)


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All experiments, undisturbed."""
    folder = tmp_path_factory.mktemp("whole")
    succeed("research", "experiment", "all", "--data", corpus, *QUICK, "-o", folder / "out")
    return folder / "out"


def test_all_of_them_end_in_a_report(whole: Path) -> None:
    assert set(numbers(whole)) == set(parse_experiments(ALL_EXPERIMENTS))
    page = (whole / "report.html").read_text(encoding="utf-8")
    for title in ("All methods", "Which languages gain", "Languages without training documents"):
        assert f"{title}</h2>" in page
    assert "How this was made" in page
    assert "funnelling" in (whole / "report.md").read_text(encoding="utf-8")
    assert {path.name for path in (whole / "data").iterdir()} >= {
        "methods.csv",
        "significance.csv",
        "mono-binary-significance.csv",
        "calibration-significance.csv",
        "zero-shot-macro-k-paper.csv",
    }
    assert (whole / "figures" / "learning-curves-macro-f1-paper.svg").exists()


def test_a_report_says_where_it_comes_from(whole: Path) -> None:
    page = (whole / "report.md").read_text(encoding="utf-8")
    assert "From the paper on funnelling" in page
    assert "- Methods: naive, fun-tat\n" in page


def test_one_alone(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    succeed(
        "research", "experiment", "calibration", "--data", corpus, *QUICK, "-o", tmp_path / "out", "--json"
    )
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["calibration"]
    assert list(printed["calibration"]["methods"]) == ["naive", "NoProb", "NoCalib", "fun-tat"]


def test_killed_at_any_moment_it_ends_with_the_same_numbers(
    corpus: Path, whole: Path, tmp_path: Path
) -> None:
    arguments = ("research", "experiment", "all", "--data", corpus, *QUICK, "-o", "out")
    moments = random.Random(0)
    kept = 0
    for _ in range(5):
        process = subprocess.Popen(
            command(*arguments),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        # From a random piece on, at a random moment of the next.
        for _ in range(moments.randrange(1, 5) + kept):
            process.stderr.readline()
        time.sleep(moments.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        pieces = len(list((tmp_path / "out" / "pieces").glob("*.json")))
        assert pieces >= kept
        kept = pieces
        assert not (tmp_path / "out" / "results.json").exists()
    done = run_command(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("(kept)") > 0
    assert numbers(tmp_path / "out") == numbers(whole)


def test_a_corpus_by_name_is_built_for_every_trial_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_indices(tmp_path / "indices", *debian_packages())
    arguments = ("debian-comparable", "--source", tmp_path / "indices", "--methods", "naive", "--jobs", 1)
    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("funnelling.research.corpora.debian.COMPARABLE_LANGUAGES", ("en", "it"))
        defaults = "funnelling.research.corpora.debian.build_debian_comparable.__defaults__"
        patch.setattr(defaults, (("en", "it"), (), (0,), 0))
        succeed("compare", *arguments, "--runs", 2, "-o", out, "--json")
        first = json.loads(capsys.readouterr().out)
        assert first["methods"]["naive"]["runs"] == 2
        built = sorted((out / "corpora").iterdir())
        assert len(built) == 2
        before = [path.stat().st_mtime_ns for path in built]
        shutil.rmtree(tmp_path / "indices")
        succeed("compare", *arguments, "--runs", 2, "-o", out, "--json")
    assert json.loads(capsys.readouterr().out) == first
    assert [path.stat().st_mtime_ns for path in built] == before


def debian_packages() -> tuple[list[str], dict[str, list[str]]]:
    """Indices of packages in two languages, with enough documents of every label."""
    from tests.research.corpora.makers import stanza

    packages, english, italian = [], [], []
    for i in range(160):
        kind = ("game", "sound", "web")[i % 3]
        name = f"package{i}"
        tags = f"use::{kind}, works-with::{kind}, role::program"
        packages.append(stanza(Package=name, Tag=tags, Description_md5=f"md5{i}"))
        english.append(
            stanza(Package=name, Description_md5=f"md5{i}", Description_en=f"a {kind} tool {i % 7}")
        )
        italian.append(
            stanza(Package=name, Description_md5=f"md5{i}", Description_it=f"uno {kind} per {i % 7}")
        )
    return packages, {"en": english, "it": italian}


class TestRefusals:
    def test_an_experiment_that_is_none(self, refuses: Refuses) -> None:
        refuses("research", "experiment", "contribution", says=["contribution", "contributions"])

    @pytest.mark.parametrize("fractions", ["0,2", "-.1", "half", ""])
    def test_fractions_that_are_none(self, fractions: str, refuses: Refuses) -> None:
        refuses("research", "experiment", "learning-curves", f"--fractions={fractions}", says=["--fractions"])

    def test_a_file_that_is_not_there(self, refuses: Refuses) -> None:
        refuses(
            "research",
            "experiment",
            "methods",
            "--data",
            "nowhere.jsonl",
            says=["nowhere.jsonl", "no such file"],
        )

    def test_a_folder_of_something_else(self, tmp_path: Path, refuses: Refuses) -> None:
        (tmp_path / "thesis").mkdir()
        (tmp_path / "thesis" / "thesis.tex").write_text("precious")
        refuses("research", "experiment", "methods", "-o", "thesis", says=["thesis", "Choose another path"])

    def test_a_setting_that_does_not_exist(self, refuses: Refuses) -> None:
        refuses("research", "experiment", "methods", "--set", "fun-tat.depth=3", says=["depth", "meta_C"])

    def test_a_method_without_its_resources(self, refuses: Refuses) -> None:
        refuses("research", "experiment", "methods", "--methods", "clesa", says=["clesa", "--reference"])


def test_a_folder_called_like_a_corpus_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample").mkdir()
    monkeypatch.chdir(tmp_path)
    trials, _ = read_trials(["sample"])
    assert len(trials[0].train) == 1750


@pytest.mark.parametrize("corpus", ["libreoffice-help", "wikipedia", "debian-untagged"])
def test_a_reference_corpus_is_no_data(corpus: str, refuses: Refuses) -> None:
    refuses("research", "experiment", "methods", "--data", corpus, says=[corpus, "--reference"])


def test_a_source_without_a_corpus_to_build_is_refused(refuses: Refuses) -> None:
    refuses("research", "experiment", "methods", "--source", ".", says=["--source", "research corpora"])
