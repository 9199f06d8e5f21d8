"""A model folder on the disk: written whole or not at all, and read only as it was saved."""

import hashlib
import json
import mmap
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from funnelling.errors import InputError
from funnelling.formats.files import cannot_write, check_output_folder
from funnelling.runtime.alone import defer_signals, write_lock
from funnelling.runtime.files import DRAFT, draft_in, is_old, sweep, sync, told_size
from funnelling.runtime.messages import MODEL
from funnelling.state import StateError

FORMAT = 2
READABLE_BY = ">=0.1"  # the versions of funnelling that know the format; it changes when the format does
CARD, REPORT = PAGES = ("README.md", "report.html")  # for people
_VERSIONS = re.compile(r">=[0-9]{1,4}(\.[0-9]{1,4}){0,3}", re.ASCII)
_ARRAYS = re.compile(r"arrays-[0-9a-f]{16}\.safetensors", re.ASCII)
OLD = "old-"  # before the name of a page that was taken out of the folder
MAX_MODEL_BYTES = 2**26  # bytes of `MODEL`: what grows with words and documents is in arrays

Document = dict[str, Any]
PathOrAddress = str | os.PathLike[str]
Place = Path | str  # what messages call a model by: its folder, or its address on the Hub
OF_DOCUMENT = {"format", "files", "model", "checksum"}  # what no other program's `MODEL` has


class DamagedError(InputError):
    """A model is not as it was saved."""


def arrays_name(digest: str) -> str:
    """What the file of arrays with this hash is called."""
    return f"arrays-{digest[:16]}.safetensors"


def is_address(path: PathOrAddress) -> bool:
    """Whether what may be a folder is an address on the Hub, be it a string or a Path.

    >>> is_address("hf://owner/name"), is_address("owner/name")
    (True, False)
    """
    return os.fspath(path).replace(os.sep, "/").startswith("hf:/")


def folder_here(path: PathOrAddress) -> Path:
    """The folder of a model to be written; an address on the Hub is refused."""
    if is_address(path):
        raise InputError(
            f"{path}: is on the Hub, where a model is only read. Copy it with funnelling pull, change the "
            "copy, and share that with funnelling push."
        )
    return Path(path)


# --- writing ------------------------------------------------------------------------------------


def check_writable(folder: Path, force: bool) -> None:
    """Refuse a path that a model could not be written to, before the work that leads to it.

    Where a process was killed while it wrote to a model's folder, the folder is put in order first.
    """
    with _writing_to(folder):
        _check_free(folder, force)
        if not folder.parent.is_dir():
            raise InputError(f"{folder}: its folder does not exist. Create the folder first.")
    check_output_folder(folder)
    if folder.is_dir():
        with _writing_to(folder), write_lock(folder) as alone, defer_signals():
            if alone:
                _remove_stale_arrays(folder)
            _clear_up(folder, alone)


def _check_free(folder: Path, force: bool) -> None:
    """Refuse what a model must not replace."""
    ours = (folder / MODEL).is_file()
    if ours and not force:
        raise InputError(f"{folder} exists. Choose another path or add --force.")
    if os.path.lexists(folder) and not ours and not _is_vacant(folder):
        raise InputError(f"{folder} exists and is no model folder. Choose another path.")


def _is_vacant(folder: Path) -> bool:
    """Whether nothing is in a folder but what a process left that was killed before there was a model."""
    if not folder.is_dir():
        return False
    names = [path.name for path in folder.iterdir()]
    drafts = [name for name in names if DRAFT.fullmatch(name)]
    return all(name in drafts or (drafts and _ARRAYS.fullmatch(name)) for name in names)


def write(folder: Path, document: Document, files: Mapping[str, Any], force: bool = True) -> None:
    """Make a folder the model of this document and these files; until `MODEL` is in it, it is the old one.

    A file whose content is None is one that the model has not: that of an older model is removed. Another
    model is replaced unless ``force`` is off, which holds for one that came there a moment ago, too.
    """
    # `MODEL` is the first in the draft: see `_clear_up`.
    present = {MODEL: document_bytes(folder, document)} | {
        name: content for name, content in files.items() if content is not None
    }
    with _writing_to(folder), _sole_writer_at(folder) as (home, alone):
        _check_free(folder, force)
        _clear_up(home, alone)
        draft = Path(draft_in(home))
        try:
            draft.mkdir()
            for name, content in present.items():
                (draft / name).write_bytes(content)
                sync(draft / name)
            sync(draft)
            with defer_signals():
                if home == folder:
                    _move_in(folder, draft, list(present), list(files))
                else:
                    draft.rename(folder)
                sync(home)
        finally:
            with defer_signals():
                if home == folder and alone:  # else others may be at work there already
                    _remove_stale_arrays(folder)
                shutil.rmtree(draft, ignore_errors=True)


def document_bytes(folder: Path, document: Document) -> bytes:
    """A document as `MODEL` in a folder has it."""
    document = {**document, "checksum": _checksum(document)}
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    content = text.encode("utf-8", "surrogatepass")  # labels may hold lone surrogates, which JSON can spell
    if len(content) > MAX_MODEL_BYTES:
        raise InputError(f"{folder}: the model has too many labels or languages to be saved.")
    return content


@contextmanager
def _sole_writer_at(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Where the draft of a model is to be, and whether nobody else writes there meanwhile.

    Inside what exists, since beside it may be another file system, or one that is not ours to write.
    """
    if not folder.exists():
        with write_lock(folder.parent) as alone:
            if not folder.exists():  # while we waited, another process may have made it
                yield folder.parent, alone
                return
    with write_lock(folder) as alone:
        yield folder, alone


def _move_in(folder: Path, draft: Path, present: Sequence[str], owned: Sequence[str]) -> None:
    """Replace an old model by a draft of files that are ``present``, among those that a model may have.

    `MODEL` is the step. The pages for people say what the old model is, and may show its documents: they go
    before it, and the new ones come after it, so that whenever a process is killed no page is about another
    model than that in the folder.
    """
    arrays = [name for name in present if _ARRAYS.fullmatch(name)]
    pages = [name for name in owned if name not in arrays]
    old = [name for name in pages if (folder / name).is_file()]
    for name in arrays:
        (draft / name).replace(folder / name)
    try:
        for name in old:
            (folder / name).replace(draft / f"{OLD}{name}")
        sync(folder)
        (draft / MODEL).replace(folder / MODEL)
    except BaseException:
        _put_back(folder, draft)
        raise
    for name in pages:
        if name in present:
            (draft / name).replace(folder / name)


def _put_back(folder: Path, draft: Path) -> None:
    """Give a folder the pages again that were taken out of it."""
    for name in PAGES:
        if (draft / f"{OLD}{name}").is_file():
            (draft / f"{OLD}{name}").replace(folder / name)


def _clear_up(home: Path, alone: bool) -> None:
    """Remove drafts of processes that were killed: all, or if others may be writing those of a day ago.

    One that had begun to replace a model gives back the old one's pages, or if the new model is in its place
    (and so not in the draft) hands over the new one's. Whoever made the folder may have put other things
    there: nothing else is moved, and nothing elsewhere is touched.
    """
    sweep(home)
    with suppress(OSError):  # of a folder that we may write to, but not list
        for draft in home.iterdir():
            if not (DRAFT.fullmatch(draft.name) and draft.is_dir()) or draft.is_symlink():
                continue
            if alone and (draft / MODEL).exists():
                _put_back(home, draft)
            elif alone and any(draft.glob(f"{OLD}*")):
                for name in PAGES:
                    if (draft / name).is_file():
                        (draft / name).replace(home / name)
            if alone or is_old(draft):
                shutil.rmtree(draft, ignore_errors=True)


def _remove_stale_arrays(folder: Path) -> None:
    """Drop what the model no longer names, or does not yet."""
    model = folder / MODEL
    with suppress(Exception):  # of a model that is damaged; it must not hide what went wrong before
        named = json.loads(model.read_bytes())["files"] if model.exists() else ()
        for file in folder.iterdir():
            if _ARRAYS.fullmatch(file.name) and file.name not in named:
                file.unlink()


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise cannot_write(folder, error) from error


# --- reading ------------------------------------------------------------------------------------


def read(folder: Path, mapped: bool = False) -> tuple[Document, dict[str, Any]]:
    """The document of a model folder and the files it names, all as they were saved.

    ``mapped`` files stay on the disk, and processes that read them share the memory.
    """
    while True:
        before = _stamp(folder)
        try:
            document = read_document(folder)
            return document, _read_files(folder, document, mapped)
        except InputError:
            # The files of a model that was replaced meanwhile are gone, even if it is the same model again.
            if _stamp(folder) == before:
                raise


def _stamp(folder: Path) -> tuple[int, ...] | None:
    """What tells the model that is in a folder now from any before it; None where there is none."""
    try:
        status = os.stat(folder / MODEL)
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def _read_files(folder: Path, document: Document, mapped: bool) -> dict[str, Any]:
    files = {}
    with report_damage(folder):
        for name, digest in named_files(folder, document).items():
            files[name] = read_file(folder, name, mapped)
            if hashlib.sha256(files[name]).hexdigest() != digest:
                raise damaged(folder, f"{name} is not the file that was saved")
    return files


def named_files(folder: Path, document: Document) -> dict[str, str]:
    """The files of arrays that a document names, with their hashes; any other file is refused."""
    files: dict[str, str] = dict(document["files"].items())
    for name in files:
        if not _ARRAYS.fullmatch(name):
            raise damaged(folder, f"it names {name!r}, which is no file of a model")
    return files


def is_file_of_model(name: str) -> bool:
    """Whether a file of this name is part of a model, or a page about it."""
    return name in (MODEL, *PAGES) or _ARRAYS.fullmatch(name) is not None


def holds_document(folder: Path) -> bool:
    """Whether a folder's `MODEL` is that of a model of ours, of whatever version."""
    try:
        document = json.loads(read_file(folder, MODEL, most=MAX_MODEL_BYTES))
    except (InputError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.keys() >= OF_DOCUMENT


def damaged(place: Place, reason: str) -> DamagedError:
    """The refusal of a model that is not as it was saved."""
    return DamagedError(f"{place}: the model is damaged: {reason}. Copy it again or train anew.")


@contextmanager
def report_damage(place: Place) -> Iterator[None]:
    """Take whatever goes wrong with a model's content for damage."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except StateError as error:
        raise damaged(place, str(error)) from error
    except Exception as error:  # RecursionError, too, of what is nested without end
        raise damaged(place, f"its content does not fit together ({type(error).__name__})") from error


@contextmanager
def known_as(place: Place, folder: Path) -> Iterator[None]:
    """Refuse what is wrong with a model's folder in a cache, by the place that the user knows."""
    try:
        with report_damage(folder):
            yield
    except InputError as error:
        raise type(error)(str(error).replace(str(folder), str(place))) from error


def read_document(folder: Path) -> Document:
    """What a model folder says of the model, as it was saved."""
    with suppress(OSError):  # of a path too long to be one
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: is no folder. Name the folder of a model.")
        if folder.is_dir() and (not os.path.lexists(folder / MODEL) or (folder / MODEL).is_dir()):
            raise InputError(f"{folder}: no model in it ({MODEL} is missing). Check the path.")
    content = read_file(folder, MODEL, most=MAX_MODEL_BYTES)
    try:
        document: Document = json.loads(content)
        known = document["format"] == FORMAT
        older = document["format"] < FORMAT
    except (ValueError, KeyError, TypeError, RecursionError):
        raise damaged(folder, f"{MODEL} is cut off or no JSON") from None
    if older:
        raise InputError(
            f"{folder}: the model has format {document['format']}, this version reads format {FORMAT}. Train "
            "it again."
        )
    if not known:
        raise InputError(
            f"{folder}: the model has format {document['format']}, this version reads up to {FORMAT}. "
            f"Upgrade funnelling{_whose_versions(document)}."
        )
    with report_damage(folder):
        if document["checksum"] != _checksum(document):
            raise damaged(folder, f"{MODEL} was changed after it was saved")
    return document


def _whose_versions(document: Document) -> str:
    """What a model of a later format says of who can read it; nothing where it does not."""
    told = document.get("readable_by")
    return f" to {told}" if isinstance(told, str) and _VERSIONS.fullmatch(told) else ""


def read_file(folder: Path, name: str, mapped: bool = False, most: int | None = None) -> Any:
    """One of a model folder's files: that of so many bytes at ``most``, or else one of arrays.

    It, or what it is a link to, must be a regular file: a device has no end, and who reads a pipe waits.
    """
    try:
        with open(folder / name, "rb", opener=_open_at_once) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise damaged(folder, f"{name} is no regular file")
            if most is not None and found.st_size > most:
                raise damaged(folder, f"{name} has {found.st_size:,} bytes, and {most:,} at most are read")
            if most is None and found.st_size:
                with report_damage(folder):
                    told = told_size(file)
                if told != found.st_size:  # before as much is read
                    raise damaged(folder, f"{name} is not the file that was saved")
                file.seek(0)
            if mapped and found.st_size:  # what is empty cannot be mapped
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return file.read(found.st_size)
    except FileNotFoundError:
        if folder.is_dir():
            raise damaged(folder, f"{name} is missing") from None
        raise InputError(f"{folder}: no such model folder. Check the path.") from None
    except OSError as error:
        raise InputError(f"{folder / name}: cannot be read ({error.strerror}). Check the path.") from error


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for whoever is at the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _checksum(document: Document) -> str:
    content = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
