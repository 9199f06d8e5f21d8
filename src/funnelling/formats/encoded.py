"""The text of files in whatever encoding: UTF-8 and UTF-16 are certain, others are found, and said."""

import codecs
import io
import logging
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from typing import Any, BinaryIO

from funnelling.errors import InputError
from funnelling.formats.files import LONGEST, raw_lines, reading, shown_name, too_long

logger = logging.getLogger(__name__)

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # begins like that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What spreadsheets and editors save in where it is not Unicode, the code pages of Windows most of all.
# fmt: off
_LIKELY = (
    "cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257", "cp1251", "cp1253", "cp1255", "cp1256", "koi8_r",
    "cp932", "gb18030", "big5", "cp949",
)
# fmt: on
_WESTERN = "cp1252"
_CENTRAL = "bs cs dsb hr hsb hu pl ro sh sk sl sr szl"
# Those of Latin letters differ in few characters, which only languages tell; the most frequent come first.
_LANGUAGES = {
    _WESTERN: "af br ca da de en es et eu fi fo fr ga gd gl id is it lb ms nb nl nn no oc pt sv sw",
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": "az crh ku tr",
    "cp1257": "et lt ltg lv",
}
_LINES_JUDGED = 200
_LONGEST_JUDGED = 500  # characters of a line
_CLEAR = 0.2  # by how much of the lines one of them must fit better than the next
_CONTROL = re.compile(r"[\x80-\x9f]")  # no text holds such characters
_SAMPLE = 2**18  # bytes of lines with other characters than ASCII, to tell the encoding by
_LONGEST_SAMPLE = 4 * _SAMPLE
_NEGLIGIBLE = 0.02  # of disorder, by which another encoding may look better than the most frequent one
_UNUSED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # bytes that stand for nothing in the most frequent one
_BY_CHANCE = 0.1  # of the lines with other characters than ASCII
_FEW = 0.2  # of the bytes that are not ASCII
_TOO_ODD = 0.1  # a share of characters that do not go with their neighbours: the text makes no sense
_FOREIGN = re.compile(r"(.?)([^\x00-\x7f])(?=(.?))", re.DOTALL)
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW")
_IN_WORDS = "’‘–—…·\xad\u200d"
_BEFORE_WORDS = "‚„"
_BOXES = ("\u2500", "\u259f")  # lines and blocks of which old programs drew frames


class TextFile:
    """The text of a file, line by line. What was found about its encoding is kept for the next reading."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        name: str | None = None,
        encoding: str | None = None,
        likely: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        self.path = path
        self.name = shown_name(path) if name is None else name
        self.encoding = None if encoding is None else _known(encoding)
        self._likely = likely  # asked where the file is not Unicode, and may know more than this file tells

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, line ends kept, a byte order mark dropped."""
        with reading(self.path) as stream:
            if self.encoding is None:
                self.encoding = _certain_encoding(stream)
            else:
                self._check_mark(stream, self.encoding)
            if self.encoding is None:
                yield from self._utf8_or_found(stream)
            else:
                yield from self._decoded(stream, self.encoding)

    def text(self) -> str:
        """The whole text."""
        lines, size = [], 0
        for _, line in self.text_lines():
            lines.append(line)
            size += len(line)
            if size > LONGEST:
                raise too_long(self.name, "a text")
        return "".join(lines)

    def text_lines(self) -> Iterator[tuple[int, str]]:
        """The lines; a NUL among them is refused, which no text holds."""
        for number, line in self.lines():
            if "\0" in line:
                raise InputError(
                    f"{self.name}:{number}: holds a NUL byte. Save the file as UTF-8 text, or name its "
                    "encoding with --encoding."
                )
            yield number, line

    def _check_mark(self, stream: BinaryIO, encoding: str) -> None:
        """Refuse an encoding other than that whose mark the file begins with."""
        marked = (_marked_encoding(stream) or "").removesuffix("-sig")
        if not encoding.startswith(marked):
            raise InputError(
                f"{self.name}: begins with the mark of {marked}, so it is not {encoding}. Leave out "
                "--encoding."
            )

    def _utf8_or_found(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        """Lines in UTF-8; a file whose first other characters are not UTF-8 is in another encoding.

        Lines of ASCII alone are the same in all of them, so that nothing need be read again.
        """
        is_utf8 = False
        lines = raw_lines(stream, self.name)
        for number, raw in lines:
            try:
                line = raw.decode()
            except UnicodeDecodeError:
                self.encoding, ahead = self._find_encoding(lines, number, raw, is_utf8)
                break
            is_utf8 = is_utf8 or not line.isascii()
            yield number, line
        else:
            return
        for number, raw in chain(ahead, lines):
            yield number, self._decode(raw, self.encoding, number)

    def _find_encoding(
        self, lines: Iterator[tuple[int, bytes]], number: int, raw: bytes, is_utf8: bool
    ) -> tuple[str, list[tuple[int, bytes]]]:
        """The encoding of lines that are not UTF-8, and those that were read to tell."""
        ahead, foreign, size, together = [(number, raw)], [raw], len(raw), 0
        for following, line in lines:
            ahead.append((following, line))
            if not line.isascii():
                foreign.append(line)
                size += len(line)
            together += len(line)
            if size > _SAMPLE or len(ahead) * 64 > 4 * _SAMPLE or together > LONGEST:
                break
        # What is in another encoding is hardly ever UTF-8 by chance.
        damaged = is_utf8 or sum(map(_is_utf8, foreign)) > _BY_CHANCE * len(foreign)
        likely: Sequence[str] = ()
        if not damaged:
            likely = _most_likely(b"".join(foreign)) if self._likely is None else self._likely()
        if len(likely) != 1:
            may_be = f", and may be in {' or '.join(likely)}" if likely else ""
            raise InputError(
                f"{self.name}:{number}: not UTF-8 text{may_be}. Save the file as UTF-8, or name its encoding "
                "with --encoding."
            )
        if self._likely is None:
            say_encoding(self.name, likely[0])
        return likely[0], ahead

    def _decoded(self, stream: BinaryIO, encoding: str) -> Iterator[tuple[int, str]]:
        if codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
            wrapped = io.TextIOWrapper(stream, encoding, newline="\n")
            try:
                lines = iter(partial(wrapped.readline, LONGEST + 1), "")
                for number, line in enumerate(lines, start=1):
                    if len(line) > LONGEST:
                        raise too_long(f"{self.name}:{number}", "a line")
                    yield number, line.removeprefix("\ufeff") if number == 1 else line
            except UnicodeError as error:
                raise self._not_in(encoding, 1) from error
            finally:
                wrapped.detach()
            return
        for number, raw in raw_lines(stream, self.name):
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


def say_encoding(name: str, encoding: str) -> None:
    """Say in which encoding a file, or those of a folder, are read that are not in Unicode."""
    logger.info(
        "%s: not UTF-8, read as %s. If letters look wrong, name the encoding with --encoding.", name, encoding
    )


def encodings_of_all(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """What those files may be in that are not in Unicode, by all of them: a short one tells little alone."""
    sample = b""
    for path in paths:
        with reading(path) as stream:
            if _certain_encoding(stream) is None:
                content = stream.read(LONGEST)
                sample += b"" if _is_utf8(content) else content + b"\n"
        if len(sample) > _SAMPLE:
            break
    return _most_likely(sample)


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs are for other things than text
    except (LookupError, ValueError):
        raise InputError(
            f"there is no encoding {encoding!r}. Use a name such as utf-8, utf-16, cp1252 or latin-1."
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _start(stream: BinaryIO) -> bytes:
    start: bytes = stream.peek(256)[:256]  # type: ignore[attr-defined]
    return start


def _marked_encoding(stream: BinaryIO) -> str | None:
    start = _start(stream)
    marked = [encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if start.startswith(mark)]
    return marked[0] if marked else None


def _certain_encoding(stream: BinaryIO) -> str | None:
    """The encoding that a file begins to say, if it does."""
    marked = _marked_encoding(stream)
    if marked is not None:
        return marked
    start = _start(stream)
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


def _most_likely(sample: bytes) -> list[str]:
    """The encoding in which a text makes most sense, or several where that is not clear.

    None where it makes no sense in any, or would in the most frequent one but for a few bytes.
    """
    if len(sample) > _LONGEST_SAMPLE:  # of one line without end: cut where no character is
        sample = sample[:_LONGEST_SAMPLE].rpartition(b" ")[0] or sample[:_LONGEST_SAMPLE]
    likely = _least_disorder(sample)
    if not likely or _oddness(sample.decode(likely[0], errors="ignore")) > _TOO_ODD:
        return []
    if _WESTERN not in likely and _UNUSED.search(sample):
        used = _UNUSED.sub(b"", sample)
        if len(sample) - len(used) < _FEW * (len(sample) - len(_ascii(sample))):
            return [] if _least_disorder(used) == [_WESTERN] else likely
    return likely


def _least_disorder(sample: bytes) -> list[str]:
    """The encoding of the text with the least disorder; those of Latin letters are told by its languages."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=list(_LIKELY)))
    if not matches:
        return _fitting(sample)
    best = matches[0]
    near = {
        name
        for match in matches
        if match.chaos <= best.chaos + _NEGLIGIBLE
        for name in match.could_be_from_charset
    }
    fitting = _fitting(sample) if near & _LANGUAGES.keys() else []
    return fitting if fitting or best.encoding in _LANGUAGES else [str(best.encoding)]


def _fitting(sample: bytes) -> list[str]:
    """The encodings of Latin letters in which the lines are in languages that are written in them."""
    texts: dict[str, list[str]] = {}  # with those encodings that give the same
    for encoding in _LANGUAGES:
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        if text in texts or (not _CONTROL.search(text) and _oddness(text) <= _TOO_ODD):
            texts.setdefault(text, []).append(encoding)
    if len(texts) <= 1:
        return [encodings[0] for encodings in texts.values()]
    languages = [" ".join(_LANGUAGES[each] for each in encodings).split() for encodings in texts.values()]
    lines = zip(*(dict.fromkeys(text.split("\n")) for text in texts), strict=True)
    telling = list(islice((line for line in lines if len(set(line)) > 1), _LINES_JUDGED))
    scores = {}
    for place, (text, encodings) in enumerate(texts.items()):
        fits = sum(_language(line[place]) in languages[place] for line in telling)
        if fits:
            scores[encodings[0]] = fits / len(telling) - _oddness(text)
    order = sorted(scores, key=lambda encoding: -scores[encoding])
    if order[:1] == [_WESTERN]:
        return order[:1]
    return [encoding for encoding in order if scores[encoding] > scores[order[0]] - _CLEAR]


def _language(line: str) -> str:
    return str(_identifier().rank(line[:_LONGEST_JUDGED])[0][0])


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _ascii(sample: bytes) -> bytes:
    return sample.decode("ascii", errors="ignore").encode()


def _oddness(text: str) -> float:
    """The share of foreign characters that do not go with their neighbours, as in ``K„se`` or ``piВ``.

    >>> _oddness("Käse und „Brot“"), _oddness("K„se")
    (0.0, 1.0)
    """
    odd = [_is_odd(*match.groups()) for match in _FOREIGN.finditer(text)]
    return sum(odd) / max(1, len(odd))


def _is_odd(before: str, character: str, after: str) -> bool:
    if character.isalpha():
        own = _alphabet(character)
        others = {_alphabet(each) for each in (before, after) if each.isalpha()}
        mixed = own in _ALPHABETS and bool(others & set(_ALPHABETS) - {own})
        return mixed or (character.isupper() and before.islower())
    if character in _BEFORE_WORDS or _BOXES[0] <= character <= _BOXES[1]:
        return before.isalpha()
    if unicodedata.combining(character):
        return before.isascii() and before.isalpha()
    return before.isalpha() and after.isalpha() and character not in _IN_WORDS


def _alphabet(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0]
