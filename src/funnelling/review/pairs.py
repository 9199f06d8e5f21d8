"""Texts to vectors by which those that say the same are told from those on the same subject."""

from collections.abc import Callable
from itertools import pairwise

from funnelling.text.tfidf import TfidfVectorizer


class WordPairVectorizer(TfidfVectorizer):
    """Turn texts into tf-idf vectors of their words and of each two that follow each other.

    >>> WordPairVectorizer("en", min_df=1).fit(["Dogs bark.", "Cats sleep"]).vocabulary_
    ['bark', 'cat', 'cat sleep', 'dog', 'dog bark', 'sleep']
    """

    def _analyser(self, language: str | None) -> Callable[[str], list[str]]:
        words_of = super()._analyser(language)

        def words_and_pairs(text: str) -> list[str]:
            words = words_of(text)
            return [*words, *map(" ".join, pairwise(words))]

        return words_and_pairs
