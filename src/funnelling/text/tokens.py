"""Text to words, in any script.

A word is a run of letters and digits with the marks that belong to them; everything else separates.
Scripts that write no spaces give the n-grams of each run, whatever the language of the document.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache, partial
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt

from funnelling.text.alignment import Alignment, aligned, compatible, normalised

# Han, kana and Bopomofo: runs are cut into pieces of one and two characters.
_IDEOGRAPHIC = (
    range(0x3005, 0x3008),
    range(0x3040, 0x3130),
    range(0x31A0, 0x3200),
    range(0x3400, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x323B0),
)
# Thai, Lao, Tibetan, Myanmar and Khmer: into pieces of two and three, since one character is less than a
# syllable.
_SOUTHEAST_ASIAN = (
    range(0x0E00, 0x10A0),
    range(0x1780, 0x1800),
    range(0xA9E0, 0xAA00),
    range(0xAA60, 0xAA80),
)
_FIRST_UNSPACED = 0x0E00  # of all these; most words are told by it

# Soft hyphens, joiners, variation selectors and the Arabic tatweel stand inside words and mean nothing.
_INVISIBLE = "\u00ad\u0640\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
# What typesetting made of letters: ligatures, Arabic and Hebrew shapes, widths, Kangxi radicals. Only
# these are undone, since NFKC of everything would also write "™" as the letters "TM".
_SHAPES = "\u2f00-\u2fd5\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffef"
_invisible = re.compile(f"[{_INVISIBLE}]+")
_untidy = re.compile(f"[{_INVISIBLE}{_SHAPES}]+")
_astral = re.compile("[\U00010000-\U0001efff\U00020000-\U0003ffff]")
_diacritics = re.compile("[\u0300-\u036f]+")
_letters = re.compile(r"[^\W_]+")
_signs = re.compile(r"\S+")

MAX_WORDS = 200_000  # of a text: those of 600 pages, or 100,000 ideographs, each of which begins two
CHARACTERS_PER_PART = 100_000  # characters in which words are looked for at a time
_TURKISH_CAPITALS = str.maketrans({"I": "ı", "İ": "i"})
DOTLESS_LANGUAGES = frozenset({"az", "tr"})


def words(text: str, language: str | None = None) -> list[str]:
    """Return the words of a text in their order, in lower case, the first `MAX_WORDS` of them.

    `language` matters for casing alone: Turkish and Azerbaijani lower `I` to `ı`.

    >>> words("L'été, C++ und die STRASSENBAHN_7a")
    ['l', 'été', 'c', 'und', 'die', 'strassenbahn', '7a']
    >>> words("हिन्दी में"), words("東京都"), words("ไทย")
    (['हिन्दी', 'में'], ['東', '東京', '京', '京都', '都'], ['ไท', 'ไทย', 'ทย'])
    """
    text = _spelled(text, language)
    patterns = _patterns(bool(_astral.search(text)))
    if not text.isascii() and patterns.unspaced.search(text):
        cuts = (cut for run in patterns.run.finditer(text) for cut in _cuts(run))
        return [text[start:end] for start, end in islice(cuts, MAX_WORDS)]
    found: list[str] = []
    for start, end in _parts(text):
        found += patterns.word.findall(text, start, end)
        if len(found) >= MAX_WORDS:
            break
    return found[:MAX_WORDS]


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Where a long text can be cut at blanks, so that other threads run while its words are looked for."""
    start = 0
    while start < len(text):
        end = text.find(" ", start + CHARACTERS_PER_PART)
        yield start, end if end >= 0 else len(text)
        start = end if end >= 0 else len(text)


def is_unspaced(word: str) -> bool:
    """Whether a word is an n-gram of a script that writes no spaces.

    >>> is_unspaced("東京"), is_unspaced("Tōkyō")
    (True, False)
    """
    code = ord(word[0])
    return code >= _FIRST_UNSPACED and any(code in each for each in (*_IDEOGRAPHIC, *_SOUTHEAST_ASIAN))


def placed_words(text: str, language: str | None = None) -> list[tuple[str, int, int]]:
    """Return what `words` does, each word with its start and its end in the text as it was given.

    >>> placed_words("L'e\u0301te\u0301, 東京")
    [('l', 0, 1), ('été', 2, 7), ('東', 9, 10), ('東京', 9, 11), ('京', 10, 11)]
    """
    spelled = _aligned(text, language)
    patterns = _patterns(bool(_astral.search(spelled.text)))
    starts, ends = spelled.starts.tolist(), spelled.ends.tolist()
    placed = (
        (spelled.text[start:end], starts[start], ends[end - 1])
        for run in patterns.run.finditer(spelled.text)
        for start, end in _cuts(run)
    )
    return list(islice(placed, MAX_WORDS))


def units(text: str) -> list[tuple[int, int]]:
    """Return where a text can be cut to show it word by word: starts and ends, in order, without the blanks.

    A unit is a word, one character of an unspaced script with its marks, or a run of signs between them.

    >>> units("C++ für 東京!")
    [(0, 1), (1, 3), (4, 7), (8, 9), (9, 10), (10, 11)]
    """
    spelled = _aligned(text, None)
    patterns = _patterns(bool(_astral.search(spelled.text)))
    starts, ends = spelled.starts.tolist(), spelled.ends.tolist()
    found: list[tuple[int, int]] = []
    for run in patterns.run.finditer(spelled.text):
        for first, last in _syllables(run) if run.lastgroup else [run.span()]:
            start, end = starts[first], ends[last - 1]
            if found and start < found[-1][1]:  # of one character that spells several words
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
    edges = [0, *(edge for unit in found for edge in unit), len(text)]
    signs = [
        sign.span()
        for start, end in zip(edges[::2], edges[1::2], strict=True)
        for sign in _signs.finditer(text, start, end)
    ]
    return sorted([*found, *signs])


def _spelled(text: str, language: str | None = None) -> str:
    """A text as its words are spelled."""
    tidied = tidy(text)
    lowered = lower(tidied, language)
    return lowered if lowered == tidied else normalised("NFC", lowered)  # of "J̌" the small letter composes


@lru_cache(maxsize=4)  # each view asks for the same text
def _aligned(text: str, language: str | None) -> Alignment:
    return aligned(text, partial(_spelled, language=language))


def _syllables(run: re.Match[str]) -> list[tuple[int, int]]:
    """Where a run of an unspaced script has its characters, each with the marks that follow it."""
    starts = [i for i, letter in enumerate(run[0]) if not i or unicodedata.category(letter)[0] != "M"]
    return list(pairwise([*(run.start() + start for start in starts), run.end()]))


def lower(text: str, language: str | None = None) -> str:
    """Lower a text as its language does; unlike case folding, this keeps the `ß` of the dictionaries."""
    if language in DOTLESS_LANGUAGES:
        text = text.translate(_TURKISH_CAPITALS)
    return text.lower()


def fold_accents(word: str) -> str:
    """Remove the diacritical marks of Latin, Greek and Cyrillic, and leave other scripts whole.

    >>> [fold_accents(word) for word in ("été", "Αθήνα", "straße", "ガス", "한국", "हिन्दी")]
    ['ete', 'Αθηνα', 'straße', 'ガス', '한국', 'हिन्दी']
    """
    if word.isascii():
        return word
    return normalised("NFC", _diacritics.sub("", normalised("NFD", word)))


def tidy(text: str) -> str:
    """Spell equal text with equal characters."""
    if text.isascii():
        return text
    return normalised("NFC", _untidy.sub(lambda run: run[0].translate(_tidied), text))


class _Tidied(dict[int, str]):
    """What shapes of letters stand for, for ``translate``; what is invisible stands for nothing."""

    def __missing__(self, code: int) -> str:
        self[code] = _invisible.sub("", compatible(chr(code)))
        return self[code]


_tidied = _Tidied()


_SIZES = {"ideographic": (1, 2), "southeast_asian": (2, 3)}  # of n-grams, in characters


def _cuts(run: re.Match[str]) -> list[tuple[int, int]]:
    """Return start and end of a word, or of each n-gram, of two sizes, of a run of an unspaced script."""
    first, last = run.span()
    sizes = _SIZES.get(run.lastgroup or "", ())
    return [(i, i + n) for i in range(first, last) for n in sizes if i + n <= last] or [(first, last)]


@lru_cache(maxsize=2)
def _patterns(astral: bool) -> "_Patterns":
    return _Patterns(0x323B0 if astral else 0x10000)  # beyond are only variation selectors


class _Patterns:
    r"""What texts are cut by, each made when it is first needed: `\w` lacks marks, and Hindi falls to pieces.

    Patterns with the letters beyond U+FFFF are several times slower, so only texts that have such letters use
    them.
    """

    def __init__(self, codes: int) -> None:
        """Sort the characters into letters, marks and others."""
        characters = np.arange(codes, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
        letters, marks = np.zeros(codes, dtype=bool), np.zeros(codes, dtype=bool)
        for run in _letters.finditer(characters):
            letters[run.start() : run.end()] = True
        others = np.flatnonzero(~letters)
        marks[others] = [unicodedata.category(characters[code])[0] == "M" for code in others.tolist()]
        self._ideographic = _one_of((letters | marks) & _within(_IDEOGRAPHIC, codes))
        self._southeast_asian = _one_of((letters | marks) & _within(_SOUTHEAST_ASIAN, codes))
        unspaced = (letters | marks) & _within(_IDEOGRAPHIC + _SOUTHEAST_ASIAN, codes)
        self._unspaced = _one_of(unspaced)
        # Signs are soon told by what Python takes for letters; of a class beyond U+FFFF all ranges are tried.
        begins = r"(?=[^\W_])" if codes > 0x10000 else ""
        self._word = f"{begins}{_one_of(letters & ~unspaced)}{_one_of((letters | marks) & ~unspaced)}*"

    @cached_property
    def word(self) -> re.Pattern[str]:
        return re.compile(self._word)

    @cached_property
    def unspaced(self) -> re.Pattern[str]:
        """One character of an unspaced script."""
        return re.compile(self._unspaced)

    @cached_property
    def run(self) -> re.Pattern[str]:
        """A word, or a run of an unspaced script, whose group has the kind's name."""
        ideographic = f"(?P<ideographic>{self._ideographic}+)"
        southeast_asian = f"(?P<southeast_asian>{self._southeast_asian}+)"
        return re.compile(f"{ideographic}|{southeast_asian}|{self._word}")


def _within(ranges: Iterable[range], codes: int) -> npt.NDArray[np.bool_]:
    inside = np.zeros(codes, dtype=bool)
    for each in ranges:
        inside[each.start : each.stop] = True
    return inside


def _one_of(characters: npt.NDArray[np.bool_]) -> str:
    """Write characters as a regular expression's class, given which code points are among them."""
    edges = np.flatnonzero(np.diff(characters, prepend=False, append=False)).tolist()
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return f"[{''.join(f'{chr(first)}-{chr(beyond - 1)}' for first, beyond in pairs)}]"
