"""`FunnellingClassifier`: the paper's method, in both variants."""

import logging
import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.evaluation.measures import (
    Counts,
    counts_by_language,
    mean_measures,
    mean_of_four,
    measure_counts,
)
from funnelling.funnel.archive import Kept, Seen
from funnelling.funnel.choosing import AUTO, choose
from funnelling.funnel.estimators import EstimatorLearner
from funnelling.funnel.thresholds import parse_goal, tuned_cuts
from funnelling.funnel.tier_one import Posteriors, TierOne, fit_tier_one
from funnelling.funnel.tier_two import (
    Cuts,
    FittedOnFolds,
    Rows,
    TierTwo,
    aligned_scores,
    grid,
    teaching,
)
from funnelling.funnel.views import OWN, SHARED, Given, View, make_space, seen_by_views, view_names
from funnelling.funnel.views.combination import COMBINATIONS, combined, stacking_weights
from funnelling.funnel.views.shared import SharedView, fit_shared_view
from funnelling.funnel.zero_shot import SPACES, language_folds, unseen_space
from funnelling.matrices import Floats, Matrix, Scores
from funnelling.method import Method
from funnelling.method.inputs import read_inputs
from funnelling.method.training_set import FOLDS, Head, Training, fit_languages
from funnelling.randomness import assign_folds
from funnelling.spaces import Space
from funnelling.svm import SVM, Calibration, Fit, Scorer
from funnelling.svm.device import scores_on
from funnelling.svm.learner import Problem, decide
from funnelling.svm.plan import amount, check_solution_size, labels_at_once
from funnelling.work.devices import DEVICES, pick_device
from funnelling.work.progress import progress_bar
from funnelling.work.spread import for_threads, is_local
from funnelling.work.threads import in_threads

logger = logging.getLogger(__name__)

VARIANTS = ("tat", "kfcv")
CALIBRATIONS = ("platt", "fixed", "none")


class FunnellingClassifier(Method):
    """Classify documents in many languages under one set of labels, every language teaching all.

    Tier 1 has base classifiers for each language in its own feature space; their calibrated posteriors,
    one a label, are a space that all languages share. Tier 2 is one meta-classifier that learns there
    from the documents of all languages (Esuli, Moreo and Sebastiani, TOIS 2019).

    Parameters
    ----------
    views : list of views, "auto" or None
        What tier 1 sees of a document: None is the paper's funnel, each language's own features. A list of
        "own", "pooled", "lri", "characters", "wce", "embeddings", "encoder", scikit-learn transformers of
        texts or functions of texts is a funnel over several views, most of them shared by all languages
        (after Moreo, Pedrotti and Sebastiani, TOIS 2022). "auto" chooses by outer folds over the training
        documents; ``choice_`` tells what and why.
    combine : "mean", "concat" or "stacked"
        How tier 2 gets the views' posteriors: as their mean, side by side, or as a mean with weights that
        suit the held-out posteriors best.
    normalise : bool
        Whether each view's posteriors are scaled to length 1 before that.
    variant : "tat" or "kfcv"
        Where the posteriors that tier 2 learns from come from: classifiers that saw the documents
        (Fun(TAT), cheaper and better in the paper) or ``folds``-fold cross-validation (Fun(KFCV)).
    folds : int
        The folds of Fun(KFCV).
    calibration : "platt", "fixed" or "none"
        The paper's Calib, NoCalib and NoProb.
    base_C : float or None
        C of the base classifiers; None chooses it for each language like ``meta_C``. Views whose vectors are
        dense have an RBF kernel, and always C = 10.
    meta_C : float or None
        C of the meta-classifier; None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, over
        normalised views from 1 and 10 by folds that neither tier saw.
    meta_gamma : float or None
        Gamma of the meta-classifier's RBF kernel; None is 1 / labels, and 1 over normalised views.
    zero_shot : "auto", "pooled", "embeddings", "clesa" or None
        The shared space through which documents in languages without training documents are labelled;
        None refuses them. "auto" is embeddings where those are given, else the pooled vocabulary.
    embeddings : path or None
        A folder of aligned word vectors in MUSE's text format, for ``zero_shot`` and the view.
    reference : Reference or None
        From `funnelling.read_reference`: CLESA's, and the embeddings' source of idf.
    encoder : path or None
        A folder with a model of sentence-transformers, for the view. Set it on a loaded model where the
        folder has moved.
    encoder_epochs : int
        For how many epochs the encoder learns the labels; 0 leaves it as it is.
    base_estimator, meta_estimator : scikit-learn classifier or None
        None is the built-in SVM. ``base_estimator`` may map languages to classifiers.
    optimise : "micro-f1", "macro-f1", "micro-k", "macro-k", "recall=R" or None
        What to tune each label's threshold for, on posteriors of documents held out from both tiers;
        None says yes where the score is above 0, as the paper does.
    compact : bool
        True keeps nothing of the training documents: the model cannot `extend` then, nor name neighbours.
    vectorizer : scikit-learn transformer of texts, a mapping from languages to them, or None
        None is lemmas weighted by tf-idf.
    memory_limit : float
        The bytes that a kernel matrix may take. Past it tier 1 is solved over the vectors themselves, with
        the same result, and a sample of the documents teaches tier 2; both are logged.
    device : "cpu" or "cuda"
        "cuda" fits tier 2 and labels documents on a GPU, with PyTorch: the same optimum within the solver's
        tolerance, not the same bits. Without a GPU the CPU does it.
    n_jobs : int or None
        Threads; -1 is one a core. The results are the same to the bit.
    random_state : int or None
        Makes a fit repeatable to the bit.
    verbose : int
        Above 0 shows progress bars on a terminal.

    Examples
    --------
    >>> texts = ["the cat sleeps", "a dog barks", "il gatto dorme", "un cane abbaia"] * 5
    >>> labels = [["cat"], ["dog"], ["cat"], ["dog"]] * 5
    >>> model = FunnellingClassifier(random_state=0)
    >>> model.fit(texts, labels, languages=["en", "en", "it", "it"] * 5).classes_.tolist()
    ['cat', 'dog']
    >>> model.predict(["the cat barks not, it sleeps", "il cane"], languages=["en", "it"]).tolist()
    [[1, 0], [0, 1]]
    >>> model.predict(["le chat"], languages=["fr"])
    Traceback (most recent call last):
    funnelling.errors.InputError: The model does not know the language 'fr'. It knows en, it.
    """

    def __init__(
        self,
        variant: str = "tat",
        *,
        views: Any = None,
        combine: str = "mean",
        normalise: bool = True,
        folds: int = 10,
        calibration: str = "platt",
        base_C: float | None = 1.0,
        meta_C: float | None = None,
        meta_gamma: float | None = None,
        zero_shot: str | None = None,
        embeddings: str | os.PathLike[str] | None = None,
        reference: Reference | None = None,
        encoder: str | os.PathLike[str] | None = None,
        encoder_epochs: int = 0,
        base_estimator: Any = None,
        meta_estimator: Any = None,
        optimise: str | None = None,
        compact: bool = False,
        vectorizer: Any = None,
        memory_limit: float = 8e9,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.variant = variant
        self.views = views
        self.combine = combine
        self.normalise = normalise
        self.folds = folds
        self.calibration = calibration
        self.base_C = base_C
        self.meta_C = meta_C
        self.meta_gamma = meta_gamma
        self.zero_shot = zero_shot
        self.embeddings = embeddings
        self.reference = reference
        self.encoder = encoder
        self.encoder_epochs = encoder_epochs
        self.base_estimator = base_estimator
        self.meta_estimator = meta_estimator
        self.optimise = optimise
        self.compact = compact
        self.vectorizer = vectorizer
        self.memory_limit = memory_limit
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        _choose("variant", self.variant, VARIANTS)
        _choose("calibration", self.calibration, CALIBRATIONS)
        _choose("combine", self.combine, COMBINATIONS)
        _choose("device", self.device, DEVICES)
        if not isinstance(self.normalise, bool | np.bool_):
            raise InputError(f"normalise must be true or false, not {self.normalise!r}.")
        epochs = self.encoder_epochs
        if not isinstance(epochs, Integral) or isinstance(epochs, bool) or epochs < 0:
            raise InputError(f"encoder_epochs must be a whole number from 0 on, not {epochs!r}.")
        if isinstance(self.views, str) and self.views == AUTO:
            if not self.normalise:
                raise InputError("views='auto' chooses whether to normalise. Leave normalise out.")
        elif self.views is not None:
            view_names(self.views)
        if self.zero_shot is not None:
            _choose("zero_shot", self.zero_shot, SPACES)
            if self.views is not None:
                raise InputError("Shared views serve unseen languages themselves. Leave zero_shot out.")
        if self.optimise is not None:
            parse_goal(self.optimise)
        self._check_positive("base_C", "meta_C", "meta_gamma")
        if not isinstance(self.folds, Integral) or self.folds < 2:
            raise InputError(f"folds must be a whole number from 2 on, not {self.folds!r}.")

    def _fit(self, training: Training) -> None:
        if self.optimise is not None and training.exclusive:
            raise InputError("optimise tunes thresholds, and one label a document has none. Leave it out.")
        rows = self.check_size(training)
        # An encoder sees most texts once, not in every round.
        self._encoded: dict[str, Floats] | None = {} if self.views == AUTO else None
        if self.views == AUTO:
            self.choice_ = choose(self, training)
        elif self.views is not None:
            self._tell_unread()
        self.fit_above(training, self.fit_views(training, rows), rows)
        self._encoded = None
        if self.zero_shot is not None:
            self._fit_shared(training)

    def check_size(self, training: Training) -> Rows | None:
        """Refuse what would not fit into memory, before hours of tier 1; tell which documents teach tier 2.

        None means all.
        """
        if self.meta_estimator is not None:
            return None
        rows = teaching(training.targets, training.seed, self.memory_limit)
        everything = documents = sum(map(len, training.targets.values()))
        if rows is not None:
            documents = sum(int(taken.sum()) for taken in rows.values())
        check_solution_size(documents, training.labels, FOLDS + 1, self.memory_limit, "tier 2")
        if rows is not None:
            logger.warning(
                "Tier 2 learns from %s of %s documents, for a kernel matrix of all would pass the "
                "memory_limit of %s; the model keeps none of them, so it cannot learn on.",
                f"{documents:,}",
                f"{everything:,}",
                amount(self.memory_limit),
            )
        return rows

    def fit_views(self, training: Training, rows: Rows | None = None) -> dict[str, dict[str, Posteriors]]:
        """Tier 1: the base classifiers of each view, and what they say of the documents that teach tier 2."""
        self.base_: dict[str, TierOne] = {}
        self.shared_views_: dict[str, SharedView] = {}
        views = self.views_in_use()

        def fit(k: int) -> tuple[SharedView | None, dict[str, Posteriors]]:
            name, view = list(views.items())[k]
            if name != OWN:
                shared, found = self._fit_view(name, view, training)
                return shared, {tag: posteriors.taught(rows, tag) for tag, posteriors in found.items()}
            fitted = self.fit_base(training, rows)
            self.base_ = {language: tier for language, (tier, _) in fitted.items()}
            return None, {language: posteriors for language, (_, posteriors) in fitted.items()}

        # Here each view has all cores for its labels; on a cluster they go side by side.
        at_once = 1 if is_local() else len(views)
        fits = dict(zip(views, in_threads(for_threads(fit), len(views), at_once), strict=True))
        self.shared_views_ = {name: shared for name, (shared, _) in fits.items() if shared is not None}
        return {name: seen for name, (_, seen) in fits.items()}

    def _fit_view(
        self, name: str, view: View, training: Training
    ) -> tuple[SharedView, dict[str, Posteriors]]:
        space = make_space(view, self._given(training.seed), name)
        training = training.only(_usable(f"The view {name!r}", space, training))
        learner = self._base_learner(name, training)
        folds = training.stacked_folds()
        kfcv = None
        if self.variant == "kfcv":
            parts = [self._kfcv_folds(language, training) for language in training.targets]
            kfcv = np.concatenate([part for part in parts if part is not None])
        total = learner.problems_solved(training.labels, len(np.unique(folds)))
        with progress_bar(f"tier 1, {name}", total, bool(self.verbose), "problems") as advance:
            return fit_shared_view(space, training, learner.reporting(advance), folds, self.calibration, kfcv)

    def _tell_unread(self) -> None:
        for name in ("embeddings", "encoder"):
            if getattr(self, name) is not None and name not in self.views_in_use():
                logger.warning("No view reads the %s given: add %r to views, or leave it out.", name, name)

    def _given(self, seed: int) -> Given:
        encoded = getattr(self, "_encoded", None)
        return Given(
            self.embeddings, self.reference, self.encoder, self.encoder_epochs, seed, self.verbose, encoded
        )

    def views_in_use(self) -> dict[str, View]:
        """The views by name: the paper's own, those given or those chosen."""
        if self.views is None:
            return {OWN: OWN}
        return view_names(self.choice_.views if self.views == AUTO else self.views)

    def fit_base(self, training: Training, rows: Rows | None = None) -> dict[str, tuple[TierOne, Posteriors]]:
        """The base classifiers of each language, and what they say of its documents that teach tier 2."""
        learners = {language: self._base_learner(language, training) for language in training.vectors}
        rounds = 1 if self.variant == "tat" else 1 + self.folds
        total = rounds * sum(learner.problems_solved(training.labels, FOLDS) for learner in learners.values())
        with progress_bar("tier 1", total, bool(self.verbose), "problems") as advance:
            return fit_languages(
                lambda language, learner: self._fit_tier_one(language, learner, training, rows),
                {language: learner.reporting(advance) for language, learner in learners.items()},
                training,
            )

    def fit_above(self, training: Training, seen: Seen, rows: Rows | None = None) -> None:
        """Tier 2 over views that are fitted, and what is kept of the documents, nothing of a sample."""
        self.__dict__.pop("training_", None)
        if rows is not None:
            training = training.select(rows)
        elif not self.compact:
            self.training_ = Kept.of(training, seen)
        self.weights_ = self.stacked_by(training, seen)
        points = {
            tag: Posteriors(
                self.points({view: parts[tag].training for view, parts in seen.items() if tag in parts}),
                self.points({view: parts[tag].held_out for view, parts in seen.items() if tag in parts}),
            )
            for tag in training.targets
        }
        above = self._fit_meta(
            training, Posteriors.stacked(list(points.values())), training.stacked_folds(), "tier 2"
        )
        self.meta_, self.meta_C_, self.head_, self.cuts_ = above[:4]
        self.held_out_ = counts_by_language(training.targets, above.decided)

    def stacked_by(self, training: Training, seen: Seen) -> dict[str, float] | None:
        """The weight of each view where `stacked` combines them, found on languages that all of them see."""
        everywhere = [tag for tag in training.targets if all(tag in parts for parts in seen.values())]
        if self.combination() != "stacked" or len(seen) < 2 or not everywhere:
            return None
        held_out = [np.vstack([parts[tag].held_out for tag in everywhere]) for parts in seen.values()]
        targets = np.vstack([training.targets[tag] for tag in everywhere])
        return dict(zip(seen, stacking_weights(held_out, targets).tolist(), strict=True))

    def points(self, posteriors: Mapping[str, Floats]) -> Floats:
        """Documents in tier 2's space, from what the views say of them."""
        weights = None
        if self.weights_ is not None:
            weights = np.array([self.weights_[view] for view in posteriors])
            weights = weights / (weights.sum() or 1)
        return combined(list(posteriors.values()), self.combination(), self._normalises(), weights)

    def training_points(self) -> dict[str, Floats]:
        """The training documents in tier 2's space, by language; found once."""
        kept = self.training_
        if getattr(self, "_points", (None, {}))[0] is not kept:
            found = {
                tag: self.points({view: rows[tag] for view, rows in kept.training.items() if tag in rows})
                for tag in kept.targets
            }
            self._points = (kept, found)
        return self._points[1]

    def combination(self) -> str:
        """How the views' posteriors are combined: as given, or as chosen."""
        return str(self.choice_.combine if self.views == AUTO else self.combine)

    def _normalises(self) -> bool:
        if self.views is None:
            return False
        return bool(self.choice_.normalise if self.views == AUTO else self.normalise)

    def _fit_shared(self, training: Training) -> None:
        """Both tiers for languages without training documents, over a space that all languages share."""
        if not self.texts_:
            raise InputError(
                "zero_shot needs texts, for vectors of a new language would mean nothing. Leave it out."
            )
        self.space_ = self._space(training.seed)
        shared = training.only(_usable(f"zero_shot={self.zero_shot!r}", self.space_, training))
        learner = SVM(self.base_C, memory_limit=self.memory_limit, n_jobs=self.n_jobs)
        folds = language_folds(shared)
        total = learner.problems_solved(training.labels, len(np.unique(folds)))
        with progress_bar("shared tier 1", total, bool(self.verbose), "problems") as advance:
            view, posteriors = fit_shared_view(
                self.space_, shared, learner.reporting(advance), folds, self.calibration
            )
        self.shared_ = view.tier
        above = self._fit_meta(shared, Posteriors.stacked(list(posteriors.values())), folds, "shared tier 2")
        self.shared_meta_, self.shared_meta_C_, self.shared_head_, self.shared_cuts_ = above[:4]

    def _fit_tier_one(
        self, language: str, learner: SVM | EstimatorLearner, training: Training, rows: Rows | None
    ) -> tuple[TierOne, Posteriors]:
        X, targets, folds = training.vectors[language], training.targets[language], training.folds[language]
        kfcv = self._kfcv_folds(language, training)
        size = targets.shape[1]
        if rows is not None and isinstance(
            learner, SVM
        ):  # labels go one set after the other, none is refused
            size = min(size, labels_at_once(len(folds), len(np.unique(folds)) + 1, self.memory_limit))
        tiers, seen = [], []
        for first in range(0, targets.shape[1], size):
            problem = learner.problem(X, targets[:, first : first + size], f"language {language!r}")
            tier, posteriors = fit_tier_one(problem, folds, self.calibration, kfcv, learner.n_jobs)
            tiers.append(tier)
            seen.append(posteriors.taught(rows, language))
        return TierOne.beside(tiers), Posteriors.beside(seen)

    def _fit_meta(
        self, training: Training, posteriors: Posteriors, folds: npt.NDArray[np.intp], what: str
    ) -> TierTwo:
        targets = training.stacked_targets()
        learner = self.meta_learner(training, int(targets.any(axis=0).sum()), self._normalises())
        total = learner.problems_solved(training.labels, len(np.unique(folds)))
        with progress_bar(what, total, bool(self.verbose), "problems") as advance:
            problem = learner.reporting(advance).problem(posteriors.training, targets, what)
            if not self._normalises() or not isinstance(problem, Problem) or problem.learner.C is not None:
                fit: Any = problem.fit(folds)
                scores = self._aligned_scores(fit, folds, posteriors)
            else:
                fit, scores = self._best_fit(problem, training, posteriors, folds)
        head = training.fit_head(scores, targets)
        cuts: Cuts = 0.0
        if self.optimise is not None and isinstance(head, Calibration):
            sizes = [len(part) for part in training.targets.values()]
            languages = np.repeat(np.arange(len(sizes)), sizes)
            cuts = tuned_cuts(head, scores, targets, folds, languages, parse_goal(self.optimise))
        decided = decide(scores - cuts, training.exclusive)
        return TierTwo(fit.scorer(), getattr(fit, "C", None), head, cuts, decided)

    def _aligned_scores(
        self, fit: FittedOnFolds, folds: npt.NDArray[np.intp], posteriors: Posteriors
    ) -> Floats:
        return aligned_scores(fit, folds, posteriors.held_out, pick_device(self.device), self.n_jobs)

    def _best_fit(
        self, problem: Problem, training: Training, posteriors: Posteriors, folds: npt.NDArray[np.intp]
    ) -> tuple[Fit, Floats]:
        """The fit whose C is best for documents that neither tier saw, and its scores of them."""
        best: tuple[float, Fit, Floats] | None = None
        for fit in problem.path(folds):
            scores = self._aligned_scores(fit, folds, posteriors)
            quality = mean_of_four(mean_measures(training.targets, decide(scores, training.exclusive)))
            if best is None or quality > best[0]:
                best = quality, fit, scores
        assert best is not None
        return best[1:]

    def extend(
        self,
        X: Any,
        y: Any,
        languages: Sequence[str | None] | None = None,
        groups: Any = None,
        ids: Any = None,
    ) -> Self:
        """Learn from further documents, in new languages or in known ones; labels may be new, too.

        Takes what `fit` takes, y as label lists. Base classifiers of languages without new documents stay
        untouched, vocabularies too, and so does what ``zero_shot`` labels unseen languages by; tier 2 is
        fitted anew. After new languages the model decides as one fitted on all documents at once, for less
        work. A document that is known already gets its new labels.

        >>> texts = ["the cat sleeps", "a dog barks"] * 5
        >>> model = FunnellingClassifier(random_state=0).fit(texts, [["cat"], ["dog"]] * 5, ["en"] * 10)
        >>> _ = model.extend(["il gatto dorme", "un cane abbaia"] * 5, [["cat"], ["dog"]] * 5, ["it"] * 10)
        >>> model.languages_, model.predict(["il gatto"], languages=["it"]).tolist()
        (['en', 'it'], [[1, 0]])
        """
        from funnelling.funnel.growing import grown

        check_is_fitted(self, "classes_")
        self._validate_parameters()
        inputs = read_inputs(X, languages)
        if inputs.texts != self.texts_:
            fitted, given = ("texts", "vectors") if self.texts_ else ("vectors", "texts")
            raise InputError(f"The model was fitted on {fitted}, and X holds {given}.")
        self.__dict__.update(grown(self, inputs, y, groups, ids))
        return self

    def held_out_measures(self, labels: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
        """How good the model is on training documents that were held out from both tiers, by language.

        Over some labels, or all. Vocabularies, and thresholds that were tuned, saw those documents.
        """
        check_is_fitted(self, "held_out_")
        columns = slice(None) if labels is None else np.isin(self.classes_, labels)
        return {
            language: {
                **measure_counts(Counts.from_table(table[:, columns])),
                "documents": self.documents_[language],
            }
            for language, table in self.held_out_.items()
        }

    def tier_one(self, language: str) -> dict[str, TierOne]:
        """The base classifiers that see a language's documents, by view."""
        if not self._known(language):
            return {SHARED: self.shared_}
        own = {OWN: self.base_[language]} if language in self.base_ else {}
        shared = {name: view.tier for name, view in self.shared_views_.items() if view.serves(language)}
        found = {**own, **shared}
        return {name: found[name] for name in self.views_in_use() if name in found}

    def tier_two(self, language: str) -> Scorer:
        """The meta-classifier of a language's documents."""
        return self.meta_ if self._known(language) else self.shared_meta_

    def view_feature_names(self, view: str, language: str) -> Sequence[str] | None:
        """What the columns of a view stand for, None where they have no names."""
        if view == OWN:
            return super().feature_names(language)
        space = self.space_ if view == SHARED else self.shared_views_[view].space
        return space.feature_names()

    def _vectors(self, language: str, documents: Any) -> dict[str, Matrix]:
        return {view: self.seen_by(view, language, documents) for view in self.tier_one(language)}

    def seen_by(self, view: str, language: str, documents: Any) -> Matrix:
        """Documents as a view sees them."""
        if view == OWN:
            return super()._vectors(language, documents)
        space: Any = self.space_ if view == SHARED else self.shared_views_[view].space
        if view == "encoder" and self.encoder is not None:
            space.found_at(self.encoder)  # a folder may have moved since the model was trained
        return space.vectors(language, documents)

    def posteriors(self, language: str, vectors: Mapping[str, Matrix]) -> dict[str, Floats]:
        """What each view's base classifiers say of documents."""
        return {view: tier.posteriors(vectors[view]) for view, tier in self.tier_one(language).items()}

    def _scores(self, language: str, vectors: Mapping[str, Matrix]) -> Scores:
        scorer, points = self.tier_two(language), self.points(self.posteriors(language, vectors))
        return scores_on(pick_device(self.device), scorer, points)

    def _head(self, language: str) -> Head:
        return self.head_ if self._known(language) else self.shared_head_

    def _known(self, language: str) -> bool:
        """Whether a language goes through the one meta-classifier, not through that of ``zero_shot``."""
        return language in self.languages_ or self.zero_shot is None

    def _cuts(self, language: str) -> Cuts:
        # Models of earlier versions have none.
        return getattr(self, "cuts_" if self._known(language) else "shared_cuts_", 0.0)

    def learns_own_words(self) -> bool:
        """Whether vectors of each language's own words are enough to learn from."""
        own = self.views is None or (isinstance(self.views, str) and self.views == AUTO)
        return super().learns_own_words() and own and self.zero_shot is None

    def usable(self, languages: Sequence[str]) -> list[str]:
        """Which of the languages of training documents can be learned from: those that a view sees."""
        if self.views is None or self.views == AUTO:
            return list(languages)
        return seen_by_views(view_names(self.views), self._given(0), self.combine, languages)

    def serves_unseen(self, language: str) -> bool:
        """Whether documents in a language without training documents can be labelled."""
        if self.views is not None:
            return self._views_serve(language)
        if self.zero_shot is None:
            return False
        space = getattr(self, "space_", None) or self._space(0)
        return space.serves(language)

    def _views_serve(self, language: str) -> bool:
        """Whether shared views are enough for a language that was not learned."""
        if hasattr(self, "shared_views_"):
            views: list[Any] = list(self.shared_views_.values())
        elif self.views == AUTO:
            return False  # who knows what will be chosen
        else:
            given = self._given(0)
            views = [make_space(view, given) for name, view in view_names(self.views).items() if name != OWN]
        serving = [view.serves(language) for view in views]
        return any(serving) and (
            self.combination() != "concat" or (all(serving) and OWN not in self.views_in_use())
        )

    def _space(self, seed: int) -> Space:
        return unseen_space(str(self.zero_shot), self.embeddings, self.reference, seed, self.verbose)

    def _kfcv_folds(self, language: str, training: Training) -> npt.NDArray[np.intp] | None:
        if self.variant == "tat":
            return None
        documents = len(training.targets[language])
        groups = training.groups[language]
        return assign_folds(self.folds, documents, training.seed, "kfcv", language=language, groups=groups)

    def _base_learner(self, language: str, training: Training) -> SVM | EstimatorLearner:
        estimator = self.base_estimator
        if isinstance(estimator, Mapping):
            estimator = estimator.get(language)
        if estimator is not None:
            return EstimatorLearner(estimator, (training.seed, language), self.n_jobs)
        return SVM(self.base_C, memory_limit=self.memory_limit, n_jobs=self.n_jobs)

    def meta_learner(self, training: Training, labels: int, normalised: bool) -> SVM | EstimatorLearner:
        """What tier 2 learns with, over posteriors that are normalised or not."""
        if self.meta_estimator is not None:
            return EstimatorLearner(self.meta_estimator, (training.seed,), self.n_jobs)
        return SVM(
            self.choice_.C if self.views == AUTO and self.meta_C is None else self.meta_C,
            gamma=self._meta_gamma(labels, normalised),
            grid=grid(normalised),
            exclusive=training.exclusive,
            memory_limit=self.memory_limit,
            device=pick_device(self.device),
            n_jobs=self.n_jobs,
        )

    def _meta_gamma(self, labels: int, normalised: bool) -> float:
        if self.meta_gamma is not None:
            return float(self.meta_gamma)
        if not normalised:
            return 1 / labels
        return 1 / len(self.views_in_use()) if self.combination() == "concat" else 1.0


def _usable(what: str, space: Space, training: Training) -> list[str]:
    """The languages that a space can be fitted on; refused where there are none."""
    languages = space.usable(list(training.targets))
    if not languages:
        known = ", ".join(training.targets)
        raise InputError(f"{what} has nothing for the training documents' languages ({known}). Leave it out.")
    return languages


def _choose(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
