"""The estimator that the funnels and every baseline derive from: it learns, and learns on.

It checks and sorts what the user gives, has its algorithm learn, and keeps the model that comes of it.
"""

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Self

from funnelling.corpus.label_set import LabelSet
from funnelling.formats.frames import as_frame
from funnelling.methods.active_learning import SUGGESTION_COLUMNS, next_to_label
from funnelling.methods.answering import FittedEstimator
from funnelling.methods.inputs import read_texts
from funnelling.methods.learning import Method, forget, further, relabel, update
from funnelling.methods.model import Languages
from funnelling.methods.rows import Predictor

if TYPE_CHECKING:
    from pandas import DataFrame


class MethodEstimator(FittedEstimator):
    """A classifier of documents in several languages under one set of labels."""

    def fit(
        self,
        X: Any,
        y: Any,
        languages: Languages = None,
        groups: Any = None,
        ids: Any = None,
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

        Returns
        -------
        self
            The fitted model.
        """
        checked = copy(self)  # a fit may still fail
        check_matrix = partial(checked._check_matrix, reset=True)
        label_set: LabelSet | None = getattr(self, "label_set", None)
        model = Method.of(self).fit_given(X, y, languages, groups, ids, label_set, check_matrix)
        names = [str(name) for name in getattr(checked, "feature_names_in_", ())] if model.features else []
        return self._become(replace(model, feature_names=names))

    def update(
        self,
        X: Any,
        y: Any,
        languages: Sequence[str | None] | None = None,
        groups: Any = None,
        ids: Any = None,
        *,
        exact: bool = False,
    ) -> Self:
        """Learn from further documents, in new languages or in known ones; labels may be new, too.

        Documents whose id the model knows replace the old ones.

        Takes what `fit` takes; y comes in the form in which it came to the fit. The model becomes the one
        that is fitted on all documents at once, in the order in which they came, with the settings that were
        chosen in the first fit. Documents that it knows, by their ``ids`` or, without one, by what they hold,
        are replaced: their labels are corrected. The result has the bits of a fit on everything; only a
        funnel of many documents over views that languages share takes a shorter way to nearly the same,
        unless it is to be ``exact``. A call that fails leaves the model as it was.

        Examples
        --------
        >>> from funnelling import FunnellingClassifier
        >>> texts = ["the cat sleeps", "a dog barks"] * 5
        >>> model = FunnellingClassifier().fit(texts, [["cat"], ["dog"]] * 5, ["en"] * 10)
        >>> _ = model.update(["il gatto dorme", "un cane abbaia"] * 5, [["cat"], ["dog"]] * 5, ["it"] * 10)
        >>> model.languages_, model.predict(["il gatto"], languages=["it"]).tolist()
        (['en', 'it'], [[1, 0]])
        """
        current = self._current_model
        merged = further(current, X, y, languages, groups, ids)
        return self._become(update(current, merged, exact=exact))

    def forget(self, ids: Sequence[Any]) -> Self:
        """Become the model that never saw the documents with these ids.

        Everything is done anew without them, choices included: the result is, to the bit, that of a fit on
        the others. Languages and labels that only they had are gone.

        Examples
        --------
        >>> from funnelling.research import NaiveClassifier
        >>> texts = ["the cat sleeps", "a dog barks", "a bird sings"] * 5
        >>> labels = [["cat"], ["dog"], ["bird"]] * 5
        >>> model = NaiveClassifier().fit(texts, labels, languages=["en"] * 15, ids=range(15))
        >>> model.forget(range(2, 15, 3)).classes_.tolist()
        ['cat', 'dog']
        """
        return self._become(forget(self._current_model, ids))

    def relabel(self, mapping: Mapping[Any, Any]) -> Self:
        """Rename labels, merge them by giving several the same name, or drop them (None, or "").

        All happens at once, so that labels may swap their names; those that are not mapped stay. Renaming
        changes names alone. After dropping, all answers about other labels keep their bits; a model that
        gives one label gives the best of the rest, and their probabilities sum to 1 as before. To merge is to
        learn anew, from what the model keeps of its documents.

        >>> from funnelling.research import PooledClassifier
        >>> texts, labels = ["the cat sleeps", "a dog barks", "an ox"] * 4, [["cat"], ["dog"], ["ox"]] * 4
        >>> model = PooledClassifier(C=1.0).fit(texts, labels, ["en"] * 12)
        >>> model.relabel({"cat": "felines", "ox": None}).classes_.tolist()
        ['felines', 'dog']
        """
        return self._become(relabel(self._current_model, mapping))

    def next_to_label(
        self,
        X: Any,
        languages: Languages = None,
        number: int = 100,
        *,
        ids: Any = None,
        groups: Any = None,
        balance: bool = False,
    ) -> "DataFrame":
        """Which of the texts, none of which has labels yet, a person should annotate next.

        Texts that the model is unsure of, that stand for many others like them, and that are unlike what it
        has learned; no two that say the same. `funnelling.methods.active_learning` says how.

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
        >>> from funnelling.research import NaiveClassifier
        >>> texts = ["the cat sleeps", "a dog barks"] * 5
        >>> model = NaiveClassifier().fit(texts, [["cat"], ["dog"]] * 5, languages=["en"] * 10)
        >>> frame = model.next_to_label(["the cat barks", "a dog barks"], languages=["en", "en"], number=1)
        >>> frame["text"].tolist()
        ['the cat barks']
        """
        rows = next_to_label(
            self._current_model, X, languages, number, ids=ids, groups=groups, balance=balance
        )
        return as_frame(rows, SUGGESTION_COLUMNS)

    def predict_records(
        self,
        X: Any,
        languages: Languages = None,
        *,
        ids: Any = None,
        top: int | None = None,
        threshold: float | None = None,
        names: str | None = None,
    ) -> list[dict[str, Any]]:
        """A row for each text, as the command line and the service give them.

        Parameters
        ----------
        X, languages
            Texts, as in `predict`; missing languages are detected.
        ids : what the rows call the texts; by default their places
        top : show only the most probable labels
        threshold : assign labels above this probability; after a 1-D y there is none
        names : a language in which rows also name labels, as ``label_names``

        Returns
        -------
        list of dict
            ``id``, ``language``, ``labels``, ``best_label``, its ``probability``, ``abstained`` (None,
            "out-of-vocabulary" or "unknown-language") and ``probabilities`` by label.
        """
        current = self._current_model
        among = current.detect_among or ()
        predictor = Predictor(current, top, threshold, False, names=names, every=top is None, languages=among)
        return list(predictor(read_texts(X, languages, ids)))

    def save(self, path: str | os.PathLike[str], *, keep: str | None = None, force: bool = False) -> None:
        """Write the model to a folder, whole or not at all; `funnelling.load_model` reads it.

        Parameters
        ----------
        path : the folder; only a model that is there is ever replaced
        keep : "nothing" for a copy that stores nothing of its training documents
        force : whether a model that is there is replaced

        Examples
        --------
        >>> import os, tempfile
        >>> from funnelling import load_model
        >>> from funnelling.research import NaiveClassifier
        >>> texts, labels = ["the cat sleeps", "a dog barks"] * 5, [["cat"], ["dog"]] * 5
        >>> model = NaiveClassifier().fit(texts, labels, languages=["en"] * 10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "model"))
        ...     loaded = load_model(os.path.join(folder, "model"))
        >>> loaded.predict(["a cat"], languages=["en"]).tolist()
        [[1, 0]]
        """
        resolve_name("funnelling.storage.save_model")(self, path, keep=keep, force=force)

    def push(self, address: str, **options: Any) -> dict[str, Any]:
        """Upload the model to the Hugging Face Hub: ``load_model("hf://owner/name")`` reads it.

        Parameters
        ----------
        address : such as ``owner/name`` or ``owner/name@branch``
        **options : those of `funnelling.storage.push_model`: ``private``, ``license``, ``keep`` and others

        Returns
        -------
        the ``address``, the ``commit``, the bytes of each of the ``files``, and what the model ``keeps``
        """
        pushed: dict[str, Any] = resolve_name("funnelling.storage.push_model")(
            self, address, **options
        ).record()
        return pushed
