"""A file appears whole or not at all, and never over another unless asked."""

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from funnelling.errors import InputError
from funnelling.formats import Document, write_documents
from funnelling.formats.files import writing
from funnelling.runtime.files import draft_in

ONE = [Document("1", "uno")]
NAMES = ["docs.jsonl", "docs.jsonl.gz", "docs.csv", "docs.parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_an_existing_file_is_kept_unless_forced(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("precious")
    with pytest.raises(InputError, match=r"docs\S+ exists\. Choose another path or add --force\.$"):
        write_documents(path, ONE)
    assert path.read_text() == "precious"
    write_documents(path, ONE, force=True)
    assert path.read_bytes() != b"precious"


def test_the_refusal_comes_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").touch()
    documents = iter(ONE)
    with pytest.raises(InputError, match="exists"):
        write_documents(tmp_path / "docs.jsonl", documents)
    assert next(documents) == ONE[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("failure", [KeyboardInterrupt, InputError, RuntimeError])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, name: str, failure: type[BaseException]
) -> None:
    def documents() -> Iterator[Document]:
        yield from ONE * 5000
        raise failure

    with pytest.raises(failure):
        write_documents(tmp_path / name, documents())
    assert list(tmp_path.iterdir()) == []

    write_documents(tmp_path / name, ONE)
    old = (tmp_path / name).read_bytes()
    with pytest.raises(failure):
        write_documents(tmp_path / name, documents(), force=True)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == old


def test_a_file_may_be_rewritten_from_itself(tmp_path: Path) -> None:
    from funnelling.formats import read_documents

    path = tmp_path / "docs.jsonl"
    write_documents(path, ONE * 3)
    write_documents(path, (document for document in read_documents(path)), force=True)
    assert len(list(read_documents(path))) == 3


def test_a_file_that_another_wrote_meanwhile_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    for force in (False, True):
        with suppress(InputError), writing(path, force) as stream:
            stream.write("mine")
            path.write_text("theirs")
        assert path.read_text() == ("mine" if force else "theirs")
        assert list(tmp_path.iterdir()) == [path]
        path.unlink()


def test_drafts_of_killed_processes_go_with_the_next_file(tmp_path: Path) -> None:
    Path(draft_in(tmp_path)).write_text("half of")
    with writing(tmp_path / "out.txt") as first, writing(tmp_path / "other.txt") as second:
        first.write("one")
        second.write("two")
    assert {path.name for path in tmp_path.iterdir()} == {"out.txt", "other.txt"}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its name before anybody is told: power may fail."""
    flushed = []

    def flush(number: int) -> None:
        status = os.fstat(number)
        flushed.append((stat.S_ISDIR(status.st_mode), status.st_size, (tmp_path / name).exists()))

    monkeypatch.setattr(os, "fsync", flush)
    write_documents(tmp_path / name, ONE)
    size = (tmp_path / name).stat().st_size
    assert flushed[0] == (False, size, False)
    assert [(is_folder, exists) for is_folder, _, exists in flushed[1:]] == [(True, True)]


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"out/docs\.jsonl: its folder does not exist\. Create"):
        write_documents(tmp_path / "out" / "docs.jsonl", ONE)


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.parquet"])
def test_a_folder_in_place_of_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=r"cannot be written \(is a directory\)\. Choose another path\."):
        write_documents(tmp_path / name, ONE, force=True)


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(InputError, match=r"cannot be written \(not a directory\)"):
        write_documents(tmp_path / "out" / "docs.jsonl", ONE)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_full_disk(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"no space left on device\. Make room"),
        writing(tmp_path / "out.txt"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_errors_of_other_files_are_not_ours(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), writing(tmp_path / "out.txt"):
        (tmp_path / "other.txt").read_text()
    assert list(tmp_path.iterdir()) == []


def test_the_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write_documents(tmp_path / "docs.jsonl", ONE)
    assert (tmp_path / "docs.jsonl").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "docs.jsonl"
    link.symlink_to(tmp_path / "real" / "docs.jsonl")
    write_documents(link, ONE)
    assert link.is_symlink()
    assert (tmp_path / "real" / "docs.jsonl").is_file()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_device_or_pipe_is_written_through(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with writing(pipe) as stream:
        stream.write("ciao")
    assert os.read(reader, 100) == b"ciao"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_hyphen_is_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_documents("-", [Document("1", "è\r\n")])
    with writing("-") as stream:
        stream.write("ultima\n")
    print("dopo")
    assert capfdbinary.readouterr().out == '{"id": "1", "text": "è\\r\\n"}\nultima\ndopo\n'.encode()


def test_a_standard_output_that_takes_only_text(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stdout)
    write_documents("-", ONE)
    assert stdout.getvalue() == '{"id": "1", "text": "uno"}\n'


def test_parquet_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        InputError, match=r"^writing Parquet needs pyarrow: pip install 'funnelling\[parquet\]'$"
    ):
        write_documents(tmp_path / "docs.parquet", ONE)
