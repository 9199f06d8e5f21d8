"""Labels in one cell of a table: lists, labels with a separator between them, or one label.

What joins labels is decided once, over all cells of a column. Where it is not clear it is asked for: a wrong
guess makes one label of many, or many of one, and nobody would notice.
"""

import ast
import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from funnelling.errors import InputError
from funnelling.formats.document import NO_LABEL, quoted, split_labels
from funnelling.formats.layout import NONE, Layout

# What spreadsheets and libraries write for a cell that is empty.
MISSING = frozenset({"nan", "NaN", "<NA>", "#N/A", "N/A", "n/a", "null", "NULL"})
BRACKETS = {"[": "]", "(": ")", "{": "}"}
OWN = "|"
# How large a share of the pieces must be found in other cells as well, to say that a separator joins labels.
LEAST_SHARED = {"\n": 0.25, ";": 0.25, ",": 0.5}
OFTEN = 3  # documents per cell: labels that go together so often, and never otherwise, are one label

_WHOLE = re.compile(r"([+-]?\d+)[.,]0+", re.ASCII)
_TRUE = frozenset({"1", "1.0", "1,0", "true", "yes", "y", "x", "ja", "oui", "si", "sì", "sí"})
_FALSE = frozenset({"0", "0.0", "0,0", "false", "no", "n", "nein", "non"})


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
        if cell == self.no_label:
            return []
        if not cell or cell in MISSING:
            return None
        listed = read_list(cell) if self.separator != NONE or cell == NO_LABEL else None
        if listed is not None:
            return listed
        if self.separator == NONE:
            return [cell]
        pieces = split_labels(cell) if self.separator == OWN else cell.split(self.separator)
        labels = [piece.strip() for piece in pieces if piece.strip()]
        return [self._shortened(label) for label in labels] if self.whole_numbers else labels

    def _shortened(self, label: str) -> str:
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
    if layout.label_separator is not None:
        return LabelCells(layout.label_separator, layout.no_label)
    plain: Counter[str] = Counter()
    for cell, documents in cells.items():
        stripped = cell.strip()
        if (
            stripped
            and stripped not in MISSING
            and stripped != layout.no_label
            and read_list(stripped) is None
        ):
            plain[stripped] += documents
    missing = sorted({cell.strip() for cell in cells} & MISSING)
    found = [f"{', '.join(missing)} taken for no answer"] if missing else []
    separator = _separator(plain, place)
    if separator != OWN:
        found.append(f"labels divided at {quoted(separator)}")
    whole = bool(plain) and all(_WHOLE.fullmatch(cell) for cell in plain)
    if whole:
        found.append("labels are whole numbers")
        separator = OWN
    return LabelCells(separator, layout.no_label, whole, found)


def _separator(cells: Mapping[str, int], place: str) -> str:
    if all(_WHOLE.fullmatch(cell) for cell in cells) or any(OWN in cell for cell in cells):
        return OWN
    for separator, enough in LEAST_SHARED.items():
        joined, shared = _shared_pieces(cells, separator)
        if not joined:
            continue
        if shared >= enough:
            return separator
        if shared or sum(cells[cell] for cell in joined) < OFTEN * len(joined):
            raise InputError(
                f"{place}: does the {quoted(separator)} in {quoted(joined[0])} join labels? Add "
                f"--label-separator {_shown(separator)} if it does, --label-separator none if "
                "it is part of a label."
            )
    return OWN


def _shared_pieces(cells: Mapping[str, int], separator: str) -> tuple[list[str], float]:
    """The cells that hold a separator, and the share of their pieces that are in other cells as well."""
    pieces = {cell: {piece.strip() for piece in cell.split(separator)} - {""} for cell in cells}
    cells_with = Counter(piece for each in pieces.values() for piece in each)
    joined = [cell for cell in cells if separator in cell]
    of_joined = [piece for cell in joined for piece in pieces[cell]]
    return joined, sum(cells_with[piece] > 1 for piece in of_joined) / max(1, len(of_joined))


def read_list(cell: str) -> list[str] | None:
    """The labels of a list as JSON, Python or NumPy write it, None where a cell is no such list.

    >>> read_list('["a", "b"]'), read_list("['a' 'b']"), read_list("[45, 71.0]"), read_list("[draft] note")
    (['a', 'b'], ['a', 'b'], ['45', '71'], None)
    """
    if len(cell) < 2 or BRACKETS.get(cell[0]) != cell[-1]:
        return None
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        values = _python_list(cell)
    if cell == "()" or cell == "{}":
        return None
    if not isinstance(values, list | tuple | set) or not all(_is_label(value) for value in values):
        return None
    labels = [_label(value) for value in (sorted(values, key=str) if isinstance(values, set) else values)]
    return labels if all(labels) else None


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
    return [int(word) for word in words] if words and all(word.isdecimal() for word in words) else None


def _is_label(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _label(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def is_flag(value: object) -> bool | None:
    """Whether a cell of a column that stands for one label says yes or no; None where it is empty.

    >>> [is_flag(value) for value in (1, "0.0", True, "x", "", None)]
    [True, False, True, True, None, None]
    """
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return None
    word = str(value).strip().casefold()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(value)


def flag_columns(rows: Iterable[Mapping[str, object]], names: Iterable[str]) -> list[str]:
    """Those columns that hold nothing but yes and no, each at least once.

    >>> flag_columns([{"a": "1", "b": "0", "c": "7"}, {"a": "0", "b": "1", "c": "1"}], "abc")
    ['a', 'b']
    """
    seen: dict[str, set[bool | None]] = {name: set() for name in names}
    for row in rows:
        for name in list(seen):
            try:
                seen[name].add(is_flag(row.get(name)))
            except ValueError:
                del seen[name]
        if not seen:
            break
    return [name for name, values in seen.items() if True in values and len(values) > 1]


def _shown(separator: str) -> str:
    return "'\\n'" if separator == "\n" else f"'{separator}'"
