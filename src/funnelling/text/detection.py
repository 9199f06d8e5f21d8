"""Which language a text is in, found offline; and one tag for each document, detected where it is missing."""

import logging
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from funnelling.errors import InputError, counted, prefix_errors
from funnelling.formats.document import NO_TEXT, quoted
from funnelling.runtime.files import Arrays, from_cache
from funnelling.runtime.progress import watched
from funnelling.text.languages import is_undetermined, name_among, normalise_tag

logger = logging.getLogger(__name__)

# Accuracy no longer grows beyond some 500 characters; the rest is for headings in another language.
MAX_CHARACTERS_READ = 2_000

_NO_LANGUAGE = frozenset({"zxx", "und"})


def detect_languages(
    texts: Sequence[str], candidates: Sequence[str] | None = None, *, verbose: int = 0
) -> list[str]:
    """Return the language of each text, one of the candidates where there are any.

    With candidates, each text is judged by itself. Regional variants look alike to the detector: of several
    candidates of one language it returns the plain one, else the first by name. Candidates that it does not
    know are never returned, unless there is only one candidate, which then is the answer for all texts. A
    text without any clue gets the first candidate.

    Without candidates, a language counts as present if 1 % of the texts seem to be in it; that must be at
    least 5 texts and need not be more than 100, and of fewer than 50 texts a tenth is enough. Texts that
    seemed to be in another language are then judged again among those present, so that a few short texts
    make no languages of their own. ``verbose`` above 0 shows a progress bar on a terminal.

    >>> detect_languages(["Guten Morgen, liebe Leute", "Bom dia, minha gente"], ["de", "pt_BR"])
    ['de', 'pt_BR']
    >>> detect_languages(["Qapla'"], ["tlh", "qya"])
    Traceback (most recent call last):
    funnelling.errors.InputError: none of tlh, qya can be detected. Give each document its language.
    """
    if candidates:
        tags = _tags_by_label(list(dict.fromkeys(map(normalise_tag, candidates))))
        among, shown = list(tags), watched(texts, "languages", bool(verbose))
        return [tags[among[0] if len(among) == 1 else _most_likely(text, among)] for text in shown]
    labels = [label for label, _ in _identifier().rank("") if label not in _NO_LANGUAGE]
    guesses = [
        _most_likely(text, [*_NO_LANGUAGE, *labels]) for text in watched(texts, "languages", bool(verbose))
    ]
    counts = Counter(guess for guess in guesses if guess not in _NO_LANGUAGE)
    enough = min(max(len(texts) // 100, 5), 100, len(texts) // 10)
    present = [label for label, count in counts.most_common() if count >= enough] or list(counts)
    if texts and not present:
        raise InputError("no language was recognised in the texts. Give each document its language.")
    return [
        normalise_tag(guess if guess in present else _most_likely(text, present))
        for guess, text in zip(guesses, texts, strict=True)
    ]


def _tags_by_label(tags: list[str]) -> dict[str, str]:
    """Return which candidate stands for each label of the identifier."""
    if len(tags) == 1:
        return {tags[0]: tags[0]}
    known = {label for label, _ in _identifier().rank("")}
    by_label: dict[str, list[str]] = {}
    for tag in tags:
        if label := name_among(tag, known):
            by_label.setdefault(label, []).append(tag)
    if not by_label:
        raise InputError(f"none of {', '.join(tags)} can be detected. Give each document its language.")
    return {label: min(rivals, key=lambda tag: ("_" in tag, tag)) for label, rivals in by_label.items()}


def _most_likely(text: str, labels: Sequence[str]) -> str:
    """Return the label that fits a text best, the first of equals."""
    # Lone surrogates, which JSON can spell, have no UTF-8.
    start = text[:MAX_CHARACTERS_READ].encode("utf-8", "ignore").decode()
    scores: dict[str, float] = dict(_identifier().rank(start))
    return max(labels, key=lambda label: scores.get(label, float("-inf")))


@lru_cache(maxsize=1)
def _identifier() -> Any:
    """An identifier of our own: the library's is shared, and restricting it would change it for all.

    Its packed model takes a second to read, and 70 MB. From the cache it is mapped.
    """
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return from_cache(f"languages-{version('py3langid')}", _packed, _unpacked)
    except Exception as error:  # a cache is never worth failing
        logger.debug("The model that detects languages cannot be cached: %s", error)
        return LanguageIdentifier.from_model_file(MODEL_FILE)


def _packed() -> Arrays:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    packed = LanguageIdentifier.from_model_file(MODEL_FILE)
    return {
        "weights": packed.nb_ptc,
        "priors": packed.nb_pc,
        "languages": np.frombuffer("\n".join(packed.nb_classes).encode(), np.uint8),
        "moves": np.asarray(packed.tk_nextmove),
        "rows": np.asarray(packed.tk_row),
        "features": np.asarray(packed.tk_output),
    }


def _unpacked(arrays: Arrays) -> Any:
    from py3langid.langid import LanguageIdentifier

    # Views of them give Python's numbers, and fast.
    moves, rows, features = (memoryview(arrays[name]) for name in ("moves", "rows", "features"))  # type: ignore[arg-type]
    languages = arrays["languages"].tobytes().decode().split("\n")
    return LanguageIdentifier(arrays["weights"], arrays["priors"], languages, moves, features, tk_row=rows)


MAX_TAGS_SHOWN = 10  # tags in a line


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
        tags = ", ".join(quoted(tag) for tag in list(self.unknown)[:MAX_TAGS_SHOWN])
        documents = counted(sum(self.unknown.values()), "document")
        return f"left out {documents} whose language is none: {tags} (--language-column none detects them)"


def normalise_tags(
    tags: list[str | None], ids: Sequence[str], name: str, strict: bool
) -> tuple[list[str | None], LanguageNames]:
    """The one tag of each language, None where it is to be detected; what is none stays as it is.

    It is refused where ``strict``, with the document that has it; ``name`` is its file.
    """
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

    candidates = among or sorted({tag for tag in tags if tag is not None})
    with prefix_errors(name):
        detected = detect_languages([texts[i] for i in missing], candidates or None, verbose=verbose)
    found = dict(zip(missing, detected, strict=True))
    return [found.get(position, tag) for position, tag in enumerate(tags)]
