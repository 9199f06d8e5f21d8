"""The text of files in whatever encoding: UTF-8 and UTF-16 are certain, others are found, and said."""

import codecs
import io
import logging
import os
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from funnelling.errors import InputError
from funnelling.formats.files import reading, shown_name

logger = logging.getLogger(__name__)

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What spreadsheets and editors save in where it is not Unicode, the code pages of Windows most of all.
_LIKELY = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 koi8_r cp932 gb18030 big5 cp949".split()  # noqa: SIM905
)
_WESTERN = "cp1252"
_SAMPLE = 2**18  # bytes of lines with other characters than ASCII, to tell the encoding by
_NEGLIGIBLE = 0.02  # of disorder, by which another encoding may look better than the most frequent one


class TextFile:
    """The text of a file, line by line. What was found about its encoding is kept for the next reading."""

    def __init__(
        self, path: str | os.PathLike[str], name: str | None = None, encoding: str | None = None
    ) -> None:
        self.path = path
        self.name = shown_name(path) if name is None else name
        self.encoding = None if encoding is None else _known(encoding)

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, line ends kept, a byte order mark dropped."""
        with reading(self.path) as stream:
            if self.encoding is None:
                self.encoding = _certain_encoding(stream)
            if self.encoding is None:
                yield from self._utf8_or_found(stream)
            else:
                yield from self._decoded(stream, self.encoding)

    def text(self) -> str:
        """The whole text."""
        return "".join(line for _, line in self.lines())

    def _utf8_or_found(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        """Lines in UTF-8; a file whose first other characters are not UTF-8 is in another encoding.

        Lines of ASCII alone are the same in all of them, so that nothing need be read again.
        """
        is_utf8 = False
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode()
            except UnicodeDecodeError:
                self.encoding, ahead = self._find_encoding(stream, number, raw, is_utf8)
                break
            is_utf8 = is_utf8 or not line.isascii()
            yield number, line
        else:
            return
        for line_number, raw in enumerate(chain(ahead, stream), start=number):
            yield line_number, self._decode(raw, self.encoding, line_number)

    def _find_encoding(
        self, stream: BinaryIO, number: int, raw: bytes, is_utf8: bool
    ) -> tuple[str, list[bytes]]:
        """The encoding of lines that are not UTF-8, and those that were read to tell."""
        ahead, foreign, size = [raw], [raw], len(raw)
        for line in stream:
            ahead.append(line)
            if not line.isascii():
                foreign.append(line)
                size += len(line)
            if size > _SAMPLE or len(ahead) * 64 > 4 * _SAMPLE:
                break
        damaged = is_utf8 or sum(map(_is_utf8, foreign)) > len(foreign) / 2
        encoding = None if damaged else _most_likely(b"".join(foreign))
        if encoding is None:
            raise InputError(
                f"{self.name}:{number}: not UTF-8 text. Save the file as UTF-8, or name its encoding with "
                "--encoding."
            )
        logger.info(
            "%s: not UTF-8, read as %s. If letters look wrong, name the encoding with --encoding.",
            self.name,
            encoding,
        )
        return encoding, ahead

    def _decoded(self, stream: BinaryIO, encoding: str) -> Iterator[tuple[int, str]]:
        if codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
            wrapped = io.TextIOWrapper(stream, encoding, newline="\n")
            try:
                yield from enumerate(wrapped, start=1)
            except UnicodeError as error:
                raise self._not_in(encoding, 1) from error
            finally:
                wrapped.detach()
            return
        for number, raw in enumerate(stream, start=1):
            yield (
                number,
                self._decode(raw, encoding if number == 1 else encoding.removesuffix("-sig"), number),
            )

    def _decode(self, raw: bytes, encoding: str | None, number: int) -> str:
        try:
            return raw.decode(encoding or "utf-8")
        except UnicodeDecodeError:
            raise self._not_in(encoding, number) from None

    def _not_in(self, encoding: str | None, number: int) -> InputError:
        return InputError(
            f"{self.name}:{number}: not {encoding} text. Name the encoding with --encoding, or save the file "
            "as UTF-8."
        )


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs are for other things than text
    except (LookupError, ValueError):
        raise InputError(
            f"there is no encoding {encoding!r}. Use a name such as utf-8, utf-16, cp1252 or latin-1."
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _certain_encoding(stream: BinaryIO) -> str | None:
    """The encoding that a file begins to say, if it does."""
    start: bytes = stream.peek(256)[:256]  # type: ignore[attr-defined]
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    # Without a mark: every other byte of Latin letters is zero.
    if len(start) >= 8 and b"\0" not in start[::2] and start[1::2].count(0) > len(start) / 4:
        return "utf-16-le"
    if len(start) >= 8 and b"\0" not in start[1::2] and start[::2].count(0) > len(start) / 4:
        return "utf-16-be"
    return None


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _most_likely(sample: bytes) -> str | None:
    """The encoding in which a text makes most sense; where others are no better, the most frequent one."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=list(_LIKELY)))
    if not matches:
        return None
    best = matches[0]
    western = [match for match in matches if _WESTERN in match.could_be_from_charset]
    if western and western[0].chaos <= best.chaos + _NEGLIGIBLE:
        return _WESTERN
    return str(best.encoding)
