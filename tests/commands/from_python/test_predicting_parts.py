"""Folders are labelled part by part, as files are, and a run that was cut short goes on."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from funnelling import InputError, read_corpus
from funnelling.commands.options import Predicting
from funnelling.commands.parts import MANIFEST, predict_parts
from funnelling.methods.registry import make_method
from funnelling.methods.rows import thresholds_of
from funnelling.storage import load, save
from tests.commands.command import succeed
from tests.commands.from_python.folders import rows, write_parts


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of parts, and a model that learned from them."""
    folder = tmp_path_factory.mktemp("world")
    parts = write_parts(folder / "parts", rows())
    model = make_method("fun-tat", seed=0, jobs=1).fit(read_corpus(parts).split("train"))
    save(model, folder / "model")
    return folder


def _read(folder: Path) -> list[dict[str, Any]]:
    found = []
    for part in sorted(folder.glob("*.parquet")):
        for row in pq.read_table(part).to_pylist():
            row["probabilities"] = row["probabilities"] and dict(row["probabilities"])
            found.append(row)
    return found


def _predict(world: Path, output: Path, force: bool = False, **options: Any) -> list[dict[str, Any]]:
    predict_parts(
        str(world / "model"),
        str(world / "parts"),
        str(output),
        Predicting(**options),
        force=force,
        jobs=1,
    )
    return _read(output)


@pytest.mark.parametrize("options", [{}, {"top": 2}, {"threshold": 0.3}])
def test_rows_are_those_of_a_file(world: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    told = thresholds_of(load(world / "model"))
    flags = [f"--{name}={value}" for name, value in options.items()]
    succeed("predict", world / "model", world / "parts", "-o", tmp_path / "p.jsonl", *flags)
    expected = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    found = _predict(world, tmp_path / "out", **options)
    for row, line in zip(found, expected, strict=True):
        assert {name: row[name] for name in line} == line
        assert set(row) == set(line)
    metadata = pq.read_schema(tmp_path / "out" / "part-0.parquet").metadata
    assert {row["threshold"] for row in json.loads(metadata[b"funnelling.thresholds"])} == (
        {0.3} if "threshold" in options else {value for row in told.values() for value in row.values()}
    )


def test_where_nothing_is_known_no_label_is_given(world: Path, tmp_path: Path) -> None:
    blank = {"id": "blank", "text": "", "language": "en"}
    known = {"id": "known", "text": "printer", "language": "en"}
    parts = write_parts(tmp_path / "parts", [blank, known], parts=1)
    predict_parts(str(world / "model"), str(parts), str(tmp_path / "out"), Predicting(), jobs=1)
    first, second = _read(tmp_path / "out")
    assert (first["labels"], first["best_label"], first["abstained"]) == ([], None, "out-of-vocabulary")
    assert second["abstained"] is None


def test_the_command_writes_a_folder(world: Path, tmp_path: Path) -> None:
    succeed("predict", world / "model", world / "parts", "-o", tmp_path / "out", "--jobs", "1")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        MANIFEST,
        *(f"part-{n}.parquet" for n in range(3)),
    ]


def test_finished_parts_stay(world: Path, tmp_path: Path) -> None:
    whole = _predict(world, tmp_path / "out")
    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.parquet")}
    (tmp_path / "out" / "part-1.parquet").unlink()
    assert _predict(world, tmp_path / "out") == whole
    again = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.parquet")}
    assert [name for name in times if times[name] != again[name]] == ["part-1.parquet"]


def test_parts_of_other_options_are_refused_or_replaced(world: Path, tmp_path: Path) -> None:
    _predict(world, tmp_path / "out")
    with pytest.raises(InputError, match=r"did not make with these options\. Choose another folder or add"):
        _predict(world, tmp_path / "out", top=1)
    assert all(len(row["probabilities"]) == 1 for row in _predict(world, tmp_path / "out", force=True, top=1))


def test_files_of_someone_else_are_never_removed(world: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.parquet").write_text("mine")
    with pytest.raises(InputError, match=r"Choose another folder\.$"):
        _predict(world, tmp_path, force=True)
    assert (tmp_path / "mine.parquet").read_text() == "mine"


def test_a_bad_part_leaves_the_others_labelled(world: Path, tmp_path: Path) -> None:
    parts = write_parts(tmp_path / "parts", rows())
    whole = (parts / "part-1.parquet").read_bytes()
    (parts / "part-1.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(InputError, match=r"part-1\.parquet: not readable as Parquet"):
        predict_parts(str(world / "model"), str(parts), str(tmp_path / "out"), Predicting(), jobs=1)
    assert [path.name for path in (tmp_path / "out").glob("*.parquet")] == ["part-0.parquet"]
    (parts / "part-1.parquet").write_bytes(whole)
    predict_parts(str(world / "model"), str(parts), str(tmp_path / "out"), Predicting(), jobs=1)
    assert len(_read(tmp_path / "out")) == len(rows())


def test_a_model_that_is_none_is_refused(world: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model in it"):
        predict_parts(str(tmp_path), str(world / "parts"), str(tmp_path / "out"), Predicting(), jobs=1)
