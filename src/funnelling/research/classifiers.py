"""The paper's methods as estimators."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from funnelling.corpus.reference import Reference
from funnelling.funnel.design import AUTO
from funnelling.funnel.estimator import FunnelEstimator
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


@dataclass(eq=False, repr=False)
class PaperFunnelClassifier(FunnelEstimator):
    """The funnel of the paper: each language's own words, and an SVM over their posteriors.

    Parameters
    ----------
    variant : "tat" or "kfcv"
        Where the posteriors that tier 2 learns from come from: classifiers that saw the documents
        (Fun(TAT), cheaper and better in the paper) or ``folds``-fold cross-validation (Fun(KFCV)).
    folds : int
        The folds of Fun(KFCV).
    calibration : "platt", "fixed" or "none"
        The paper's Calib, NoCalib and NoProb.
    base_C : float, "grid" or None
        C of the base classifiers; None chooses it for each language like ``meta_C``.
    meta_C : float, "grid" or None
        C of the meta-classifier; None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up
        until two Cs were worse than the best, and "grid" tries them all, as the paper did.
    meta_gamma : float or None
        Gamma of the meta-classifier's RBF kernel; None is 1 / labels.
    base_estimator, meta_estimator : scikit-learn classifier or None
        None is the built-in SVM. ``base_estimator`` may map languages to classifiers.
    vectorizer : scikit-learn transformer of texts, a mapping from languages to them, or None
        None is lemmas weighted by tf-idf.
    zero_shot : "auto", "pooled", "embeddings", "mle", "clesa" or None
        The shared space through which documents in languages without training documents are labelled. "mle"
        has the paper's means of word vectors, "embeddings" means in which languages with and without training
        documents are treated alike. "auto" is embeddings where those are given (mle with
        ``zero_shot_joint``), else the pooled vocabulary.
    zero_shot_joint : bool
        True is the paper's Fun-MLE: one tier 2 for the posteriors of both kinds of base classifiers. False
        gives each kind its own, and languages with training documents what they get without ``zero_shot``.
    reference : Reference or None
        From `funnelling.research.read_reference`: CLESA's, and the embeddings' source of idf.
    embeddings : path or None
        A folder of aligned word vectors in MUSE's text format, for ``zero_shot``.
    thresholds, keep, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`; the paper names no threshold, and None is an SVM's own.
    """

    variant: str = "tat"
    _: KW_ONLY
    folds: int = 10
    calibration: str = "platt"
    base_C: float | str | None = 1.0
    meta_C: float | str | None = None
    meta_gamma: float | None = None
    base_estimator: Any = None
    meta_estimator: Any = None
    vectorizer: Any = None
    zero_shot: str | None = None
    zero_shot_joint: bool = False
    reference: Reference | None = None
    embeddings: Any = None
    thresholds: Any = None
    keep: str = "words"
    memory_limit: float = 8e9
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @staticmethod
    def _given_by(parameters: dict[str, Any]) -> dict[str, Any]:
        final = parameters["final_estimator"]
        if isinstance(final, str):
            return parameters | {"meta_estimator": None}
        return parameters | {"meta_estimator": final, "final_estimator": AUTO}

    @staticmethod
    def _translated(given: dict[str, Any]) -> dict[str, Any]:
        estimator = given.pop("meta_estimator")
        return given | {"views": None} | ({} if estimator is None else {"final_estimator": estimator})


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
