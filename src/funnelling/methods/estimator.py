"""The estimator that the funnels and every baseline derive from.

It checks and sorts what the user gives, has its algorithm learn, and keeps the model that comes of it.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from funnelling.corpus.label_files import read_label_set
from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import known_columns
from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.formats.files import shown_name
from funnelling.formats.frames import as_frame
from funnelling.methods.answering import Answering, Languages
from funnelling.methods.labels import check_learnable, read_labelled, with_names
from funnelling.methods.learning import learn, learn_prepared
from funnelling.methods.model import Model
from funnelling.methods.parameters import check_label_set
from funnelling.methods.training_set import TrainingSet
from funnelling.randomness import seed_of
from funnelling.runtime.progress import timed
from funnelling.state import expect

if TYPE_CHECKING:
    from pandas import DataFrame

logger = logging.getLogger(__name__)


class Method(Answering):
    """A classifier of documents in several languages under one set of labels."""

    def fit(
        self,
        X: Any,
        y: Any,
        languages: Languages = None,
        groups: Any = None,
        ids: Any = None,
        label_set: LabelSet | None = None,
    ) -> Self:
        """Learn from documents and their labels.

        Parameters
        ----------
        X : texts, or a matrix of vectors, or a mapping from language to either
            Texts come in a list, an array or a column of pandas, polars or Hugging Face datasets. A matrix
            is one language unless `languages` says otherwise. In a mapping each language has a feature space
            of its own and is called what its key says.
        y : label lists, an indicator matrix, or a 1-D array (one label per document); a mapping if X is
            A table with a column of 0 and 1 for each label gives ``classes_`` its names, in its order.
        languages : one code per document, for texts or a matrix; missing ones are detected from the text
        groups : documents of one group (translations, versions) are never split by an inner fold
        ids : what `explain` calls the documents; by default their numbers
        label_set : what labels are called, which belong to which, and which are not to be assigned; the model
            keeps it, and `ManyLabelsClassifier` learns from names, those of labels without documents, too.
            Where it rolls labels up, those of the documents have been (`LabelSet.closed`)

        Returns
        -------
        self
            The fitted model.
        """
        self.check()
        check_label_set(label_set)
        self._forget()
        with timed("reading documents", bool(self.verbose)):
            training = read_labelled(
                X,
                y,
                languages,
                groups,
                ids,
                partial(self._check_matrix, reset=True),
                self.algorithm.sparse_labels,
                seed=seed_of(self.random_state),
                label_set=label_set,
                n_jobs=self.n_jobs,
            )
        named: list[str] = []
        if label_set is not None:
            if self.algorithm.learns_names and training.texts:
                classes, targets, named = with_names(training.labels.classes, training.targets, label_set)
                training = replace(training, labels=training.labels.under(classes), targets=targets)
            label_set.rules(training.labels.classes).check()
        parameters = self.copied()
        training = training.only(
            self.algorithm.learnable(parameters, list(training.documents), training.texts)
        )
        with self.algorithm.counting(parameters, training):
            self.model_ = replace(learn(self.algorithm, parameters, training), named=named)
        return self

    def fit_prepared(self, prepared: TrainingSet) -> Self:
        """Learn from texts whose vectors were made before, in each language's own words.

        The result is that of `fit` on the texts. Methods that see texts in another way refuse.
        """
        self.check()
        if not self.algorithm.learns_own_words(self):
            raise InputError(f"{self.algorithm.name} needs the texts themselves. Use fit.")
        check_learnable(prepared.targets.values())
        self._forget()
        parameters = self.copied()
        prepared = prepared.only(self.algorithm.learnable(parameters, list(prepared.vectors), texts=True))
        seed = seed_of(self.random_state)
        training = replace(prepared, seed=seed, folds={}, n_jobs=self.n_jobs)
        self.model_ = learn_prepared(self.algorithm, parameters, training, {}, texts=True)
        return self

    def suggest(
        self,
        X: Any,
        languages: Languages = None,
        number: int = 100,
        *,
        ids: Any = None,
        groups: Any = None,
        balance: bool = False,
    ) -> "DataFrame":
        """Which of the texts, none of which has labels yet, a person should label next.

        Texts that the model is unsure of, that stand for many others like them, and that are unlike what it
        has learned; no two that say the same. `funnelling.methods.suggesting` says how.

        Parameters
        ----------
        X, languages
            Texts, as in `predict`; those in a language that the model has not learned may be suggested, too.
        number : how many texts to suggest
        ids : what the rows call the texts; by default their places
        groups : of texts in the same group, such as translations, one is suggested
        balance : whether all languages are to have as many labelled texts in the end; else a language gets
            more the more texts it has

        Returns
        -------
        pandas.DataFrame
            One row per text, the most useful first: ``id``, ``language``, ``text``, ``group`` where groups
            are given, ``labels``, None until somebody knows them, ``suggested``, those that `predict` would
            give, ``probabilities`` of these and other likely ones, the ``reason`` in words, and the
            ``score``: the doubt that a label would help with, in bits where each text has one label.

        Examples
        --------
        >>> from funnelling import NaiveClassifier
        >>> texts = ["the cat sleeps", "a dog barks"] * 5
        >>> model = NaiveClassifier().fit(texts, [["cat"], ["dog"]] * 5, languages=["en"] * 10)
        >>> frame = model.suggest(["the cat barks", "a dog barks"], languages=["en", "en"], number=1)
        >>> frame["text"].tolist()
        ['the cat barks']
        """
        from funnelling.methods.suggesting import SUGGESTION_COLUMNS, suggest_texts

        rows = suggest_texts(self, X, languages, number, ids=ids, groups=groups, balance=balance)
        return as_frame(rows, SUGGESTION_COLUMNS)

    def label_counts(self) -> npt.NDArray[np.int64] | None:
        """How many training documents have each label, where the method itself keeps that."""
        return None

    def final_c(self) -> float | dict[str, float] | None:
        """The C of the final classifiers, by language where each has its own; None where there is none."""
        return self.model_.fitted.final_c

    # --- how ------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Leave nothing of an earlier fit."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def check_state(self) -> None:
        """Refuse a fitted state that was read from a file and could not label documents, or learn on."""
        with suppress(InputError):  # of parameters that were set since, and hold from the next fit on
            self.check()
        template, model = getattr(self, "vectorizer", None), self.model_
        expect(isinstance(template, Mapping | None) or hasattr(template, "fit_transform"), "the vectorizer")
        expect(isinstance(model, Model), "a fitted model")
        expect(isinstance(model.fitted, self.algorithm.fitted), "what was fitted")
        expect(model.labels.sparse == self.algorithm.sparse_labels, "whether there are many labels")
        model.check()
        if hasattr(self, "n_features_in_"):  # of a plain matrix, in which all languages share the columns
            expect(set(model.features.values()) == {self.n_features_in_}, "the number of features")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_label=True)
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


AnyMethod = TypeVar("AnyMethod", bound="Method")


def follow_label_set(
    model: AnyMethod, given: str | os.PathLike[str] | LabelSet | None = None, exclude: Sequence[str] = ()
) -> AnyMethod:
    """The model with a label set, or that of a file, in place of its own, and further labels excluded.

    It shares everything else with the model that was given.
    """
    own = model.model_.label_set
    label_set = own
    if given is not None:
        labels = [str(label) for label in model.classes_.tolist()]
        label_set = given if isinstance(given, LabelSet) else label_set_for(given, labels)
        label_set = label_set.rolled_up() if own is not None and own.roll_up else label_set
    if exclude:
        label_set = LabelSet.of([]) if label_set is None else label_set
        known_columns(label_set.rules(model.classes_).hierarchy.columns, exclude)  # refuses what it has not
        label_set = label_set.excluding(exclude)
    if label_set is None:
        return model
    label_set.rules(model.classes_).check()
    following = copy(model)
    following.model_ = replace(model.model_, label_set=label_set)
    return following


def label_set_for(path: str | os.PathLike[str], labels: Sequence[str]) -> LabelSet:
    """The label set of a file, which must have something to say of the labels of documents, or of a model."""
    label_set = read_label_set(path, labels)
    if labels and not any(label in label_set for label in labels):
        raise InputError(
            f"{shown_name(path)}: its ids ({quoted(label_set.ids[0])}, …) have nothing in common with the "
            f"labels that they are for ({quoted(labels[0])}, …). Check the ids."
        )
    return label_set


def names_of_labels(model: "Method", language: str) -> dict[str, str]:
    """What a model's labels are called in a language; refused where it has no names for them."""
    label_set = model.model_.label_set
    if label_set is None or not label_set.names:
        raise InputError("The model has no names of its labels. Add --label-set FILE, or leave --names out.")
    names: dict[str, str] = label_set.names_in(language)
    return names
