"""Which documents without labels a person should label next, across languages, and why.

A label is worth what it says of other documents: those that the model is unsure of, that are like the
labelled one and unlike all that were labelled before (`funnelling.methods.uncertainty`). In each language
documents are taken by how much uncertainty they cover; `interleave_languages` says which language is next.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError, counted
from funnelling.methods.explanation import ViewPredictions
from funnelling.methods.inputs import read_inputs
from funnelling.methods.model import Model
from funnelling.methods.uncertainty import (
    SelectedDocument,
    Uncertainty,
    cosine_similarities,
    estimate_uncertainty,
    max_similarities,
    select_greedily,
)
from funnelling.randomness import is_missing, stream
from funnelling.runtime.progress import progress_bar
from funnelling.text.tfidf import TfidfVectorizer


class BigramTfidfVectorizer(TfidfVectorizer):
    """Turn texts into tf-idf vectors of their words and of each two that follow each other.

    >>> BigramTfidfVectorizer("en", min_df=1).fit(["Dogs bark.", "Cats sleep"]).vocabulary_
    ['bark', 'cat', 'cat sleep', 'dog', 'dog bark', 'sleep']
    """

    def _analyser(self, language: str | None) -> Callable[[str], list[str]]:
        words_of = super()._analyser(language)

        def words_and_pairs(text: str) -> list[str]:
            words = words_of(text)
            return [*words, *map(" ".join, pairwise(words))]

        return words_and_pairs


LANGUAGE_EXPONENT = 1 / 3

Item = TypeVar("Item")


def interleave_languages(
    rankings: Mapping[str, Iterator[Item]],
    labelled: Mapping[str, int],
    documents: Mapping[str, int],
    balance: bool = False,
) -> Iterator[tuple[str, Item]]:
    """The items of all languages, each language's in their order, such that any beginning is well divided.

    With them labelled, a language is to have labelled documents in proportion to a power of all its
    documents: one with eight times as many gets twice as many. What is learned of a language grows ever
    more slowly with its documents, so that the first ones of a small language are worth more than the
    thousandth of a large one. ``balance`` asks for as many in each.

    Parameters
    ----------
    rankings : items by language, the best first
    labelled : how many documents of each language are labelled already
    documents : how many there are in all
    balance : whether all languages are to have as many

    Examples
    --------
    >>> def taken(labelled, balance=False):
    ...     rankings = {"en": iter("abcdefgh"), "it": iter("xyz")}
    ...     mixed = interleave_languages(rankings, labelled, {"en": 800, "it": 100}, balance)
    ...     return "".join(item for _, item in mixed)
    >>> taken({})
    'abxcdyefzgh'
    >>> taken({"en": 2}, balance=True)
    'xyazbcdefgh'
    """
    power = 0.0 if balance else LANGUAGE_EXPONENT
    shares = {tag: max(documents[tag], 1) ** power for tag in rankings}
    counts = {tag: labelled.get(tag, 0) for tag in rankings}
    open_ones = sorted(rankings)
    while open_ones:
        tag = min(open_ones, key=lambda each: ((counts[each] + 1) / shares[each], each))
        try:
            item = next(rankings[tag])
        except StopIteration:
            open_ones.remove(tag)
            continue
        counts[tag] += 1
        yield tag, item


MIN_MARGIN_ENTROPY = 0.8  # bits, from which on a label is in doubt
MIN_VIEW_DISAGREEMENT = 0.5  # between what a view and what tier 2 gives a label, from which on they disagree
MAX_RARE_EXAMPLES = 5  # labelled documents of a label, up to which it is rare
MIN_RARE_PROBABILITY = 0.3  # the probability from which on a document may have a rare label
MIN_SIMILAR_SHOWN = 5  # documents from which on it is worth saying that one is like them
RARE_LANGUAGE_SHARE = 0.5  # of what languages have on average
MAX_LABELS_NAMED = 2  # labels that a reason names


Examples = npt.NDArray[np.intp]  # how many labelled documents each label has


def examples_of(model: Model | None) -> Examples | None:
    """How many labelled documents of each label a model has learned, where it knows."""
    archive = None if model is None else model.archive
    if model is None or archive is None or model.labels.has_one_column:
        return None
    examples: Examples = np.sum([rows.sum(axis=0) for rows in archive.targets.values()], axis=0)
    return examples


Reason = tuple[str, list[int]]  # why to label a document, and the columns of the labels that this names


class Reasons:
    """The reasons of documents, by what a model, if there is one, says of them and what it has learned."""

    def __init__(self, model: Model | None, examples: Examples | None) -> None:
        self._labels = [] if model is None else [str(label) for label in model.labels.classes]
        self._single = model is not None and model.labels.single_label
        self._learned = {} if model is None else model.documents
        known = enumerate(() if examples is None else examples.tolist())
        # Labels with few documents, those with fewest first
        self._rare = sorted((number, column) for column, number in known if number <= MAX_RARE_EXAMPLES)

    def __call__(
        self,
        language: str,
        taken: SelectedDocument,
        row: int,
        opinions: ViewPredictions | None,
        doubts: Uncertainty | None,
    ) -> Reason:
        """All that speaks for a document that is taken, the plainest first; opinions have it in a ``row``."""
        reasons: list[Reason] = []
        if opinions is not None and doubts is not None:
            reasons += self._of_labels(row, opinions, doubts)
        said = [*(words for words, _ in reasons), self._of_language(language)]
        if taken.others >= MIN_SIMILAR_SHOWN:
            said.append(f"similar to {counted(taken.others, 'unlabelled document')}")
        columns = [column for _, named in reasons for column in named]
        unlike = "unlike the labelled documents" if self._learned else "unlike the documents before it"
        return "; ".join(each for each in said if each) or unlike, columns

    def _of_labels(self, row: int, opinions: ViewPredictions, doubts: Uncertainty) -> Iterator[Reason]:
        if not opinions.in_vocabulary[row]:
            yield "out of vocabulary", []
            return
        unsure = self._unsure(row, doubts)
        if unsure:
            named = " and ".join(self._labels[column] for column in unsure)
            yield f"unsure {'between' if self._single else 'about'} {named}", unsure
        column = int(doubts.disagreement[row].argmax())
        if doubts.disagreement[row, column] >= MIN_VIEW_DISAGREEMENT:
            yield f"tiers disagree on {self._labels[column]}", [column]
        likely = opinions.decisions.probabilities[row] >= MIN_RARE_PROBABILITY
        rare = next(((number, j) for number, j in self._rare if likely[j]), None)
        if rare is not None:
            number, column = rare
            yield f"possible rare label {self._labels[column]} ({counted(number, 'example')})", [column]

    def _unsure(self, row: int, doubts: Uncertainty) -> list[int]:
        """The columns of labels in doubt, as many as a reason names."""
        order: list[int] = np.argsort(-doubts.by_label[row], kind="stable").tolist()
        if self._single:
            return order[:MAX_LABELS_NAMED] if doubts.by_label[row].sum() >= MIN_MARGIN_ENTROPY / 2 else []
        return [column for column in order if doubts.margin_entropy[row, column] >= MIN_MARGIN_ENTROPY][
            :MAX_LABELS_NAMED
        ]

    def _of_language(self, language: str) -> str:
        if not self._learned:
            return ""
        if language not in self._learned:
            return "language without labels"
        mean = sum(self._learned.values()) / len(self._learned)
        number = self._learned[language]
        return f"language with few labels ({number:,})" if number < RARE_LANGUAGE_SHARE * mean else ""


MAX_COMPARED_DOCUMENTS = 5_000  # of a language, that are compared with each other: 100 MB of cosines
# The same without a model, of all languages together: a few documents are wanted then, and soon.
MAX_COMPARED_AT_FIRST = 3_000
# Answers to documents that are held at a time, one per label: some 10 numbers for each
VALUES_PER_BLOCK = 2**22
# Probabilities that are told beside those of suggested labels, and of labels that a reason names
N_PROBABILITIES_SHOWN = 5
MIN_PROBABILITY_SHOWN = 0.05  # of those
SUGGESTION_COLUMNS = ("id", "language", "text", "labels", "suggested", "probabilities", "reason", "score")

Row = dict[str, Any]


def check_names_next(model: Model) -> None:
    """Refuse a model that gives no opinion on every label."""
    if model.algorithm.sparse_labels:
        raise InputError(
            f"{model.algorithm.name} cannot choose documents to label next. Label those whose best labels "
            "are least probable by `funnelling predict`."
        )


def next_to_label(
    model: Model | None,
    X: Any,
    languages: Any = None,
    number: int = 100,
    *,
    ids: Any = None,
    groups: Any = None,
    balance: bool = False,
) -> list[Row]:
    """What `MethodEstimator.suggest` gives, as rows.

    Without a model every document is as uncertain as any other, and each needs its language.
    """
    if model is not None:
        check_names_next(model)
    if not isinstance(number, Integral) or number < 1:
        raise InputError(f"number must be a whole number from 1 on, not {number!r}.")
    known = model.languages if model is not None else sorted(set(languages))
    among = None if model is None else model.detect_among
    inputs = read_inputs(X, languages, known, model is None or model.texts, among=among)
    if not inputs.texts or inputs.positions is None:
        raise InputError("Give texts as one list, with their languages beside it.")
    names = inputs.ids(ids)
    grouping = {} if groups is None else inputs.groups(groups)
    examples = examples_of(model)
    rankings = {}
    compared = MAX_COMPARED_DOCUMENTS
    if model is None:
        compared = max(MAX_COMPARED_AT_FIRST, 5 * number) // max(len(inputs.documents), 1)
    shows = model is not None and model.shows_progress
    with progress_bar("choose", sum(inputs.sizes().values()), shows, "documents") as advance:
        for tag, texts in inputs.documents.items():
            most = len(texts) if grouping else number  # of a group only one is taken
            rankings[tag] = _ranked(model, tag, texts, most, examples, compared)
            advance(len(texts))

    seen: set[Any] = set()

    def once(tag: str) -> Iterator[SelectedDocument]:
        """A language's documents, but for those of a group that has been taken."""
        for taken in rankings[tag]:
            group = grouping[tag][taken.place] if grouping else None
            if is_missing(group) or group not in seen:
                seen.add(group)
                yield taken

    learned = {tag: 0 if model is None else model.documents.get(tag, 0) for tag in rankings}
    documents = {tag: learned[tag] + size for tag, size in inputs.sizes().items()}
    chosen = interleave_languages({tag: once(tag) for tag in rankings}, learned, documents, balance)
    taken = list(islice(chosen, number))
    told = _told(model, inputs.documents, taken, examples)
    return [
        {
            "id": names[tag][each.place],
            "language": tag,
            "text": inputs.documents[tag][each.place],
            **({"group": grouping[tag][each.place]} if grouping else {}),
            "labels": None,
            **told[tag, each.place],
            "score": round(each.gain, 3),
        }
        for tag, each in taken
    ]


def _ranked(
    model: Model | None,
    language: str,
    texts: Sequence[str],
    number: int,
    examples: Examples | None,
    compared: int,
) -> list[SelectedDocument]:
    """A language's documents in the order in which they should be labelled, as far as any may be reached."""
    places = np.arange(len(texts))
    if len(texts) > compared:
        drawn = stream(len(texts), "suggest", language).permutation(len(texts))[:compared]
        places = np.sort(drawn)
    shown = [texts[place] for place in places.tolist()]
    weights = np.ones(len(shown), dtype=np.float32)
    if model is not None and model.serves(language):
        # Of the many documents that are not suggested only the total is kept.
        doubts = (_opinions_and_doubts(model, language, each, examples)[1] for each in _blocks(model, shown))
        weights = np.concatenate([each.total for each in doubts]).astype(np.float32)
    archive = None if model is None else model.archive
    known = archive is not None and archive.texts and language in archive.blocks
    learned = archive.blocks[language].documents if archive is not None and known else ()
    in_order = archive is None or archive.kind == "as written"
    features = (BigramTfidfVectorizer if in_order else TfidfVectorizer)(
        language, min_df=1, reduce_to=None, stop_words=False
    )
    vectors = features.fit_transform([*shown, *learned])
    own, others = vectors[: len(shown)], vectors[len(shown) :]
    ranking = select_greedily(cosine_similarities(own, own), max_similarities(own, others), weights, number)
    return [each._replace(place=int(places[each.place])) for each in ranking]


def _blocks(model: Model | None, documents: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Documents, as many at a time as a model may say something of."""
    step = max(VALUES_PER_BLOCK // (1 if model is None else len(model.labels.classes)), 1)
    return (documents[start : start + step] for start in range(0, len(documents), step))


def _opinions_and_doubts(
    model: Model, language: str, texts: Sequence[str], examples: Examples | None
) -> tuple[ViewPredictions, Uncertainty]:
    (opinions,) = model.opinions({language: texts}).values()
    return opinions, estimate_uncertainty(opinions, model.labels.single_label, examples)


def _told(
    model: Model | None,
    documents: Mapping[str, Sequence[str]],
    taken: Sequence[tuple[str, SelectedDocument]],
    examples: Examples | None,
) -> dict[tuple[str, int], Row]:
    """What rows say of documents that are taken: their labels, as the model has them, and the reason."""
    reasons = Reasons(model, examples)
    told = {}
    for language in dict.fromkeys(tag for tag, _ in taken):
        for block in _blocks(model, [each for tag, each in taken if tag == language]):
            opinions = doubts = None
            if model is not None and model.serves(language):
                texts = [documents[language][each.place] for each in block]
                opinions, doubts = _opinions_and_doubts(model, language, texts, examples)
            for row, each in enumerate(block):
                reason, columns = reasons(language, each, row, opinions, doubts)
                labels = _labels(model, opinions, row, columns)
                told[language, each.place] = {**labels, "reason": reason}
    return told


def _labels(model: Model | None, opinions: ViewPredictions | None, row: int, named: Collection[int]) -> Row:
    """The labels that a document would get, and the probabilities of these, of likely and ``named`` ones."""
    if model is None or opinions is None or not opinions.in_vocabulary[row]:
        return {"suggested": [], "probabilities": {}}
    decisions, names = opinions.decisions, [str(label) for label in model.labels.classes]
    assigned, probabilities = decisions.assigned[row], decisions.probabilities[row]
    order = np.argsort(-probabilities, kind="stable").tolist()
    likely = [column for column in order if probabilities[column] >= MIN_PROBABILITY_SHOWN][
        :N_PROBABILITIES_SHOWN
    ]
    told = {*np.flatnonzero(assigned).tolist(), *likely, *named}
    return {
        "suggested": [names[column] for column in order if assigned[column]],
        "probabilities": {
            names[column]: round(float(probabilities[column]), 3) for column in order if column in told
        },
    }
