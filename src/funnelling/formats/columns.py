"""Which columns of a file hold which fields of documents: as the user says, or by their names."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from funnelling.errors import InputError, did_you_mean
from funnelling.formats.document import quoted
from funnelling.formats.layout import AS_FOUND, NONE_WORD, Layout

# Names by which a column is known, whatever their case; our own comes first.
# fmt: off
COLUMN_NAMES = {
    "text": (
        "text", "body", "content", "contents", "message", "document", "description", "abstract", "sentence",
        "review", "comment", "tweet", "post", "article", "utterance", "full_text", "texte", "testo", "texto",
        "review_body", "review_text", "beschreibung", "nachricht", "inhalt", "contenu", "contenuto",
        "contenido", "descrizione", "descripcion",
    ),
    "labels": (
        "labels", "label", "category", "categories", "class", "classes", "tag", "tags", "topic", "topics",
        "target", "targets", "intent", "sentiment", "subjects", "kategorie", "kategorien", "categoria",
    ),
    "language": (
        "language", "lang", "language_code", "lang_code", "locale", "sprache", "langue", "idioma", "lingua",
    ),
    "id": (
        "id", "_id", "nr", "doc_id", "docid", "document_id", "identifier", "uuid", "guid", "ticket_id",
        "ticket_nr", "case_id", "record_id", "row_id",
    ),
    "split": ("split",),
    "group": ("group", "group_id"),
}
# fmt: on
TITLE_COLUMNS = ("title", "headline", "heading", "titel", "titre", "titolo", "titulo")
MAIL_TITLES = {"subject": ("body", "message", "content"), "betreff": ("text", "body")}  # beside which texts
_KNOWN = frozenset(
    (*(name for names in COLUMN_NAMES.values() for name in names), *TITLE_COLUMNS, *MAIL_TITLES)
)
_SINGLE = ("id", "language", "split", "group")  # fields that one column holds as it is
_MAX_NAME_CHARACTERS = 100  # of a column; what is longer is a text
COLUMN_FLAGS = {field: f"--{field}-column" for field in COLUMN_NAMES}


@dataclass(frozen=True)
class Columns:
    """The columns of each field: those of the text are joined, several of labels hold 0 and 1 each."""

    text: tuple[str, ...]
    labels: tuple[str, ...]
    language: str | None
    id: str | None
    split: str | None
    group: str | None
    yes_or_no: bool = False  # the one column of labels is one of 0 and 1, too

    @cached_property
    def single(self) -> list[tuple[str, str]]:
        """The fields that one column holds as it is, with its name."""
        return [(field, getattr(self, field)) for field in _SINGLE if getattr(self, field) is not None]

    @cached_property
    def label_places(self) -> dict[str, int]:
        """The columns of labels with their order."""
        return {name: place for place, name in enumerate(self.labels)}

    def replaces(self, earlier: "Columns") -> str | None:
        """A field that came from a column earlier which is none of its columns any more."""
        for field in COLUMN_NAMES:
            before, now = _listed(getattr(earlier, field)), _listed(getattr(self, field))
            if not set(before) <= set(now):
                return field
        return None

    def taken(self) -> set[str]:
        """All columns that hold a field."""
        return {*self.text, *self.labels, *(name for _, name in self.single)}

    def described(self) -> list[str]:
        """What is worth saying: the fields that are not in columns of their own names."""
        said = []
        for field in COLUMN_NAMES:
            names = _listed(getattr(self, field))
            if names and names != (field,):
                shown = [quoted(name) for name in names]
                joined = " + ".join(shown) if field == "text" else _some(shown)
                said.append(f"{field} from {joined}")
        return said


def _listed(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value or ()


def find_columns(
    names: Sequence[str], layout: Layout, place: str, labels: bool = True, texts: bool = True
) -> Columns:
    """Which of a file's columns hold which fields; ``place`` is the file, for messages.

    Without ``labels``, nobody needs to know which columns hold those. Without ``texts``, a column of ids is
    enough.

    >>> found = find_columns(["ID", "Titel", "Text", "Kategorie", "lang"], Layout(), "docs.csv")
    >>> found.text, found.labels, found.language
    (('Titel', 'Text'), ('Kategorie',), 'lang')
    >>> find_columns(["Frage", "Antwort"], Layout(), "docs.csv")
    Traceback (most recent call last):
    funnelling.errors.InputError: docs.csv: which column holds the text? There are "Frage", "Antwort". \
Name it with --text-column.
    """
    found = _Found(names, layout, place)
    return Columns(
        text=found.text(optional=not texts),
        labels=found.labels() if labels else (),
        language=found.one("language"),
        id=found.one("id"),
        split=found.one("split"),
        group=found.one("group"),
    )


def known_names(header: Iterable[str], layout: Layout = AS_FOUND) -> int:
    """How many fields the names of a header tell, and how many of its columns the user names.

    >>> known_names(["Lang", "Body", "colour"]), known_names(["Frage", "Thema"], Layout(text="Frage"))
    (2, 1)
    """
    plain = {_plain(name) for name in header}
    given = (*layout.text, *layout.labels, layout.language, layout.id, layout.split, layout.group)
    told = sum(any(name in plain for name in names) for names in (*COLUMN_NAMES.values(), TITLE_COLUMNS))
    return told + sum(name is not None and _plain(name) in plain for name in given)


def may_matter(name: str, layout: Layout) -> bool:
    """Whether a column of this name could hold a field, flags aside."""
    plain = _plain(name)
    given = (*layout.text, *layout.labels, layout.language, layout.id, layout.split, layout.group)
    return plain in _KNOWN or any(
        plain in (_plain(each), *map(_plain, each.split(","))) for each in given if each is not None
    )


def is_label_name(name: str) -> bool:
    """Whether a column of this name is one of labels, rather than one of a label."""
    return _plain(name) in COLUMN_NAMES["labels"]


def header_names(header: Iterable[str]) -> list[str]:
    """The names of a table's columns, those of columns without one after their place, none at the end.

    >>> header_names(["text ", "", "label", ""])
    ['text', 'column 2', 'label']
    """
    names = [name.strip() for name in header]
    while names and not names[-1]:  # spreadsheets save empty columns, too
        names.pop()
    return [name or f"column {place}" for place, name in enumerate(names, start=1)]


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names of columns for which several may have the same one, so that none is lost.

    >>> distinct_names(["text", "note", "note", "note.2"])
    ['text', 'note', 'note.3', 'note.2']
    """
    taken = set(names)
    times: Counter[str] = Counter()
    distinct = []
    for name in names:
        times[name] += 1
        own = name
        while times[name] > 1 and own in taken:
            own = f"{name}.{times[name]}"
            times[name] += own in taken
        taken.add(own)
        distinct.append(own)
    return distinct


class _Found:
    def __init__(self, names: Sequence[str], layout: Layout, place: str) -> None:
        self._names = names
        self._layout = layout
        self._place = place

    def text(self, optional: bool = False) -> tuple[str, ...]:
        given = self._layout.text or self._named_before("text")
        if optional and tuple(given) == (NONE_WORD,):
            if self.one("id") is None:
                raise self._question("id")
            return ()
        optional = optional and self.one("id") is not None
        if given:
            return self._all_named(given, "text")
        own = self._by_name("text")
        plain = None if own is None else _plain(own)
        titles = [
            name
            for name in self._names
            if _plain(name) in TITLE_COLUMNS or plain in MAIL_TITLES.get(_plain(name), ())
        ]
        if len(titles) > 1:
            raise InputError(
                f"{self._place}: {_some(map(quoted, titles))} may all be the title. Name the columns of the "
                "text with --text-column."
            )
        if self._layout.header and known_names(self._names) == 1 and any(map(_is_sentence, self._names)):
            example = quoted(next(filter(_is_sentence, self._names)))
            raise InputError(
                f"{self._place}: is {example} the name of a column? Add --no-header if the first row is a "
                "document, or name the column of the text with --text-column."
            )
        if own is None and not titles:
            if optional:
                return ()
            raise self._question("text")
        return (*titles, *([] if own is None else [own]))

    def _question(self, field: str) -> InputError:
        return InputError(
            f"{self._place}: which column holds the {field}? There are {_some(map(quoted, self._names))}. "
            f"Name it with {COLUMN_FLAGS[field]}."
        )

    def labels(self) -> tuple[str, ...]:
        given = self._layout.labels or self._named_before("labels")
        if given:
            return () if tuple(given) == (NONE_WORD,) else self._all_named(given, "labels")
        own = self._by_name("labels")
        return () if own is None else (own,)

    def one(self, field: str) -> str | None:
        given = getattr(self._layout, field) or next(iter(self._named_before(field)), None)
        if given is None:
            return self._by_name(field)
        return None if given == NONE_WORD else self._named(given, field)

    def _named_before(self, field: str) -> tuple[str, ...]:
        """The columns that an earlier file had for a field, where this one has them all, or "none"."""
        if self._layout.before is None:
            return ()
        given = [
            name.strip() for each in _listed(getattr(self._layout.before, field)) for name in each.split(",")
        ]
        plain = {_plain(name) for name in (*self._names, NONE_WORD)}
        return tuple(given) if all(_plain(name) in plain for name in given) else ()

    def _all_named(self, given: Sequence[str], field: str) -> tuple[str, ...]:
        """The columns of the names given, which may have commas between them."""
        names = [
            name.strip()
            for each in given
            for name in ([each] if each in self._names else each.split(","))
            if name.strip()
        ]
        return tuple(self._named(name, field) for name in names)

    def _named(self, given: str, field: str) -> str:
        """The column of the name that the user gave, in its own case or else in any."""
        if given in self._names:
            self._check_single(given, field)
            return given
        alike = [name for name in self._names if _plain(name) == _plain(given)]
        if len(alike) == 1:
            return alike[0]
        raise InputError(
            f"{self._place}: no column {given!r}. It has "
            f"{_some(self._names)}{did_you_mean(given, self._names) or '.'}"
        )

    def _by_name(self, field: str) -> str | None:
        """The column whose name tells the field: our own name, or else the only one of those known."""
        if field in self._names:
            self._check_single(field, field)
            return field
        known = [name for name in self._names if _plain(name) in COLUMN_NAMES[field]]
        own = [name for name in known if _plain(name) == field]
        if len(own) == 1 or len(set(known)) <= 1:
            for name in own or known[:1]:
                self._check_single(name, field)
            return next(iter(own or known), None)
        raise InputError(
            f"{self._place}: {_some(map(quoted, known))} may all be the {field}. "
            f"Choose with {COLUMN_FLAGS[field]}."
        )

    def _check_single(self, name: str, field: str) -> None:
        if list(self._names).count(name) > 1:
            raise InputError(
                f"{self._place}: two columns are called {quoted(name)}, of which one should be the {field}. "
                "Rename one of them."
            )


def _plain(name: str) -> str:
    """A name as people may vary it.

    >>> _plain(" Doc-ID ")
    'doc_id'
    """
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def _is_sentence(name: str) -> bool:
    return len(name) > _MAX_NAME_CHARACTERS or (
        len(name.split()) > 3 and name.rstrip().endswith((".", "!", "…"))
    )


def _some(names: Iterable[str], most: int = 8) -> str:
    listed = list(names)
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
