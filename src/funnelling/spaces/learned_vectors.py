"""Word vectors learned from a reference corpus: words of the same groups are close, in any language.

No dictionary and no download. Every language counts its words in the same groups, so that the counts of
all languages, side by side, are one matrix of groups by words; its singular value decomposition gives
each word of each language a vector in one space (cross-lingual latent semantic indexing). Forms of one
word are counted together, where the language has lemmas, and share its vector.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from funnelling.errors import InputError
from funnelling.randomness import stream
from funnelling.runtime.progress import progress_bar
from funnelling.spaces.word_vectors import WordVectors
from funnelling.text.words import analyser

# Of the randomised decomposition; more of either did not change neighbours.
OVERSAMPLES, ITERATIONS = 50, 4


def learn_vectors(
    texts: Mapping[str, Sequence[str]],
    dimensions: int = 300,
    min_count: int = 1,
    seed: int = 0,
    shown: bool = False,
) -> dict[str, WordVectors]:
    """Vectors for the words of each language; the texts at one place of all languages are the same content.

    Counts are weighted as in correspondence analysis, n / √(length of the text · count of the word), each
    language as much as any other, and each dimension by its singular value. That was chosen on training
    documents of the Debian corpus, each language labelled by a model of the others: micro-F1 .480 (mean of
    ten languages), .457 without lemmas, .435 with tf-idf weights and .434 with log-entropy (these two with
    each dimension by the root of its singular value). Words that occur once have vectors too: without them
    coverage falls.

    >>> english = ["the red cat", "the dog", "the red dog", "the cat"]
    >>> italian = ["il gatto rosso", "il cane", "il cane rosso", "il gatto"]
    >>> vectors = learn_vectors({"en": english, "it": italian}, dimensions=3)
    >>> vectors["it"].words[0], vectors["it"].matrix.shape
    ('il', (4, 3))
    """
    groups = len(next(iter(texts.values())))
    if min(groups - 1, dimensions) < dimensions:
        raise InputError(
            f"{dimensions} dimensions need more than {dimensions} groups, and there are {groups}. "
            f"Ask for --dimensions {max(1, groups - 1)} or fewer, or use a larger reference corpus."
        )
    vocabularies: dict[str, list[str]] = {}
    columns, blocks = [], []
    width = 0
    with progress_bar("vectors", groups * len(texts) * 2, shown, "documents") as advance:
        for language, versions in texts.items():
            vocabularies[language], counts = _count(versions, language, min_count)
            if not vocabularies[language]:
                raise InputError(f"no word of {language!r} occurs {min_count} times. Lower --min-count.")
            lemma_of = _lemma_columns(vocabularies[language], language)
            blocks.append(_weights(_together(counts, lemma_of)))
            columns.append(width + lemma_of)
            width += blocks[-1].shape[1]
            advance(groups)
        with threadpool_limits(1, user_api="blas"):  # the same bits on any machine's number of cores
            _, values, rows = randomized_svd(
                sparse.hstack(blocks, format="csr"),
                dimensions,
                n_oversamples=OVERSAMPLES,
                n_iter=ITERATIONS,
                random_state=int(stream(seed, "vectors").integers(2**31)),
            )
        advance(groups * len(texts))
    matrix = (rows.T * values)[np.concatenate(columns)]
    matrix = (matrix / np.sqrt((matrix**2).sum(axis=1).mean())).astype(np.float32)  # readable numbers
    ends = np.cumsum([len(vocabulary) for vocabulary in vocabularies.values()])
    return {
        language: WordVectors(vocabulary, rows, np.arange(len(vocabulary)))
        for (language, vocabulary), rows in zip(
            vocabularies.items(), np.split(matrix, ends[:-1]), strict=True
        )
    }


def _count(versions: Sequence[str], language: str, min_count: int) -> tuple[list[str], sparse.csr_array]:
    """The words of a language, the most frequent first, and how often each text has each of them."""
    words = analyser(language, reduce_to=None, stop_words=False, fold=False)  # as they will be looked up
    counts = [Counter(words(text)) for text in versions]
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    vocabulary = sorted((w for w, n in total.items() if n >= min_count), key=lambda w: (-total[w], w))
    column = {word: number for number, word in enumerate(vocabulary)}
    by_column = [{column[word]: n for word, n in count.items() if word in column} for count in counts]
    starts = np.cumsum([0, *map(len, by_column)])
    columns = np.array([c for count in by_column for c in count], dtype=np.int32)
    values = np.array([n for count in by_column for n in count.values()], dtype=np.float32)
    matrix = sparse.csr_array((values, columns, starts), (len(versions), len(vocabulary)))
    matrix.sort_indices()
    return vocabulary, matrix


def _lemma_columns(vocabulary: Sequence[str], language: str) -> npt.NDArray[np.intp]:
    """The number of each word's lemma; what the analyser does not take for one word is its own lemma."""
    analyse = analyser(language, stop_words=False)
    numbers: dict[str, int] = {}
    lemmas = (analyse(word) for word in vocabulary)
    names = (lemma[0] if len(lemma) == 1 else word for lemma, word in zip(lemmas, vocabulary, strict=True))
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)


def _together(counts: sparse.csr_array, column_of: npt.NDArray[np.intp]) -> sparse.csr_array:
    """Add up the columns that have the same number."""
    words = len(column_of)
    sums = sparse.csr_array(
        (np.ones(words, np.float32), (np.arange(words), column_of)), (words, int(column_of.max()) + 1)
    )
    return sparse.csr_array(counts @ sums)


def _weights(counts: sparse.csr_array) -> sparse.csr_array:
    """Counts weighted as in correspondence analysis; the squares of a language sum to 1."""
    sums = (np.asarray(counts.sum(axis=axis), dtype=np.float64) for axis in (1, 0))
    roots = (np.sqrt(np.maximum(each, 1)) for each in sums)  # a text may be empty
    of_texts, of_words = (sparse.diags_array(1 / each) for each in roots)
    weights = sparse.csr_array(of_texts @ counts @ of_words, dtype=np.float32)
    weights.data /= np.sqrt(np.sum(weights.data.astype(np.float64) ** 2))
    return weights
