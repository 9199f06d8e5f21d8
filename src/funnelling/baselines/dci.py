"""DCI: Distributional Correspondence Indexing, with the labels as pivots."""

from typing import Any

from funnelling.methods.svms import SharedSpaceBaseline
from funnelling.spaces.labels import DCISpace


class DCIClassifier(SharedSpaceBaseline):
    """Classify all languages by one set of RBF SVMs over what each language's words tell of the labels.

    A word's value for a label is P(word|label) + P(no word|no label) - 1 in the documents of its
    language; a document is the tf-idf-weighted sum (Moreo, Esuli and Sebastiani 2016).

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up until two
        were worse than the best; "grid" tries them all.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    def _space(self, seed: int) -> DCISpace:  # noqa: ARG002
        return DCISpace(self.vectorizer, self.verbose)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the few dense columns that scikit-learn's checks have
        return tags
