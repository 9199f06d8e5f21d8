"""The paper's other methods: LRI, CLESA, KCCA, DCI, MLE, and the upper bound in English."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.methods.baselines import PooledParameters
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


LRI = SVMsInSpace(name="lri", parameters=LRIParameters, space=lri_space)


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


CLESA = SVMsInSpace(name="clesa", parameters=CLESAParameters, space=clesa_space)


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


KCCA = SVMsInAgreement(name="kcca", parameters=KCCAParameters, space=kcca_space)


def dci_space(parameters: SVMParameters, seed: int) -> DCISpace:  # noqa: ARG001
    """What words tell of labels."""
    return DCISpace(parameters.vectorizer, parameters.verbose)


DCI = SVMsInSpace(name="dci", parameters=SVMParameters, space=dci_space)


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


MLE = SVMsInSpace(name="mle", parameters=MLEParameters, space=mle_space)


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


UPPER_BOUND = SVMsInEnglish(name="upper-bound", parameters=SVMParameters)
