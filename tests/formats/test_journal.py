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
from funnelling.formats.journal import Decision, Journal, JournalFullError, JournalLockedError
from funnelling.formats.jsonl import JOURNAL_HEADER, cut_off, journal_mark
from funnelling.labelling.tasks import TaskQueue

CAT = Document("1", "a cat", "en", ("animals",))
DOG = Document("2", "un cane", "it", ("animals", "food"), group="g")

WRITER = """
import sys
from funnelling.formats.document import Document
from funnelling.formats.journal import Decision, Journal
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
        Decision("label", CAT, annotator="Ada"),
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


def test_half_a_line_is_cut_off_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "funnelling")
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines(keepends=True)[1][:40])
    assert labels_in(path) == {"1": ("animals",)}  # also while it stands there
    assert caplog.messages == [cut_off(str(path), 3)]
    journal_of(path, Decision("label", DOG))
    assert caplog.messages == [cut_off(str(path), 3)] * 2
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
        with pytest.raises(JournalLockedError, match="another process writes"):
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
    with Journal(path, most=size + 10) as journal, pytest.raises(JournalFullError, match="is full"):
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
        with pytest.raises(JournalFullError, match="no space left"):
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


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"\0" * 1_000,
        b'{"action": "label", "text": "a\0"}',
        b'{"action": "label", "text": "a", "labels": ["b"], "labels": []}',
        b'{"action": "label", "text": 7}',
        b'{"action": ["label"], "text": "a"}',
        b'{"action": "label", "text": "a", "labels": {}}',
        b'{"action": "label", "text": "a", "labels": [[]]}',
        b'{"action": "label", "text": "a", "labels": [""]}',
        b'{"action": "label", "text": "a", "language": 1}',
        b'{"action": "label", "text": "a", "id": 1e999}',
        b'{"action": "label", "text": "a", "id": NaN}',
        b'{"action": "label", "text": "a", "id": ' + b"1" * 5_000 + b"}",
    ],
    ids=lambda line: repr(line[:60]),
)
def test_a_hostile_line_is_refused_in_one(tmp_path: Path, line: bytes) -> None:
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    with path.open("ab") as file:
        file.write(line + b"\n" + json.dumps(Decision("label", DOG).record()).encode() + b"\n")

    def put_on_a_desk() -> None:
        with Journal(path) as journal:
            TaskQueue([], journal)

    for read in (put_on_a_desk, lambda: labels_in(path)):
        with pytest.raises(InputError, match=r"journal\.jsonl:3: ") as told:
            read()
        assert len(str(told.value).splitlines()) == 1
        assert len(str(told.value)) < 400


def test_odd_values_are_taken(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "journal.jsonl")
    line = (
        r'{"action": "label", "text": "a\ud800", "labels": ["b\udc00", 7], "note": null, "suggested": [{}]}'
    )
    path.write_text(f"{json.dumps(JOURNAL_HEADER)}\n\n{line}\n")
    with Journal(path) as journal:
        (decision,) = journal.decisions()
        assert (decision.note, decision.timestamp) == ("", "")
        journal.append(decision)
    document = next(iter(read_documents(path)))
    assert (document.text, document.labels) == ("a\ufffd", ("b\ufffd", "7"))


@pytest.mark.parametrize(
    "first", ["[" * 60_000, '{"journal": "funnelling", "version": "' + "9" * 9_000 + '"}']
)
def test_a_hostile_first_line_is_refused(tmp_path: Path, first: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(first + "\n")
    with pytest.raises(InputError, match="journal") as told:
        Journal(path)
    assert len(str(told.value)) < 400


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = journal_of(tmp_path / "journal.jsonl", Decision("label", CAT))
    for module in ("formats.files", "formats.journal"):
        monkeypatch.setattr(f"funnelling.{module}.MAX_LINE_BYTES", 2**20)
    for end in ("", "\n"):
        path.write_text(f"{json.dumps(JOURNAL_HEADER)}\n{'x' * 2**21}{end}")
        with pytest.raises(InputError, match="a line of more than"), Journal(path) as journal:
            list(journal.decisions())
        assert path.stat().st_size > 2**21


@pytest.mark.skipif(os.name != "posix", reason="needs links and pipes")
def test_what_may_stand_at_the_path(tmp_path: Path) -> None:
    link, loop, pipe = (tmp_path / name for name in ("link.jsonl", "loop.jsonl", "pipe.jsonl"))
    link.symlink_to(tmp_path / "journal.jsonl")
    journal_of(link, Decision("label", CAT))
    assert link.is_symlink()
    assert list(labels_in(tmp_path / "journal.jsonl")) == ["1"]
    loop.symlink_to(loop)
    os.mkfifo(pipe)
    for path in (loop, pipe, tmp_path / "gone" / "journal.jsonl"):
        with pytest.raises(InputError, match=path.name):
            Journal(path)


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
    assert line.pop("timestamp") == decision.timestamp
    assert line == {
        "annotator": "Ada",
        "action": "label",
        "id": "2",
        "language": "it",
        "text": "un cane",
        "labels": ["animals", "food"],
        "group": "g",
        "suggested": ["food"],
        "note": "sure?",
    }


def test_a_journal_with_the_old_keys_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    line = '{"time": "2026-11-01T08:00", "who": "Ada", "action": "label", "text": "a", "labels": ["b"]}'
    path.write_text(f"{json.dumps(JOURNAL_HEADER)}\n{line}\n")
    with Journal(path) as journal:
        (decision,) = journal.decisions()
    assert (decision.annotator, decision.timestamp[:10]) == ("Ada", "2026-11-01")
    renamed = path.read_text().replace('"time"', '"timestamp"')
    (tmp_path / "renamed.jsonl").write_text(renamed)
    assert journal_mark(path) == journal_mark(tmp_path / "renamed.jsonl") is not None
