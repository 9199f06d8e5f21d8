"""KCCA: Kernel Canonical Correlation Analysis of a reference corpus."""

from dataclasses import replace
from typing import Any

from funnelling.baselines.base import SharedSpaceBaseline
from funnelling.corpus.reference import Reference
from funnelling.estimator import clone
from funnelling.method.parameters import check_positive, check_whole
from funnelling.method.training_set import TrainingSet
from funnelling.spaces.kcca import KCCASpace
from funnelling.svm import CSetting, Fit

REGULARISATIONS = (1.0, 10.0)  # what the paper's cross-validation chose for its two corpora


class KCCAClassifier(SharedSpaceBaseline):
    """Classify all languages by one set of RBF SVMs over directions in which a reference corpus agrees.

    It also labels documents in languages of the reference corpus that have no training documents.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up until two
        were worse than the best; "grid" tries them all.
    reference : Reference
        From `funnelling.read_reference`.
    reference_documents : int
        At most so many of them are used, drawn at random.
    components : int
        Directions that are kept.
    regularisation : float or None
        Added to the kernels' diagonals; None chooses 1 or 10, the paper's, by the same cross-validation.
    vectorizer, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    def __init__(
        self,
        C: CSetting = None,
        *,
        reference: Reference | None = None,
        reference_documents: int = 2_000,
        components: int = 1_000,
        regularisation: float | None = None,
        vectorizer: Any = None,
        memory_limit: float = 8e9,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C,
            vectorizer=vectorizer,
            memory_limit=memory_limit,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.reference = reference
        self.reference_documents = reference_documents
        self.components = components
        self.regularisation = regularisation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_whole(self, "reference_documents", "components")
        check_positive(self, "regularisation")

    def _space(self, seed: int) -> KCCASpace:
        return KCCASpace(
            self.reference,
            self.reference_documents,
            self.components,
            REGULARISATIONS[0] if self.regularisation is None else self.regularisation,
            self.vectorizer,
            seed,
            self.verbose,
        )

    def _fit_shared(self, training: TrainingSet) -> Fit:
        """The fit with the best regularisation, the smaller one of equals."""
        best = super()._fit_shared(training)
        if self.regularisation is None:
            for regularisation in REGULARISATIONS[1:]:
                space = clone(self.space_).set_params(regularisation=regularisation)
                vectors = space.fit(training.documents, training.targets)
                rival = super()._fit_shared(replace(training, vectors=vectors))
                if rival.held_out_f1() > best.held_out_f1():
                    best, self.space_ = rival, space
        return best
