"""How a file holds its documents, as far as the user says; all else is found in the file."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from funnelling.errors import InputError

NONE_WORD = "none"  # of a column: there is none; of a separator: a cell is one label
FILE_FORMATS = (
    "jsonl",
    "ndjson",
    "json",
    "csv",
    "tsv",
    "xlsx",
    "xls",
    "ods",
    "parquet",
    "lines",
    "text",
    "txt",
)
MARKUP = ("html", "markdown", "quotes")  # what can be stripped from texts


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of documents are in a file. What is None or empty is found in the file, and said.

    Parameters
    ----------
    text : the column of the text, or several that are joined
    labels : the column of the labels, or one column per label that holds 0 and 1
    language, id, split, group : the columns of these fields; "none" where there is none
    file_format : where the name does not tell: "jsonl", "csv", "tsv", "xlsx", "ods", "parquet", "lines" (a
        document per line) or "text" (one document)
    encoding : of a text file, such as "cp1252"
    delimiter : between the cells of a CSV file
    header : whether the first row of a table has the names of its columns, which are 1, 2, … if not
    sheet : of a spreadsheet
    label_separator : between labels in a cell; "none" where a cell is one label
    no_label : what a cell says of a document that has no label; an empty one is unlabelled
    folders : what nested folders of text files stand for: "split", "language", "label"
    strip : what to take out of texts: "html", "markdown", "quotes" (of mails)
    detect_among : the languages that may be detected where a document has none
    default_language : the language of documents that have none
    before : the layout of an earlier file, which goes for columns of its names where this one says nothing

    Examples
    --------
    >>> Layout(text=("Title", "Body"), labels=("Category",), label_separator=";").text
    ('Title', 'Body')
    >>> Layout(strip=("xml",))
    Traceback (most recent call last):
    funnelling.errors.InputError: 'xml' cannot be stripped. Choose from html, markdown, quotes.
    """

    text: Sequence[str] = ()
    labels: Sequence[str] = ()
    language: str | None = None
    id: str | None = None
    split: str | None = None
    group: str | None = None
    file_format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True
    sheet: str | None = None
    label_separator: str | None = None
    no_label: str | None = None
    folders: Sequence[str] = ()
    strip: Sequence[str] = ()
    detect_among: Sequence[str] = ()
    default_language: str | None = None
    before: "Layout | None" = None

    def __post_init__(self) -> None:
        for field in ("text", "labels", "folders", "strip", "detect_among"):
            value = getattr(self, field)
            names = value if isinstance(value, list | tuple) else (value,)  # the one name there is
            object.__setattr__(self, field, tuple(str(name) for name in names if name is not None))
        for field in ("language", "id", "split", "group"):
            value = getattr(self, field)
            object.__setattr__(self, field, None if value is None else str(value))
        if self.file_format is not None and self.file_format not in FILE_FORMATS:
            raise InputError(
                f"there is no format {self.file_format!r}. Choose from {', '.join(FILE_FORMATS)}."
            )
        if self.label_separator == "":
            raise InputError("the label separator is empty. Name what is between labels, or none.")
        for kind in self.strip:
            if kind not in MARKUP:
                raise InputError(f"{kind!r} cannot be stripped. Choose from {', '.join(MARKUP)}.")


AS_FOUND = Layout()


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
