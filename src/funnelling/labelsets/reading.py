"""Sets of labels from files: tables, JSON, and vocabularies in SKOS."""

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from funnelling.errors import InputError, naming
from funnelling.formats import read_rows
from funnelling.formats.document import quoted, split_labels
from funnelling.formats.encoded import TextFile
from funnelling.formats.files import STANDARD, shown_name
from funnelling.formats.layout import is_flag
from funnelling.formats.parquet import encodable
from funnelling.labelsets.label_set import UNTAGGED, Label, LabelSet
from funnelling.text.languages import normalise_tag

NAME = "name"
MARKS = ("_", "@", ":", " ")  # between it and a language, in the name of a column
FIELDS = ("id", NAME, "names", "description", "parent", "parents", "exclude")
NEAR = 0.85  # the likeness of a field that is passed over from which on one of these is meant
LONGEST = 100_000  # characters of a name or a description
CURE = "Give each label an id, and as you like name_en (and other languages), description, parent, exclude"


def read_label_set(path: str | os.PathLike[str], labels: Sequence[str] = ()) -> LabelSet:
    """The labels of a file: what they are called, what they belong to, which are not to be assigned.

    A table (.csv, .tsv, .xlsx, .ods, .parquet) has the columns ``id``, ``name`` or ``name_en``, ``name_de``
    and so on, ``description``, ``parent`` (several are joined by ``|``) and ``exclude`` (yes or no), of
    which only the first is needed. Objects of JSON have the same, or ``names`` by language and a list of
    ``parents``. Vocabularies in SKOS (.ttl, .nt, .rdf) need rdflib.

    Parameters
    ----------
    path : the file; .csv, .tsv, .jsonl and vocabularies also with .gz
    labels : those of documents, or of a model. A concept of a vocabulary is called by its address, unless
        more of these are its notation, or the last part of its address

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "labels.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("id,name_en,name_it,parent\\nanimals,Animals,,\\ncats,Cats,Gatti,animals\\n")
    ...     labels = read_label_set(path)
    >>> labels["cats"]
    Label(id='cats', names={'en': 'Cats', 'it': 'Gatti'}, description='', parents=('animals',), exclude=False)
    """
    name = shown_name(path)
    ending = Path(path).name.lower().removesuffix(".gz").rpartition(".")[2]
    if os.fspath(path) == STANDARD:
        raise InputError("labels are not read from standard input. Name a file of them.")
    if ending in ("ttl", "nt", "rdf"):
        from funnelling.labelsets.skos import read_skos

        text = TextFile(path).text()
        with naming(name):
            return LabelSet.of(map(_short, read_skos(text, ending, labels)))
    entries = list(_entries(path, name))
    if not entries:
        raise InputError(f"{name}: no labels in it. {CURE}.")
    with naming(name):
        return LabelSet.of(entries)


def _entries(path: str | os.PathLike[str], name: str) -> Iterator[Label]:
    table = read_rows(path)
    if table.columns is not None and "id" not in map(_plain, table.columns):
        raise InputError(f'{name}: no column "id". {CURE}.')
    seen: set[str] = set()
    for number, row in table.rows():
        with naming(f"{name}:{number}"):
            _check_spelling(row.keys() - seen)
            seen |= row.keys()
            plain = {_plain(key): value for key, value in row.items()}
            if len(plain) < len(row):
                twice = next(key for key, times in Counter(map(_plain, row)).items() if times > 1)
                raise InputError(f"{quoted(twice)} is there twice. Keep one.")
            yield _label(plain, table.columns is not None)


def _check_spelling(columns: Iterable[str]) -> None:
    """Refuse columns that would be passed over though one that is read is meant."""
    for column in sorted(map(_plain, columns)):
        known = column in FIELDS or (column.startswith(NAME) and column[len(NAME)] in MARKS)
        field = re.split(f"[{''.join(MARKS)}]", column)[0]
        meant = difflib.get_close_matches(field, FIELDS, n=1, cutoff=NEAR)
        if not known and meant and field != meant[0]:
            raise InputError(f"{quoted(column)}: is {quoted(meant[0])} meant? Rename it, or take it out.")


def _plain(column: str) -> str:
    return column.strip().casefold()


def _label(row: Mapping[str, Any], in_cells: bool) -> Label:
    label = _text(row.get("id"), "id")
    if not label:
        raise InputError(f'"id" is missing. {CURE}.')
    try:
        exclude = bool(is_flag(row.get("exclude")))
    except ValueError:
        raise InputError('"exclude" must be yes or no, true or false, or empty. Correct it.') from None
    return Label(
        label, _names(row), _text(row.get("description"), "description"), _parents(row, in_cells), exclude
    )


def _names(row: Mapping[str, Any]) -> dict[str, str]:
    """The names of a label by language, in a field for each, or in one for all."""
    found: dict[str, str] = {}
    for key, value in row.items():
        if key == "names" or (key == NAME and isinstance(value, Mapping)):
            if not isinstance(value, Mapping | None):
                raise InputError('"names" must be an object of names by language. Use "name" for one name.')
            given = {str(tag): each for tag, each in (value or {}).items()}
        elif key == NAME:
            given = {UNTAGGED: value}
        elif key.startswith(NAME) and key[len(NAME) : len(NAME) + 1] in MARKS:
            given = {key[len(NAME) + 1 :]: value}
        else:
            continue
        for tag, each in given.items():
            language, text = normalise_tag(tag), _text(each, key)
            if text and found.setdefault(language, text) != text:
                raise InputError(f"two names in {quoted(language)}. Keep one.")
    return found


def _parents(row: Mapping[str, Any], in_cells: bool) -> tuple[str, ...]:
    found: list[str] = []
    for key in ("parent", "parents"):
        value = row.get(key)
        if isinstance(value, list | tuple):
            found += [_text(each, key) for each in value]
        else:
            text = _text(value, key)
            found += split_labels(text) if in_cells else [text]
    return tuple(dict.fromkeys(parent.strip() for parent in found if parent.strip()))


def _short(label: Label) -> Label:
    """A label of a vocabulary, of which no text is too long."""
    for text in (label.id, label.description, *label.names.values()):
        if len(text) > LONGEST:
            raise InputError(
                f"label {quoted(label.id)}: a text of more than {LONGEST:,} characters. Shorten it."
            )
    return label


def _text(value: Any, field: str) -> str:
    """A field as text, empty where it is missing."""
    if value is None or value != value:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise InputError(f'"{field}" must be a text. Quote it.')
    text = encodable(str(value).strip())
    if len(text) > LONGEST:
        raise InputError(f'"{field}" has more than {LONGEST:,} characters. Shorten it.')
    return text
