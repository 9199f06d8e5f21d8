"""Labels in one cell of a table: lists, labels with a separator between them, or one label.

What joins labels is decided once, over all cells of a column. Where it is not clear it is asked for: a wrong
guess makes one label of many, or many of one, and nobody would notice.
"""

import ast
import csv
import io
import json
import math
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from funnelling.errors import InputError
from funnelling.formats.document import MISSING, NO_LABEL, quoted, split_labels
from funnelling.formats.layout import NONE, Layout

NO_WORDS = ("None", "none", "-", "--", "?")  # which may be labels, or say that there is none
BRACKETS = {"[": "]", "(": ")", "{": "}"}
OWN = "|"
# How large a share of the pieces must be found in other cells as well, to say that a separator joins labels.
LEAST_SHARED = {"\n": 0.25, OWN: 0.0, ";": 0.25, ",": 0.5}
UNUSUAL = ("/", " ", "+", "&", "#")  # asked about where nearly all of their pieces are
ALL_SHARED = 0.9
# Of a name's parts, as in "Doe, John", each has its place; of the recurring labels of lists, some are both
# first and further back.
LEAST_MOVED = 0.2
OFTEN = 3  # documents per cell: labels that go together so often, and never otherwise, are one label

_WORDS = {"\\n": "\n", "\\t": "\t"}  # as they are written on a command line
_WHOLE = re.compile(r"([+-]?\d+)\.0{1,2}", re.ASCII)  # three zeros may be thousands
_DIGITS = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?", re.ASCII)
_NUMPY_NUMBER = re.compile(r"-?\d+(?:\.\d*)?", re.ASCII)
_WRAPPER = re.compile(r"(?:(?:np|numpy)\.)?(?:array|frozenset|set|list|tuple)\(")
_SCALAR = re.compile(r"\b(?:np|numpy)\.\w+\((\"[^\"]*\"|'[^']*'|[^()'\"]*)\)")


@dataclass(frozen=True)
class LabelCells:
    """How to read the cells of a column; ``separator`` is `NONE` where each is one label."""

    separator: str = OWN
    no_label: str | None = None
    whole_numbers: bool = False  # 45.0 is 45
    found: Sequence[str] = field(default=(), compare=False)

    def read(self, cell: str) -> list[str] | None:
        """The labels in a cell, None in an empty one.

        >>> cells = LabelCells(";", no_label="-")
        >>> [cells.read(cell) for cell in ("news; sport;", "['a', 'b']", "[]", "-", " ", "NaN")]
        [['news', 'sport'], ['a', 'b'], [], [], None, None]
        """
        cell = cell.strip()
        if self.says_none(cell):
            return []
        if not cell or cell in MISSING:
            return None
        listed = read_list(cell) if self.separator != NONE or cell == NO_LABEL else None
        if listed is not None:
            return listed
        pieces = _pieces(cell, self.separator)
        return list(map(_shortened, pieces)) if self.whole_numbers else pieces

    def says_none(self, cell: str) -> bool:
        """Whether a cell holds the user's word for no label, in any case; 0.0 is 0."""
        if self.no_label is None:
            return False
        return cell.casefold() == self.no_label.casefold() or _shortened(cell) == self.no_label


def _pieces(cell: str, separator: str) -> list[str]:
    if separator == NONE:
        return [cell]
    pieces = split_labels(cell) if separator == OWN else cell.split(separator)
    return [piece.strip() for piece in pieces if piece.strip()]


def _shortened(label: str) -> str:
    whole = _WHOLE.fullmatch(label)
    return whole[1] if whole else label


def find_label_cells(cells: Mapping[str, int], layout: Layout, place: str) -> LabelCells:
    """How to read the cells of a column, each with how many documents have it; ``place`` is for messages.

    >>> find_label_cells({"45;71": 3, "45": 8, "71;12": 2, "12": 1}, Layout(), "docs.csv").separator
    ';'
    >>> find_label_cells({"Food, Drink": 30, "Arts, Music": 25}, Layout(), "docs.csv").separator
    '|'
    >>> find_label_cells({"a, b": 1, "c": 1}, Layout(), "docs.csv")
    Traceback (most recent call last):
    funnelling.errors.InputError: docs.csv: does the "," in "a, b" join labels? Add --label-separator ',' \
if it does, --label-separator none if it is part of a label.
    """
    given = layout.label_separator
    asked = LabelCells(no_label=layout.no_label)
    plain: Counter[str] = Counter()
    for cell, documents in cells.items():
        stripped = cell.strip()
        if not stripped or stripped in MISSING or asked.says_none(stripped):
            continue
        if read_list(stripped) is None:
            if given is None:
                _check_list(stripped, place)
            plain[stripped] += documents
    separator = _separator(plain, place) if given is None else _WORDS.get(given, given)
    missing = sorted({cell.strip() for cell in cells if not asked.says_none(cell.strip())} & MISSING)
    found = [f"{', '.join(missing)} taken for no answer"] if missing else []
    found += [
        f"{word} is a label (--no-label {word} if it says that there is none)"
        for word in NO_WORDS
        if word in plain
    ]
    if given is None and separator != OWN:
        found.append(f"labels divided at {quoted(separator)}")
    elif given is None:
        with_comma = next((cell for cell in plain if "," in cell), None)
        if with_comma is not None:
            found.append(
                f"\",\" in {quoted(with_comma)} is part of it (--label-separator ',' if it joins labels)"
            )
    pieces = {piece for cell in plain for piece in _pieces(cell, separator)}
    whole = any(map(_WHOLE.fullmatch, pieces)) and all(map(_DIGITS.fullmatch, map(_shortened, pieces)))
    if whole:
        found.append("labels are whole numbers")
    return LabelCells(separator, layout.no_label, whole, found)


def _check_list(cell: str, place: str) -> None:
    if cell[0] in "[{" and cell[-1] == BRACKETS[cell[0]] and BRACKETS[cell[0]] not in cell[1:-1]:
        raise InputError(
            f"{place}: {quoted(cell)} looks like a list of labels, but cannot be read as one. Quote the "
            "labels in it, or add --label-separator none if it is one label."
        )


def _separator(cells: Mapping[str, int], place: str) -> str:
    """What joins labels in cells that are no lists."""
    if all(_WHOLE.fullmatch(cell) for cell in cells):
        return OWN
    for separator in LEAST_SHARED:
        joins = _joins(separator, cells)
        if joins is None:
            raise _unclear(separator, cells, place)
        if joins:
            _check_labels(separator, cells, place)
            return separator
    for separator in UNUSUAL:
        signs = _Signs(cells, separator)
        if len(signs.joined) > 1 and signs.shared >= ALL_SHARED and signs.moved >= LEAST_MOVED:
            raise _unclear(separator, cells, place)
    return OWN


def _joins(separator: str, cells: Mapping[str, int]) -> bool | None:
    """Whether a separator joins labels, None where that is not clear."""
    signs = _Signs(cells, separator)
    if not signs.joined:
        return False
    if separator == ",":
        if all(map(_NUMBER.fullmatch, signs.joined)):  # decimals
            return None
        together = sum(cells[cell] for cell in signs.joined) >= OFTEN * len(signs.joined)
        if not signs.shared and together:
            return False
        if signs.moved < LEAST_MOVED:
            return None
    return True if signs.shared >= LEAST_SHARED[separator] else None


def _check_labels(separator: str, cells: Mapping[str, int], place: str) -> None:
    """Refuse cells that are divided by more than one separator."""
    labels: Counter[str] = Counter()
    for cell, documents in cells.items():
        for label in _pieces(cell, separator):
            labels[label] += documents
    for other in LEAST_SHARED:
        if other != separator and _joins(other, labels):
            raise InputError(
                f"{place}: both {quoted(separator)} and {quoted(other)} seem to join labels. Use one of "
                "them, or say which with --label-separator."
            )


class _Signs:
    """What tells whether a separator joins labels, over distinct cells.

    ``joined`` are the cells that hold it, ``shared`` is the share of their pieces that are in other cells as
    well, ``moved`` the share of such pieces that are first in one cell and not in another.
    """

    def __init__(self, cells: Iterable[str], separator: str) -> None:
        self.joined = [cell for cell in cells if separator in cell]
        self.shared = self.moved = 0.0
        if not self.joined:
            return
        pieces = {cell: _pieces(cell, separator) for cell in cells}
        cells_with = Counter(piece for each in pieces.values() for piece in set(each))
        of_joined = [piece for cell in self.joined for piece in set(pieces[cell])]
        recurring = {piece for piece in of_joined if cells_with[piece] > 1}
        first = {each[0] for each in pieces.values() if each}
        later = {piece for each in pieces.values() for piece in each[1:]}
        self.shared = sum(piece in recurring for piece in of_joined) / max(1, len(of_joined))
        self.moved = len(recurring & first & later) / max(1, len(recurring))


def _unclear(separator: str, cells: Iterable[str], place: str) -> InputError:
    cell = next(cell for cell in cells if separator in cell)
    return InputError(
        f"{place}: does the {quoted(separator)} in {quoted(cell)} join labels? Add --label-separator "
        f"{_shown(separator)} if it does, --label-separator none if it is part of a label."
    )


def read_list(cell: str) -> list[str] | None:
    """The labels of a list as JSON, Python, NumPy or a database writes it, None where a cell is no such list.

    >>> read_list('["a", "b"]'), read_list("['a' 'b']"), read_list("[45, 71.0]"), read_list("[draft] note")
    (['a', 'b'], ['a', 'b'], ['45', '71'], None)
    >>> read_list('{news,"Food, Drink"}')
    ['news', 'Food, Drink']
    """
    cell = _unwrapped(cell)
    if len(cell) < 2 or BRACKETS.get(cell[0]) != cell[-1]:
        return None
    if "np." in cell or "numpy." in cell:
        cell = _SCALAR.sub(r"\1", cell)
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        values = _python_list(cell)
    if values is None and cell[0] == "{":
        values = _database_list(cell)
    if cell == "()" or cell == "{}":
        return None
    if not isinstance(values, list | tuple | set) or not all(_is_label(value) for value in values):
        return None
    labels = [_label(value) for value in (sorted(values, key=str) if isinstance(values, set) else values)]
    return labels if all(labels) else None


def _database_list(cell: str) -> object:
    """The texts of an array as PostgreSQL exports it."""
    inner = cell[1:-1]
    if "{" in inner or "}" in inner or ":" in inner or not inner.strip():
        return None
    try:
        return next(csv.reader([inner], escapechar="\\", skipinitialspace=True, strict=True))
    except csv.Error:
        return None


def _unwrapped(cell: str) -> str:
    """What is in the brackets of ``array([…], dtype=…)`` and the like, any other cell as it is."""
    wrapper = _WRAPPER.match(cell)
    if wrapper is None or not cell.endswith(")"):
        return cell
    inside = cell[wrapper.end() : -1]
    before, _, kind = inside.rpartition("dtype=")
    if before.rstrip().endswith(",") and not {"(", ")"} & set(kind):
        inside = before.rstrip().removesuffix(",")
    return inside.strip() or NO_LABEL


def _python_list(cell: str) -> object:
    """What Python or NumPy wrote; strings without commas between them are NumPy's, not one string."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(cell).readline))
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError, IndentationError):
        return _numpy_numbers(cell)
    strings = [token.string for token in tokens if token.type == tokenize.STRING]
    if isinstance(value, list) and len(strings) > len(value):
        if any(token.string == "," for token in tokens):
            return None
        return [ast.literal_eval(string) for string in strings]
    return value


def _numpy_numbers(cell: str) -> object:
    words = cell[1:-1].split()
    if not words or not all(map(_NUMPY_NUMBER.fullmatch, words)):
        return None
    try:
        return [float(word) if "." in word else int(word) for word in words]
    except ValueError:  # more digits than Python accepts
        return None


def _is_label(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


def _label(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _shown(separator: str) -> str:
    return "'\\n'" if separator == "\n" else f"'{separator}'"
