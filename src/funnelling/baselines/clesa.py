"""CLESA: Cross-Lingual Explicit Semantic Analysis."""

from typing import Any

from funnelling.corpus.reference import Reference
from funnelling.methods.parameters import check_whole
from funnelling.methods.svms import SharedSpaceBaseline
from funnelling.spaces.reference import CLESASpace
from funnelling.svm import CSetting


class CLESAClassifier(SharedSpaceBaseline):
    """Classify all languages by one set of RBF SVMs over similarities with the same reference documents.

    A document is compared with the reference documents in its own language, and as those are versions of
    each other, the similarities mean the same in all languages (Sorg and Cimiano 2012). It also labels
    documents in languages of the reference corpus that have no training documents.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up until two
        were worse than the best; "grid" tries them all.
    reference : Reference
        From `funnelling.read_reference`.
    reference_documents : int
        At most so many of them are used, drawn at random.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    def __init__(
        self,
        C: CSetting = None,
        *,
        reference: Reference | None = None,
        reference_documents: int = 5_000,
        vectorizer: Any = None,
        memory_limit: float = 8e9,
        compact: bool = False,
        keep_texts: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C,
            vectorizer=vectorizer,
            memory_limit=memory_limit,
            compact=compact,
            keep_texts=keep_texts,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.reference = reference
        self.reference_documents = reference_documents

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_whole(self, "reference_documents")

    def _space(self, seed: int) -> CLESASpace:
        return CLESASpace(self.reference, self.reference_documents, self.vectorizer, seed, self.verbose)
