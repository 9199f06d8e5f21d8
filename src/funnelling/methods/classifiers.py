"""Naive, Pooled and Words-and-characters as estimators."""

from funnelling.methods.baselines import (
    NAIVE,
    POOLED,
    WORDS_AND_CHARACTERS,
    PooledParameters,
    WordsAndCharactersParameters,
)
from funnelling.methods.estimator import MethodEstimator
from funnelling.methods.svms import SVMParameters


class NaiveClassifier(MethodEstimator, SVMParameters):
    """Classify each language by linear SVMs trained on that language alone.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it for each language from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up
        until two were worse than the best; "grid" tries them all.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    algorithm = NAIVE


class PooledClassifier(MethodEstimator, PooledParameters):
    """Classify all languages by one set of linear SVMs over one shared vocabulary.

    Not in the paper; a strong rival where languages share words. It says yes where the calibrated
    posterior is above .5: a C that is best for posteriors leaves most scores of rare labels below 0.
    The choice of C goes by the same decisions.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up until two
        were worse than the best; "grid" tries them all.
    calibrated : bool
        False says yes where the score is above 0, as the paper's methods do here.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`, but one vectorizer for all languages.
    """

    algorithm = POOLED


class WordsAndCharactersClassifier(MethodEstimator, WordsAndCharactersParameters):
    """Classify all languages by one set of linear SVMs over scikit-learn's tf-idf of words and of characters.

    Not in the paper: it is the twenty lines of scikit-learn that a funnel has to beat. A document is its
    words and its runs of two to five characters within words (``char_wb``), in one vocabulary for all
    languages. It needs texts.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1 and 10 by 5-fold cross-validation.
    sublinear_tf, min_df : bool, int
        Those of scikit-learn's `TfidfVectorizer`; the defaults were chosen by cross-validation.
    calibrated, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.research.PooledClassifier`.
    """

    algorithm = WORDS_AND_CHARACTERS
