"""The languages of documents: one tag for each, however it was written, detected where it is missing."""

from collections.abc import Sequence
from typing import NamedTuple

from funnelling.errors import InputError, counted, naming
from funnelling.formats.document import NO_TEXT, quoted

MOST_NAMED = 10  # tags in a line


class LanguageNames(NamedTuple):
    """What became of the language tags of documents.

    ``renamed`` are tags that were written otherwise, not only in another case; ``unknown`` those that are no
    tags of a language, whose documents were left out, with how many there were; ``detected`` is how many
    documents have none.
    """

    renamed: dict[str, str]
    unknown: dict[str, int]
    detected: int = 0

    def left_out(self) -> str:
        """How many documents were left out, and why.

        >>> LanguageNames({}, {"Elvish, I think": 2}).left_out()
        'left out 2 documents whose language is none: "Elvish, I think" (--language-column none detects them)'
        """
        tags = ", ".join(quoted(tag) for tag in list(self.unknown)[:MOST_NAMED])
        documents = counted(sum(self.unknown.values()), "document")
        return f"left out {documents} whose language is none: {tags} (--language-column none detects them)"


def normalise_tags(
    tags: list[str | None], ids: Sequence[str], name: str, strict: bool
) -> tuple[list[str | None], LanguageNames]:
    """The one tag of each language, None where it is to be detected; what is none stays as it is.

    It is refused where ``strict``, with the document that has it; ``name`` is its file.
    """
    from funnelling.text.languages import is_undetermined, normalise_tag

    normal: dict[str, str] = {}
    unknown: dict[str, int] = {}
    named: list[str | None] = []
    for document, tag in zip(ids, tags, strict=True):
        if tag is None or is_undetermined(tag):
            named.append(None)
            continue
        if tag not in normal and tag not in unknown:
            try:
                normal[tag] = normalise_tag(tag)
            except InputError as error:
                if strict:
                    raise InputError(f"{name}: document {quoted(document)}: {error}") from None
                unknown[tag] = 0
        if tag in unknown:
            unknown[tag] += 1
        named.append(normal.get(tag, tag))
    plain = {tag: tag.strip().lower().replace("-", "_") for tag in normal}
    renamed = {tag: language for tag, language in normal.items() if plain[tag] != language.lower()}
    return named, LanguageNames(renamed, unknown, named.count(None))


def detect_missing(
    tags: list[str | None], texts: Sequence[str], name: str, among: Sequence[str] = (), verbose: int = 0
) -> list[str | None]:
    """The tags with those detected that are missing, ``among`` some or those of the other documents.

    Without a text there is nothing to detect one from.
    """
    missing = [
        position for position, tag in enumerate(tags) if tag is None and texts[position] is not NO_TEXT
    ]
    if not missing:
        return tags
    from funnelling.text.detection import detect_languages

    candidates = among or sorted({tag for tag in tags if tag is not None})
    with naming(name):
        detected = detect_languages([texts[i] for i in missing], candidates or None, verbose=verbose)
    found = dict(zip(missing, detected, strict=True))
    return [found.get(position, tag) for position, tag in enumerate(tags)]
