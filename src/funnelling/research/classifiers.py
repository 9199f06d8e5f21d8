"""The paper's methods as estimators."""

from typing import Any

from funnelling.methods.estimator import MethodEstimator
from funnelling.methods.svms import SVMParameters
from funnelling.research.baselines import (
    CLESA,
    DCI,
    KCCA,
    LRI,
    MLE,
    UPPER_BOUND,
    CLESAParameters,
    KCCAParameters,
    LRIParameters,
    MLEParameters,
)
from funnelling.research.lstm import MLE_LSTM
from funnelling.research.lstm_words import MLELSTMParameters


class _OfManyColumns(MethodEstimator):
    """A method that needs many columns to be any good."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the few dense columns that scikit-learn's checks have
        return tags


class LRIClassifier(_OfManyColumns, LRIParameters):
    """Classify all languages by one set of linear SVMs over random indexes of one vocabulary.

    Each word is an index vector with two non-zeros, so that documents stay sparse and words all but
    orthogonal; a word that occurs in two languages is one feature (Moreo, Esuli and Sebastiani 2016).

    Parameters
    ----------
    dimensions : int
        Of the reduced space; never more than there are words.
    C, calibrated, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.research.PooledClassifier`, but ``calibrated`` is False.
    """

    algorithm = LRI


class CLESAClassifier(MethodEstimator, CLESAParameters):
    """Classify all languages by one set of RBF SVMs over similarities with the same reference documents.

    A document is compared with the reference documents in its own language, and as those are versions of
    each other, the similarities mean the same in all languages (Sorg and Cimiano 2012). It also labels
    documents in languages of the reference corpus that have no training documents.

    Parameters
    ----------
    reference : Reference
        From `funnelling.research.read_reference`.
    reference_documents : int
        At most so many of them are used, drawn at random.
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.research.NaiveClassifier`, but there is one C.
    """

    algorithm = CLESA


class KCCAClassifier(MethodEstimator, KCCAParameters):
    """Classify all languages by one set of RBF SVMs over directions in which a reference corpus agrees.

    It also labels documents in languages of the reference corpus that have no training documents.

    Parameters
    ----------
    reference : Reference
        From `funnelling.research.read_reference`.
    reference_documents : int
        At most so many of them are used, drawn at random.
    components : int
        Directions that are kept.
    regularisation : float or None
        Added to the squares of kernels that have a largest eigenvalue of 1, Pyrcca's units; None chooses it
        from 1e-8, 1e-6, 1e-4, 0.01, 1 and 10 by the same cross-validation, going up until two were worse,
        under C = 10 where C is chosen too.
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.research.NaiveClassifier`, but there is one C.
    """

    algorithm = KCCA


class DCIClassifier(_OfManyColumns, SVMParameters):
    """Classify all languages by one set of RBF SVMs over what each language's words tell of the labels.

    A word's value for a label is P(word|label) + P(no word|no label) - 1 in the documents of its
    language; a document is the tf-idf-weighted sum (Moreo, Esuli and Sebastiani 2016).

    Parameters
    ----------
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.research.NaiveClassifier`, but there is one C.
    """

    algorithm = DCI


class MLEClassifier(MethodEstimator, MLEParameters):
    """Classify all languages by one set of RBF SVMs over tf-idf-weighted means of aligned word vectors.

    It also labels documents in languages that have vectors and no training documents.

    Parameters
    ----------
    embeddings : path
        A folder of vectors in MUSE's text format, one file per language.
    reference : Reference or None
        Where the idf of a language without training documents comes from; None takes Zipf's law.
    unseen_words : int
        The words of such a language that are kept, the most frequent first.
    C, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.research.NaiveClassifier`, but there is one C.
    """

    algorithm = MLE


class UpperBoundClassifier(MethodEstimator, SVMParameters):
    """Naive on English documents alone, to be given the English versions of all training documents.

    No rival but a bound: it reads the ``parallel`` rows of a corpus, further language versions of training
    documents, which no other method may read, and is measured on English test documents.

    Parameters
    ----------
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.research.NaiveClassifier`.
    """

    algorithm = UPPER_BOUND


class MLELSTMClassifier(MethodEstimator, MLELSTMParameters):
    """Classify all languages by one network: aligned word vectors, an LSTM, a dense layer.

    The word vectors are fine-tuned, each language's by themselves. Words of the training documents without a
    vector start from zeros; all other unknown words are zeros. It also labels documents in languages that
    have vectors and no training documents, by the vectors as the files have them.

    The same seed gives the same bits on a CPU, with any number of threads, and the same bits on one kind of
    GPU; a GPU's bits differ from a CPU's.

    Parameters
    ----------
    embeddings : path
        A folder of vectors in MUSE's text format, one file per language.
    units, dense_units : int
        Units of the LSTM and of the layer after it.
    dropout : float
        The share of units dropped in training: of the word vectors, of the LSTM's recurrent connection and
        of both layers' outputs.
    length : int
        The number of words that are read of a document, its last ones.
    epochs, patience : int
        Training ends after so many epochs, or after so many without a lower validation loss; the best
        epoch is kept. The paper had 200 and 20 for RCV1/RCV2, 2,000 and 200 for JRC-Acquis; the defaults
        here are for a CPU.
    batch_size : int
        Documents between two steps of RMSprop.
    learning_rate : float
        Of RMSprop.
    validation : float
        The share of training documents that are held out to decide when to end.
    unseen_words : int
        The number of words of a language without training documents, the most frequent ones.
    device : "auto", "cpu" or "cuda"
        Where the network runs; auto is a GPU where there is one.
    memory_limit : float
        Bytes that the word vectors may take in training.
    n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    algorithm = MLE_LSTM
