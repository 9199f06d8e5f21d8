"""UpperBound: what one could hope for, were every training document available in English."""

from collections.abc import Sequence

from funnelling.errors import InputError
from funnelling.methods.baselines import NaiveClassifier

ENGLISH = "en"


class UpperBoundClassifier(NaiveClassifier):
    """Naive on English documents alone, to be given the English versions of all training documents.

    No rival but a bound: it reads the ``parallel`` rows of a corpus, further language versions of training
    documents, which no other method may read, and is measured on English test documents.

    Parameters
    ----------
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.NaiveClassifier`.
    """

    reads_parallel = True

    def usable(self, languages: Sequence[str]) -> list[str]:
        return [language for language in languages if language == ENGLISH]

    def _learnable_languages(self, languages: list[str]) -> list[str]:
        if ENGLISH not in languages:
            raise InputError(
                "upper-bound learns from English versions of the training documents, and there are none. Add "
                'them with "split": "parallel".'
            )
        return [ENGLISH]
