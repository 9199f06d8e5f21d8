"""KCCA: Kernel Canonical Correlation Analysis of a reference corpus."""

from dataclasses import replace
from typing import Any

from funnelling.corpus.reference import Reference
from funnelling.methods.parameters import check_positive, check_whole
from funnelling.methods.svms import SharedSpaceBaseline
from funnelling.methods.training_set import TrainingSet
from funnelling.plain import clone
from funnelling.spaces.reference import KCCASpace
from funnelling.svm import CSetting, Fit
from funnelling.svm.learner import Search

# The paper's cross-validation chose 1 and 10 for its two corpora, and does not say from what.
REGULARISATIONS = (1e-8, 1e-6, 1e-4, 1e-2, 1.0, 10.0)
ROUGH_C = 10.0  # under which they are compared


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
        Added to the squares of kernels that have a largest eigenvalue of 1, Pyrcca's units; None chooses it
        from 1e-8, 1e-6, 1e-4, 0.01, 1 and 10 by the same cross-validation, going up until two were worse,
        under C = 10 where C is chosen too.
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
        if self.regularisation is None:
            training = self._with_best_regularisation(training)
        return super()._fit_shared(training)

    def _with_best_regularisation(self, training: TrainingSet) -> TrainingSet:
        """The documents in the space of the best regularisation, the smallest one of equals."""
        search = Search()
        for regularisation in REGULARISATIONS:
            space, rival = self.space_, training
            if regularisation != REGULARISATIONS[0]:  # in which the documents are already
                space = clone(space).set_params(regularisation=regularisation)
                rival = replace(training, vectors=dict(space.fit(training.documents, training.targets)))
            if search.improves(self._rough_fit(rival).held_out_f1()):
                best, chosen = rival, space
            if search.is_over:
                break
        self.space_ = chosen
        return best

    def _rough_fit(self, training: TrainingSet) -> Fit:
        X, learner = training.stacked_vectors(), self._learner(training)
        learner = replace(learner, C=learner.given_c or ROUGH_C).over_dense(X)
        return learner.problem(X, training.stacked_targets(), self._name()).fit(training.stacked_folds())
