"""Texts to sparse vectors: (1 + log tf) · log(n / df), cosine-normalised; one vocabulary or several."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from numbers import Integral
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from funnelling.errors import InputError
from funnelling.matrices import Matrix
from funnelling.plain import Estimator, check_fitted, clone, without_caches
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import raise_if_cancelled
from funnelling.state import MIN_DIVISOR, Length, empty_row, matrix, numbers
from funnelling.text.counts import Languages, WordCounts, shared_counts
from funnelling.text.languages import known_as
from funnelling.text.words import ReduceTo, analyser

Idf = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False)
class TfidfVectorizer(Estimator):
    """Turn texts into tf-idf vectors of unit length over one sorted vocabulary.

    The weight of a word that a text has tf times is (1 + log tf) · log(n / df), where df of the n
    training texts have it. A text without a known word gets a row of zeros. A row has the same bits
    whatever texts stand beside it.

    Parameters
    ----------
    language : str or None
        The language of all texts, for lemmas and stop words; None takes the words as they are.
    min_df : int or None
        Words in fewer training texts are left out. None means 3 from 100 texts on, 2 from 30 on,
        else 1.
    reduce_to : "lemmas", "stems" or None
        What words are reduced to; where the language lacks the one, the other is taken.
    stop_words : bool
        Whether stop words are dropped.
    fold_accents : bool
        Whether ``café`` and ``cafe`` are one word.

    Attributes
    ----------
    vocabulary_ : list of str
        The words, sorted. Those that every training text has carry no weight and are left out,
        unless there are no others; then they all weigh the same.
    idf_ : array of float64
        log(n / df) of each word.

    Examples
    --------
    >>> vectorizer = TfidfVectorizer("en")
    >>> vectors = vectorizer.fit_transform(["Two dogs barked", "A dog and its cats", "Cats like cats"])
    >>> vectorizer.vocabulary_
    ['bark', 'cat', 'dog']
    >>> vectors.toarray().astype(float).round(2).tolist()
    [[0.94, 0.0, 0.35], [0.0, 0.71, 0.71], [0.0, 1.0, 0.0]]

    Several languages may share one vocabulary, each text analysed in its own:

    >>> TfidfVectorizer().fit(["the dogs", "i cani", "i gatti"], languages=["en", "it", "it"]).vocabulary_
    ['cane', 'dog', 'gatto']
    """

    language: str | None = None
    min_df: int | None = None
    reduce_to: ReduceTo | None = "lemmas"
    stop_words: bool = True
    fold_accents: bool = True
    vocabulary_: Annotated[list[str], Length("words")] = field(init=False)
    idf_: Annotated[Idf, numbers("words", least=MIN_DIVISOR)] = field(init=False)

    __getstate__ = without_caches

    def fit(self, texts: Iterable[str], y: object = None, *, languages: Sequence[str] | None = None) -> Self:
        """Learn vocabulary and idf; `languages`, one per text, overrides `language`."""
        counts = self._shared_count(texts, languages)
        return self.learn(counts.words, counts.texts_with(), counts.documents)

    def fit_transform(
        self, texts: Iterable[str], y: object = None, *, languages: Sequence[str] | None = None
    ) -> csr_array[np.float32]:
        """Learn vocabulary and idf and return the texts' vectors, analysing each text once."""
        counts = self._shared_count(texts, languages)
        chosen = self._learn(counts.words, counts.texts_with(), counts.documents)
        columns = np.full(len(counts.words), -1, dtype=np.int32)
        columns[chosen] = np.arange(len(chosen), dtype=np.int32)
        if (shared := shared_counts()) is not None:
            shared.note_columns(counts, self.vocabulary_, columns)
        return self._weigh(counts, columns)

    def transform(
        self, texts: Iterable[str], *, languages: Sequence[str] | None = None
    ) -> csr_array[np.float32]:
        """Return one row per text: float32, columns in the order of `vocabulary_`, indices sorted."""
        check_fitted(self, "idf_")
        return self.weigh(self._shared_count(texts, languages))

    def with_vocabulary(self, vocabulary: Sequence[str], idf: npt.ArrayLike) -> Self:
        """Take these sorted words and their idf, instead of learning them."""
        self.vocabulary_ = list(vocabulary)
        self.idf_ = np.asarray(idf, dtype=np.float64)
        return self

    def check_words(self) -> Any:
        """Refuse a state that could not make vectors; gives the vector of a text without a known word."""
        return empty_row(len(self.vocabulary_))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the vocabulary as an array."""
        check_fitted(self, "idf_")
        return np.asarray(self.vocabulary_, dtype=object)

    def count(self, texts: Iterable[str], languages: Languages | None = None) -> WordCounts:
        """How often each text has each word."""
        pieces = self.count_pieces(*self._checked(texts, languages))
        return self.count_in(pieces, self.cut(pieces.words))

    def _shared_count(self, texts: Iterable[str], languages: Languages | None) -> WordCounts:
        """How often each text has each word, counted once while `counted_once` lasts."""
        shared = shared_counts()
        if shared is None:
            return self.count(texts, languages)
        return shared.counts(self, *self._checked(texts, languages))

    def _checked(
        self, texts: Iterable[str], languages: Languages | None
    ) -> tuple[list[str], list[str | None]]:
        """The texts, and the language of each."""
        if isinstance(texts, str):
            raise InputError("one text was given where several are expected. Put it in a list.")
        texts = list(texts)
        language_of: list[str | None] = [self.language] * len(texts) if languages is None else list(languages)
        if len(language_of) != len(texts):
            raise InputError(f"{len(texts)} texts have {len(language_of)} languages. Give each text one.")
        return texts, language_of

    def way(self) -> Any:
        """How texts are counted, apart from their language; vectorizers with equal ways count alike."""
        apart = {"language": None, "min_df": None}
        return type(self), tuple(sorted({**self.get_params(deep=False), **apart}.items()))

    def count_pieces(self, texts: Sequence[str], languages: Sequence[str | None]) -> WordCounts:
        """How often each text has each piece; here a word, in others what words, or n-grams, are cut from."""
        columns: defaultdict[str, int] = defaultdict()
        columns.default_factory = columns.__len__  # a new word takes the next column
        ends, numbers, frequencies = array("q"), array("i"), array("i")
        for text, language in zip(texts, languages, strict=True):
            raise_if_cancelled()
            if not isinstance(text, str):
                raise InputError(f"text {len(ends) + 1} is {text!r}. Leave it out or make it a string.")
            counts = Counter(self._analyser(language)(text))
            numbers.extend(map(columns.__getitem__, counts))
            frequencies.extend(counts.values())
            ends.append(len(numbers))
        rows = np.repeat(np.arange(len(texts)), np.diff(ends, prepend=0))
        return WordCounts(len(texts), list(columns), rows, np.asarray(numbers), np.asarray(frequencies))

    def cut(self, pieces: Sequence[str]) -> Any:
        """What pieces consist of: nothing here, where they are words."""
        return None

    def count_in(self, pieces: WordCounts, cut: Any) -> WordCounts:
        """How often each text has each word, given its pieces and what all pieces consist of."""
        return pieces

    def places(self, text: str, language: str | None = None) -> FeatureSpans:
        """Where the features of a text stand in it; ``language`` overrides that of all texts."""
        check_fitted(self, "idf_")
        return self._known(self._analyser(language or self.language).placed(text))

    def _known(self, placed: Iterable[tuple[str, int, int]]) -> FeatureSpans:
        """The columns of words with their places; words without a column are left out."""
        column_of = self._column_of()
        known = [(column_of[word], start, end) for word, start, end in placed if word in column_of]
        return FeatureSpans(*np.array(known, dtype=np.intp).reshape(-1, 3).T)

    def _analyser(self, language: str | None) -> Any:
        return analyser(
            language, reduce_to=self.reduce_to, stop_words=self.stop_words, fold=self.fold_accents
        )

    def learn(self, words: Sequence[str], frequencies: npt.ArrayLike, n: int) -> Self:
        """Learn vocabulary and idf from words, given how many of n texts have each."""
        self._learn(words, np.asarray(frequencies, dtype=np.intp), n)
        return self

    def _learn(self, words: Sequence[str], df: npt.NDArray[np.intp], n: int) -> npt.NDArray[np.intp]:
        """Learn vocabulary and idf; which of the words the vocabulary has, in its order."""
        frequent = df >= self._least_df(df, n)
        weighty = frequent & (df < n)
        columns = np.flatnonzero(weighty if weighty.any() else frequent)
        known = [words[column] for column in columns.tolist()]
        order = sorted(range(len(known)), key=known.__getitem__)
        columns = columns[order]
        idf = np.log(n / df[columns]) if weighty.any() else np.ones(len(columns))
        self.with_vocabulary([known[place] for place in order], idf)
        return columns

    def _least_df(self, df: npt.NDArray[np.intp], n: int) -> int:
        if self.min_df is None:
            return min(3 if n >= 100 else 2 if n >= 30 else 1, int(df.max(initial=1)))
        if not isinstance(self.min_df, Integral) or self.min_df < 1:
            raise InputError(f"min_df counts texts and must be 1 or more, found {self.min_df!r}.")
        return self.min_df

    def weigh(self, counts: WordCounts) -> csr_array[np.float32]:
        """The vectors of texts, given their word counts."""
        shared = shared_counts()
        noted = None if shared is None else shared.columns(counts, self.vocabulary_)
        if noted is not None:
            return self._weigh(counts, noted)
        column_of = self._column_of()
        columns = np.full(len(counts.words), -1, dtype=np.int32)
        present = np.unique(counts.columns)
        words = map(counts.words.__getitem__, present.tolist())
        columns[present] = np.fromiter(map(column_of.get, words, repeat(-1)), np.int32, len(present))
        return self._weigh(counts, columns)

    def _weigh(self, counts: WordCounts, of_words: npt.NDArray[np.int32]) -> csr_array[np.float32]:
        """The vectors of texts, given their word counts and the column of each word, -1 where it has none."""
        columns = of_words[counts.columns]
        known = columns >= 0
        rows = counts.rows[known]  # in their order: counting goes text by text
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=counts.documents))])
        if rows.size < 2**31:  # scikit-learn's SVC takes no wider indices
            starts = starts.astype(np.int32)
        vectors = csr_array(
            (counts.frequencies[known], columns[known], starts), (counts.documents, len(self.vocabulary_))
        )
        vectors.sort_indices()
        columns = vectors.indices
        # The C library's log for each frequency, and sums in the order of the columns: NumPy's vector
        # loops might round a value differently at another place in the batch.
        frequencies = np.bincount(vectors.data)
        logs = np.ones(len(frequencies))
        for each in np.flatnonzero(frequencies).tolist():
            logs[each] = 1 + math.log(max(each, 1))
        weights = logs[vectors.data] * self.idf_[columns]
        lengths = np.sqrt(np.bincount(rows, weights * weights, minlength=counts.documents))
        data = (weights / lengths[rows]).astype(np.float32)
        return csr_array((data, columns, starts), vectors.shape)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing, as asked: vectors are sparse, and no other container takes them."""
        if transform not in (None, "default"):
            raise InputError(f"vectors are sparse, which {transform} does not take. Leave the output alone.")
        return self

    def _column_of(self) -> dict[str, int]:
        """Return the column of each word, cached until another vocabulary is learned or restored."""
        vocabulary, column_of = getattr(self, "_columns", (None, {}))
        if vocabulary is not self.vocabulary_:
            column_of = {word: column for column, word in enumerate(self.vocabulary_)}
            self._columns = (self.vocabulary_, column_of)
        return column_of


class FeatureSpans(NamedTuple):
    """Where a text has the features of a vector: per occurrence the column, and where it starts and ends."""

    columns: npt.NDArray[np.intp]
    starts: npt.NDArray[np.intp]
    ends: npt.NDArray[np.intp]


Texts = Mapping[str, list[str]]


def fit_own(
    texts: Texts, template: Any = None, shown: bool = False
) -> tuple[dict[str, Any], dict[str, Matrix]]:
    """One vectorizer per language, fitted on its texts, and their vectors.

    ``template`` is a vectorizer to clone, a mapping from languages to such, or None for tf-idf.
    """
    vectorizers = {language: _vectorizer(language, template) for language in texts}
    vectors = {}
    with progress_bar("words", sum(map(len, texts.values())), shown, "documents") as advance:
        for language, of_language in texts.items():
            vectors[language] = vectorizers[language].fit_transform(of_language)
            advance(len(of_language))
    return vectorizers, vectors


def _vectorizer(language: str, template: Any) -> Any:
    if isinstance(template, Mapping):
        template = template.get(known_as(language, template))
    return TfidfVectorizer(language=language) if template is None else clone(template)


def check_vectorizer(vectorizer: Any) -> Matrix:
    """Refuse a fitted vectorizer that could not make vectors; gives one of them.

    What one of the user's holds, only it knows: it is asked about a text of all its words.
    """
    if hasattr(vectorizer, "check_words"):
        example: Matrix = vectorizer.check_words()
        return example
    example = vectorizer.transform([" ".join(map(str, feature_names(vectorizer) or "a"))])
    matrix(1, None, "biuf").check(example, {}, "what a vectorizer says")
    return example


def feature_names(vectorizer: Any) -> list[str] | None:
    """What the columns of a vectorizer's vectors stand for, None where they have no names.

    >>> feature_names(None) is None
    True
    """
    names = getattr(vectorizer, "get_feature_names_out", None)
    if getattr(names, "__func__", None) is TfidfVectorizer.get_feature_names_out:
        return list(vectorizer.vocabulary_)  # an array of them would take as long as all else
    return None if names is None else list(names())


def feature_places(vectorizer: Any, text: str, language: str | None = None) -> FeatureSpans | None:
    """Where a text has a vectorizer's features, None where only a vectorizer of the user's could say.

    ``language`` is that of the text where one vectorizer is for all.
    """
    return vectorizer.places(text, language) if isinstance(vectorizer, TfidfVectorizer) else None
