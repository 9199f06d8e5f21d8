"""Texts that cost more than they look: by name, a function from bytes of UTF-8 to a text that has no more."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, cycle

LATIN = "abcdefghijklmnopqrstuvwxyz"
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
ACCENTED = "aábcčdďeéěfghiíjklmnňoóprřsštťuúůvyýzž"
COMPOSED = ("a\u0301", "b", "e\u0327\u0301", "o\u0308", "n")
LONGEST_WORD = 100

# Characters that Python's own functions or Unicode's rules treat in a way of their own, each repeated alone.
REPEATED = {
    "one word": "a",
    "one Greek word": "Σ",
    "ideographs": "漢",
    "Thai": "ไทย",
    "Khmer": "ស្រី",
    "digits": "1",
    "punctuation": "!?,-_",
    "newlines": "\n",
    "spaces": " ",
    "NULs": "\0",
    "lone surrogates": "\ud800",
    "swapped surrogates": "\udc00\ud800",
    "zero-width": "\u200b\u200d\u2060",
    "soft hyphens": "a\u00ad",
    "marks left and right": "\u200f\u200e",
    "variation selectors": "❤\ufe0f",
    "far variation selectors": "葛\U000e0100",
    "two marks": "\u0300\u0316",
    "marks under a letter": "a\u0316",
    "marks between joiners": "\u0300\u200d\u0316",
    "marks that are two": "\u0344\u0316",
    "Hebrew and half-width marks": "\ufb1e\uff9e",
    "half-width marks": "ｶ\uff9e\uff9f",
    "Tibetan marks": "\u0f73\u0f75\u0f81",
    "vowel signs": "क\u093f\u0940",
    "virama": "\u094d\u0301",
    "Hangul letters": "\u1112\u1161\u11ab",
    "Hangul vowels": "\u1161",
    "half-width Hangul": "\uffbe\uffc2\uffa4",
    "ligatures": "ﬃ",
    "a phrase in one character": "\ufdfa",
    "phrases and blanks": "\ufdfa ",
    "Arabic shapes": "\ufedf\ufe8e\ufefc",
    "tatweel": "\u0640ك",
    "a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467 ",
    "flags": "\U0001f1e9\U0001f1ea",
    "skin tones": "\U0001f44d\U0001f3fd",
    "dotted capitals": "İ",
    "dotted capitals and blanks": "İ ",
    "final sigmas": "aΣ\u00ad\u0301 ",
    "sigmas between full stops": "Σ.",
    "capital sharp s": "ẞß",
    "letters that compose": "e\u0301",
    "letters that compose in lower case": "J\u030c",
    "letters that compose, and blanks": "e\u0301 ",
    "singletons": "\u212b\u2126",
    "squared words": "\u3300\u3315",
    "circled letters": "Ⓐ①",
    "Ethiopic": "ኢትዮጵያ",
    "syllabics": "ᐃᓄᒃᑎᑐᑦ",
    "Yi": "ꀀꀁ",
    "cuneiform": "\U00012000\U00012001",
    "astral letters": "\U00010400\U0001d400",
    "private": "\ue000\U000f0000",
    "noncharacters": "\uffff\ufdd0",
    "scripts by turns": "aбγ漢ไ한ا",
    "scripts by turns, and blanks": "a б γ 漢 ไ 한 ا ",
    "two words": "a b ",
    "letter and sign": "a.",
    "letter and underscore": "é_",
    "hyphens": "a-b-",
    "a sentence": "The quick brown fox jumps over the lazy dog. ",
    "a paragraph": "Der Besuch des alten Hauses war für alle eine große Überraschung.\n\n",
    "longest words": "x" * LONGEST_WORD + " ",
    "words beyond the longest": "é" * (LONGEST_WORD + 1) + " ",
    "carriage returns": "a\r\n",
    "separators": "\u2028\u2029\x85\x1c",
    "ideographic spaces": "漢\u3000",
    "musical signs": "\U0001d15f\U0001d160",
    "musical signs and marks": "\U0001d160\u0300 ",
    "addresses": "http://a.",
    "markup": "<a href='#'>&amp;</a>",
}


def _repeated(unit: str, size: int) -> str:
    return unit * (size // len(unit.encode("utf-8", "surrogatepass")))


def _filled(pieces: Iterable[str], size: int) -> str:
    """As many pieces as fit; each is one character or more."""

    def fitting() -> Iterator[str]:
        left = size
        for piece in pieces:
            left -= len(piece.encode("utf-8", "surrogatepass"))
            if left < 0:
                return
            yield piece

    return "".join(fitting())


def _random_words(alphabet: Sequence[str], shortest: int, longest: int, size: int) -> str:
    """Distinct words, as good as all of them."""
    draw = random.Random(0)
    return _filled(
        ("".join(draw.choices(alphabet, k=draw.randint(shortest, longest))) + " " for _ in count()), size
    )


def _characters(first: int, beyond: int, between: str, size: int) -> str:
    return _filled((chr(code) + between for code in cycle(range(first, beyond))), size)


def _random_characters(between: str, codes: range, size: int) -> str:
    draw = random.Random(1)
    return _filled((chr(draw.choice(codes)) + between * (draw.random() < 0.2) for _ in count()), size)


def _random_marks(size: int) -> str:
    draw = random.Random(2)
    marks = [*range(0x300, 0x370), *range(0x591, 0x5BE), *range(0x64B, 0x660), 0xFB1E, 0xFF9E, 0xFF9F]
    return _filled((chr(draw.choice(marks)) for _ in count()), size)


def _numbers(size: int) -> str:
    return _filled((f"{number} " for number in count()), size)


SHAPES: dict[str, Callable[[int], str]] = {
    **{name: partial(_repeated, unit) for name, unit in REPEATED.items()},
    "distinct words": partial(_random_words, LATIN, 3, 12),
    "distinct short words": partial(_random_words, LATIN, 3, 4),
    "distinct long words": partial(_random_words, LATIN, 60, LONGEST_WORD),
    "distinct capitals": partial(_random_words, LATIN.upper(), 3, 12),
    "distinct Cyrillic words": partial(_random_words, CYRILLIC, 3, 12),
    "distinct Greek words": partial(_random_words, GREEK, 3, 12),
    "distinct accented words": partial(_random_words, ACCENTED, 3, 12),
    "distinct ideographs": partial(_random_words, [chr(code) for code in range(0x4E00, 0xA000)], 1, 20),
    "distinct syllables": partial(_random_words, [chr(code) for code in range(0xAC00, 0xD7A4)], 1, 8),
    "distinct composed words": partial(_random_words, COMPOSED, 3, 12),
    "random ideographs": partial(_random_characters, "", range(0x4E00, 0xA000)),
    "numbers": _numbers,
    "random marks": _random_marks,
    "all of the basic plane": partial(_characters, 0, 0x10000, ""),
    "all of the basic plane, and blanks": partial(_characters, 0, 0x10000, " "),
    "all beyond it": partial(_characters, 0x10000, 0x110000, ""),
    "letters beyond it": partial(_characters, 0x10000, 0x323B0, " "),
    "random characters": partial(_random_characters, "", range(0x110000)),
    "random characters, and blanks": partial(_random_characters, " ", range(0x110000)),
    "random shapes": partial(_random_characters, "", range(0xFB00, 0xFE00)),
    "random shapes and letters": partial(_random_characters, "ab", range(0xFDF0, 0xFDFC)),
}
