"""LRI: Lightweight Random Indexing of a vocabulary that all languages share."""

from typing import Any

from funnelling.methods.baselines import PooledClassifier
from funnelling.methods.parameters import check_whole
from funnelling.spaces.labels import LRISpace
from funnelling.svm import CSetting


class LRIClassifier(PooledClassifier):
    """Classify all languages by one set of linear SVMs over random indexes of one vocabulary.

    Each word is an index vector with two non-zeros, so that documents stay sparse and words all but
    orthogonal; a word that occurs in two languages is one feature (Moreo, Esuli and Sebastiani 2016).

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up until two
        were worse than the best; "grid" tries them all.
    dimensions : int
        Of the reduced space; never more than there are words.
    calibrated, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.PooledClassifier`, but ``calibrated`` is False.
    """

    def __init__(
        self,
        C: CSetting = None,
        *,
        dimensions: int = 25_000,
        calibrated: bool = False,
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
            calibrated=calibrated,
            vectorizer=vectorizer,
            memory_limit=memory_limit,
            compact=compact,
            keep_texts=keep_texts,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.dimensions = dimensions

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_whole(self, "dimensions")

    def _space(self, seed: int) -> LRISpace:
        return LRISpace(self.dimensions, self.vectorizer, seed, self.verbose)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the few dense columns that scikit-learn's checks have
        return tags
