"""The text of files: UTF-8, UTF-16 with a byte order mark, or cp1252. ``--encoding`` names any other."""

import codecs
import io
import logging
import os
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from typing import BinaryIO

from funnelling.errors import InputError
from funnelling.formats.files import MAX_LINE_BYTES, joined, raw_lines, reading, shown_name, too_long

logger = logging.getLogger(__name__)
_Path = str | os.PathLike[str]
_Lines = Generator[tuple[int, str], None, None]  # with their numbers

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # begins like that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAMPLE_BYTES = 2**22  # of lines that are read ahead
_MAX_ODD_SHARE = 0.08  # of the characters that are not ASCII
_MAX_ODD_CHARACTERS = 3  # characters of one document in a folder
# German, French, Spanish, Portuguese, Italian and Irish, Nordic, Icelandic, Estonian, Dutch; with loan words.
_LETTERS = """äöüßéèàáç àâæçéèêëîïôùûüÿœ áéíóúñüçàèòï áâãàçéêíóôõú àèéìíîòóùú åäöæøéüàè áéíóúýþðæöø äöõüšžå
éèàëïöüêó"""
_ALPHABETS = [frozenset(letters + letters.upper()) for letters in _LETTERS.split()]
_PIECES = re.compile(r'[^\n\t"]{1,200}')  # few are in more than one language
_FOREIGN_LETTERS = re.compile("[À-ÖØ-öø-ÿŠšŽžŒœŸ]")
_LETTER = "[A-Za-zÀ-ÖØ-öø-ÿŠšŽžŒœŸ]"
_MISPLACED = re.compile(
    r"[^\x00-\x7f\xa0–—…‘’“”«»•·]{5,}"  # hardly ever without ASCII between them
    r"|(?<=[a-zß-öø-ÿšžœ])[À-ÖØ-ÞŠŽŒŸ]"  # a capital within a word, then signs after and in words
    rf"|(?<={_LETTER})(?:[‚„¿¡±¼½¾¶¦¨¸¯¬]|(?!{_LETTER})[^\x00-\x7f’‘–—…·\xad´](?={_LETTER}))"
)


class TextFile:
    """The text of a file, line by line. What was found about its encoding is kept for the next reading.

    A file ``in_folder`` is one document of many: the folder reports cp1252, and few odd characters pass.
    """

    def __init__(
        self, path: _Path, name: str | None = None, encoding: str | None = None, in_folder: bool = False
    ) -> None:
        self.path = path
        self.name = shown_name(path) if name is None else name
        self.encoding = None if encoding is None else _known(encoding)
        self._in_folder = in_folder

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, line ends kept, a byte order mark dropped."""
        with reading(self.path) as stream:
            start: bytes = stream.peek(4)[:4]  # type: ignore[attr-defined]
            marked = next((each for mark, each in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
            self.encoding = self.encoding or marked
            if self.encoding is None and b"\0" in start and start.strip(b"\0"):
                raise self._refusal("holds a NUL byte", 1)  # as UTF-16 without a mark does
            if self.encoding is None:
                yield from self._utf8_or_western(stream)
                return
            if not self.encoding.startswith(marked or ""):
                wrong = f"begins with the mark of {marked}, so it is not {self.encoding}"
                raise InputError(f"{self.name}: {wrong}. Leave out --encoding.")
            is_wide = self.encoding.startswith(("utf-16", "utf-32"))
            decoded = self._wide(stream) if is_wide else self._decoded(raw_lines(stream, self.name))
            with closing(decoded):  # before the stream, which it gives back
                for number, line in decoded:
                    yield number, line.removeprefix("\ufeff") if number == 1 else line

    def text(self) -> str:
        """The whole text."""
        return joined((line for _, line in self.text_lines()), self.name, "a text")

    def text_lines(self) -> Iterator[tuple[int, str]]:
        """The lines; a NUL among them is refused, which no text holds."""
        for number, line in self.lines():
            if "\0" in line:
                raise self._refusal("holds a NUL byte", number)
            yield number, line

    def _utf8_or_western(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        """Lines in UTF-8, or from the first other one on in cp1252; lines of ASCII are the same in both."""
        is_utf8 = False
        lines = raw_lines(stream, self.name)
        for number, raw in lines:
            try:
                line = raw.decode()
            except UnicodeDecodeError:
                break
            is_utf8 = is_utf8 or not line.isascii()
            yield number, line
        else:
            return
        ahead, size = [(number, raw)], len(raw)
        for each in lines:
            ahead.append(each)
            size += len(each[1]) + 64
            if size > _SAMPLE_BYTES:
                break
        foreign = [raw for _, raw in ahead if not raw.isascii()]
        sound = sum("\ufffd" not in raw.decode(errors="replace") for raw in foreign)
        if is_utf8 or 10 * sound > len(foreign):  # cp1252 is hardly ever UTF-8 by chance
            raise self._refusal("not UTF-8 text", number)
        text = b"\n".join(foreign)[:_SAMPLE_BYTES].decode("cp1252", errors="replace")
        most_odd = _MAX_ODD_SHARE * sum(not character.isascii() for character in text)
        if count_odd(text) > max(most_odd, _MAX_ODD_CHARACTERS * self._in_folder):
            raise self._refusal("neither UTF-8 nor cp1252 text", number)
        self.encoding = "cp1252"
        if not self._in_folder:
            say_western(self.name)
        yield from self._decoded(chain(ahead, lines))

    def _decoded(self, lines: Iterable[tuple[int, bytes]]) -> _Lines:
        for number, raw in lines:
            try:
                yield number, raw.decode(self.encoding or "utf-8")
            except UnicodeDecodeError:
                raise self._refusal(f"not {self.encoding} text", number) from None

    def _wide(self, stream: BinaryIO) -> _Lines:
        wrapped = io.TextIOWrapper(stream, self.encoding, newline="\n")
        try:
            for number, line in enumerate(iter(partial(wrapped.readline, MAX_LINE_BYTES + 1), ""), start=1):
                if len(line) > MAX_LINE_BYTES:
                    raise too_long(f"{self.name}:{number}", "a line")
                yield number, line
        except UnicodeError as error:
            raise self._refusal(f"not {self.encoding} text", 1) from error
        finally:
            wrapped.detach()

    def _refusal(self, what: str, number: int) -> InputError:
        cure = "Save the file as UTF-8, or name its encoding with --encoding."
        return InputError(f"{self.name}:{number}: {what}. {cure}")


def say_western(name: str) -> None:
    """Report that a file, or those of a folder that are not UTF-8, are read as cp1252."""
    logger.info("%s: not UTF-8, read as cp1252. If letters look wrong, set --encoding.", name)


def count_odd(text: str) -> int:
    """Count the characters that speak against cp1252, in which a text was decoded.

    Odd are long runs without ASCII, capitals and signs within words, and letters that no language of cp1252
    has beside the others of a piece. Most of what is Cyrillic, Greek, Hebrew, Arabic or Chinese is odd, and
    a tenth to a half of cp1250, cp1254 and cp1257. A few words of these three may pass for cp1252.

    >>> [count_odd(text) for text in ("Käse und „Brot“", "K„se", "nøco žluouèký", "ðêîëà")]
    [0, 1, 2, 5]
    """
    odd = 0
    for piece in _PIECES.findall(text):
        placed = _MISPLACED.sub("", piece)
        letters = _FOREIGN_LETTERS.findall(placed)
        fitting = max(sum(each in alphabet for each in letters) for alphabet in _ALPHABETS)
        odd += len(piece) - len(placed) + len(letters) - fitting
    return odd


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs are for other things than text
    except (LookupError, ValueError):
        cure = "Use a name such as utf-8, utf-16, cp1252 or latin-1."
        raise InputError(f"there is no encoding {encoding!r}. {cure}") from None
    return name.removesuffix("-sig")
