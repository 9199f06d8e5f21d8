"""The funnels as estimators: the paper's method, in both variants, and what goes past it."""

from collections.abc import Sequence
from typing import Any

from funnelling.funnel.choice import Choice
from funnelling.funnel.design import FunnelParameters
from funnelling.funnel.learning import FUNNEL
from funnelling.funnel.many.learning import MANY_LABELS
from funnelling.funnel.tuning import ThresholdChange, tune
from funnelling.methods.estimator import MethodEstimator


class FunnellingClassifier(MethodEstimator, FunnelParameters):
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
    keep : "words", "texts" or "nothing"
        What the model stores of each training document. "words" are its words in no order, its labels, its id
        and the first 200 characters. "texts" are the texts as they were written: an encoder, or a vectorizer
        of your own, needs them for updates. With "nothing" the model cannot be updated, cannot forget, and
        names no neighbours.
    vectorizer : scikit-learn transformer of texts, a mapping from languages to them, or None
        None is lemmas weighted by tf-idf.
    memory_limit : float
        The bytes that a kernel matrix may take. Past it tier 1 is solved over the vectors themselves, with
        the same result, and tier 2 learns from a sample of the documents; both are logged.
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

    algorithm = FUNNEL

    @property
    def choice_(self) -> Choice:
        """What was chosen, where views were."""
        choice: Choice | None = self.model_.fitted.chosen if hasattr(self, "model_") else None
        if choice is None:
            raise AttributeError("Nothing has been chosen: the views are given, or there has been no fit.")
        return choice

    def tune(
        self, optimise: str, labels: Sequence[Any] | None = None, per_label: bool = False
    ) -> ThresholdChange:
        """Set thresholds for another goal, from what the model kept of its fit, and say what that changes.

        Thresholds are those of a fit with the same ``optimise``, to the bit, and it is remembered: a later
        `extend` goes by it. ``labels`` limits it to some, and other labels keep their thresholds; a later
        `extend` tunes all labels for the model's own goal again. ``per_label`` asks recall or precision of
        every label on its own instead of all together, which is the same as ``"recall=.9 per label"``.

        Returns
        -------
        change
            Its ``overall()`` and ``by_language()`` give precision, recall and F1 before and after, on
            documents that were held out.

        Examples
        --------
        >>> from funnelling import FunnellingClassifier
        >>> texts = ["the cat sleeps", "a dog barks", "the cat barks"] * 9
        >>> model = FunnellingClassifier(views=None, random_state=0)
        >>> _ = model.fit(texts, [["cat"], ["dog"], ["cat", "dog"]] * 9, ["en"] * 27)
        >>> change = model.tune("recall=.9")
        >>> change.goal, change.tuned
        ('recall=.9', ['cat', 'dog'])
        >>> model.tune("recall=.9", labels=["cats"])
        Traceback (most recent call last):
        funnelling.errors.InputError: The model has no label 'cats'. Did you mean cat?
        """
        model, change = tune(self.current_model, optimise, labels, per_label)
        now: Any = model.parameters
        self.optimise, self.calibrated = now.optimise, now.calibrated
        self.model_ = model
        return change

    def held_out_measures(self, labels: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
        """How good the model is on training documents that were held out from both tiers, by language.

        Vocabularies, and thresholds that were tuned, saw those documents.

        Parameters
        ----------
        labels : those to measure; by default all

        Returns
        -------
        dict
            For each language the measures by name, and the number of ``documents``.
        """
        return self.current_model.held_out_measures(labels)


class ManyLabelsClassifier(MethodEstimator):
    """A funnel for label sets of thousands, of which each document has a few: subject headings, EuroVoc.

    Everything is sparse: labels, classifiers and answers. `predict` and `predict_proba` give scipy's
    ``csr_array`` with the columns of ``classes_``. Probabilities are those of each document's candidates,
    some forty; all others are as good as 0. A label is assigned where its probability is above a threshold
    that makes the most of micro-F1 in its language.

    Parameters
    ----------
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

    algorithm = MANY_LABELS
