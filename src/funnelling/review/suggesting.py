"""Which documents without labels a person should label next, across languages, and why.

A label is worth what it says of other documents: those that the model is unsure of (`doubts`), that are like
the labelled one and unlike all that were labelled before (`covering`). In each language documents are taken
by how much of such doubt they cover; `turns` say which language is next.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.method.explanation import Opinions
from funnelling.method.inputs import read_inputs
from funnelling.plain import check_fitted
from funnelling.randomness import is_missing, stream
from funnelling.review.covering import Taken, covered_by, likeness, take_in_turn
from funnelling.review.doubts import Doubts, doubts_of
from funnelling.review.pairs import WordPairVectorizer
from funnelling.review.reasons import Examples, Opinionated, Reasons, examples_of
from funnelling.review.turns import in_turn
from funnelling.runtime.progress import progress_bar
from funnelling.text.tfidf import TfidfVectorizer

MOST_DOCUMENTS = 5_000  # of a language, that are compared with each other: 100 MB of cosines
BLOCK = 2**22  # answers to documents that are held at a time, one per label: some 10 numbers for each
SHOWN = 5  # probabilities that are told beside those of suggested labels, and of labels that a reason names
LEAST = 0.05  # of those
COLUMNS = ("id", "language", "text", "labels", "suggested", "probabilities", "reason", "score")

Item = TypeVar("Item")
Row = dict[str, Any]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class _Candidates:
    """A language's documents that may be suggested: their places in what was given, and how they rank."""

    places: Places
    ranking: Sequence[Taken]


def check_suggests(model: Opinionated, name: str) -> None:
    """Refuse a model, by a name that the user knows, that gives no opinion on every label."""
    if model.sparse_labels:
        raise InputError(
            f"{name} cannot say yet which documents to label next. Label those whose best labels "
            "are least probable by `funnelling predict`."
        )


def suggest_texts(
    model: Opinionated,
    X: Any,
    languages: Any = None,
    number: int = 100,
    *,
    ids: Any = None,
    groups: Any = None,
    balance: bool = False,
) -> list[Row]:
    """What `Method.suggest` gives, as rows."""
    check_fitted(model, "classes_")
    check_suggests(model, type(model).__name__)
    if not isinstance(number, Integral) or number < 1:
        raise InputError(f"number must be a whole number from 1 on, not {number!r}.")
    inputs = read_inputs(X, languages, model.languages_, model.texts_)
    if not inputs.texts or inputs.positions is None:
        raise InputError("Give texts as one list, with their languages beside it.")
    names = inputs.ids(ids)
    grouping = {} if groups is None else inputs.groups(groups)
    examples = examples_of(model)
    candidates = {}
    with progress_bar("suggest", sum(inputs.sizes().values()), bool(model.verbose), "documents") as advance:
        for tag, texts in inputs.documents.items():
            most = len(texts) if grouping else number  # of a group only one is taken
            candidates[tag] = _ranked(model, tag, texts, most, examples)
            advance(len(texts))

    seen: set[Any] = set()

    def once(tag: str) -> Iterator[Taken]:
        """A language's documents, but for those of a group that has been taken."""
        for taken in candidates[tag].ranking:
            group = grouping[tag][candidates[tag].places[taken.place]] if grouping else None
            if is_missing(group) or group not in seen:
                seen.add(group)
                yield taken

    learned = {tag: model.documents_.get(tag, 0) for tag in candidates}
    documents = {tag: learned[tag] + size for tag, size in inputs.sizes().items()}
    chosen = in_turn({tag: once(tag) for tag in candidates}, learned, documents, balance)
    taken = [(tag, int(candidates[tag].places[each.place]), each) for tag, each in islice(chosen, number)]
    told = _told(model, inputs.documents, taken, examples)
    return [
        {
            "id": names[tag][place],
            "language": tag,
            "text": inputs.documents[tag][place],
            **({"group": grouping[tag][place]} if grouping else {}),
            "labels": None,
            **told[tag, place],
            "score": round(each.gain, 3),
        }
        for tag, place, each in taken
    ]


def _ranked(
    model: Opinionated, language: str, texts: Sequence[str], number: int, examples: Examples | None
) -> _Candidates:
    """A language's documents in the order in which they should be labelled, as far as any may be reached."""
    places = np.arange(len(texts))
    if len(texts) > MOST_DOCUMENTS:
        drawn = stream(len(texts), "suggest", language).permutation(len(texts))[:MOST_DOCUMENTS]
        places = np.sort(drawn)
    shown = [texts[place] for place in places.tolist()]
    weights = np.ones(len(shown), dtype=np.float32)
    if model.serves(language):
        weights = _total_doubts(model, language, shown, examples).astype(np.float32)
    learned, in_order = _learned_texts(model, language)
    features = (WordPairVectorizer if in_order else TfidfVectorizer)(
        language, min_df=1, reduce_to=None, stop_words=False
    )
    vectors = features.fit_transform([*shown, *learned])
    own, others = vectors[: len(shown)], vectors[len(shown) :]
    ranking = take_in_turn(likeness(own, own), covered_by(own, others), weights, number)
    return _Candidates(places, ranking)


def _total_doubts(
    model: Opinionated, language: str, texts: Sequence[str], examples: Examples | None
) -> npt.NDArray[np.float64]:
    """How unsure a model is of each text: all that is kept of what it says of the many not suggested."""
    return np.concatenate(
        [_opinions_and_doubts(model, language, each, examples)[1].total for each in _blocks(model, texts)]
    )


def _blocks(model: Opinionated, documents: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Documents, as many at a time as a model may say something of."""
    step = max(BLOCK // len(model.classes_), 1)
    return (documents[start : start + step] for start in range(0, len(documents), step))


def _opinions_and_doubts(
    model: Opinionated, language: str, texts: Sequence[str], examples: Examples | None
) -> tuple[Opinions, Doubts]:
    (opinions,) = model.opinions({language: texts}).values()
    return opinions, doubts_of(opinions, bool(model.exclusive_), examples)


def _told(
    model: Opinionated,
    documents: Mapping[str, Sequence[str]],
    taken: Sequence[tuple[str, int, Taken]],
    examples: Examples | None,
) -> dict[tuple[str, int], Row]:
    """What rows say of documents that are taken: their labels, as the model has them, and the reason."""
    reasons = Reasons(model, examples)
    told = {}
    for language in dict.fromkeys(tag for tag, _, _ in taken):
        for block in _blocks(model, [(place, each) for tag, place, each in taken if tag == language]):
            opinions = doubts = None
            if model.serves(language):
                texts = [documents[language][place] for place, _ in block]
                opinions, doubts = _opinions_and_doubts(model, language, texts, examples)
            for row, (place, each) in enumerate(block):
                reason = reasons(language, each, row, opinions, doubts)
                labels = _labels(model, opinions, row, reason.columns)
                told[language, place] = {**labels, "reason": reason.text}
    return told


def _learned_texts(model: Opinionated, language: str) -> tuple[Sequence[str], bool]:
    """What a model keeps of the texts that it has learned in a language, and whether words are in order."""
    archive = getattr(model, "training_", None)
    if archive is None:
        return (), True
    texts: Mapping[str, list[str]] = archive.texts
    return texts.get(language, ()), archive.as_written


def _labels(model: Opinionated, opinions: Opinions | None, row: int, named: Collection[int]) -> Row:
    """The labels that a document would get, and the probabilities of these, of likely and ``named`` ones."""
    if opinions is None or not opinions.evident[row]:
        return {"suggested": [], "probabilities": {}}
    decisions, names = opinions.decisions, [str(label) for label in model.classes_]
    assigned, probabilities = decisions.assigned[row], decisions.probabilities[row]
    order = np.argsort(-probabilities, kind="stable").tolist()
    likely = [column for column in order if probabilities[column] >= LEAST][:SHOWN]
    told = {*np.flatnonzero(assigned).tolist(), *likely, *named}
    return {
        "suggested": [names[column] for column in order if assigned[column]],
        "probabilities": {
            names[column]: round(float(probabilities[column]), 3) for column in order if column in told
        },
    }
