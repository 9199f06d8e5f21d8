"""Files that map labels to new names: a table or JSON."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from funnelling.corpus.labels import unknown_label
from funnelling.errors import InputError
from funnelling.formats import Layout, read_rows
from funnelling.formats.files import shown_name

OLD_COLUMNS = ("old", "old label", "old name", "from", "before", "label")  # what columns may be called
NEW_COLUMNS = ("new", "new label", "new name", "to", "after")
JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
LABEL_MAP_HINT = "Give each label and its new name, in two columns named old and new"
Entry = tuple[str, Any, Any]  # where it stands, the old label, the new one


def read_label_map(path: str | os.PathLike[str], labels: Sequence[Any]) -> dict[str, str]:
    """New names by label, "" for a label that is to be dropped; ``labels`` are those of the model.

    The file is a table of two columns, with a header or without (CSV, TSV, .xlsx, .ods, Parquet), objects
    with ``old`` and ``new`` (JSON Lines, or a JSON array), or one JSON object of new names by label.
    """
    name = shown_name(path)
    known = {str(label): label for label in labels}
    mapping: dict[str, str] = {}
    places: dict[str, str] = {}
    is_json = Path(path).name.lower().removesuffix(".gz").endswith(JSON_ENDINGS)
    for place, *pair in _of_json(path, name) if is_json else _of_table(path, name, known):
        old, new = (_label(value, place) for value in pair)
        if not old and not new:
            continue
        if old not in known:
            refusal = unknown_label(old, known)
            raise InputError(f"{place}: {refusal[0].lower()}{refusal[1:]}")
        if mapping.get(old, new) != new:
            raise InputError(f"{place}: {old!r} has another new name in {places[old]}. Keep one.")
        mapping[old], places[old] = new, place
    if not mapping:
        raise InputError(f"{name}: no labels in it. {LABEL_MAP_HINT}.")
    return mapping


def _of_table(path: str | os.PathLike[str], name: str, known: dict[str, Any]) -> Iterator[Entry]:
    """The rows of a table; its first one is a header if it names both columns, and no label."""
    table = read_rows(path, Layout(header=False))
    rows = [(number, list(row.values())) for number, row in table.rows()]
    columns = list(table.columns or ())
    named = columns != [str(place) for place in range(1, len(columns) + 1)]  # as those of Parquet
    if named:
        rows.insert(0, (0, list[object](columns)))
    number, first = rows[0] if rows else (0, [])
    old, new = (_place([str(cell) for cell in first], wanted) for wanted in (OLD_COLUMNS, NEW_COLUMNS))
    if old is None or new is None or (str(first[old]) in known and not named):
        if len(first) > 2:
            raise InputError(f"{name}:{number}: {len(first)} cells. {LABEL_MAP_HINT}.")
        old, new = 0, 1
    else:
        rows = rows[1:]
    for line, cells in rows:
        if len(cells) <= max(old, new):
            raise InputError(
                f"{name}:{line}: no new name beside a label. {LABEL_MAP_HINT}; an empty cell drops a label."
            )
        yield f"{name}:{line}", cells[old], cells[new]


def _place(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where one of the names wanted stands."""
    plain = [name.strip().casefold().replace("_", " ") for name in names]
    return next((plain.index(each) for each in wanted if each in plain), None)


def _of_json(path: str | os.PathLike[str], name: str) -> Iterator[Entry]:
    """The members of one object, or the objects of an array, or of lines."""
    from funnelling.formats.encoded import TextFile

    text = TextFile(path, name).text()
    try:
        yield from _of_value(json.loads(text, object_pairs_hook=_Members), name)
        return
    except json.JSONDecodeError:
        pass  # perhaps one object per line
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                value = json.loads(line, object_pairs_hook=_Members)
            except json.JSONDecodeError as error:
                raise InputError(
                    f"{name}:{number}: not JSON ({error.msg}, column {error.colno}). Write one object of new "
                    'names by label, or one {"old": …, "new": …} per line.'
                ) from None
            yield from _of_value([value], f"{name}:{number}")


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object, with names that occur twice."""


def _of_value(value: Any, place: str) -> Iterator[Entry]:
    if isinstance(value, _Members):
        row = _row(value)
        yield from [(place, *row)] if row else ((place, old, new) for old, new in value)
        return
    for number, entry in enumerate(value if isinstance(value, list) else [value], start=1):
        where = place if len(value) == 1 else f"{place}: entry {number}"
        row = _row(entry)
        if row is None:
            raise InputError(
                f'{where}: not {{"old": …, "new": …}}. Write such objects, or one of all labels.'
            )
        yield (where, *row)


def _row(members: Any) -> tuple[Any, Any] | None:
    """The old label and the new one, of an object that has members of these names."""
    if not isinstance(members, _Members) or len(members) < 2:
        return None
    old, new = (_place([key for key, _ in members], wanted) for wanted in (OLD_COLUMNS, NEW_COLUMNS))
    return None if old is None or new is None else (members[old][1], members[new][1])


def _label(value: Any, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip()
    raise InputError(f"{place}: a label must be a text, found {json.dumps(value)}. Quote it.")
