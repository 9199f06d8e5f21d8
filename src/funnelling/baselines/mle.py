"""MLE: Multilingual Embeddings, means of word vectors that are aligned across languages."""

import os
from typing import Any

from funnelling.corpus.reference import Reference
from funnelling.methods.parameters import check_whole
from funnelling.methods.svms import SharedSpaceBaseline
from funnelling.spaces.embedded import EmbeddedSpace
from funnelling.svm import CSetting


class MLEClassifier(SharedSpaceBaseline):
    """Classify all languages by one set of RBF SVMs over tf-idf-weighted means of aligned word vectors.

    It also labels documents in languages that have vectors and no training documents.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up until two
        were worse than the best; "grid" tries them all.
    embeddings : path
        A folder of vectors in MUSE's text format, one file per language.
    reference : Reference or None
        Where the idf of a language without training documents comes from; None takes Zipf's law.
    unseen_words : int
        The words of such a language that are kept, the most frequent first.
    memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    def __init__(
        self,
        C: CSetting = None,
        *,
        embeddings: str | os.PathLike[str] | None = None,
        reference: Reference | None = None,
        unseen_words: int = 50_000,
        memory_limit: float = 8e9,
        compact: bool = False,
        keep_texts: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C,
            memory_limit=memory_limit,
            compact=compact,
            keep_texts=keep_texts,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.embeddings = embeddings
        self.reference = reference
        self.unseen_words = unseen_words

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_whole(self, "unseen_words")

    def _space(self, seed: int) -> EmbeddedSpace:  # noqa: ARG002
        return EmbeddedSpace(self.embeddings, self.reference, self.unseen_words, verbose=self.verbose)
