r"""Files and folders of word vectors as MUSE and fastText write them, one per language.

The first line has the number of words and of dimensions, every other line a word and its numbers, the most
frequent word first. Only `\n` ends a line and only a space ends a field: words may hold any other space.
"""

import os
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.formats.files import (
    cannot_write,
    check_output_folder,
    raw_lines,
    reading,
    shown_name,
    writing,
)
from funnelling.matrices import Floats
from funnelling.runtime.progress import progress_bar
from funnelling.text.languages import normalise_tag

AnyPath = str | os.PathLike[str]

# Numbers are parsed in blocks of lines, which is twice as fast as line by line.
_LINES_PER_BLOCK = 1_000
# A header is shorter; more is not read, for the file may have no line ends at all.
_MAX_HEADER_BYTES = 1_000

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_END = b" \r\n"  # fastText ends its lines with a space
_HEADER = re.compile(rb"([0-9]{1,18}) ([0-9]{1,18})", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
# wiki.multi.pt.vec of MUSE, wiki.pt.align.vec of fastText, pt_BR.vec of ours.
_NAME = re.compile(
    r"(?:.*\.)?(?P<language>[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*)(?:\.align)?\.vec(?:\.gz)?", re.IGNORECASE
)
_SUFFIX = re.compile(r"\.vec(?:\.gz)?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class WordVectors:
    """The words of one language, and one row of numbers per word."""

    words: list[str]
    matrix: Floats
    ranks: npt.NDArray[np.int64]
    """Each word's place in its file, 0 for the most frequent one."""

    @property
    def dimensions(self) -> int:
        return int(self.matrix.shape[1])


def read_vectors(
    path: AnyPath, wanted: Collection[str] | None = None, limit: int | None = None
) -> WordVectors:
    r"""Return the vectors of a file: of all its words, of those ``wanted``, or of the first ``limit``.

    Every line is checked for its word and the number of its fields, but numbers are read only where the
    word is wanted. Lines after the first ``limit`` words are not read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "wiki.multi.it.vec")
    ...     _ = Path(path).write_bytes("2 3\ncane .5 0 1\ncaffè 0 -1 2e-1\n".encode())
    ...     vectors = read_vectors(path, wanted={"caffè", "gatto"})
    >>> vectors.words, vectors.ranks.tolist(), vectors.matrix.round(2).tolist()
    (['caffè'], [1], [[0.0, -1.0, 0.20000000298023224]])
    """
    name = shown_name(path)
    blocks = []
    words: list[str] = []
    ranks: list[int] = []
    with reading(path) as stream:
        count, dimensions = _header(stream, name)
        rows = _rows(stream, name, count, dimensions)
        selection = (row for row in islice(rows, limit) if wanted is None or row[1] in wanted)
        while block := list(islice(selection, _LINES_PER_BLOCK)):
            blocks.append(_numbers(block, dimensions, name))
            words.extend(word for _, word, _ in block)
            ranks.extend(line - 2 for line, _, _ in block)
    matrix = np.concatenate(blocks) if blocks else np.empty((0, dimensions), np.float32)
    return WordVectors(words, matrix, np.array(ranks, dtype=np.int64))


def read_header(path: AnyPath) -> tuple[int, int]:
    """Return the number of words and of dimensions that the first line of a file promises."""
    with reading(path) as stream:
        return _header(stream, shown_name(path))


def find_vectors(folder: AnyPath) -> dict[str, Path]:
    """Return the file of each language in a folder; all files must have the same dimensions.

    The language stands before ``.vec`` or ``.vec.gz``, as in ``wiki.multi.it.vec``, ``wiki.it.align.vec``
    and ``pt_BR.vec``.

    >>> find_vectors("nowhere")
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere: no such folder. Name the folder of the vectors.
    """
    files: dict[str, Path] = {}
    for path in _vector_files(Path(folder)):
        match = _NAME.fullmatch(path.name)
        if match is None:
            raise InputError(
                f"{path}: its name has no language. Rename it as in wiki.multi.en.vec or en.vec."
            )
        other = files.setdefault(normalise_tag(match["language"]), path)
        if other != path:
            raise InputError(f"{path}: {other.name} is of the same language. Remove one of the two.")
    if not files:
        raise InputError(f"{folder}: no vectors in it, such as wiki.multi.en.vec or en.vec. Check the path.")
    check_dimensions(files.values())
    return dict(sorted(files.items()))


def check_dimensions(paths: Iterable[AnyPath]) -> int:
    """Return the dimensions that all files have; files that differ cannot share a space."""
    first, *others = ((path, read_header(path)[1]) for path in paths)
    for path, dimensions in others:
        if dimensions != first[1]:
            raise InputError(
                f"{path}: has {dimensions} dimensions, {first[0]} {first[1]}. "
                "Use files that were aligned together."
            )
    return first[1]


def write_vectors(path: AnyPath, vectors: WordVectors, force: bool = False) -> None:
    """Write vectors as MUSE does, five digits per number, compressed where the name ends in ``.gz``."""
    _check_words(vectors.words)
    line = " ".join(["%s", *["%.5g"] * vectors.dimensions]) + "\n"
    with writing(path, force) as stream:
        stream.write(f"{len(vectors.words)} {vectors.dimensions}\n")
        for word, row in zip(vectors.words, vectors.matrix, strict=True):
            stream.write(line % (word, *row.tolist()))


# --- lines ----------------------------------------------------------------------------------------

_Row = tuple[int, str, bytes]  # number of the line, word, the numbers as text


def _header(stream: BinaryIO, name: str) -> tuple[int, int]:
    line = stream.readline(_MAX_HEADER_BYTES).removeprefix(_BYTE_ORDER_MARK)
    if not line:
        raise InputError(f"{name}: the file is empty. Copy or download it again.")
    match = _HEADER.fullmatch(line.rstrip(_LINE_END))
    if match is None or not int(match[1]) or not int(match[2]):
        header = quoted(line.rstrip(_LINE_END).decode("utf-8", "replace"))
        raise InputError(
            f"{name}:1: the header must be the number of words and of dimensions, found {header}. "
            'Write them as in "200000 300".'
        )
    return int(match[1]), int(match[2])


def _rows(stream: BinaryIO, name: str, count: int, dimensions: int) -> Iterator[_Row]:
    """Check the form of each line; the numbers are left as they are."""
    words: set[str] = set()
    for number, line in raw_lines(stream, name, start=2):
        if len(words) == count:
            raise InputError(f"{name}:{number}: the header says {count} words, here is one more. Correct it.")
        line = line.rstrip(_LINE_END)
        start, _, numbers = line.partition(b" ")
        try:
            word = start.decode()
        except UnicodeDecodeError:
            raise InputError(f"{name}:{number}: not UTF-8 text. Save the file as UTF-8.") from None
        fields = line.count(b" ")
        if fields != dimensions:
            raise InputError(
                f"{name}:{number}: {quoted(word)} has {fields} numbers, the header says {dimensions}. "
                "Copy or download the file again, or correct the line."
            )
        if not word:
            raise InputError(
                f"{name}:{number}: no word before the numbers. Remove the line or name its word."
            )
        if word in words:
            raise InputError(f"{name}:{number}: {quoted(word)} for the second time. Keep one of its lines.")
        words.add(word)
        yield number, word, numbers
    if len(words) < count:
        raise InputError(
            f"{name}:1: the header says {count} words, the file has {len(words)}. "
            "Copy or download the file again, or correct the header."
        )


def _numbers(rows: list[_Row], dimensions: int, name: str) -> Floats:
    """Turn the text of rows into numbers, as float32 has them."""
    # Numbers are ASCII; this encoding turns any other byte into a character that no number has.
    texts = [numbers.decode("latin-1") for _, _, numbers in rows]
    try:
        with np.errstate(over="ignore"):
            values = np.loadtxt(texts, dtype=np.float32, delimiter=" ", comments=None, ndmin=2)
    except ValueError:
        values = np.empty((0, dimensions), np.float32)
    if values.shape != (len(rows), dimensions) or not np.isfinite(values).all():
        raise _first_bad_number(rows, name)
    return values


def _first_bad_number(rows: list[_Row], name: str) -> InputError:
    largest = float(np.finfo(np.float32).max)
    for line, word, numbers in rows:
        for place, text in enumerate(numbers.split(b" "), start=1):
            shown = text.decode("utf-8", "replace")
            if not _NUMBER.fullmatch(shown) or abs(float(shown)) > largest:
                return InputError(
                    f"{name}:{line}: number {place} of {quoted(word)} is {quoted(shown)}, "
                    "not a finite number. Correct it or remove the line."
                )
    raise AssertionError("no number of the rows is bad")


# --- folders and words --------------------------------------------------------------------------------


def _vector_files(folder: Path) -> list[Path]:
    try:
        return sorted(
            path
            for path in folder.iterdir()
            if path.name[0] != "." and _SUFFIX.search(path.name) and path.is_file()
        )
    except FileNotFoundError:
        raise InputError(f"{folder}: no such folder. Name the folder of the vectors.") from None
    except NotADirectoryError:
        raise InputError(f"{folder}: is no folder. Name the folder of the vectors.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{folder}: cannot be read ({reason}). Check the path.") from error


def _check_words(words: list[str]) -> None:
    if not words:
        raise InputError("no words to write. Give at least one.")
    for word in words:
        if not word or " " in word or "\n" in word:
            raise InputError(f"{quoted(word)} cannot be written: a word holds neither space nor line end.")
    if len(set(words)) < len(words):
        raise InputError("a word occurs twice. Give each word one vector.")


def check_folder(folder: Path, force: bool) -> None:
    """Refuse, before the work, a folder that cannot be written; only a folder of vectors may be replaced."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is no folder. Choose another path.")
    if folder.is_dir() and any(folder.iterdir()):
        if not force:
            raise InputError(f"{folder} exists. Choose another path or add --force.")
        vector_files = set(find_vectors(folder).values())
        for path in folder.iterdir():
            if path not in vector_files:
                raise InputError(
                    f"{folder}: holds {path.name}, which is no file of vectors, so the folder stays. "
                    "Choose another path."
                )
    check_output_folder(folder)


def write_folder(
    folder: Path, vectors: Mapping[str, WordVectors], force: bool = False, shown: bool = False
) -> None:
    """Write one file per language, such as ``it.vec``, into a folder that appears when all are written."""
    check_folder(folder, force)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        work = tempfile.TemporaryDirectory(prefix=".funnelling-", dir=folder.parent)
    except OSError as error:
        raise cannot_write(folder, error) from error
    with work, progress_bar("write vectors", len(vectors), shown, "languages") as advance:
        draft, old = Path(work.name, "new"), Path(work.name, "old")
        draft.mkdir(0o755)
        for language, of_language in vectors.items():
            write_vectors(draft / f"{language}.vec", of_language)
            advance(1)
        if folder.exists():
            folder.replace(old)
        try:
            draft.replace(folder)
        except BaseException:
            if old.exists():
                old.replace(folder)
            raise
