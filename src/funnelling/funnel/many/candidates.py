"""The labels that a document might have, the features by which tier 2 sees each, and the vectors behind them.

A candidate is a label that a view ranks high. Whatever its name, tier 2 gets the scores of the views, about
how often the label was seen, whether it goes with the other candidates, and how much there is to read. So one
model learns from all labels and all languages, and knows as much of a rare label as of a frequent one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.funnel.many.one_against_rest import BIAS, NO_COLUMN, TopK
from funnelling.matrices import Floats, canonical, downcast_indices, values_at
from funnelling.state import expect, matrix, numbers
from funnelling.text.characters import CharacterVectorizer
from funnelling.text.tfidf import FeatureSpans, TfidfVectorizer

MAX_RANK = 100  # places of a view's ranking that candidates come from
MAX_CANDIDATES = 40  # candidates of a document
N_COMMON_FEATURES = 6  # features behind two of each view
CO_OCCURRENCE_COLUMN = 2  # which of them is the company that a candidate has
# Of the first guess at probabilities, which are proportional to exp(SOFTMAX_SCALE * score)
SOFTMAX_SCALE = 3.0
CO_OCCURRENCE_PRIOR = 5.0  # documents that a label is thought to have beside its own, without any other label
MAX_COMPANIONS = 20  # candidates that others may go with
MAX_LABELS_PER_DOCUMENT = 50  # of a document that tells which labels go together: one of more names no topic


LabelCounts = Annotated[npt.NDArray[np.int64], numbers("labels", kinds="i", least=0)]


@dataclass(frozen=True)
class Seen:
    """How often each label was seen, in all languages and by language, and with which others.

    ``together`` has in row i and column j the share of documents with label i that have j too.
    """

    documents: LabelCounts
    by_language: dict[str, LabelCounts]
    together: Annotated[Any, matrix("labels", "labels")]

    @classmethod
    def of(cls, targets: dict[str, Any], share: float = 1.0) -> Self:
        """Counted in the labels of each language's documents, sparse (documents, labels).

        ``share`` of all documents are there; counts are given as those of all.
        """
        counts = {
            tag: np.rint(np.bincount(Y.indices, minlength=Y.shape[1]) / share).astype(np.int64)
            for tag, Y in targets.items()
        }
        every: Any = sparse.vstack(list(targets.values()), format="csr")
        telling = every[np.diff(every.indptr) <= MAX_LABELS_PER_DOCUMENT].astype(np.float32)
        together: Any = sparse.csr_array(telling.T @ telling)
        rows = np.repeat(np.arange(together.shape[0]), np.diff(together.indptr))
        alone = np.bincount(telling.indices, minlength=every.shape[1])
        shares = together.data / (alone[rows] + CO_OCCURRENCE_PRIOR)
        others = rows != together.indices
        shares, columns = shares[others].astype(np.float32), together.indices[others]
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows[others], minlength=len(alone)))])
        matrix = downcast_indices(sparse.csr_array((shares, columns, starts), together.shape))
        matrix.sort_indices()
        return cls(np.sum(list(counts.values()), axis=0), counts, matrix)

    def check(self, languages: Sequence[str], labels: int) -> None:
        """Refuse a state that no fit leaves."""
        expect(self.by_language.keys() == {*languages} and len(self.documents) == labels, "label counts")
        expect(isinstance(self.together, sparse.csr_array), "labels that go together")


@dataclass(frozen=True)
class CandidateLabels:
    """The labels that documents might have, one document's behind the other's, the likelier first.

    Those of document i stand from ``starts[i]`` to ``starts[i + 1]``; ``features`` has a row for each.
    """

    starts: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    prior: Floats  # at their probabilities, which sum to 1
    features: Floats

    @classmethod
    def joined(cls, parts: Sequence["CandidateLabels"]) -> Self:
        """The candidates of several sets of documents, as those of one."""
        ends = np.cumsum([each.starts[-1] for each in parts])
        starts = [each.starts[1:] + end - each.starts[-1] for each, end in zip(parts, ends, strict=True)]
        columns = zip(*((each.labels, each.prior, each.features) for each in parts), strict=True)
        return cls(np.concatenate([[0], *starts]), *map(np.concatenate, columns))

    def matrix(self, values: npt.NDArray[Any], labels: int) -> Any:
        """A value per candidate as a sparse matrix (documents, labels)."""
        order = np.lexsort((self.labels, self.documents()))
        return sparse.csr_array(
            (values[order], self.labels[order].astype(np.int32), self.starts), (len(self.starts) - 1, labels)
        )

    def are_right(self, Y: Any) -> npt.NDArray[np.bool_]:
        """Which candidates are labels of their document, given those of all, sparse (documents, labels)."""
        return values_at(canonical(Y), self.documents(), self.labels)

    def documents(self) -> npt.NDArray[np.int64]:
        """The document of each candidate."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def candidates_of(views: Sequence[TopK], X: Any, seen: Seen, language: str) -> CandidateLabels:
    """The candidates of one language's documents with the vectors X, given what each view ranks highest.

    A view that does not rank a candidate is taken to score it as low as the last one that it ranks; one that
    has no more to rank, as low as what has nothing of a label, too.
    """
    n, width = len(views[0]), len(seen.documents)
    keys, scores = _union(views, width)
    documents, labels = np.divmod(keys, width)
    mean = scores.mean(axis=1)
    order = np.lexsort((labels, -mean, documents))
    counts = np.bincount(documents, minlength=n)
    places = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    order, places = order[places < MAX_CANDIDATES], places[places < MAX_CANDIDATES]
    documents, labels, scores, mean = documents[order], labels[order], scores[order], mean[order]
    starts = np.concatenate([[0], np.cumsum(np.minimum(counts, MAX_CANDIDATES))])
    sizes = np.diff(starts)
    first = starts[:-1][sizes > 0]  # where documents with candidates begin
    sizes = sizes[sizes > 0]
    guess = np.exp(SOFTMAX_SCALE * (mean - np.repeat(mean[first], sizes)))
    guess /= np.repeat(np.add.reduceat(guess, first), sizes)
    behind = scores - np.repeat(np.maximum.reduceat(scores, first, axis=0), sizes, axis=0)
    own = seen.by_language[language]
    features = np.column_stack(
        [
            scores,
            behind,
            guess,
            places,
            _company(starts, labels, guess, seen.together),
            _roughly(own[labels]),
            _roughly(seen.documents[labels]),
            np.log1p(np.diff(X.indptr))[documents],
        ]
    )
    return CandidateLabels(starts, labels, guess, features.astype(np.float32))


def _union(views: Sequence[TopK], width: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """What any view ranks, as numbers of document and label, sorted, and how each view scores it."""
    of_views = []
    for view in views:
        ranked = view.labels != NO_COLUMN
        rows = np.nonzero(ranked)[0].astype(np.int64)
        of_views.append((rows * width + view.labels[ranked], view.scores[ranked]))
    keys = np.unique(np.concatenate([each for each, _ in of_views]))
    scores = np.empty((len(keys), len(views)), dtype=np.float32)
    for column, (view, (ranked_keys, ranked_scores)) in enumerate(zip(views, of_views, strict=True)):
        lowest = np.where(view.labels != NO_COLUMN, view.scores, BIAS).min(axis=1)
        scores[:, column] = lowest[keys // width]
        scores[np.searchsorted(keys, ranked_keys), column] = ranked_scores
    return keys, scores


def _roughly(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """How many there are, to the nearest half power of two: too roughly to tell which label it is.

    >>> _roughly(np.array([0, 1, 99, 110])).tolist()
    [0.0, 1.0, 6.5, 7.0]
    """
    return np.round(2 * np.log2(1 + counts)) / 2


def _company(
    starts: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    guess: Floats,
    together: Any,
) -> npt.NDArray[np.float64]:
    """How many of a document's likeliest candidates each one would go with: sum of guess times share."""
    sizes = np.diff(starts)
    companions = np.repeat(np.minimum(sizes, MAX_COMPANIONS), sizes)  # of each candidate
    candidate = np.repeat(np.arange(len(labels)), companions)
    place = np.arange(len(candidate)) - np.repeat(np.cumsum(companions) - companions, companions)
    companion = np.repeat(np.repeat(starts[:-1], sizes), companions) + place
    shares = values_at(together, labels[companion], labels[candidate])
    weights: npt.NDArray[np.float64] = guess[companion].astype(np.float64) * shares
    return np.bincount(candidate, weights, minlength=len(labels)).astype(np.float64)


# The share of words in the squared length of a vector, and the characters of an n-gram. Chosen on held-out
# training titles of three languages: one length does nearly as well as three to six, for a third of the work.
WORD_SHARE = 0.3
NGRAM_LENGTH = 4


@dataclass(frozen=True)
class TextVectors:
    """Vectors of unit length: the tf-idf of words, reduced to lemmas, beside that of character n-grams.

    A word that one document has stays: a rare label may have no other.
    """

    words: TfidfVectorizer
    characters: CharacterVectorizer

    @classmethod
    def fitted(cls, texts: list[str], language: str) -> tuple[Self, Any]:
        """Learned from the texts of a language, and their vectors; names of labels may be among them."""
        made = cls(TfidfVectorizer(language, min_df=1), CharacterVectorizer(NGRAM_LENGTH, min_df=2))
        return made, _beside(made.words.fit_transform(texts), made.characters.fit_transform(texts))

    def __call__(self, texts: list[str]) -> Any:
        """The vectors of texts."""
        return _beside(self.words.transform(texts), self.characters.transform(texts))

    def names(self) -> list[str]:
        """What the columns stand for: words, then character n-grams, which begin with a tab here.

        An n-gram may be spelled like a word, and is another feature.
        """
        return [*self.words.vocabulary_, *(f"\t{ngram}" for ngram in self.characters.vocabulary_)]

    def places(self, text: str) -> FeatureSpans:
        """Where the features of a text stand in it."""
        words, ngrams = self.words.places(text), self.characters.places(text)
        shifted = ngrams._replace(columns=ngrams.columns + len(self.words.vocabulary_))
        return FeatureSpans(*map(np.concatenate, zip(words, shifted, strict=True)))

    def check(self) -> int:
        """Refuse a state that could not make vectors; how wide they are."""
        self.words.check_words()
        self.characters.check_words()
        return len(self.words.vocabulary_) + len(self.characters.vocabulary_)


def unit_rows(X: Any) -> Any:
    """A user's own vectors, sparse, brought to length 1, which weights and prototypes are made for.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).toarray().round(2).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows: Any = canonical(X).astype(np.float64)
    sizes = np.diff(rows.indptr)
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    lengths = np.sqrt(np.bincount(numbers, rows.data**2, minlength=len(sizes)))
    return sparse.csr_array(
        ((rows.data / lengths[numbers]).astype(np.float32), rows.indices, rows.indptr), rows.shape
    )


def _beside(words: Any, characters: Any) -> Any:
    """Two halves of a vector, which has length 1 even where one of them is empty."""
    shares = np.array([WORD_SHARE, 1 - WORD_SHARE])
    filled = np.column_stack([np.diff(half.indptr) > 0 for half in (words, characters)])
    lengths = np.sqrt((filled * shares).sum(axis=1))
    scales: npt.NDArray[np.float64] = np.sqrt(shares) / np.where(lengths > 0, lengths, 1)[:, None]
    scaled = [
        sparse.csr_array(
            (
                half.data * np.repeat(scale, np.diff(half.indptr)).astype(np.float32),
                half.indices,
                half.indptr,
            ),
            half.shape,
        )
        for half, scale in zip((words, characters), scales.T, strict=True)
    ]
    return sparse.csr_array(sparse.hstack(scaled, format="csr"))
