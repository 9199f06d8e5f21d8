"""Which language a text is in, found offline; and one tag for each document, detected where it is missing."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError, counted, prefix_errors
from funnelling.formats.document import NO_TEXT, is_undetermined, quoted
from funnelling.runtime.files import Arrays, from_cache
from funnelling.runtime.progress import watched
from funnelling.text.languages import name_among, normalise_tag, served_by

logger = logging.getLogger(__name__)

# Accuracy no longer grows beyond some 500 characters; the rest is for headings in another language.
MAX_CHARACTERS_READ = 2_000

MAX_RARE_TEXTS = 20  # texts from which on a language of a file is not rare
FEWEST_TEXTS = 5  # in a language, whatever their share of a file
N_RANKED = 16  # languages of a text that are looked at
SHARE_ROUNDS = 20
MIN_SHARE = 1e-6
PREFERENCE = np.log(1_000)  # for the languages of a model
MIN_OTHER_PROBABILITY = 0.9  # of a language that a model does not know, after that preference

_NO_LANGUAGE = frozenset({"zxx", "und"})


def detect_languages(
    texts: Sequence[str], candidates: Sequence[str] | None = None, *, verbose: int = 0
) -> list[str]:
    """Return the language of each text, one of the candidates where there are any.

    With candidates, each text is judged by itself. Regional variants look alike to the detector: of several
    candidates of one language it returns the plain one, else the first by name. Candidates that it does not
    know are never returned, unless there is only one candidate, which then is the answer for all texts. A
    text without any clue gets the first candidate.

    Without candidates, the languages are those of the texts, rare ones left out: see `detect_in_file`.
    ``verbose`` above 0 shows a progress bar on a terminal.

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
    return detect_in_file(texts, verbose)[0]


def detect_in_file(texts: Sequence[str], verbose: int = 0) -> tuple[list[str], Counter[tuple[str, str]]]:
    """The languages of the texts of a file, which tell each other, and what became of rare languages.

    A language is rare if fewer than 20 texts seem to be in it that are less than 1 % of all, or fewer than 5;
    of fewer than 50 texts a tenth is enough. Texts in a rare language go to the likeliest of the others. A
    language counts the more, the more texts are in it (expectation maximisation): a short text that could be
    Danish or Norwegian is Danish in a file of Danish texts. Counted are texts by the language that they
    seemed to be in and by the other one that they got.

    >>> detect_in_file(["Guten Morgen, liebe Leute", "Bom dia, minha gente"])
    (['de', 'pt'], Counter())
    """
    labels = [label for label, _ in _identifier().rank("") if label not in _NO_LANGUAGE]
    if not texts:
        return [], Counter()
    column = {label: j for j, label in enumerate(labels)}
    places = np.zeros((len(texts), N_RANKED), dtype=np.int16)
    scores = np.zeros((len(texts), N_RANKED), dtype=np.float32)
    clueless = np.zeros(len(texts), dtype=bool)
    for row, text in enumerate(watched(texts, "languages", bool(verbose))):
        ranked = _ranked(text)
        clueless[row] = ranked[0][0] in _NO_LANGUAGE or ranked[0][1] == ranked[-1][1]
        ranked = [pair for pair in ranked if pair[0] in column][:N_RANKED]
        places[row] = [column[label] for label, _ in ranked]
        scores[row] = [score for _, score in ranked]
    first = np.where(clueless, -1, places[:, 0])
    found = first
    present = np.unique(first[~clueless])
    if not len(present):
        raise InputError("no language was recognised in the texts. Give each document its language.")
    kept = _common(found, present)
    while True:
        found = kept[_likeliest(places, scores, kept)]
        common = _common(found, kept)
        if len(common) == len(kept):
            break
        kept = common
    tags = [normalise_tag(label) for label in labels]
    gone = set(present.tolist()) - set(kept.tolist())
    changed = zip(first.tolist(), found.tolist(), strict=True)
    merged = Counter((tags[old], tags[new]) for old, new in changed if old in gone)
    return [tags[j] for j in found.tolist()], merged


def _common(found: npt.NDArray[Any], languages: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The languages that enough texts are in, by column; all where none is; -1 is no language."""
    texts = len(found)
    enough = min(max(-(-texts // 100), FEWEST_TEXTS), MAX_RARE_TEXTS, texts // 10)
    counts = np.array([np.count_nonzero(found == each) for each in languages])
    return languages[counts >= enough] if (counts >= enough).any() else languages


def _likeliest(
    places: npt.NDArray[Any], scores: npt.NDArray[Any], kept: npt.NDArray[Any]
) -> npt.NDArray[np.intp]:
    """Which of the languages that are kept each text is in, given how many texts are in each."""
    # One that is not among the first of a text is no likelier than the last of these.
    log = np.repeat(scores[:, -1:].astype(np.float64), len(kept), axis=1)
    for j, language in enumerate(kept):
        rows, ranks = np.nonzero(places == language)
        log[rows, j] = scores[rows, ranks]
    log -= log.max(axis=1, keepdims=True)
    likelihoods = np.exp(log)
    shares = np.full(len(kept), 1 / len(kept))
    for _ in range(SHARE_ROUNDS):
        weighted = likelihoods * shares
        shares = (weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0)
        shares = np.maximum(shares, MIN_SHARE)
    best: npt.NDArray[np.intp] = np.argmax(log + np.log(shares), axis=1)
    return best


class Detected(NamedTuple):
    """The language of a text, and how probable the detector finds it; None where it is given."""

    language: str
    probability: float | None


def detect_for_model(texts: Sequence[str], known: Sequence[str], among: Sequence[str] = ()) -> list[Detected]:
    """The language of each text, each for itself, for a model that knows some languages.

    It is one of those that it knows, unless another one has a probability of at least .9 where those that it
    knows count 1,000 times; or one ``among`` some, where they are given. Where the detector knows none of the
    model's, its only language is that of all texts.

    >>> texts = ["Guten Morgen, liebe Leute", "Hyvää huomenta kaikille"]
    >>> [found.language for found in detect_for_model(texts, ["de", "it"])]
    ['de', 'fi']
    """
    tags, weights = _possible(tuple(known), tuple(among))
    if tags.keys().isdisjoint(label for label, _ in _identifier().rank("")):
        return [Detected(tag, 1.0) for tag in tags.values() for _ in texts]
    return [_detected(text, tags, weights) for text in texts]


@lru_cache(maxsize=64)
def _possible(
    known: tuple[str, ...], among: tuple[str, ...]
) -> tuple[dict[str, str], npt.NDArray[np.float64]]:
    """The tags of the labels that the identifier may give, and what is added to the score of each."""
    tags = _tags_by_label(list(dict.fromkeys(map(normalise_tag, among or known))))
    labels = [label for label, _ in _identifier().rank("") if label not in _NO_LANGUAGE]
    if among or tags.keys().isdisjoint(labels):
        return tags, np.zeros(len(tags))
    # Norwegian is no as well as nb: both are the one that the model knows.
    own = dict(tags)
    for label in labels:
        same = name_among(label, own)
        if label not in own:
            known_as = own[same] if same and name_among(same, [label]) == label else None
            tags[label] = known_as or normalise_tag(label)
    preferred = set(own.values())
    return tags, np.array([PREFERENCE if tag in preferred else 0.0 for tag in tags.values()])


def _detected(text: str, tags: dict[str, str], weights: npt.NDArray[np.float64]) -> Detected:
    scores = dict(_ranked(text))
    if len(set(scores.values())) == 1:  # without any clue
        scores = dict.fromkeys(scores, 0.0)
    log = np.array([scores[label] for label in tags]) + weights
    probabilities = np.exp(log - log.max())
    probabilities /= probabilities.sum()
    best = int(np.argmax(log))
    if weights.any() and not weights[best] and probabilities[best] < MIN_OTHER_PROBABILITY:
        best = int(np.argmax(np.where(weights > 0, log, -np.inf)))
    return Detected(list(tags.values())[best], float(probabilities[best]))


def undetectable(tags: Sequence[str]) -> list[str]:
    """Those of several languages that the detector does not know.

    >>> undetectable(["de", "tlh"])
    ['tlh']
    """
    known = {label for label, _ in _identifier().rank("")}
    return [tag for tag in tags if name_among(tag, known) is None]


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
    scores = dict(_ranked(text))
    return max(labels, key=lambda label: scores.get(label, float("-inf")))


def _ranked(text: str) -> list[tuple[str, float]]:
    """All languages of the identifier, the likeliest first, with their log-likelihoods."""
    # Lone surrogates, which JSON can spell, have no UTF-8.
    start = text[:MAX_CHARACTERS_READ].encode("utf-8", "ignore").decode()
    ranked: list[tuple[str, float]] = _identifier().rank(start)
    return ranked


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
    documents got which language, and ``merged`` how many of them in place of a rare one, by both.
    """

    renamed: dict[str, str]
    unknown: dict[str, int]
    detected: Mapping[str, int] = {}
    merged: Mapping[tuple[str, str], int] = {}

    def lines(self) -> list[str]:
        """What to report on languages that were detected.

        >>> LanguageNames({}, {}, {"da": 190, "de": 10}, {("no", "da"): 2}).lines()
        ['the language of 200 documents is detected: da 190, de 10.', '2 documents in rarely detected \
languages got likelier ones: no to da 2. To choose the languages, add --languages da,de.']
        """
        lines = []
        if self.detected:
            documents = counted(sum(self.detected.values()), "document")
            lines.append(f"the language of {documents} is detected: {_most(self.detected)}.")
        if self.merged:
            documents = counted(sum(self.merged.values()), "document")
            pairs = _most({f"{old} to {new}": number for (old, new), number in self.merged.items()})
            lines.append(
                f"{documents} in rarely detected languages got likelier ones: {pairs}. To choose the "
                f"languages, add --languages {','.join(sorted(self.detected))}."
            )
        if self.unknown:
            lines.append(f"{self.left_out()}.")
        return lines

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
    return named, LanguageNames(renamed, unknown)


def detect_missing(
    tags: list[str | None],
    texts: Sequence[str],
    name: str,
    among: Sequence[str] = (),
    verbose: int = 0,
    others: bool = False,
) -> tuple[list[str | None], Counter[str], Counter[tuple[str, str]]]:
    """The tags with those detected that are missing, ``among`` some or those of the other documents.

    With ``others``, further languages are detected, too, if 20 texts seem to be in them. With the tags come
    the numbers of `LanguageNames`. Without a text there is nothing to detect one from.
    """
    missing = [
        position for position, tag in enumerate(tags) if tag is None and texts[position] is not NO_TEXT
    ]
    merged: Counter[tuple[str, str]] = Counter()
    if not missing:
        return tags, Counter(), merged

    candidates = among or sorted({tag for tag in tags if tag is not None})
    with prefix_errors(name):
        if not candidates or others:
            detected, merged = detect_in_file([texts[i] for i in missing], verbose)
        if candidates and others:
            further = {tag for tag, number in Counter(detected).items() if number >= MAX_RARE_TEXTS}
            candidates = [*candidates, *sorted(tag for tag in further if served_by(tag, candidates) == tag)]
        if candidates:
            detected = detect_languages([texts[i] for i in missing], candidates, verbose=verbose)
            merged.clear()
    found = dict(zip(missing, detected, strict=True))
    return [found.get(position, tag) for position, tag in enumerate(tags)], Counter(detected), merged


def _most(numbers: Mapping[str, int]) -> str:
    """Names with their numbers, the largest first.

    >>> _most({"da": 1, "de": 1_200})
    'de 1,200, da 1'
    """
    order = sorted(numbers, key=lambda name: (-numbers[name], name))
    more = ", …" if len(order) > MAX_TAGS_SHOWN else ""
    return ", ".join(f"{name} {numbers[name]:,}" for name in order[:MAX_TAGS_SHOWN]) + more
