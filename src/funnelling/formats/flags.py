"""Columns of yes and no, one per label."""

from collections import Counter
from collections.abc import Iterable, Mapping

_TRUE = frozenset({"1", "1.0", "1,0", "true", "yes", "y", "x", "ja", "oui", "si", "sì", "sí"})
_FALSE = frozenset({"0", "0.0", "0,0", "false", "no", "n", "nein", "non"})


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


def flag_columns(rows: Iterable[Mapping[str, object]], names: Iterable[str]) -> dict[str, set[bool | None]]:
    """Those columns that hold nothing but yes and no, and what of it; None stands for empty cells.

    >>> flag_columns([{"a": "1", "b": "x", "c": "7"}, {"a": "0", "b": "X", "c": "1"}], "abc")
    {'a': {False, True}, 'b': {True}}
    """
    seen: dict[str, set[bool | None]] = {name: set() for name in names}
    present: Counter[str] = Counter()
    count = 0
    for row in rows:
        count += 1
        # Rows may lack most of the columns, or have many that are none of these.
        for name in [name for name in row if name in seen] if len(row) < len(seen) else list(seen):
            if name in row:
                present[name] += 1
                try:
                    seen[name].add(is_flag(row[name]))
                except ValueError:
                    del seen[name]
        if not seen:
            break
    for name, values in seen.items():
        if present[name] < count:
            values.add(None)
    return {name: values for name, values in seen.items() if values - {None}}
