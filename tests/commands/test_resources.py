"""Methods that need resources: --reference, --embeddings, parallel rows; --methods all; --hold-out."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling.commands import main
from funnelling.commands.sources import fingerprints
from funnelling.methods.registry import make_method
from funnelling.spaces.word_vectors import WordVectors, write_vectors
from funnelling.storage import describe_model

from .command import WORDS, documents, read_jsonl, succeed, with_splits, write_jsonl
from .conftest import Refuses


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "docs.jsonl", with_splits(documents(["de", "en", "it"], each=40)))


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """Pages about two things each, the same in German, English and Italian."""
    rows = [
        {
            "id": f"{i}/{code}",
            "language": code,
            "text": f"{words[i % 8]} {words[i // 3 % 8]}",
            "group": f"page {i}",
        }
        for i in range(40)
        for code, words in WORDS.items()
    ]
    return write_jsonl(tmp_path / "reference.jsonl", rows)


@pytest.fixture
def embeddings(tmp_path: Path) -> Path:
    folder = tmp_path / "vectors"
    folder.mkdir()
    for language, words in WORDS.items():
        vectors = WordVectors([word.lower() for word in words], np.eye(8, dtype=np.float32), np.arange(8))
        write_vectors(folder / f"wiki.multi.{language}.vec", vectors)
    return folder


def compared(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[Any, list[str]]:
    """The result of a comparison, and what was said on the way."""
    capsys.readouterr()
    succeed("compare", *arguments, "--jobs", 1, "--json")
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err.splitlines()


class TestAll:
    def test_what_lacks_resources_is_named_in_one_line(
        self, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        result, said = compared(capsys, data, "--methods", "all", "--set", "fun-kfcv.folds=2")
        assert set(result["methods"]) == {
            "naive",
            "pooled",
            "fun-tat",
            "fun-kfcv",
            "fun-zero-shot",
            "fun-auto",
            "fun-views",
            "fun-many",
            "words-and-characters",
            "lri",
            "dci",
        }
        lines = [line for line in said if line.startswith("Left out for what they lack")]
        assert len(lines) == 1
        for part in (
            "clesa (a reference corpus, --reference FILE)",
            "mle (word vectors, --embeddings DIR)",
            'upper-bound (English versions of the training documents, "split": "parallel")',
        ):
            assert part in lines[0]

    def test_with_everything_given_every_method_runs(
        self, tmp_path: Path, reference: Path, embeddings: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = with_splits(documents(["de", "en", "it"], each=40))
        rows = [{**row, "group": row["id"].partition("-")[2]} for row in rows]
        parallel = [
            {**row, "id": f"{row['id']}-en", "language": "en", "split": "parallel", "text": "printer network"}
            for row in rows
            if row["split"] == "train" and row["language"] != "en"
        ]
        data = write_jsonl(tmp_path / "docs.jsonl", [*rows, *parallel])
        result, said = compared(
            capsys,
            *(data, "--methods", "all", "--reference", reference, "--embeddings", embeddings),
            *("--set", "fun-kfcv.folds=2", "--set", "mle-lstm.units=4", "--set", "mle-lstm.epochs=2"),
        )
        assert {"clesa", "kcca", "mle", "upper-bound"} <= set(result["methods"])
        assert list(result["methods"]["clesa"]["languages"]) == ["de", "en", "it"]
        assert list(result["methods"]["upper-bound"]["languages"]) == ["en"]
        assert result["methods"]["upper-bound"]["p_value"]["micro_f1"] is None
        assert "Words of the training documents that have a vector: de 100 %" in "\n".join(said)


class TestHoldOut:
    def test_a_language_is_measured_without_its_training_documents(
        self, data: Path, reference: Path, embeddings: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        result, said = compared(
            capsys,
            *(data, "--methods", "naive,mle,fun-tat,fun-zero-shot", "--hold-out", "it"),
            *("--reference", reference, "--embeddings", embeddings),
        )
        assert list(result["methods"]) == ["mle", "fun-zero-shot"]
        assert "Left out, for they cannot label the languages of the test: naive, fun-tat." in said
        for method in result["methods"].values():
            assert list(method["languages"]) == ["it"]
            assert method["average"]["micro_f1"] > 0.8

    def test_what_cannot_be_held_out(self, data: Path, refuses: Refuses) -> None:
        refuses("compare", data, "--hold-out", "fr", says=["docs.jsonl: no test document is in 'fr'"])
        refuses("compare", data, "--hold-out", "it,en,de", says=["nothing is left to learn from"])
        refuses("compare", data, "--hold-out", "no language", says=["is not a language tag"])
        refuses("compare", data, "--methods", "naive", "--hold-out", "it", says=["naive: cannot label any"])


class TestMissing:
    @pytest.mark.parametrize(
        ("method", "says"),
        [
            ("clesa", "clesa needs a reference corpus, --reference FILE."),
            ("mle", "mle needs word vectors, --embeddings DIR."),
            ("mle-lstm", "mle-lstm needs word vectors, --embeddings DIR."),
            ("upper-bound", "upper-bound needs English versions of the training documents"),
        ],
    )
    def test_a_method_asked_for_by_name_says_what_it_needs(
        self, method: str, says: str, data: Path, refuses: Refuses
    ) -> None:
        refuses("compare", data, "--methods", f"naive,{method}", says=[says])

    def test_a_language_that_the_reference_lacks(
        self, data: Path, tmp_path: Path, reference: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = [row for row in read_jsonl(reference) if row["language"] != "de"]
        smaller = write_jsonl(tmp_path / "smaller.jsonl", rows)
        result, said = compared(capsys, data, "--methods", "naive,clesa", "--reference", smaller)
        assert list(result["methods"]["naive"]["languages"]) == ["en", "it"]
        assert "clesa leaves out languages it has no resources for: de." in said
        assert "Not measured: de, which clesa cannot label, for want of resources." in said

    def test_a_reference_with_a_hole_names_the_line(
        self, data: Path, tmp_path: Path, reference: Path, refuses: Refuses
    ) -> None:
        rows = read_jsonl(reference)
        write_jsonl(tmp_path / "holes.jsonl", [row for row in rows if row["id"] != "7/it"])
        says = ['holes.jsonl:22: group "page 7" has a document in "en", but none in "it"']
        refuses("compare", data, "--methods", "clesa", "--reference", "holes.jsonl", says=says)

    def test_folders_without_vectors(self, data: Path, tmp_path: Path, refuses: Refuses) -> None:
        (tmp_path / "empty").mkdir()
        refuses("compare", data, "--embeddings", "empty", says=["empty: no vectors in it"])
        refuses("compare", data, "--embeddings", "nowhere", says=["nowhere: no such folder"])


class TestModels:
    def test_train_and_predict_a_language_without_training_documents(
        self, tmp_path: Path, reference: Path, embeddings: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        data = write_jsonl(tmp_path / "docs.jsonl", documents(["en", "it"], each=40))
        arguments = ("--embeddings", embeddings, "--reference", reference, "--method", "fun-zero-shot")
        succeed("train", data, "-o", tmp_path / "model", *arguments, "--no-measure", "--jobs", 1)
        new = write_jsonl(tmp_path / "new.jsonl", [*documents(["de"], each=9), *documents(["it"], each=1)])
        succeed("predict", tmp_path / "model", new, "-o", tmp_path / "out.jsonl")
        rows = read_jsonl(tmp_path / "out.jsonl")
        assert [row.get("zero_shot") for row in rows] == [True] * 9 + [None]
        right = [
            set(row["labels"]) == set(d["labels"])
            for row, d in zip(rows, documents(["de"], each=9), strict=False)
        ]
        assert sum(right) >= 7
        capsys.readouterr()
        succeed("evaluate", tmp_path / "model", new, "--json")
        assert list(json.loads(capsys.readouterr().out)["documents"]) == ["de", "it"]
        described = json.loads((tmp_path / "model" / "model.json").read_text(encoding="utf-8"))
        assert str(tmp_path) not in json.dumps(described), "no path of this machine"

    def test_labels_are_merged_with_the_resources_given_again(
        self, tmp_path: Path, embeddings: Path, refuses: Refuses, capsys: pytest.CaptureFixture[str]
    ) -> None:
        data = write_jsonl(tmp_path / "docs.jsonl", documents(["en", "it"], each=40))
        train = ("train", data, "--method", "mle", "--no-measure", "--jobs", 1, "--embeddings", embeddings)
        succeed(*train, "-o", tmp_path / "model")
        (tmp_path / "map.csv").write_text("hardware,office\naccount,office\n")
        relabel = ("relabel", tmp_path / "model", "--map", tmp_path / "map.csv")
        assert main([*map(str, relabel)]) == 2
        assert "model: No word vectors were given. Give embeddings, or --embed" in capsys.readouterr().err
        (embeddings / "config.json").write_text("{}")
        refuses(*relabel, "--encoder", embeddings, says=["model: the model reads no encoder"])
        succeed(*relabel, "--embeddings", embeddings)
        assert describe_model(tmp_path / "model")["labels"] == ["money", "office"]

    def test_what_shared_views_alone_see_is_marked(self, tmp_path: Path) -> None:
        data = write_jsonl(tmp_path / "docs.jsonl", documents(["en", "it"], each=40))
        succeed("train", data, "-o", tmp_path / "model", "--method", "fun-views", "--no-measure", "--jobs", 1)
        new = write_jsonl(tmp_path / "new.jsonl", [*documents(["de"], each=2), *documents(["it"], each=1)])
        succeed("predict", tmp_path / "model", new, "-o", tmp_path / "out.jsonl")
        rows = read_jsonl(tmp_path / "out.jsonl")
        assert [row.get("zero_shot") for row in rows] == [True, True, None]

    def test_upper_bound_reads_parallel_rows(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = documents(["it"], each=30, split="train")
        parallel = documents(["en"], each=30, split="parallel")
        test = [{**row, "id": f"t{row['id']}"} for row in documents(["en", "it"], each=10, split="test")]
        data = write_jsonl(tmp_path / "docs.jsonl", [*rows, *parallel, *test])
        succeed("train", data, "-o", tmp_path / "model", "--method", "upper-bound", "--jobs", 1)
        assert "Measured on 10 test documents (left out, for the model cannot label them: it)." in (
            capsys.readouterr().out
        )


@pytest.mark.parametrize("name", ["fun-auto", "fun-views", "fun-zero-shot", "fun-tat"])
def test_results_with_other_resources_are_kept_apart(name: str, embeddings: Path, tmp_path: Path) -> None:
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    marks = []
    for content in ("{}", '{"layers": 2}'):
        (encoder / "config.json").write_text(content)
        resources = {"embeddings": str(embeddings), "encoder": str(encoder)}
        marks.append(fingerprints(make_method(name, resources=resources).parameters, resources))
    reads = name != "fun-tat"
    assert all(set(found) == ({"embeddings", "encoder"} if reads else set()) for found in marks)
    assert (marks[0] != marks[1]) == reads
