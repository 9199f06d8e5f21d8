"""``funnelling predict``: what its rows hold, where documents may come from, and that it streams."""

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from funnelling import load_model, read_documents, write_documents
from funnelling.methods import rows as module
from funnelling.methods.rows import thresholds_of
from funnelling.storage import load

from .command import (
    LABELS,
    command,
    documents,
    environment,
    read_jsonl,
    run_command,
    succeed,
    write_jsonl,
)
from .conftest import Refuses

NO_ANSWER = {
    "labels": [],
    "best_label": None,
    "probability": None,
    "abstained": "unknown-language",
    "probabilities": {},
}
METHODS = ("naive", "pooled", "fun-tat", "fun-kfcv")


@pytest.fixture(scope="module")
def models(
    tmp_path_factory: pytest.TempPathFactory, split_data: Path, own_words_model: Path
) -> dict[str, Path]:
    """A model of each method."""
    folder = tmp_path_factory.mktemp("methods")
    for name in METHODS[:2] + METHODS[3:]:
        succeed("train", split_data, "-o", folder / name, "--method", name, "--jobs", 1)
    return {name: folder / name for name in METHODS} | {"fun-tat": own_words_model}


def _rows(model: Path, data: Path, folder: Path, *options: object) -> list[dict[str, Any]]:
    succeed("predict", model, data, "-o", folder / "out.jsonl", "--force", *options)
    return read_jsonl(folder / "out.jsonl")


class TestRows:
    def test_what_they_hold(self, model: Path, data: Path, tmp_path: Path) -> None:
        rows = _rows(model, data, tmp_path)
        assert [row["id"] for row in rows] == [row["id"] for row in documents()]
        assert [row["language"] for row in rows] == [row["language"] for row in documents()]
        for row in rows:
            assert list(row) == [
                *("text", "input_labels", "id", "language"),
                *("labels", "best_label", "probability", "abstained", "probabilities"),
            ]
            assert (
                row["probability"]
                == row["probabilities"][row["best_label"]]
                == max(row["probabilities"].values())
            )
            assert list(row["probabilities"]) == sorted(LABELS)
            assert all(
                isinstance(score, float) and 0 <= score <= 1 for score in row["probabilities"].values()
            )
            assert set(row["labels"]) <= set(LABELS)

    @pytest.mark.parametrize("method", METHODS)
    def test_where_nothing_is_known_no_label_is_given(
        self, method: str, models: dict[str, Path], tmp_path: Path
    ) -> None:
        texts = {"empty": "", "emoji": "🐈", "unknown": "xyzzy", "known": "printer"}
        rows = [{"id": name, "text": text, "language": "en"} for name, text in texts.items()]
        *blank, known = _rows(models[method], write_jsonl(tmp_path / "docs.jsonl", rows), tmp_path)
        for row in blank:
            assert (row["labels"], row["best_label"]) == ([], None)
            assert row["abstained"] == "out-of-vocabulary"
            assert list(row["probabilities"]) == sorted(LABELS)
        assert known["abstained"] is None

    @pytest.mark.parametrize("method", METHODS)
    def test_they_are_what_python_predicts(
        self, method: str, models: dict[str, Path], data: Path, tmp_path: Path
    ) -> None:
        rows = _rows(models[method], data, tmp_path)
        fitted = load_model(models[method])
        texts, languages = zip(*((row["text"], row["language"]) for row in documents()), strict=True)
        proba = fitted.predict_proba(list(texts), languages=languages)
        decided = fitted.predict(list(texts), languages=languages)
        assert [list(row["probabilities"].values()) for row in rows] == proba.tolist()
        assert [row["labels"] for row in rows] == [
            fitted.classes_[answer == 1].tolist() for answer in decided
        ]

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("top", [None, 1, 2, 99])
    def test_labels_are_those_above_their_thresholds(
        self, method: str, top: int | None, models: dict[str, Path], data: Path, tmp_path: Path
    ) -> None:
        told = thresholds_of(load(models[method]))
        for row in _rows(models[method], data, tmp_path, *(() if top is None else ("--top", top))):
            thresholds = told.get(row["language"], {})
            above = [
                label for label, score in row["probabilities"].items() if score > thresholds.get(label, 0.5)
            ]
            assert sorted(above) == [label for label in row["labels"] if label in row["probabilities"]]
            assert 0.5 not in thresholds.values()
            assert "thresholds" not in row

    def test_pooled_decides_at_one_half(
        self, models: dict[str, Path], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert thresholds_of(load(models["pooled"])) == {}
        capsys.readouterr()
        _rows(models["pooled"], data, tmp_path)
        assert "thresholds" not in capsys.readouterr().err

    def test_top(self, model: Path, data: Path, tmp_path: Path) -> None:
        everything = _rows(model, data, tmp_path)
        for row, full in zip(_rows(model, data, tmp_path, "--top", 2), everything, strict=True):
            best = sorted(full["probabilities"].items(), key=lambda item: -item[1])[:2]
            assert list(row["probabilities"].items()) == best
            assert row["labels"] == full["labels"]

    @pytest.mark.parametrize("threshold", [0, 0.2, 0.9, 1])
    def test_threshold(self, threshold: float, model: Path, data: Path, tmp_path: Path) -> None:
        for row in _rows(model, data, tmp_path, "--threshold", threshold):
            assert row["labels"] == [
                label for label, score in row["probabilities"].items() if score > threshold
            ]
            assert "thresholds" not in row


class TestLanguages:
    def test_an_unknown_one_may_be_refused(self, own_words_model: Path, tmp_path: Path) -> None:
        write_jsonl(tmp_path / "docs.jsonl", [*documents(each=1), {"id": "x", "language": "fr", "text": "a"}])
        done = run_command(
            "predict", own_words_model, "docs.jsonl", "-o", "out.jsonl", "--strict", cwd=tmp_path
        )
        assert done.stderr == (
            'funnelling: docs.jsonl:3: document "x": the model does not know the language "fr", only en, it. '
            "Without --strict such documents get no label.\n"
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert [path.name for path in tmp_path.iterdir()] == ["docs.jsonl"]

    def test_a_tag_that_is_none_may_be_refused(self, model: Path, tmp_path: Path, refuses: Refuses) -> None:
        write_jsonl(tmp_path / "docs.jsonl", [{"language": "!!", "text": "a"}])
        says = ['docs.jsonl:1: document "1"', "'!!' is not a language tag"]
        refuses("predict", model, "docs.jsonl", "--strict", says=says)

    def test_a_code_of_no_language_is_not_labelled_through_shared_views(
        self, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        tags = ("xx", "gl", "und", "en")
        data = write_jsonl(tmp_path / "docs.jsonl", [{"language": tag, "text": "printer"} for tag in tags])
        rows = _rows(model, data, tmp_path)
        assert [row["abstained"] for row in rows] == ["unknown-language", None, None, None]
        lines = capsys.readouterr().err.splitlines()
        out = f"{tmp_path / 'out.jsonl'}: "
        assert f"{out}4 documents, 1 without an answer (in an unknown language: xx 1)." in lines
        assert any(line.startswith(f"{out}1 document in languages without training") for line in lines)

    def test_unknown_ones_pass_through_in_place(self, own_words_model: Path, tmp_path: Path) -> None:
        languages = ("fr", "en", "PT-br", "???", "it", "fr")
        data = write_jsonl(
            tmp_path / "docs.jsonl", [{"language": tag, "text": "invoice"} for tag in languages]
        )
        rows = _rows(own_words_model, data, tmp_path)
        assert [row["language"] for row in rows] == ["fr", "en", "pt_BR", "???", "it", "fr"]
        unknown = "unknown-language"
        assert [row["abstained"] for row in rows] == [
            *(unknown, None, unknown, unknown, "out-of-vocabulary", unknown),
        ]
        assert rows[0] == {
            "text": "invoice",
            "id": "1",
            "language": "fr",
            **NO_ANSWER,
        }
        alone = write_jsonl(tmp_path / "alone.jsonl", [{"id": "2", "language": "en", "text": "invoice"}])
        assert rows[1] == _rows(own_words_model, alone, tmp_path)[0]

    def test_unknown_ones_without_any_known_one(self, own_words_model: Path, tmp_path: Path) -> None:
        data = write_jsonl(tmp_path / "docs.jsonl", [{"language": "fr", "text": "a"}] * 3)
        assert [row["labels"] for row in _rows(own_words_model, data, tmp_path)] == [[]] * 3

    def test_a_missing_one_is_detected_among_all(
        self, model: Path, own_words_model: Path, tmp_path: Path
    ) -> None:
        texts = ["Where is the invoice for the new printer?", "Dove si trova la fattura della stampante?"]
        texts.append("Wo ist die Rechnung für den Drucker?")  # German, which the model does not know
        (tmp_path / "docs.csv").write_text("text\n" + "\n".join(texts) + "\n")
        rows = _rows(model, tmp_path / "docs.csv", tmp_path)
        assert [row["language"] for row in rows] == ["en", "it", "de"]
        assert all(row["language_detected"] and row["language_probability"] > 0.99 for row in rows)
        assert [row.get("zero_shot", False) for row in rows] == [False, False, True]
        rows = _rows(own_words_model, tmp_path / "docs.csv", tmp_path)
        assert [row["abstained"] for row in rows] == [None, None, "unknown-language"]
        rows = _rows(own_words_model, tmp_path / "docs.csv", tmp_path, "--languages", "English,it")
        assert rows[2]["language"] in ("en", "it")

    def test_one_for_all_that_have_none(
        self, own_words_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        documents = [
            {"text": "invoice"},
            {"text": "fattura", "language": "it"},
            {"text": "x", "language": "und"},
        ]
        data = write_jsonl(tmp_path / "docs.jsonl", documents)
        rows = _rows(own_words_model, data, tmp_path, "--language", "fi")
        assert [row["language"] for row in rows] == ["fi", "it", "fi"]
        assert [row["abstained"] for row in rows] == ["unknown-language", None, "unknown-language"]
        assert not any("language_detected" in row for row in rows)
        assert "3 documents, 2 without an answer (in an unknown language: fi 2).\n" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("option", "value", "says"),
        [
            ("--languages", "de,Germn", "no language 'Germn'. Did you mean german?"),
            ("--language", "xx", "no language 'xx'. Write a code such as en"),
            ("--languages", "de,tlh", "tlh cannot be detected."),
        ],
    )
    def test_what_is_none_is_refused(
        self, option: str, value: str, says: str, own_words_model: Path, refuses: Refuses
    ) -> None:
        refuses("predict", own_words_model, "docs.jsonl", option, value, says=[says])


class TestSources:
    @pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl.gz", "csv.gz", "tsv.gz", "json"])
    def test_every_format(self, suffix: str, model: Path, data: Path, tmp_path: Path) -> None:
        other = tmp_path / f"docs.{suffix}"
        write_documents(other, read_documents(data))
        found, expected = (_rows(model, source, tmp_path) for source in (other, data))
        ours = [name for name in expected[0] if name != "input_labels"]  # which a table joins
        assert [[row[name] for name in ours] for row in found] == [
            [row[name] for name in ours] for row in expected
        ]

    def test_standard_input_and_output(self, model: Path, data: Path, tmp_path: Path) -> None:
        expected = _rows(model, data, tmp_path)
        done = run_command("predict", model, "-", cwd=tmp_path, stdin=gzip.compress(data.read_bytes()))
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [
            {"text": e["text"], "input_labels": e["input_labels"], **row}
            for e, row in zip(expected, rows, strict=True)
        ] == expected
        assert "text" not in rows[0]  # standard output has the answers alone
        assert (done.returncode, done.stderr.count("\n")) == (0, 2)
        assert done.stderr.startswith("<stdin>: 48 documents.")
        assert "funnelling inspect" in done.stderr

    def test_compressed_output(self, model: Path, data: Path, tmp_path: Path) -> None:
        expected = _rows(model, data, tmp_path)
        for name in ("a.jsonl.gz", "b.jsonl.gz"):
            succeed("predict", model, data, "-o", tmp_path / name)
        with gzip.open(tmp_path / "a.jsonl.gz", "rt", encoding="utf-8") as stream:
            assert [json.loads(line) for line in stream] == expected
        assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


class TestBatches:
    @pytest.mark.parametrize("method", METHODS)
    def test_a_document_has_the_same_bits_alone_and_in_any_batch(
        self,
        method: str,
        models: dict[str, Path],
        data: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def lines(path: Path) -> list[bytes]:
            succeed("predict", models[method], path, "-o", tmp_path / "out.jsonl", "--force")
            return (tmp_path / "out.jsonl").read_bytes().splitlines()

        together = lines(data)
        rows = documents()
        alone = [lines(write_jsonl(tmp_path / "one.jsonl", [row]))[0] for row in rows[::7]]
        assert alone == together[::7]
        assert lines(write_jsonl(tmp_path / "back.jsonl", rows[::-1]))[::-1] == together
        monkeypatch.setattr(module, "BATCH_DOCUMENTS", 5)
        assert lines(data) == together
        monkeypatch.setattr(module, "BATCH_CHARACTERS", 50)
        assert lines(data) == together

    def test_they_are_bounded_in_documents_and_characters(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from funnelling import Document

        monkeypatch.setattr(module, "BATCH_DOCUMENTS", 3)
        monkeypatch.setattr(module, "BATCH_CHARACTERS", 100)
        sizes = [1, 1, 1, 200, 1, 60, 60, 1]
        made = [Document(str(i), "x" * size) for i, size in enumerate(sizes)]
        found = [[len(document.text) for document in batch] for batch in module.batches(iter(made))]
        assert found == [[1, 1, 1], [200], [1, 60, 60], [1]]


class TestStreaming:
    def test_rows_come_out_before_the_input_ends(self, model: Path, tmp_path: Path) -> None:
        process = subprocess.Popen(
            command("predict", model, "-"),
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        line = b'{"text": "invoice", "language": "en"}\n'
        process.stdin.write(line * (2 * module.BATCH_DOCUMENTS))
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        assert first["id"] == "1"
        process.stdin.close()
        assert len(process.stdout.readlines()) == 2 * module.BATCH_DOCUMENTS - 1
        assert process.wait() == 0

    def test_a_reader_that_has_had_enough(self, model: Path, tmp_path: Path) -> None:
        write_jsonl(tmp_path / "docs.jsonl", documents() * 100)
        script = f"{' '.join(command('predict', model, 'docs.jsonl'))} | head -n 1"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", script], cwd=tmp_path, env=environment(), capture_output=True
        )
        assert json.loads(done.stdout)["id"] == "en-0"
        assert (done.returncode, done.stderr) == (0, b"")

    @pytest.mark.parametrize(
        ("output", "few", "many"),
        [
            ("/dev/null", 2_000, 32_000),
            ("out.csv", 2_000, 32_000),
            pytest.param("/dev/null", 20_000, 200_000, marks=pytest.mark.slow),
            pytest.param("out.csv", 20_000, 200_000, marks=pytest.mark.slow),
            pytest.param("out.xlsx", 20_000, 200_000, marks=pytest.mark.slow),
        ],
    )
    def test_memory_does_not_grow_with_the_input(
        self, output: str, few: int, many: int, model: Path, tmp_path: Path
    ) -> None:
        less, more = (_peak_memory(model, lines, tmp_path, output) for lines in (few, many))
        assert more < less + 10e6


PEAK = """
import resource, sys
from funnelling.commands import main
status = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


def _lines(count: int) -> Iterator[str]:
    for i in range(count):
        yield f'{{"id": "{i}", "language": "en", "text": "the invoice number{i % 3_000} is printed"}}\n'


def _peak_memory(model: Path, lines: int, folder: Path, output: str) -> int:
    """The most bytes that the process holds while so many short documents pass through it."""
    process = subprocess.Popen(
        [sys.executable, "-c", PEAK, "predict", str(model), "-", "-o", output, "--force"],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    with io.TextIOWrapper(process.stdin) as stream:
        stream.writelines(_lines(lines))
    assert process.stderr is not None
    peak = int(process.stderr.read().splitlines()[-1])
    assert process.wait() == 0
    return peak * 1024
