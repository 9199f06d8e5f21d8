"""Text to words, in any script.

A word is a run of letters and digits with the marks that belong to them; everything else separates.
Scripts that write no spaces give the n-grams of each run, whatever the language of the document.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

# Han, kana and Bopomofo: runs are cut into pieces of one and two characters.
_IDEOGRAPHIC = (
    *range(0x3005, 0x3008),
    *range(0x3040, 0x3130),
    *range(0x31A0, 0x3200),
    *range(0x3400, 0xA000),
    *range(0xF900, 0xFB00),
    *range(0x20000, 0x323B0),
)
# Thai, Lao, Tibetan, Myanmar and Khmer: into pieces of two and three, since one character is less than a
# syllable.
_SOUTHEAST_ASIAN = (
    *range(0x0E00, 0x10A0),
    *range(0x1780, 0x1800),
    *range(0xA9E0, 0xAA00),
    *range(0xAA60, 0xAA80),
)

# Soft hyphens, joiners, variation selectors and the Arabic tatweel stand inside words and mean nothing.
_INVISIBLE = "\u00ad\u0640\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
# What typesetting made of letters: ligatures, Arabic and Hebrew shapes, widths, Kangxi radicals. Only
# these are undone, since NFKC of everything would also write "™" as the letters "TM".
_SHAPES = "\u2f00-\u2fd5\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffef"
_invisible = re.compile(f"[{_INVISIBLE}]+")
_untidy = re.compile(f"[{_INVISIBLE}{_SHAPES}]+")
_astral = re.compile("[\U00010000-\U0001efff\U00020000-\U0003ffff]")
_diacritics = re.compile("[\u0300-\u036f]+")

_TURKISH_CAPITALS = str.maketrans({"I": "ı", "İ": "i"})
DOTLESS_LANGUAGES = frozenset({"az", "tr"})


def words(text: str, language: str | None = None) -> list[str]:
    """Return the words of a text in their order, in lower case.

    `language` matters for casing alone: Turkish and Azerbaijani lower `I` to `ı`.

    >>> words("L'été, C++ und die STRASSENBAHN_7a")
    ['l', 'été', 'c', 'und', 'die', 'strassenbahn', '7a']
    >>> words("हिन्दी में"), words("東京都"), words("ไทย")
    (['हिन्दी', 'में'], ['東', '東京', '京', '京都', '都'], ['ไท', 'ไทย', 'ทย'])
    """
    text = unicodedata.normalize("NFC", lower(tidy(text), language))  # of "J̌" only the small letter composes
    patterns = _patterns(bool(_astral.search(text)))
    if text.isascii() or not patterns.unspaced.search(text):
        return patterns.word.findall(text)
    return [word for run in patterns.run.finditer(text) for word in _cut(run)]


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
    return unicodedata.normalize("NFC", _diacritics.sub("", unicodedata.normalize("NFD", word)))


def tidy(text: str) -> str:
    """Spell equal text with equal characters."""
    if text.isascii():
        return text
    text = _untidy.sub(lambda run: _invisible.sub("", unicodedata.normalize("NFKC", run[0])), text)
    # Python's normalisation is quadratic in the marks on one letter; no script stacks more than thirty.
    pile = _patterns(bool(_astral.search(text))).pile
    return unicodedata.normalize("NFC", pile.sub(r"\1", text))


def _cut(run: re.Match[str]) -> list[str]:
    """Return a word as it is, and a run of an unspaced script as its n-grams of two sizes."""
    match run.lastgroup:
        case "ideographic":
            sizes = (1, 2)
        case "southeast_asian":
            sizes = (2, 3)
        case _:
            return [run[0]]
    text = run[0]
    return [text[i : i + n] for i in range(len(text)) for n in sizes if i + n <= len(text)] or [text]


class _Patterns(NamedTuple):
    word: re.Pattern[str]
    unspaced: re.Pattern[str]  # one character of an unspaced script
    run: re.Pattern[str]  # a word, or a run of an unspaced script, whose group has the kind's name
    pile: re.Pattern[str]  # marks beyond the thirtieth on one letter


@lru_cache(maxsize=2)
def _patterns(astral: bool) -> _Patterns:
    r"""Build the patterns: `\w` lacks combining marks, without which Hindi falls to pieces.

    Patterns with the letters beyond U+FFFF are several times slower, so only texts that have such letters use
    them.
    """
    codes = range(0x323B0 if astral else 0x10000)  # beyond are only variation selectors
    marks = {c for c in codes if unicodedata.category(chr(c))[0] == "M"}
    letters = {c for c in codes if chr(c).isalnum()}
    ideographic = (letters | marks).intersection(_IDEOGRAPHIC)
    southeast_asian = (letters | marks).intersection(_SOUTHEAST_ASIAN)
    unspaced = ideographic | southeast_asian
    word = f"{_one_of(letters - unspaced)}{_one_of((letters | marks) - unspaced)}*"
    runs = f"(?P<ideographic>{_one_of(ideographic)}+)|(?P<southeast_asian>{_one_of(southeast_asian)}+)"
    return _Patterns(
        word=re.compile(word),
        unspaced=re.compile(_one_of(unspaced)),
        run=re.compile(f"{runs}|{word}"),
        pile=re.compile(f"({_one_of(marks)}{_one_of(marks)}{{29}}){_one_of(marks)}+"),
    )


def _one_of(codes: Iterable[int]) -> str:
    """Write code points as a regular expression's character class."""
    ranges = []
    for _, neighbours in groupby(enumerate(sorted(codes)), key=lambda pair: pair[1] - pair[0]):
        run = [code for _, code in neighbours]
        ranges.append(f"{chr(run[0])}-{chr(run[-1])}")
    return f"[{''.join(ranges)}]"
