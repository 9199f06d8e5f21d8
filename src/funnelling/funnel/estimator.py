"""The funnels as estimators: facades over `FunnelParameters`, and that for many labels."""

import os
from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from inspect import signature
from typing import Any, Self

from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.funnel.choice import Choice
from funnelling.funnel.design import AUTO, FunnelParameters
from funnelling.funnel.learning import FUNNEL
from funnelling.funnel.many.learning import MANY_LABELS
from funnelling.funnel.thresholds import ThresholdTuning
from funnelling.funnel.tuning import ThresholdChange, tune
from funnelling.methods.algorithm import Parameters
from funnelling.methods.estimator import MethodEstimator
from funnelling.spaces.base import Embeddings, Encoder


class FunnelEstimator(MethodEstimator):
    """What the funnels share; their parameters are some of `FunnelParameters`.

    A model that a command trained may have others, of ``--set``: they stay what they are.
    """

    algorithm = FUNNEL
    _others: dict[str, Any] | None = None  # parameters of the model that the class does not have

    @classmethod
    def _under(cls, parameters: Parameters, label_set: LabelSet | None = None) -> Self:
        given, own = cls._given_by(parameters.get_params(deep=False)), signature(cls).parameters
        estimator = cls(
            **{name: value for name, value in {**given, "label_set": label_set}.items() if name in own}
        )
        estimator._others = {name: value for name, value in given.items() if name not in own}
        return estimator

    @property
    def parameters(self) -> FunnelParameters:
        """The parameters of the funnel; what a user may change in place is copied."""
        given = {name: _copied(value) for name, value in self.get_params(deep=False).items()}
        given.pop("label_set", None)
        return FunnelParameters(**(self._others or {}) | self._translated(given))

    @staticmethod
    def _given_by(parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters of the class, and others, from those of a funnel."""
        return parameters

    @staticmethod
    def _translated(given: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a funnel from those of the class."""
        return given

    @property
    def choice_(self) -> Choice:
        """What was chosen, where views were."""
        choice: Choice | None = self.model_.fitted.chosen if hasattr(self, "model_") else None
        if choice is None:
            raise AttributeError("Nothing has been chosen: the views are given, or there has been no fit.")
        return choice

    def tune(
        self, goal: str, labels: Sequence[Any] | None = None, per_label: bool = False
    ) -> ThresholdChange:
        """Set thresholds for another goal, from what the model kept of its fit, and say what that changes.

        Thresholds are those of a fit with the same ``thresholds``, to the bit, and it is remembered: a later
        `update` goes by it. ``labels`` limits it to some, and other labels keep their thresholds; a later
        `update` tunes all labels for the model's own goal again. ``per_label`` asks recall or precision of
        every label on its own instead of all together, which is the same as ``"recall=.9 per label"``.

        Returns
        -------
        change
            Its ``total()`` and ``by_language()`` give precision, recall and F1 before and after, on
            documents that were held out.

        Examples
        --------
        >>> from funnelling import FunnellingClassifier
        >>> texts = ["the cat sleeps", "a dog barks", "the cat barks"] * 9
        >>> model = FunnellingClassifier(views=["own"], random_state=0)
        >>> _ = model.fit(texts, [["cat"], ["dog"], ["cat", "dog"]] * 9, ["en"] * 27)
        >>> change = model.tune("recall=.9")
        >>> change.goal, change.tuned
        ('recall=.9', ['cat', 'dog'])
        >>> model.tune("recall=.9", labels=["cats"])
        Traceback (most recent call last):
        funnelling.errors.InputError: The model has no label 'cats'. Did you mean cat?
        """
        model, change = tune(self._current_model, goal, labels, per_label)
        now: Any = model.parameters
        self.thresholds = now.thresholds
        self.model_ = model
        return change


def _copied(value: Any) -> Any:
    """A parameter that its owner may change in place; resources have paths as strings."""
    if isinstance(value, list | tuple):
        return list(map(_copied, value))
    if isinstance(value, Encoder | Embeddings) and value.model is not None:
        return replace(value, model=os.fspath(value.model))
    return copy(value) if isinstance(value, ThresholdTuning) else value


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


@dataclass(kw_only=True, eq=False, repr=False)
class FunnellingClassifier(FunnelEstimator):
    """Classify documents in many languages under one set of labels, every language teaching all.

    Tier 1 has base classifiers for each view of a document; their calibrated posteriors, one per label, are a
    space that all languages share. Tier 2 is one meta-classifier that learns there from the documents of all
    languages (Esuli, Moreo and Sebastiani, TOIS 2019). `from_paper` gives the funnel of that paper.

    Parameters
    ----------
    views : "auto" or list of views
        The representations of a document in tier 1. "auto" chooses them by outer folds over the training
        documents, the paper's funnel among others, which takes several times as long. ``choice_`` says what
        and why: ``print(model.choice_)`` lists all candidates with their measures, ``choice_.tried`` has them
        as rows. A list names them: "own", "pooled", "lri", "characters", "mixed", "own-mixed", "wce", an
        `Encoder`, `Embeddings`, scikit-learn transformers of texts, or functions of texts; all but "own" and
        "own-mixed" are shared by all languages (after Moreo, Pedrotti and Sebastiani, TOIS 2022).
        ``["auto", Encoder(…)]`` adds candidates to the choice.
    final_estimator : "auto", "svm", "odds" or scikit-learn classifier
        Tier 2. "svm" is an SVM over the mean of the views' posteriors. "odds" are a weight per view on their
        log-odds, and offsets per language and label where a document has one label. "auto" chooses between
        them with the views, and is "svm" where views are given.
    thresholds : "auto", None, 0.5 or ThresholdTuning
        When a label is assigned, where documents have several: above a score of 0 (None), above a probability
        of one half (0.5), or above a threshold per label that suits a goal. "auto" is ``ThresholdTuning()``
        where views are chosen, and None where they are given. `tune` changes thresholds after the fit.
    detect_among : list of str or None
        The languages that missing ones are detected among. None is all in `fit`, and then those of the model.
    label_set : LabelSet or None
        What labels are called, which belong to which, and which are not to be assigned.
    unknown_language : "prior" or "error"
        What a document in a language that the model cannot see gets from `predict`: the most frequent labels,
        with a warning, or an error.
    keep : "words", "texts" or "nothing"
        What the model stores of each training document. "words" are its words in no order, its labels, its id
        and the first 200 characters. "texts" are the texts as they were written: an encoder, or a vectorizer
        of your own, needs them for updates. With "nothing" the model cannot be updated, cannot forget, and
        names no neighbours.
    memory_limit : float
        The bytes that a kernel matrix may take. Past it tier 1 is solved over the vectors themselves, with
        the same result, and tier 2 learns from a sample of the documents; both are logged.
    n_jobs : int or None
        Threads; -1 is one per core. The results are bit-identical.
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

    views: Any = AUTO
    final_estimator: Any = AUTO
    thresholds: Any = AUTO
    detect_among: Sequence[str] | None = None
    label_set: LabelSet | None = None
    unknown_language: str = "prior"
    keep: str = "words"
    memory_limit: float = 8e9
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @staticmethod
    def _translated(given: dict[str, Any]) -> dict[str, Any]:
        if given["views"] is None:
            raise InputError("views must be 'auto' or a list of views. The paper's funnel is from_paper().")
        return given

    @staticmethod
    def from_paper(variant: str = "tat", **settings: Any) -> PaperFunnelClassifier:
        """The funnel of the paper, Fun(TAT) or Fun(KFCV); see `funnelling.research.PaperFunnelClassifier`.

        >>> FunnellingClassifier.from_paper("kfcv", folds=5)
        PaperFunnelClassifier(folds=5, variant='kfcv')
        """
        return PaperFunnelClassifier(variant, **settings)


@dataclass(kw_only=True, eq=False, repr=False)
class ManyLabelsClassifier(MethodEstimator, Parameters):
    """A funnel for label sets of thousands, of which each document has a few: subject headings, EuroVoc.

    Everything is sparse: labels, classifiers and answers. `predict` and `predict_proba` give scipy's
    ``csr_array`` with the columns of ``classes_``. Probabilities are those of each document's candidates,
    some forty; all others are as good as 0. A label is assigned where its probability is above a threshold
    that makes the most of micro-F1 in its language.

    Parameters
    ----------
    label_set : as in `FunnellingClassifier`; names are learned from, those of labels without documents too
    memory_limit : bytes, for all methods alike; this one needs far less
    keep : as in `FunnellingClassifier`
    n_jobs, random_state, verbose : as in all methods

    Examples
    --------
    >>> texts = ["the cat sleeps", "a dog barks", "il gatto dorme", "un cane abbaia"] * 5
    >>> labels, languages = [["cat"], ["dog"], ["cat"], ["dog"]] * 5, ["en", "en", "it", "it"] * 5
    >>> model = ManyLabelsClassifier(random_state=0).fit(texts, labels, languages)
    >>> model.predict(["the dog", "il gatto"], ["en", "it"]).toarray().tolist()
    [[0, 1], [1, 0]]
    """

    label_set: LabelSet | None = None

    algorithm = MANY_LABELS
