"""The embedded corpus, and the script that cuts it."""

import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

from funnelling import Document, read_corpus, write_documents
from funnelling.datasets.sample import FILE, read_sample

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "cut_sample.py"


def test_sizes() -> None:
    corpus = read_sample()
    sizes = Counter(zip(corpus.languages, corpus.splits, strict=True))
    assert len(corpus.by_language()) == 7
    assert set(sizes.values()) == {250, 100}
    assert all(sizes[language, "train"] == 250 for language in corpus.by_language())
    assert 25 <= len(corpus.label_set()) <= 40
    assert len(set(corpus.ids)) == len(corpus)
    assert None not in corpus.labels


def test_no_group_is_on_both_sides() -> None:
    corpus = read_sample()
    sides = [set(corpus.split(side).groups) - {None} for side in ("train", "test")]
    assert sides[0]
    assert not sides[0] & sides[1]


def test_it_is_small_and_states_its_origin() -> None:
    folder = files("funnelling.datasets")
    assert len((folder / FILE).read_bytes()) < 1_000_000
    notice = (folder / "NOTICE").read_text(encoding="utf-8")
    assert "Debian" in notice
    assert "licen" in notice.lower()


def _cut(source: Path, target: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, source, target], check=True)


def test_the_script_cuts_by_language_split_and_frequent_labels(tmp_path: Path) -> None:
    documents = [
        Document(
            f"{language}-{split}-{i}",
            f"text {i}",
            language=language,
            labels=(f"label {i % 40}", "frequent"),
            split=split,
            group=f"g{language}{split}{i}",
        )
        for language in ("en", "it", "xx")
        for split in ("train", "test")
        for i in range(300)
    ]
    write_documents(tmp_path / "all.jsonl", documents)
    write_documents(tmp_path / "reversed.jsonl", documents[::-1])
    _cut(tmp_path / "all.jsonl", tmp_path / "sample.jsonl.gz")
    _cut(tmp_path / "reversed.jsonl", tmp_path / "again.jsonl.gz")
    assert (tmp_path / "sample.jsonl.gz").read_bytes() == (tmp_path / "again.jsonl.gz").read_bytes()
    sample = read_corpus(tmp_path / "sample.jsonl.gz")
    sizes = Counter(zip(sample.languages, sample.splits, strict=True))
    assert sizes == {
        (language, split): size
        for language in ("en", "it")
        for split, size in (("train", 250), ("test", 100))
    }
    assert len(sample.label_set()) == 32
    assert "frequent" in sample.label_set()
    assert any(labels == ("frequent",) for labels in sample.labels)  # documents outlive their rare labels


def test_cutting_the_sample_from_itself_changes_nothing(tmp_path: Path) -> None:
    embedded = ROOT / "src" / "funnelling" / "datasets" / FILE
    _cut(embedded, tmp_path / FILE)
    assert (tmp_path / FILE).read_bytes() == embedded.read_bytes()
