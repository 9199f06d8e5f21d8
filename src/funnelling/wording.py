"""Phrases that messages and tables share, and texts of others that are fit to stand among them."""

import unicodedata


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "label"), counted(2_000, "label")
    ('1 label', '2,000 labels')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """A text on one line, of as many characters, that tells a terminal nothing else.

    >>> printable("two\\nlines, \\x1b[31mred")
    'two lines, \ufffd[31mred'
    """
    return "".join(map(_printed.__getitem__, text))


class _Printed(dict[str, str]):
    """What stands for each character on a terminal."""

    def __missing__(self, character: str) -> str:
        kept = unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        self[character] = character if kept else " " if character.isspace() else "\ufffd"
        return self[character]


_printed = _Printed()
