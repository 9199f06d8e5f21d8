"""Labels in one cell of a table: lists, labels with a separator between them, or one label.

What joins labels is decided once, over all cells of a column. Where it is not clear it is asked for: a wrong
guess makes one label of many, or many of one, and nobody would notice.
"""

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from funnelling.errors import InputError
from funnelling.formats.document import MISSING, NO_LABEL, quoted, split_labels
from funnelling.formats.layout import NONE_WORD, Layout

NO_WORDS = ("None", "none", "-", "--", "?")  # which may be labels, or say that there is none
BRACKETS = {"[": "]", "(": ")", "{": "}"}
OWN_SEPARATOR = "|"
# How large a share of the pieces must be found in other cells as well, to say that a separator joins labels.
MIN_SHARED_PIECES = {"\n": 0.25, OWN_SEPARATOR: 0.0, ";": 0.25, ",": 0.5}
# Share of the recurring labels: the parts of a name, as in "Doe, John", each have their place
MIN_MOVED_PIECES = 0.2
# Documents per cell: labels that go together so often, and never otherwise, are one label
MIN_DOCUMENTS_PER_CELL = 3

_WORDS = {"\\n": "\n", "\\t": "\t"}  # as a command line has them
_WHOLE = re.compile(r"([+-]?\d+)\.0{1,2}", re.ASCII)  # three zeros may be thousands
_DIGITS = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?", re.ASCII)
_LIKE_A_LIST = re.compile(
    r"\[[^\]]*\]|\{[^}]*\}|(?:np\.|numpy\.)?(?:array|frozenset|set|list|tuple)\([\[({].*\)", re.DOTALL
)
_NO_COMMA = re.compile(r"""['"]\s+['"]""")


@dataclass(frozen=True)
class LabelCells:
    """How to read the cells of a column; ``separator`` is `NONE_WORD` where each is one label."""

    separator: str = OWN_SEPARATOR
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
        listed = read_list(cell) if self.separator != NONE_WORD or cell == NO_LABEL else None
        if listed is not None:
            return listed
        pieces = _pieces(cell, self.separator)
        return list(map(_shortened, pieces)) if self.whole_numbers else pieces

    def says_none(self, cell: str) -> bool:
        """Whether a cell holds the user's word for no label, in any case; 0.0 is 0."""
        word = self.no_label
        return word is not None and (cell.casefold() == word.casefold() or _shortened(cell) == word)


def _pieces(cell: str, separator: str) -> list[str]:
    if separator == NONE_WORD:
        return [cell]
    pieces = split_labels(cell) if separator == OWN_SEPARATOR else cell.split(separator)
    return [piece.strip() for piece in pieces if piece.strip()]


def _shortened(label: str) -> str:
    return whole[1] if (whole := _WHOLE.fullmatch(label)) else label


def find_label_cells(cells: Mapping[str, int], layout: Layout, place: str) -> LabelCells:
    """How to read the cells of a column, each with how many documents have it; ``place`` is for messages.

    >>> find_label_cells({"45;71": 3, "45": 8, "71;12": 2, "12": 1}, Layout(), "docs.csv").separator
    ';'
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
            if given is None and _LIKE_A_LIST.fullmatch(stripped):
                raise InputError(
                    f"{place}: {quoted(stripped)} looks like a list of labels, but cannot be read as one. "
                    "Quote the labels in it, or add --label-separator none if it is one label."
                )
            plain[stripped] += documents
    separator = _separator(plain, place) if given is None else _WORDS.get(given, given)
    missing = sorted({cell.strip() for cell in cells if not asked.says_none(cell.strip())} & MISSING)
    found = [f"{', '.join(missing)} taken for no answer"] if missing else []
    words = [word for word in NO_WORDS if word in plain]
    found += [f"{word} is a label (--no-label {word} if it says that there is none)" for word in words]
    with_comma = [quoted(cell) for cell in plain if "," in cell][:1]
    if given is None and separator != OWN_SEPARATOR:
        found.append(f"labels divided at {quoted(separator)}")
    elif given is None:
        remedy = "is part of it (--label-separator ',' if it joins labels)"
        found += [f'"," in {cell} {remedy}' for cell in with_comma]
    pieces = {piece for cell in plain for piece in _pieces(cell, separator)}
    whole = any(map(_WHOLE.fullmatch, pieces)) and all(map(_DIGITS.fullmatch, map(_shortened, pieces)))
    found += ["labels are whole numbers"] * whole
    return LabelCells(separator, layout.no_label, whole, found)


def _separator(cells: Mapping[str, int], place: str) -> str:
    """What joins labels in cells that are no lists."""
    if all(_WHOLE.fullmatch(cell) for cell in cells):
        return OWN_SEPARATOR
    for separator in MIN_SHARED_PIECES:
        joins = _joins(separator, cells)
        if joins is None:
            cell = next(cell for cell in cells if separator in cell)
            option = "--label-separator " + ("'\\n'" if separator == "\n" else f"'{separator}'")
            raise InputError(
                f"{place}: does the {quoted(separator)} in {quoted(cell)} join labels? Add {option} if it "
                "does, --label-separator none if it is part of a label."
            )
        if joins:
            labels: Counter[str] = Counter()
            for cell, documents in cells.items():
                labels.update(dict.fromkeys(_pieces(cell, separator), documents))
            for other in MIN_SHARED_PIECES:
                if other != separator and _joins(other, labels):
                    raise InputError(
                        f"{place}: both {quoted(separator)} and {quoted(other)} seem to join labels. Use one "
                        "of them, or say which with --label-separator."
                    )
            return separator
    return OWN_SEPARATOR


def _joins(separator: str, cells: Mapping[str, int]) -> bool | None:
    """Whether a separator joins labels, None where that is not clear.

    ``shared`` is the share of pieces of joined cells that are in other cells as well, ``moved`` the share of
    those that are first in one cell and not in another.
    """
    joined = [cell for cell in cells if separator in cell]
    if not joined:
        return False
    pieces = {cell: _pieces(cell, separator) for cell in cells}
    cells_with = Counter(piece for each in pieces.values() for piece in set(each))
    of_joined = [piece for cell in joined for piece in set(pieces[cell])]
    recurring = {piece for piece in of_joined if cells_with[piece] > 1}
    shared = sum(piece in recurring for piece in of_joined) / max(1, len(of_joined))
    if separator == ",":
        first = {each[0] for each in pieces.values() if each}
        later = {piece for each in pieces.values() for piece in each[1:]}
        moved = len(recurring & first & later) / max(1, len(recurring))
        decimals = all(map(_NUMBER.fullmatch, joined))
        if (
            not decimals
            and not shared
            and sum(cells[cell] for cell in joined) >= MIN_DOCUMENTS_PER_CELL * len(joined)
        ):
            return False
        if decimals or moved < MIN_MOVED_PIECES:
            return None
    return True if shared >= MIN_SHARED_PIECES[separator] else None


def read_list(cell: str) -> list[str] | None:
    """The labels of a list as JSON or Python writes it, None where a cell is no such list.

    >>> read_list('["a", "b"]'), read_list("('a',)"), read_list("[45, 71.0]"), read_list("[draft] note")
    (['a', 'b'], ['a'], ['45', '71'], None)
    """
    if len(cell) < 2 or BRACKETS.get(cell[0]) != cell[-1] or cell == "()":
        return None
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            values = None if _NO_COMMA.search(cell) else ast.literal_eval(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    if not isinstance(values, list | tuple | set):
        return None
    labels = [_label(value) for value in (sorted(values, key=str) if isinstance(values, set) else values)]
    return labels if all(labels) else None


def _label(value: object) -> str:
    """What a value of a list is called, "" where it is no label."""
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else str(value)
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
