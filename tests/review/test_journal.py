"""A journal keeps every decision, whatever happens, and is read as the documents that were labelled."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from funnelling import read_documents
from funnelling.errors import InputError
from funnelling.formats.document import Document, LineNumber
from funnelling.review.journal import Decision, FullError, InUseError, Journal

CAT = Document("1", "a cat", "en", ("animals",))
DOG = Document("2", "un cane", "it", ("animals", "food"), group="g")

WRITER = """
import sys
from funnelling.formats.document import Document
from funnelling.review.journal import Decision, Journal
journal = Journal(sys.argv[1])
for number in range(10**6):
    journal.append(Decision("label", Document(str(number), "text " * 500, "en", ("a",))))
    print(number, flush=True)
"""


def journal_of(path: Path, *decisions: Decision) -> Path:
    with Journal(path) as journal:
        journal.append(*decisions)
    return path


def labels_in(path: Path) -> dict[str, tuple[str, ...] | None]:
    return {document.id: document.labels for document in read_documents(path)}


def test_the_last_decision_counts(tmp_path: Path) -> None:
    path = journal_of(
        tmp_path / "journal.jsonl",
        Decision("label", CAT, who="Ada"),
        Decision("label", DOG),
        Decision("undo", Document("1", "a cat", "en")),
        Decision("skip", Document("3", "a song", "en")),
        Decision("label", Document("2", "un cane", "it", ("animals",), group="g")),
        Decision("note", Document("2", "un cane", "it"), note="sure"),
        Decision("label", Document("4", "nothing", "en", ())),
        Decision("label", Document("5", "", "en", ("empty",))),
    )
    assert labels_in(path) == {"1": None, "2": ("animals",), "3": None, "4": (), "5": ("empty",)}
    (dog,) = [document for document in read_documents(path) if document.id == "2"]
    assert (dog.text, dog.language, dog.group) == ("un cane", "it", "g")


def test_a_document_without_an_id_is_known_by_its_text(tmp_path: Path) -> None:
    cat, dog = (Document(LineNumber(7), text, "en", ("a",)) for text in ("a cat", "a dog"))
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", cat), Decision("label", dog))
    assert '"id"' not in path.read_text()
    assert [document.text for document in read_documents(path)] == ["a cat", "a dog"]
    assert all(isinstance(document.id, LineNumber) for document in read_documents(path))


def test_half_a_line_is_cut_off(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines(keepends=True)[1][:40])
    assert labels_in(path) == {"1": ("animals",)}  # also while it stands there
    journal_of(path, Decision("label", DOG))
    assert labels_in(path) == {"1": ("animals",), "2": ("animals", "food")}
    for size in range(len(whole.splitlines(keepends=True)[0])):  # killed as it began
        path.write_bytes(whole[:size])
        journal_of(path, Decision("label", DOG))
        assert list(labels_in(path)) == ["2"]


def test_a_whole_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert labels_in(path) == {"1": ("animals",)}
    journal_of(path, Decision("label", DOG))
    assert labels_in(path) == {"1": ("animals",), "2": ("animals", "food")}


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_writer_loses_nothing_that_it_wrote_down(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(20)]
        with pytest.raises(InUseError, match="another process writes"):
            Journal(path)
        writer.send_signal(signal.SIGKILL)
        said += writer.stdout.readlines()
    last = [int(line) for line in said if line.endswith(b"\n")][-1]
    with Journal(path, seconds=5) as journal:
        kept = [decision.document.id for decision in journal.decisions()]
    assert kept[: last + 1] == [str(number) for number in range(last + 1)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("id,text\n1,a\n", "something else than a journal"),
        ("my thesis", "something else than a journal"),
        ('{"text": "a"}\n', "something else than a journal"),
        ('{"journal": "funnelling", "version": 2}\n', "version 2"),
    ],
)
def test_another_file_is_left_as_it_is(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=reason):
        Journal(path)
    assert path.read_text() == content
    with pytest.raises(InputError, match="is no file"):
        Journal(tmp_path)


def test_a_full_journal_takes_nothing(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    size = path.stat().st_size
    with Journal(path, most=size + 10) as journal, pytest.raises(FullError, match="is full"):
        journal.append(Decision("label", DOG))
    assert path.stat().st_size == size


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is always full")
def test_a_full_disk_leaves_no_half_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    size = path.stat().st_size

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    with Journal(path) as journal:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(FullError, match="no space left"):
            journal.append(Decision("label", DOG))
    assert path.stat().st_size == size


@pytest.mark.parametrize(
    "line",
    [
        '{"action": "eat", "text": "a"}',
        '{"action": "label"}',
        "[]",
        "{",
        '{"action": "skip", "text": "a", "id": [1]}',
    ],
)
def test_a_line_that_is_no_decision_is_named(tmp_path: Path, line: str) -> None:
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    with path.open("a") as file:
        file.write(line + "\n")
    with Journal(path) as journal, pytest.raises(InputError, match=r"journal.jsonl:3: "):
        list(journal.decisions())
    with pytest.raises(InputError, match=r"journal.jsonl:3: "):
        list(read_documents(path))


def test_a_line_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    with path.open("ab") as file:
        file.write(b'{"action": "skip", "text": "caf\xe9"}\n')
    with Journal(path) as journal, pytest.raises(InputError, match=r"journal.jsonl:3: "):
        list(journal.decisions())


def test_what_a_line_holds(tmp_path: Path) -> None:
    decision = Decision("label", DOG, "Ada", ("food",), "sure\ud800")
    path = journal_of(tmp_path / "journal.jsonl", decision)
    header, line = map(json.loads, path.read_text("utf-8").splitlines())
    assert header == {"journal": "funnelling", "version": 1}
    assert line.pop("time") == decision.time
    assert line == {
        "who": "Ada",
        "action": "label",
        "id": "2",
        "language": "it",
        "text": "un cane",
        "labels": ["animals", "food"],
        "group": "g",
        "suggested": ["food"],
        "note": "sure?",
    }
