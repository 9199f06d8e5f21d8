"""`FunnellingClassifier`: the paper's method, in both variants, and what goes past it.

The estimator is a shell: it checks parameters, states a `FunnelConfig`, has it fitted, and keeps what comes
out under names that are saved. The algorithm stands in the files beside this one.
"""

import copy
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.funnel.answering import BUILT_OF, FunnelMethod
from funnelling.funnel.choosing import MAX_DOCUMENTS, choose
from funnelling.funnel.combination import COMBINATIONS
from funnelling.funnel.design import AUTO, FunnelConfig, is_auto
from funnelling.funnel.fitted import (
    fit_funnel,
    funnel_attributes,
    selected_counts,
    selected_tiers,
    zero_shot_attributes,
)
from funnelling.funnel.inheritance import FunnelArchive, WarmStart
from funnelling.funnel.thresholds import parse_goal
from funnelling.funnel.views import make_shared_vectors
from funnelling.funnel.zero_shot import (
    ZERO_SHOT_SPACES,
    fit_joint,
    fit_zero_shot,
    sample_meta_documents,
    views_serve,
    would_serve,
)
from funnelling.matrices import sizes_of
from funnelling.methods.parameters import c_setting, choice, flag, positive, whole
from funnelling.methods.training_set import TrainingSet
from funnelling.spaces.registry import OWN, check_views
from funnelling.spaces.words import PooledSpace
from funnelling.state import expect, expect_by, expect_numbers
from funnelling.svm import CSetting
from funnelling.svm.scorers import Selection
from funnelling.text.counts import counted_once
from funnelling.text.tfidf import TfidfVectorizer

logger = logging.getLogger(__name__)

FUNNEL_VARIANTS = ("tat", "kfcv")
CALIBRATIONS = ("platt", "fixed", "none")


@dataclass(eq=False, repr=False)
class FunnellingClassifier(FunnelMethod):
    """Classify documents in many languages under one set of labels, every language teaching all.

    Tier 1 has base classifiers for each language in its own feature space; their calibrated posteriors,
    one per label, are a space that all languages share. Tier 2 is one meta-classifier that learns there
    from the documents of all languages (Esuli, Moreo and Sebastiani, TOIS 2019).

    By default, as in ``funnelling train``, base classifiers may also see documents in ways that all languages
    share, where that suits the training documents better. ``views=None`` is the paper's funnel.

    Parameters
    ----------
    views : "auto", list of views or None
        What tier 1 sees of a document. None is the paper's funnel, each language's own features. A list of
        "own", "pooled", "lri", "characters", "mixed", "own-mixed", "wce", "embeddings", "encoder",
        scikit-learn transformers of texts or functions of texts is a funnel over several views, most of them
        shared by all languages (after Moreo, Pedrotti and Sebastiani, TOIS 2022). "auto" chooses by outer
        folds over the training documents, the paper's funnel among others, and takes several times as long;
        ``choice_`` says what and why: ``print(model.choice_)`` lists all candidates with their measures,
        ``choice_.tried`` has them as rows.
    combine : "mean", "concat", "stacked" or "odds"
        How tier 2 gets the views' posteriors: as their mean, side by side, or as a mean with weights that
        suit the held-out posteriors best. "odds" is another tier 2, no SVM: a weight per view on their
        log-odds, and offsets per language and label where a document has one label.
    normalise : bool
        Whether each view's posteriors are scaled to length 1 before that.
    variant : "tat" or "kfcv"
        Where the posteriors that tier 2 learns from come from: classifiers that saw the documents
        (Fun(TAT), cheaper and better in the paper) or ``folds``-fold cross-validation (Fun(KFCV)).
    folds : int
        The folds of Fun(KFCV).
    calibration : "platt", "fixed" or "none"
        The paper's Calib, NoCalib and NoProb.
    base_C : float, "grid" or None
        C of the base classifiers; None chooses it for each language like ``meta_C``. Views whose vectors are
        dense have an RBF kernel, and C = 10, but with ``zero_shot_joint``.
    meta_C : float, "grid" or None
        C of the meta-classifier; None chooses it from 0.1, 1, …, 10,000 by 5-fold cross-validation, going up
        until two Cs were worse than the best, and "grid" tries them all, as the paper did. Over
        normalised views it is chosen from 1 and 10, by folds that neither tier saw.
    meta_gamma : float or None
        Gamma of the meta-classifier's RBF kernel; None is 1 / labels, and 1 over normalised views.
    zero_shot : "auto", "pooled", "embeddings", "mle", "clesa" or None
        The shared space through which documents in languages without training documents are labelled,
        whatever views "auto" chooses for all others; None leaves them to shared views, and refuses them where
        there are none. "mle" has the paper's means of word vectors, "embeddings" means in which languages
        with and without training documents are treated alike. "auto" is embeddings where those are given
        (mle with ``zero_shot_joint``), else the pooled vocabulary.
    zero_shot_joint : bool
        True is the paper's Fun-MLE: one tier 2 for the posteriors of both kinds of base classifiers. False
        gives each kind its own, and languages with training documents what they get without ``zero_shot``.
        Such a model needs ``views=None``.
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
    optimise : "micro-f1", "macro-f1", "micro-k", "macro-k", "recall=R", "precision=P" or None
        What to tune each label's threshold for, on posteriors of documents held out from both tiers: the best
        F1 with that recall, or the best recall with that precision, of all labels together or, with
        "per label" behind it, of each. `tune` changes it after the fit;
        None says yes where the score is above 0, an SVM's own threshold (the paper names none); with
        ``views="auto"`` it tunes for macro-F1, with no threshold below .1.
    calibrated : bool
        True says yes where the calibrated probability is above .5, with nothing tuned.
    compact : bool
        True keeps nothing of the training documents: the model cannot learn on then, nor forget, nor name
        neighbours. False keeps their words in no order, labels and ids, and the first 200 characters of each
        text.
    keep_texts : bool
        True keeps the texts as they were written: what reads words in their order, an encoder or a vectorizer
        of your own, needs them to learn on.
    vectorizer : scikit-learn transformer of texts, a mapping from languages to them, or None
        None is lemmas weighted by tf-idf.
    memory_limit : float
        The bytes that a kernel matrix may take. Past it tier 1 is solved over the vectors themselves, with
        the same result, and a sample of the documents teaches tier 2; both are logged.
    n_jobs : int or None
        Threads; -1 is one per core. The results are the same to the bit.
    random_state : int or None
        Makes a fit repeatable to the bit.
    verbose : int
        Above 0 shows progress bars on a terminal.

    Attributes
    ----------
    classes_ : array
        The labels, in the order of the columns of all answers.
    languages_ : list of str
        The languages it learned from.
    documents_ : dict
        How many documents it learned from, by language.
    choice_
        With ``views="auto"``, what was chosen and all that was tried.

    Examples
    --------
    >>> texts = ["the cat sleeps", "a dog barks", "il gatto dorme", "un cane abbaia"] * 4
    >>> labels = [["cat"], ["dog"], ["cat"], ["dog"]] * 4
    >>> model = FunnellingClassifier(random_state=0)
    >>> model.fit(texts, labels, languages=["en", "en", "it", "it"] * 4).classes_.tolist()
    ['cat', 'dog']
    >>> model.choice_.summary()
    'Chose own + mixed: there are too few documents or groups to try others.'
    >>> model.predict(["the cat barks not, it sleeps", "il cane"], languages=["en", "it"]).tolist()
    [[1, 0], [0, 1]]
    >>> model.predict(["un gato"], languages=["es"]).tolist()  # by the words and runs it shares with others
    [[1, 0]]
    """

    variant: str = choice("tat", FUNNEL_VARIANTS)
    _: KW_ONLY
    views: Any = AUTO
    combine: str = choice("mean", COMBINATIONS)
    normalise: bool = flag(True)
    folds: int = whole(10, least=2)
    calibration: str = choice("platt", CALIBRATIONS)
    base_C: CSetting = c_setting(1.0)
    meta_C: CSetting = c_setting(None)
    meta_gamma: float | None = positive(None)
    zero_shot: str | None = choice(None, ZERO_SHOT_SPACES)
    zero_shot_joint: bool = flag(False)
    embeddings: str | os.PathLike[str] | None = None
    reference: Reference | None = None
    encoder: str | os.PathLike[str] | None = None
    encoder_epochs: int = whole(0, least=0)
    base_estimator: Any = None
    meta_estimator: Any = None
    optimise: str | None = None
    calibrated: bool = flag(False)
    vectorizer: Any = None

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        if self.combine == "odds":
            for name, value in (("calibration", "platt"), ("meta_estimator", None)):
                if getattr(self, name) != value:
                    raise InputError(f"combine='odds' is a tier 2 of its own. Leave {name} out.")
        if is_auto(self.views):
            if not self.normalise:
                raise InputError("views='auto' chooses whether to normalise. Leave normalise out.")
        elif self.views is not None:
            check_views(self.views)
        if self.zero_shot is not None and self.views is not None and not is_auto(self.views):
            raise InputError("Shared views serve unseen languages themselves. Leave zero_shot out.")
        if self.zero_shot_joint:
            if self.zero_shot is None or self.views is not None:
                raise InputError(
                    "zero_shot_joint needs a zero_shot space, such as 'auto', and views=None: fun-zero-shot."
                )
            if self.combine == "odds":
                raise InputError("combine='odds' has no joint form. Leave it out, or zero_shot_joint.")
        if self.optimise is not None:
            parse_goal(self.optimise)
            if self.calibrated:
                raise InputError("calibrated decides at .5 and optimise tunes thresholds. Leave one out.")

    # --- fitting --------------------------------------------------------------------------------

    def _counting(self, documents: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Counts of texts that a choice of views needs again and again."""
        chooses = self.texts_ and is_auto(self.views) and not hasattr(self, "choice_")
        few = sum(sizes_of(documents).values()) <= MAX_DOCUMENTS
        return counted_once(documents) if chooses and few else nullcontext()

    def _fit(self, training: TrainingSet) -> None:
        if training.labels.single_label and (self.optimise is not None or self.calibrated):
            name = "calibrated" if self.calibrated else "optimise"
            raise InputError(f"{name} sets thresholds, and one label per document has none. Leave it out.")
        if self.zero_shot is not None and not self.texts_:
            raise InputError(
                "zero_shot needs texts, for vectors of a new language would mean nothing. Leave it out."
            )
        inherited = WarmStart.of(training.previous)
        asked = design = replace(self._asked(), roughness=inherited.roughness)
        meta_sample = sample_meta_documents(design, training)
        if is_auto(self.views):
            chooses = not hasattr(self, "choice_")
            if chooses:
                self.choice_ = choose(design, training)
            design = self.choice_.applied_to(asked)
            if chooses:
                make_shared_vectors(design, training)
            if OWN not in design.views:  # they were there to be tried
                vars(self).pop("vectorizers_", None)
                self.features_ = {}
        elif self.views is not None:
            self._warn_of_unread_resources(design)
        vectorizers = vars(self).get("vectorizers_", {}) if self.texts_ else None
        if self.zero_shot_joint:
            funnel, view = fit_joint(design, training, vectorizers, meta_sample)
            self._remember(funnel_attributes(funnel) | zero_shot_attributes(view))
        else:
            funnel = fit_funnel(design, training, vectorizers, meta_sample, inherited)
            self._remember(funnel_attributes(funnel))
            if self.zero_shot is not None:
                keeps = funnel.archive is not None
                self._remember(zero_shot_attributes(*fit_zero_shot(asked, training), keeps=keeps))
        if design.resources.encodings is not None:
            design.resources.encodings.clear()  # the encoder's space still has them at hand
        self._assemble()

    def _fit_vectors(self, documents: dict[str, Any], targets: dict[str, Any], seed: int) -> dict[str, Any]:
        """Vectors in each language's own words, where a view looks at them."""
        if self.texts_ and OWN not in self.design().views:
            return dict.fromkeys(documents)
        return super()._fit_vectors(documents, targets, seed)

    def _reads_in_order(self) -> str | None:
        views = self.design().views
        if "encoder" in views:
            return "An encoder"
        foreign = [
            name for name, view in views.items() if not isinstance(view, str | PooledSpace | TfidfVectorizer)
        ]
        return f"The view {foreign[0]!r}" if foreign else super()._reads_in_order()

    def _warn_of_unread_resources(self, design: FunnelConfig) -> None:
        for name in ("embeddings", "encoder"):
            if getattr(self, name) is not None and name not in design.views:
                logger.warning("No view reads the %s given: add %r to views, or leave it out.", name, name)

    def _check_fitted(self, columns: int) -> None:
        if hasattr(self, "choice_"):
            self.choice_.check_choice()
        known, *unseen = self._assembled()
        space = self.label_space
        labels = known.check_funnel(self.languages_, self.features_, space)
        for funnel in unseen:
            funnel.check_funnel([], self.features_, space)
        if not hasattr(self, "training_"):
            return
        expect(isinstance(self.training_, FunnelArchive), "what is kept of documents")
        if self.training_.training:
            self.training_.check_posteriors(known.views.names, labels)
        for tag, rows in expect_by(getattr(self, "shared_scores_", {}), None, "scores of documents").items():
            expect_numbers(rows, (self.documents_[tag], columns), "scores of documents")

    def _forget(self) -> None:
        super()._forget()
        for name in ("_funnels", "_built"):
            self.__dict__.pop(name, None)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; a fitted model goes by those that matter after a fit at once."""
        self.__dict__.pop("_funnels", None)
        if hasattr(self, "classes_") and parameters.keys() & set(BUILT_OF):
            self._built = self._built_of()
        super().set_params(**parameters)
        return self

    def as_fitted(self) -> Self:
        """The model with the parameters it was built of, for saving."""
        fitted = copy.copy(self)
        vars(fitted).update(self._built_of())
        return fitted

    # --- scoring --------------------------------------------------------------------------------

    def _languages_at_once(self) -> int | None:
        """As many as there are threads; an encoder and what is not ours take one after the other."""
        self.funnel(self.languages_[0])  # put together now, not by every thread
        ours = self.base_estimator is None and self.meta_estimator is None and not self._reads_in_order()
        return self.n_jobs if ours else 1

    # --- other labels -------------------------------------------------------------------------------

    def _select_labels(self, selection: Selection) -> None:
        archive: FunnelArchive | None = getattr(self, "training_", None)
        held_out = self.__dict__.pop("held_out_", {})  # models of earlier versions have none
        counts = selected_counts(held_out, selection, self.label_space, archive)
        self._remember(selected_tiers(vars(self), selection) | ({"held_out_": counts} if counts else {}))
        self.__dict__.pop("_funnels", None)

    # --- learning on ----------------------------------------------------------------------------

    # --- languages ------------------------------------------------------------------------------

    def learns_own_words(self) -> bool:
        """Whether vectors of each language's own words are enough to learn from."""
        own = self.views is None or is_auto(self.views)
        return self.vectorizer is None and own and self.zero_shot is None

    def usable(self, languages: Sequence[str]) -> list[str]:
        """Which of the languages of training documents can be learned from: those that a view sees."""
        self._validate_parameters()
        return self.design().visible_languages(languages)

    def serves_unseen(self, language: str) -> bool:
        """Whether documents in a language without training documents can be labelled."""
        if hasattr(self, "space_"):
            return self.space_.serves(language)
        if hasattr(self, "shared_views_"):
            funnel = self.funnel(language)
            return views_serve(funnel.combination.how, funnel.views.names, funnel.views.shared, language)
        if self.views is None and self.zero_shot is None:
            return False
        self._validate_parameters()
        return would_serve(self.design(), language)
