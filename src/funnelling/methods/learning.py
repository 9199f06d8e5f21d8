"""Fits and updates: the model of documents, and the one with others, without some, or with other labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.corpus.blocks import Places
from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import LabelSpace, check_learnable, label_columns
from funnelling.errors import InputError, listed
from funnelling.matrices import AnyTargets, canonical, check_vectors, is_sparse, widths_of
from funnelling.methods.algorithm import NOTHING, TEXTS, Algorithm, Parameters
from funnelling.methods.inputs import read_inputs
from funnelling.methods.labels import read_labelled, same_labels, with_names
from funnelling.methods.merging import Merged, correct, merge, previous_fit, with_targets
from funnelling.methods.model import Model
from funnelling.methods.parameters import check_label_set
from funnelling.methods.training_set import PreviousFit, TrainingSet
from funnelling.randomness import seed_of
from funnelling.runtime.progress import timed
from funnelling.state import freeze
from funnelling.svm.scorers import Selection


@dataclass(frozen=True)
class Method:
    """An algorithm and its parameters, to be fitted. An estimator is one with scikit-learn's interface."""

    algorithm: Algorithm[Any]
    parameters: Parameters

    @classmethod
    def of(cls, given: Any) -> "Method":
        """The method of an unfitted estimator, or one that is a method already."""
        return given if isinstance(given, cls) else cls(given.algorithm, given.parameters)

    def under(self, **parameters: Any) -> "Method":
        """The same method with some parameters changed."""
        return replace(self, parameters=self.parameters.copied(**parameters))

    def fit(self, documents: Corpus, label_set: LabelSet | None = None) -> Model:
        """The model of these documents: one label each if the corpus says so, groups kept together."""
        algorithm, seed = self._checked(label_set)
        with timed("reading documents", bool(self.parameters.verbose)):
            encoded, labels = ByLanguage.of_corpus(documents, algorithm.sparse_labels, seed)
        return self._fit(encoded, labels, label_set)

    def fit_given(
        self,
        X: Any,
        y: Any,
        languages: Sequence[str | None] | None,
        groups: Any,
        ids: Any,
        label_set: LabelSet | None,
        check_matrix: Callable[[Any], Any] = lambda X: X,
    ) -> Model:
        """The model of what users of Python hand to an estimator; see `MethodEstimator.fit`."""
        algorithm, seed = self._checked(label_set)
        with timed("reading documents", bool(self.parameters.verbose)):
            given = (X, y, languages, groups, ids, check_matrix)
            among = getattr(self.parameters, "detect_among", None)
            documents, labels = read_labelled(*given, algorithm.sparse_labels, seed, among)
        return self._fit(documents, labels, label_set)

    def _checked(self, label_set: LabelSet | None) -> tuple[Algorithm[Any], int]:
        """The algorithm and the seed, once it is sure that they may be used."""
        self.parameters.check()
        check_label_set(label_set)
        return self.algorithm, seed_of(self.parameters.random_state)

    def _fit(self, documents: ByLanguage, labels: LabelSpace, label_set: LabelSet | None) -> Model:
        algorithm, parameters = self.algorithm, self.parameters
        run = {"label_set": label_set, "n_jobs": parameters.n_jobs}
        training = TrainingSet.of(documents, labels, **run)
        named: list[str] = []
        if label_set is not None:
            if algorithm.learns_names and training.texts:
                classes, targets, named = with_names(training.labels.classes, training.targets, label_set)
                columns = same_labels(training.labels.classes, classes)
                training = replace(
                    training.with_targets(targets, columns), labels=training.labels.under(classes)
                )
            label_set.rules(training.labels.classes).check()
        training = training.only(algorithm.learnable(parameters, training.languages, training.texts))
        with algorithm.counting(parameters, training):
            return replace(learn(algorithm, parameters, training), named=named)

    def fit_prepared(self, prepared: TrainingSet) -> Model:
        """The model of texts whose vectors were made before, in each language's own words.

        It is that of the texts. Methods that see texts in another way refuse.
        """
        algorithm, parameters = self.algorithm, self.parameters
        parameters.check()
        if not algorithm.learns_own_words(parameters):
            raise InputError(f"{algorithm.name} needs the texts themselves. Use fit.")
        check_learnable(prepared.targets.values())
        prepared = prepared.only(algorithm.learnable(parameters, prepared.languages, texts=True))
        training = replace(prepared, seed=seed_of(parameters.random_state), n_jobs=parameters.n_jobs)
        return learn_prepared(algorithm, parameters, training, texts=True)


@dataclass(frozen=True)
class Relabelling:
    """What becomes of labels: for each new one the ``columns`` of those that it stands for.

    New labels stand where the first of their old ones stood.
    """

    old: list[Any]
    new: list[Any]
    columns: list[list[int]]

    @classmethod
    def of(cls, classes: Sequence[Any], mapping: Mapping[Any, Any]) -> "Relabelling":
        """What a mapping from labels to new ones makes of a model's classes; None or "" drops a label.

        All happens at once, so that labels may swap their names. Labels that are not mapped stay.

        >>> Relabelling.of(["a", "b", "c"], {"a": "b", "b": "a"}).renamed
        {'a': 'b', 'b': 'a'}
        >>> Relabelling.of(["a", "b", "c"], {"a": "b"}).merged
        {'b': ['a', 'b']}
        >>> Relabelling.of(["cat", "dog"], {"cot": "cats"})
        Traceback (most recent call last):
        funnelling.errors.InputError: The model has no label 'cot'. Did you mean cat?
        """
        old = list(classes)
        label_columns(old, list(mapping))  # refuses labels that do not exist
        by_name = {
            str(label): (new.strip() or None) if isinstance(new, str) else new
            for label, new in mapping.items()
        }
        targets = [by_name.get(str(label), label) for label in old]
        if any(isinstance(new, str) for new in targets):  # then all labels are names
            targets = [None if new is None else str(new) for new in targets]
        columns: dict[Any, list[int]] = {}
        for column, new in enumerate(targets):
            if new is not None:
                columns.setdefault(new, []).append(column)
        if len(columns) < min(2, len(old)):
            left = "no label" if not columns else "one label"
            raise InputError(f"The model would have {left}. Keep two or more.")
        return cls(old, list(columns), list(columns.values()))

    @property
    def renamed(self) -> dict[Any, Any]:
        """The labels that get another name and stay by themselves."""
        pairs = ((self.old[each[0]], new) for new, each in self._pairs() if len(each) == 1)
        return {old: new for old, new in pairs if old != new}

    @property
    def merged(self) -> dict[Any, list[Any]]:
        """The new labels that stand for several old ones, which share a name from now on."""
        return {new: [self.old[column] for column in each] for new, each in self._pairs() if len(each) > 1}

    @property
    def dropped(self) -> list[Any]:
        """The labels that the model gives no more."""
        kept = {column for each in self.columns for column in each}
        return [label for column, label in enumerate(self.old) if column not in kept]

    def _pairs(self) -> list[tuple[Any, list[int]]]:
        return list(zip(self.new, self.columns, strict=True))

    def selection(self, labels: LabelSpace) -> Selection:
        """The labels that are left, where none are merged."""
        columns = np.array([each[0] for each in self.columns], dtype=np.int64)
        return Selection(columns, margin=labels.under(np.array(self.new)).has_one_column)

    def in_order(self) -> "Relabelling":
        """The same with the new labels sorted, as a fit has them, where the old ones were."""
        if self.old != sorted(self.old):
            return self
        new, columns = zip(*sorted(self._pairs(), key=itemgetter(0)), strict=True)
        return Relabelling(self.old, list(new), list(columns))

    def classes(self, before: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The new labels as an array of the kind that they came in before, where that can hold them."""
        strings = all(isinstance(label, str) for label in self.new)
        return np.array(self.new, dtype=object if strings and before.dtype.kind != "U" else None)

    def of_targets(self, targets: AnyTargets) -> AnyTargets:
        """Which documents have the new labels: those that have any of the old ones."""
        if is_sparse(targets):
            news = np.repeat(np.arange(len(self.new)), list(map(len, self.columns)))
            olds = np.concatenate(self.columns)
            cells = np.ones(len(olds), dtype=np.int32), (olds, news)
            becomes = sparse.csr_array(cells, (len(self.old), len(self.new)))
            return canonical(targets.astype(np.int32) @ becomes).astype(bool)
        return np.column_stack([targets[:, each].any(axis=1) for each in self.columns])


def check_extensible(model: Model) -> ByLanguage:
    """The stored documents of a model; refused where they are too little to fit it again."""
    parameters, archive = model.fit_parameters, model.archive
    parameters.check()
    if archive is None:
        raise InputError(
            "The model is compact: it stores nothing of its training documents. Train it again, without "
            "--keep nothing."
        )
    if model.texts and not archive.texts:
        raise InputError(
            "The model has too many training documents to store their words. Add the documents to its folder "
            "of part files, and train it again."
        )
    reader = model.algorithm.reads_in_order(parameters, model.fitted.chosen)
    if model.texts and archive.kind != "as written" and reader is not None:
        raise InputError(
            f"{reader} reads texts as they were written, and the model stores only words. Train it again "
            "with --keep texts (in Python keep='texts')."
        )
    return archive


def further(
    model: Model,
    X: Any,
    y: Any,
    languages: Sequence[str | None] | None = None,
    groups: Any = None,
    ids: Any = None,
    slots: Corpus | None = None,
) -> Merged:
    """What a model's documents become with further ones; for `update`. The ``slots`` are those of `merge`."""
    archive = check_extensible(model)
    inputs = read_inputs(
        X, languages, fitted_on_texts=model.texts, names=model.languages, among=model.detect_among
    )
    return merge(archive, model.labels, inputs, y, groups, ids, slots)


def correction(
    model: Model, ids: Sequence[Any], y: Any, languages: Sequence[str | None] | None = None
) -> Merged:
    """What a model's documents become with other labels for some; for `update`.

    ``languages`` are needed only where documents of two languages share an id.
    """
    return correct(check_extensible(model), model.labels, ids, y, languages)


def update(model: Model, merged: Merged, *, exact: bool = False, choose: bool = False) -> Model:
    """The model of these documents; with ``choose`` its settings are chosen again."""
    before = None if choose else previous_fit(model, merged, exact)
    return _learned(model, merged.archive, merged.classes, before)


def left_without(model: Model, ids: Sequence[Any]) -> dict[str, Places]:
    """The training documents without those of some ids, by language."""
    archive, labels = check_extensible(model), model.labels
    found = archive.find_ids(list(map(str, listed(ids, "ids"))))
    return {
        language: np.setdiff1d(labels.learnable(rows), found.get(language, ()))
        for language, rows in labels.by_class(archive.targets).items()
    }


def forget(model: Model, ids: Sequence[Any]) -> Model:
    """The model fitted without the documents of these ids."""
    archive, labels = check_extensible(model), model.labels
    left = left_without(model, ids)
    if not any(map(len, left.values())):
        raise InputError("These are all training documents. Delete the model instead.")
    before = labels.by_class(archive.targets)
    rest = archive.select(left)
    targets = labels.by_class(rest.targets)
    some, had = (
        np.any([rows.sum(axis=0) > 0 for rows in each.values()], axis=0) for each in (targets, before)
    )
    # Else columns are known by their place
    named = labels.classes.dtype.kind in "OU" or labels.single_label
    kept = some | ~had if named else np.ones_like(some)
    shown = {tag: labels.learned(rows[:, kept]) for tag, rows in targets.items()}
    classes = labels.classes[kept]
    rest = rest.with_targets(shown, same_labels(labels.classes, classes))
    return _learned(model, rest, classes, None)


def relabel(model: Model, mapping: Mapping[Any, Any]) -> Model:
    """The model under other labels: renamed, merged where several get the same name, or dropped."""
    labels, label_set = model.labels, model.label_set
    relabelling = Relabelling.of(labels.classes.tolist(), mapping)
    named = [str(mapping.get(label) or label) for label in model.named]
    if label_set is not None:
        label_set = label_set.renamed({str(old): str(new or "") for old, new in mapping.items()})
        label_set.rules(relabelling.new).check()
    if relabelling.merged:
        archive, relabelling = check_extensible(model), relabelling.in_order()
        shown = labels.by_class(archive.targets)
        targets = {language: relabelling.of_targets(rows) for language, rows in shown.items()}
        renamed = labels.under(relabelling.classes(labels.classes))
        merged = with_targets(archive, targets, renamed, relabelling.columns)
        before = previous_fit(model, merged, exact=True)
        return _learned(
            replace(model, label_set=label_set, named=named), merged.archive, merged.classes, before
        )
    if relabelling.dropped:
        selection = relabelling.selection(labels)
        model = replace(
            model,
            fitted=model.fitted.selecting(selection, labels, model.archive),
            # Two that exclude each other keep a column each: a document of a dropped label has neither.
            archive=model.archive
            and model.archive.with_targets(
                {tag: rows[:, selection.columns] for tag, rows in model.archive.targets.items()},
                relabelling.columns,
            ),
            dropped=[*model.dropped, *map(str, relabelling.dropped)],
            label_documents=[model.label_documents[each[0]] for each in relabelling.columns],
        )
    renamed = labels.under(relabelling.classes(labels.classes))
    return replace(model, labels=renamed, named=named, label_set=label_set)


def _learned(
    model: Model, archive: ByLanguage, classes: npt.NDArray[Any], before: PreviousFit | None
) -> Model:
    """The model that a model becomes with other documents, which were archived."""
    check_learnable(archive.targets.values())
    parameters = model.fit_parameters
    named: list[str] = []
    if model.algorithm.learns_names and model.texts:
        known = classes
        classes, targets, named = with_names(known, archive.targets, model.label_set, model.named)
        archive = archive.with_targets(targets, same_labels(known, classes))
    chosen = None if before is None else before.model.fitted.chosen
    usable = model.algorithm.learnable(parameters, archive.languages, model.texts, chosen)
    unseen = [tag for tag in archive.languages if tag not in usable]
    if unseen:
        raise InputError(f"The model has no view for documents in {unseen[0]!r}. Leave them out.")
    run = {"previous": before, "label_set": model.label_set, "n_jobs": parameters.n_jobs}
    training = TrainingSet.of(archive, model.labels.under(classes), **run)
    learned = learn(model.algorithm, parameters, training).under(model.parameters)
    return replace(
        learned,
        feature_names=model.feature_names,
        named=named,
        reading=model.reading,
        history=model.history,
    )


def learn(algorithm: Algorithm[Any], parameters: Parameters, training: TrainingSet) -> Model:
    """The model that an algorithm makes of documents whose vectors are not made yet."""
    made_by, vectors = algorithm.vectors(parameters, training)
    with timed("checking vectors", bool(parameters.verbose)):  # the first check loads scikit-learn
        # None of languages whose documents a method sees in another way
        vectors = {language: None if X is None else check_vectors(X) for language, X in vectors.items()}
    training = replace(training, vectors=vectors, made_by=made_by)
    return learn_prepared(algorithm, parameters, training, training.texts)


def learn_prepared(
    algorithm: Algorithm[Any], parameters: Parameters, training: TrainingSet, texts: bool
) -> Model:
    """The model that an algorithm makes of documents and vectors; of ``texts`` there may be only these."""
    training = replace(training, dealt=training.folds)  # once for all selections of it
    fitted = algorithm.fit(parameters, training)
    freeze(fitted)
    by_class = training.labels.by_class(training.targets).values()
    return Model(
        algorithm=algorithm,
        parameters=parameters,
        labels=training.labels,
        label_documents=np.sum([rows.sum(axis=0) for rows in by_class], axis=0).tolist(),
        documents=training.sizes,
        features={} if texts else widths_of(training.documents),
        texts=texts,
        fitted=fitted,
        archive=None if parameters.keep == NOTHING else training.kept(parameters.keep == TEXTS),
        label_set=training.label_set,
    )
