"""The paper's other methods: LRI, CLESA, KCCA, DCI, MLE, and the upper bound in English."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.methods.baselines import PooledParameters
from funnelling.methods.estimator import Method
from funnelling.methods.parameters import flag, positive, whole
from funnelling.methods.svms import SVMParameters, SVMsInSpace, SVMsPerLanguage
from funnelling.methods.training_set import TrainingSet
from funnelling.plain import clone
from funnelling.spaces import Space
from funnelling.spaces.embedded import EmbeddedSpace
from funnelling.spaces.labels import DCISpace, LRISpace
from funnelling.spaces.reference import CLESASpace, KCCASpace
from funnelling.svm import Fit
from funnelling.svm.learner import Search


@dataclass(kw_only=True, eq=False, repr=False)
class LRIParameters(PooledParameters):
    """The parameters of LRI."""

    dimensions: int = whole(25_000)
    calibrated: bool = flag(False)


def lri_space(parameters: LRIParameters, seed: int) -> LRISpace:
    """Random indexes."""
    return LRISpace(parameters.dimensions, parameters.vectorizer, seed, parameters.verbose)


class LRIClassifier(Method, LRIParameters):
    """Classify all languages by one set of linear SVMs over random indexes of one vocabulary.

    Each word is an index vector with two non-zeros, so that documents stay sparse and words all but
    orthogonal; a word that occurs in two languages is one feature (Moreo, Esuli and Sebastiani 2016).

    Parameters
    ----------
    dimensions : int
        Of the reduced space; never more than there are words.
    C, calibrated, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.PooledClassifier`, but ``calibrated`` is False.
    """

    algorithm = SVMsInSpace(name="lri", space=lri_space)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the few dense columns that scikit-learn's checks have
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class CLESAParameters(SVMParameters):
    """The parameters of CLESA."""

    reference: Reference | None = None
    reference_documents: int = whole(5_000)


def clesa_space(parameters: CLESAParameters, seed: int) -> CLESASpace:
    """Similarities with reference documents."""
    return CLESASpace(
        parameters.reference,
        parameters.reference_documents,
        vectorizer=parameters.vectorizer,
        random_state=seed,
        verbose=parameters.verbose,
    )


class CLESAClassifier(Method, CLESAParameters):
    """Classify all languages by one set of RBF SVMs over similarities with the same reference documents.

    A document is compared with the reference documents in its own language, and as those are versions of
    each other, the similarities mean the same in all languages (Sorg and Cimiano 2012). It also labels
    documents in languages of the reference corpus that have no training documents.

    Parameters
    ----------
    reference : Reference
        From `funnelling.read_reference`.
    reference_documents : int
        At most so many of them are used, drawn at random.
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.NaiveClassifier`, but there is one C.
    """

    algorithm = SVMsInSpace(name="clesa", space=clesa_space)


# The paper's cross-validation chose 1 and 10 for its two corpora, and does not say from what.
REGULARISATIONS = (1e-8, 1e-6, 1e-4, 1e-2, 1.0, 10.0)
ROUGH_C = 10.0  # under which they are compared


@dataclass(kw_only=True, eq=False, repr=False)
class KCCAParameters(SVMParameters):
    """The parameters of KCCA."""

    reference: Reference | None = None
    reference_documents: int = whole(2_000)
    components: int = whole(1_000)
    regularisation: float | None = positive(None)


def kcca_space(parameters: KCCAParameters, seed: int) -> KCCASpace:
    """Directions in which the languages of reference documents agree."""
    given = parameters.regularisation
    return KCCASpace(
        parameters.reference,
        parameters.reference_documents,
        vectorizer=parameters.vectorizer,
        components=parameters.components,
        regularisation=REGULARISATIONS[0] if given is None else given,
        random_state=seed,
        verbose=parameters.verbose,
    )


class SVMsInAgreement(SVMsInSpace[KCCAParameters]):
    """SVMs in a space whose regularisation may have to be chosen first."""

    def fit_in(self, parameters: KCCAParameters, space: Space, training: TrainingSet) -> tuple[Space, Fit]:
        if parameters.regularisation is None:
            space, training = self._best(parameters, space, training)
        return super().fit_in(parameters, space, training)

    def _best(
        self, parameters: KCCAParameters, space: Space, training: TrainingSet
    ) -> tuple[Space, TrainingSet]:
        """The documents in the space of the best regularisation, the smallest one of equals."""
        search, first = Search(), space
        for regularisation in REGULARISATIONS:
            rival = training
            if regularisation != REGULARISATIONS[0]:  # in which the documents are already
                space = clone(first).set_params(regularisation=regularisation)
                rival = replace(training, vectors=dict(space.fit(training.documents, training.targets)))
            if search.improves(self._rough_fit(parameters, rival).held_out_f1()):
                best = space, rival
            if search.is_over:
                break
        return best

    def _rough_fit(self, parameters: KCCAParameters, training: TrainingSet) -> Fit:
        X, learner = training.stacked_vectors(), parameters.learner(training)
        learner = replace(learner, C=learner.given_c or ROUGH_C).over_dense(X)
        return learner.problem(X, training.stacked_targets(), self.name).fit(training.stacked_folds())


class KCCAClassifier(Method, KCCAParameters):
    """Classify all languages by one set of RBF SVMs over directions in which a reference corpus agrees.

    It also labels documents in languages of the reference corpus that have no training documents.

    Parameters
    ----------
    reference : Reference
        From `funnelling.read_reference`.
    reference_documents : int
        At most so many of them are used, drawn at random.
    components : int
        Directions that are kept.
    regularisation : float or None
        Added to the squares of kernels that have a largest eigenvalue of 1, Pyrcca's units; None chooses it
        from 1e-8, 1e-6, 1e-4, 0.01, 1 and 10 by the same cross-validation, going up until two were worse,
        under C = 10 where C is chosen too.
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.NaiveClassifier`, but there is one C.
    """

    algorithm = SVMsInAgreement(name="kcca", space=kcca_space)


def dci_space(parameters: SVMParameters, seed: int) -> DCISpace:  # noqa: ARG001
    """What words tell of labels."""
    return DCISpace(parameters.vectorizer, parameters.verbose)


class DCIClassifier(Method, SVMParameters):
    """Classify all languages by one set of RBF SVMs over what each language's words tell of the labels.

    A word's value for a label is P(word|label) + P(no word|no label) - 1 in the documents of its
    language; a document is the tf-idf-weighted sum (Moreo, Esuli and Sebastiani 2016).

    Parameters
    ----------
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.NaiveClassifier`, but there is one C.
    """

    algorithm = SVMsInSpace(name="dci", space=dci_space)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the few dense columns that scikit-learn's checks have
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class MLEParameters(SVMParameters):
    """The parameters of MLE."""

    embeddings: str | os.PathLike[str] | None = None
    reference: Reference | None = None
    unseen_words: int = whole(50_000)
    vectorizer: Any = field(default=None, init=False)  # words are as the vectors have them


def mle_space(parameters: MLEParameters, seed: int) -> EmbeddedSpace:  # noqa: ARG001
    """Means of word vectors."""
    return EmbeddedSpace(
        parameters.embeddings, parameters.reference, parameters.unseen_words, verbose=parameters.verbose
    )


class MLEClassifier(Method, MLEParameters):
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
        As in `funnelling.NaiveClassifier`, but there is one C.
    """

    algorithm = SVMsInSpace(name="mle", space=mle_space)


ENGLISH = "en"


class SVMsInEnglish(SVMsPerLanguage):
    """SVMs for English alone."""

    reads_parallel = True

    def usable(self, parameters: SVMParameters, languages: Sequence[str], chosen: Any = None) -> list[str]:
        return [language for language in languages if language == ENGLISH]

    def learnable(
        self, parameters: SVMParameters, languages: Sequence[str], texts: bool, chosen: Any = None
    ) -> list[str]:
        if ENGLISH not in languages:
            raise InputError(
                "upper-bound learns from English versions of the training documents, and there are none. Add "
                'them with "split": "parallel".'
            )
        return [ENGLISH]


class UpperBoundClassifier(Method, SVMParameters):
    """Naive on English documents alone, to be given the English versions of all training documents.

    No rival but a bound: it reads the ``parallel`` rows of a corpus, further language versions of training
    documents, which no other method may read, and is measured on English test documents.

    Parameters
    ----------
    C, vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.NaiveClassifier`.
    """

    algorithm = SVMsInEnglish(name="upper-bound")
