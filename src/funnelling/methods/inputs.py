"""The documents users hand to an estimator, brought into one form: by language."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from funnelling.corpus.blocks import Block, Kind
from funnelling.corpus.by_language import Contents
from funnelling.errors import InputError, listed
from funnelling.formats.document import Document, LineNumber
from funnelling.formats.frames import as_documents, as_values, is_table, text_table
from funnelling.matrices import (
    AnyTargets,
    check_places,
    check_vectors,
    is_sparse,
    length,
    positions_of,
    take_rows,
)
from funnelling.randomness import is_missing
from funnelling.text.languages import known_as, normalise_tag, served_by

ONE_LANGUAGE = "und"  # the name of the only language of a plain matrix: BCP 47's "undetermined"


class Inputs(Contents):
    """Documents as a user of Python gave them; labels, ids and groups are cut as they are."""

    @property
    def kind(self) -> Kind:
        """What stands for the documents."""
        return "as written" if self.texts else "vectors"

    def blocks(
        self, ids: Any, groups: Any, targets: Mapping[str, AnyTargets], **further: Any
    ) -> dict[str, Block]:
        """The documents with their ids, groups and labels, and ``further`` columns that are not None."""
        names, grouping = self.ids(ids), self.groups(groups)
        slots = {name: self.divide(each, name) for name, each in further.items() if each is not None}
        return {
            tag: Block.of(
                names[tag],
                grouping[tag],
                targets[tag],
                content=content,
                **{name: each[tag] for name, each in slots.items()},
            )
            for tag, content in self.documents.items()
        }

    def ids(self, values: Any) -> dict[str, list[str]]:
        """A name for each document: the one given, or else its place in X, as a `LineNumber`."""
        places: Mapping[str, Iterable[int]] = self.positions or {
            language: range(size) for language, size in self.sizes().items()
        }
        if values is None:
            return {language: list(map(LineNumber, where)) for language, where in places.items()}
        given = self.divide(values, "ids")
        return {language: list(map(_name, given[language], where)) for language, where in places.items()}

    def groups(self, values: Any) -> dict[str, Any]:
        """The groups of each language's documents, None where none were given."""
        return dict.fromkeys(self.documents) if values is None else self.divide(values, "groups")

    def place(self, language: str, number: int) -> str:
        """What a message calls the document at this place of a language: by its place in the user's X."""
        if self.positions is None:
            return f"document {number} of {language!r}"
        return f"document {self.positions[language][number]}"

    def divide(self, values: Any, name: str) -> dict[str, Any]:
        """Cut what runs along the documents (labels, groups) the way the documents are cut."""
        if self.positions is None:
            if not isinstance(values, Mapping) or set(values) != set(self.documents):
                raise InputError(f"{name} must be a mapping with the same languages as X.")
            divided = {language: _along(values[language], name) for language in self.documents}
        else:
            values = _along(values, name)
            if not hasattr(values, "__len__"):
                values = np.asarray(values)
            documents = sum(self.sizes().values())
            if length(values) != documents:
                raise InputError(f"{name} has {length(values)} entries for {documents} documents.")
            divided = {language: take_rows(values, where) for language, where in self.positions.items()}
        for language, size in self.sizes().items():
            if length(divided[language]) != size:
                raise InputError(
                    f"{name}: {length(divided[language])} entries for the {size} documents of {language!r}."
                )
        return divided


def _along(values: Any, name: str) -> Any:
    """What runs along the documents, in a form that can be cut."""
    if is_sparse(values):
        check_places(values, name)
    return as_values(values, name)


def _name(given: Any, place: int) -> str:
    """The id of a document, or the number of its place where it has none."""
    if is_missing(given):
        return LineNumber(place)
    return given if isinstance(given, str) else str(given)


def is_mapping(X: Any) -> bool:
    """Whether X maps languages to documents; scipy's dictionary-of-keys matrix is a dict, but no such map."""
    return isinstance(X, Mapping) and not is_sparse(X)


def is_texts(X: Any) -> bool:
    """Whether X holds strings rather than vectors; `read_inputs` refuses what holds both."""
    if is_sparse(X) or isinstance(X, Mapping) or is_table(X):  # to iterate over a table may give its names
        return False
    if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype.kind not in "OUT"):
        return False
    try:
        return len(X) == 0 or any(isinstance(value, str) for value in X) or all(value is None for value in X)
    except TypeError:
        return False


def read_inputs(
    X: Any,
    languages: Sequence[str | None] | None,
    known: Sequence[str] | None = None,
    fitted_on_texts: bool | None = None,
    check_matrix: Callable[[Any], Any] = lambda X: X,
    names: Sequence[str] = (),
    among: Sequence[str] | None = None,
) -> Inputs:
    """Sort documents by language.

    X may be a table with its languages; X and ``languages`` may be columns of any library. Texts without a
    language get it detected ``among`` some, or among the ``known`` ones of a fitted model. A matrix without
    languages is one language; ``check_matrix`` brings it into scikit-learn's form. A model
    ``fitted_on_texts`` takes no vectors, and one fitted on vectors no texts. Languages that have ``names``
    keep those, as a mapping spelled them.
    """
    X, languages = _columns_of(X, languages)
    X = {tag: as_documents(each) for tag, each in X.items()} if is_mapping(X) else as_documents(X)
    languages = as_values(languages, "languages")
    if fitted_on_texts is not None:
        _check_kind(X, fitted_on_texts)
    if is_mapping(X):
        return _read_mapping(X, languages)
    texts = is_texts(listed(X, "X"))
    if not texts:
        if is_sparse(X):
            check_places(X)
        X = check_vectors(check_matrix(X))
    count = length(X)
    if languages is not None and length(languages) != count:
        raise InputError(f"languages has {length(languages)} entries for {count} documents.")
    if texts:
        X = _checked_texts(X)
    positions = positions_of(
        _codes(X, languages, known, names, among) if texts else _named(count, languages, known)
    )
    return Inputs({language: take_rows(X, where) for language, where in positions.items()}, positions, texts)


def read_texts(X: Any, languages: Any, ids: Any) -> list[Document]:
    """Texts with languages, None where one is missing, and ids: their places where they have none."""
    X, languages = _columns_of(X, languages)
    X, tags = as_documents(X), as_values(languages, "languages")
    if not is_texts(X):
        raise InputError("Give texts as one list, with their languages beside it.")
    texts = _checked_texts(X)
    columns = {"languages": tags, "ids": as_values(ids, "ids")}
    for name, values in columns.items():
        if values is not None and length(values) != len(texts):
            raise InputError(f"{name} has {length(values)} entries for {len(texts)} documents.")
    given = range(len(texts)) if ids is None else columns["ids"]
    tags = [None] * len(texts) if tags is None else [None if is_missing(tag) else str(tag) for tag in tags]
    return [
        Document(_name(name, place), text, language=tag)
        for place, (name, text, tag) in enumerate(zip(given, texts, tags, strict=True))
    ]


def _columns_of(X: Any, languages: Any) -> tuple[Any, Any]:
    """The texts of a table, and its languages where none are given; anything else stays as it is."""
    table = None if is_sparse(X) else text_table(X)
    if table is None:
        return X, languages
    return table[0], table[1] if languages is None else languages


def _check_kind(X: Any, fitted_on_texts: bool) -> None:
    texts = all(map(is_texts, X.values())) if is_mapping(X) else is_texts(X)
    if texts != fitted_on_texts:
        fitted, given = ("texts", "vectors") if fitted_on_texts else ("vectors", "texts")
        raise InputError(f"The model was fitted on {fitted}, and X holds {given}.")


def _read_mapping(X: Mapping[Any, Any], languages: object) -> Inputs:
    if languages is not None:
        raise InputError("A mapping names its languages itself: leave `languages` out.")
    if not X:
        raise InputError("X is an empty mapping: give at least one language.")
    texts = is_texts(next(iter(X.values())))
    for language, documents in X.items():
        if not isinstance(language, str):
            raise InputError(f"X: {language!r} is no name of a language. Use strings as keys.")
        if is_texts(documents) != texts:
            raise InputError("X: some languages hold texts and others vectors. Give them all alike.")
    read = _checked_texts if texts else check_vectors
    return Inputs({language: read(X[language]) for language in sorted(X)}, None, texts)


def _checked_texts(X: Any) -> list[str]:
    texts = list(X)
    if not texts:
        raise InputError("X holds no documents. Give at least one.")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"X: document {number} is {text!r}. Leave it out or make it a string.")
    return texts


def _named(count: int, languages: Sequence[Any] | None, known: Sequence[str] | None) -> list[str]:
    """A language for each vector: as the user names it, or the only one there is."""
    if languages is None:
        if known is not None and len(known) > 1:
            raise InputError(f"The model knows {', '.join(known)}: give each vector's language.")
        return [known[0] if known else ONE_LANGUAGE] * count
    for number, code in enumerate(languages):
        if not isinstance(code, str):
            raise InputError(f"languages: {code!r} of document {number} is no name of a language.")
    return list(languages)


def _codes(
    texts: list[str],
    languages: Sequence[str | None] | None,
    known: Sequence[str] | None,
    names: Sequence[str],
    among: Sequence[str] | None,
) -> list[str]:
    """A language for each text: normalised, or detected where it is missing."""
    from funnelling.text.detection import detect_languages

    given = [None] * len(texts) if languages is None else languages
    tags = [None if is_missing(tag) or not str(tag).strip() else tag for tag in given]
    normal = {tag: None if tag is None else normalise_tag(tag) for tag in set(tags)}
    codes = [normal[tag] for tag in tags]
    missing = [i for i, code in enumerate(codes) if code is None]
    if missing:
        candidates = among or known or sorted({code for code in codes if code}) or None
        detected = detect_languages([texts[i] for i in missing], candidates)
        for i, code in zip(missing, detected, strict=True):
            codes[i] = code
    name_of = {
        code: (known_as(code, names) or code) if known is None else served_by(code, known)
        for code in set(map(str, codes))
    }
    return [name_of[str(code)] for code in codes]
