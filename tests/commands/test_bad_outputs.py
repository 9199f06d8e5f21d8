"""Outputs that exist or cannot be written: refused before the work, nothing changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .command import (
    assert_refused,
    command,
    contents,
    documents,
    environment,
    succeed,
    with_splits,
    write_jsonl,
)
from .conftest import Refuses


@pytest.fixture(autouse=True)
def docs(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "docs.jsonl", with_splits(documents()))


class TestTrain:
    @pytest.mark.usefixtures("model_copy")
    def test_a_model_that_exists(self, tmp_path: Path, refuses: Refuses) -> None:
        says = ["model exists", "--force"]
        refuses("train", "docs.jsonl", "-o", "model", says=says)
        refuses("train", "docs.jsonl", "-o", "model/", says=says)
        assert_refused("train", "docs.jsonl", "-o", "model", cwd=tmp_path, says=says)

    def test_force_replaces_a_model_and_leaves_nothing_of_it(self, tmp_path: Path, docs: Path) -> None:
        succeed("train", docs, "-o", tmp_path / "model", "--jobs", 1, "--set", "fun-auto.base_C=2")
        before = contents(tmp_path / "model")
        succeed("train", docs, "-o", tmp_path / "model", "--jobs", 1, "--force")
        succeed("train", docs, "-o", tmp_path / "fresh", "--jobs", 1)
        assert contents(tmp_path / "model") == contents(tmp_path / "fresh") != before
        assert sorted(os.listdir(tmp_path)) == ["docs.jsonl", "fresh", "model"]

    def test_force_does_not_replace_what_is_no_model(self, tmp_path: Path, refuses: Refuses) -> None:
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.tex").write_text("precious")
        (tmp_path / "file").write_text("precious")
        (tmp_path / "link").symlink_to("nowhere")
        for name in ("mine", "file", "link"):
            says = [f"{name} exists and is no model folder", "Choose another path"]
            refuses("train", "docs.jsonl", "-o", name, "--force", says=says)

    def test_an_empty_folder_is_filled(self, tmp_path: Path, docs: Path) -> None:
        (tmp_path / "empty").mkdir()
        succeed("train", docs, "-o", tmp_path / "empty", "--jobs", 1)
        assert (tmp_path / "empty" / "model.json").is_file()
        assert not list(tmp_path.glob("**/.*"))

    @pytest.mark.parametrize(
        ("output", "says"),
        [
            ("no/such/model", ["no/such/model: its folder does not exist", "Create the folder"]),
            ("docs.jsonl/model", ["docs.jsonl/model: its folder does not exist"]),
            ("/proc/model", ["/proc/model: cannot be written", "Choose another path"]),
            ("x" * 300, ["cannot be written (file name too long)", "Choose another path"]),
        ],
    )
    def test_an_output_that_cannot_be_written(self, output: str, says: list[str], refuses: Refuses) -> None:
        refuses("train", "docs.jsonl", "-o", output, says=says)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere; /proc above stands for this")
    def test_a_folder_without_permission(self, tmp_path: Path, refuses: Refuses) -> None:
        (tmp_path / "locked").mkdir(mode=0o555)
        says = ["locked/model: cannot be written (permission denied)"]
        refuses("train", "docs.jsonl", "-o", "locked/model", says=says)


@pytest.mark.parametrize("name", ["out.csv", "out.html", "OUT.JSON"])
def test_results_of_a_comparison_are_no_file(name: str, refuses: Refuses) -> None:
    says = [f"{name}: results are a folder", "Choose a name without an ending."]
    refuses("compare", "docs.jsonl", "--methods", "naive", "-o", name, says=says)


class TestPredict:
    def test_an_output_that_exists(self, tmp_path: Path, model: Path, refuses: Refuses) -> None:
        (tmp_path / "out.jsonl").write_text("old")
        refuses("predict", model, "docs.jsonl", "-o", "out.jsonl", says=["out.jsonl exists", "--force"])

    def test_force_replaces_an_output(self, tmp_path: Path, model: Path) -> None:
        (tmp_path / "out.jsonl").write_text("old")
        succeed("predict", model, tmp_path / "docs.jsonl", "-o", tmp_path / "out.jsonl", "--force")
        assert (tmp_path / "out.jsonl").read_text() != "old"

    def test_an_output_that_cannot_be_written(self, tmp_path: Path, model: Path, refuses: Refuses) -> None:
        (tmp_path / "folder").mkdir()
        for output, says in {
            "no/out.jsonl": ["no/out.jsonl: its folder does not exist"],
            "/proc/out.jsonl": ["/proc/out.jsonl"],
            "folder": ["folder: unknown format", ".csv, .tsv, .jsonl"],
            "no/out.csv": ["no/out.csv: its folder does not exist"],
            "/proc/out.xlsx": ["/proc/out.xlsx"],
            "out.doc": ["out.doc: unknown format", ".xlsx or .parquet."],
            "out.xlsx.gz": ["out.xlsx.gz: unknown format"],
        }.items():
            refuses("predict", model, "docs.jsonl", "-o", output, says=says)

    def test_a_bad_line_late_in_the_file_leaves_no_output(
        self, tmp_path: Path, model: Path, refuses: Refuses
    ) -> None:
        rows = [*documents() * 50, {"text": 5}]
        write_jsonl(tmp_path / "late.jsonl", rows)
        (tmp_path / "out.jsonl").write_text("old")
        says = [f'late.jsonl:{len(rows)}: "text" must be a string']
        refuses("predict", model, "late.jsonl", "-o", "out.jsonl", "--force", says=says)

    @pytest.mark.parametrize("ending", ["csv", "tsv.gz", "xlsx", "parquet"])
    def test_a_table_is_whole_or_as_it_was(
        self, ending: str, tmp_path: Path, model: Path, refuses: Refuses
    ) -> None:
        write_jsonl(tmp_path / "late.jsonl", [*documents(), {"text": 5}])
        (tmp_path / f"out.{ending}").write_text("old")
        refuses("predict", model, "docs.jsonl", "-o", f"out.{ending}", says=["exists", "--force"])
        says = ['"text" must be a string']
        refuses("predict", model, "late.jsonl", "-o", f"out.{ending}", "--force", says=says)

    def test_an_unknown_ending_is_refused_before_any_work(self, refuses: Refuses) -> None:
        refuses("predict", "no-model", "no-file", "-o", "out.doc", says=["out.doc: unknown format"])

    @pytest.mark.parametrize(
        ("ending", "library", "extra"),
        [("xlsx", "xlsxwriter", "spreadsheet"), ("parquet", "pyarrow", "parquet")],
    )
    def test_what_is_not_installed_is_said_before_any_work(
        self, ending: str, library: str, extra: str, refuses: Refuses, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, library, None)
        says = [f"writing .{ending}" if ending == "xlsx" else "writing Parquet", f"funnelling[{extra}]'"]
        refuses("predict", "no-model", "no-file", "-o", f"out.{ending}", says=says)

    def test_wide_scores_are_for_tables(self, model: Path, refuses: Refuses) -> None:
        for output in ("-", "out.jsonl"):
            says = ["--probabilities wide makes columns", ".csv"]
            refuses("predict", model, "docs.jsonl", "-o", output, "--probabilities", "wide", says=says)

    def test_a_full_disk(self, model: Path, refuses: Refuses) -> None:
        says = ["/dev/full: no space left on device. Make room or choose another disk."]
        refuses("predict", model, "docs.jsonl", "-o", "/dev/full", says=says)


def test_results_that_standard_output_cannot_take(tmp_path: Path, model: Path) -> None:
    for arguments in (["inspect", model], ["inspect", model, "--json"], ["inspect", "docs.jsonl"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                command(*arguments),
                cwd=tmp_path,
                env=environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "no space left" in done.stderr


class TestCompare:
    @pytest.mark.parametrize("name", ["mine", "docs.jsonl", "/proc/out", "docs.jsonl/out"])
    def test_an_output_that_is_something_else(self, name: str, tmp_path: Path, refuses: Refuses) -> None:
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.tex").write_text("precious")
        refuses("compare", "docs.jsonl", "-o", name, says=[name, "Choose another path"])


class TestQuickstart:
    @pytest.mark.parametrize("name", ["model", "report.html", "report.md", "documents.jsonl"])
    def test_an_output_that_exists(self, name: str, tmp_path: Path, refuses: Refuses) -> None:
        (tmp_path / "quickstart").mkdir()
        (tmp_path / "quickstart" / name).write_text("mine")
        refuses("quickstart", says=[f"quickstart/{name} exists", "--force"])

    @pytest.mark.parametrize("name", ["docs.jsonl", "/proc/out"])
    def test_an_output_that_cannot_be_written(self, name: str, refuses: Refuses) -> None:
        refuses("quickstart", "-o", name, says=[f"{name}: cannot be written"])
