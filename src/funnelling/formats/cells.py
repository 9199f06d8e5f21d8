"""Values as the text of a cell, which a spreadsheet opens without running anything."""

import json
import re

_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?%?", re.ASCII)
_COMMANDS = ("=", "+", "-", "@", "\t", "\r")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REPLACEMENT = "\ufffd"


def is_number(cell: str) -> bool:
    """Whether a cell is a number and nothing else.

    >>> is_number("-.05"), is_number("1e-6"), is_number(".5 ± .1"), is_number("")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(cell) is not None


def defused(cell: str) -> str:
    """A cell that a spreadsheet does not take for a formula.

    >>> defused("=1+1"), defused("-1"), defused("cats")
    ("'=1+1", '-1', 'cats')
    """
    return f"'{cell}" if cell.startswith(_COMMANDS) and not is_number(cell) else cell


def as_text(value: object) -> str:
    """A value as text: nothing for what is missing, JSON for lists and objects.

    >>> as_text(None), as_text(True), as_text(0.25), as_text(["a", {"b": 1}])
    ('', 'true', '0.25', '["a", {"b": 1}]')
    """
    match value:
        case None:
            return ""
        case str():
            return encodable(value)
        case bool():
            return str(value).lower()
        case float():
            return "" if value != value else repr(value)
        case bytes():
            return value.decode(errors="backslashreplace")
        case list() | tuple() | dict():
            return encodable(json.dumps(value, ensure_ascii=False, default=as_text))
        case _:
            return str(value)


def encodable(text: str) -> str:
    """Text without halves of surrogate pairs, which JSON can spell and no encoding can write."""
    return text if text.isascii() else _SURROGATE.sub(_REPLACEMENT, text)


def printable(text: str) -> str:
    r"""Text with line ends as spreadsheets have them, and without other control characters, which XML lacks.

    >>> printable("a\r\nb\x01")
    'a\nb�'
    """
    return _CONTROL.sub(_REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def without_nul(text: str) -> str:
    """Text without NUL, which most readers of text files stumble on."""
    return text.replace("\0", _REPLACEMENT)
