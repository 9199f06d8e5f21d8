"""The labels users hand to an estimator, brought into one form: a matrix by language."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.corpus import label_matrix, sparse_label_matrix
from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import LabelSpace, check_learnable
from funnelling.errors import InputError
from funnelling.formats.frames import one_hot
from funnelling.matrices import AnyTargets, Targets, canonical, dense, is_sparse, one_each
from funnelling.methods.inputs import Inputs, is_mapping, read_inputs
from funnelling.randomness import is_missing

COLLECTIONS = (list, tuple, set, frozenset)  # what the labels of one document may come in


def read_labelled(
    X: Any,
    y: Any,
    languages: Sequence[str | None] | None,
    groups: Any,
    ids: Any,
    check_matrix: Callable[[Any], Any],
    sparse: bool,
    seed: int,
    among: Sequence[str] | None = None,
) -> tuple[ByLanguage, LabelSpace]:
    """All that is given to a fit, by language; see `read_inputs` for what documents may come in."""
    inputs = read_inputs(X, languages, check_matrix=check_matrix, among=among)
    labels, targets = read_labels(y, inputs, sparse)
    blocks = inputs.blocks(ids, groups, targets)
    return ByLanguage(blocks=blocks, kind=inputs.kind, seed=seed), labels


def read_labels(y: Any, inputs: Inputs, sparse: bool = False) -> tuple[LabelSpace, dict[str, AnyTargets]]:
    """Label lists, an indicator matrix or a 1-D array of classes as a matrix for each language.

    A 1-D y is one label per document: of two classes the only column is that of the second, unless targets
    are ``sparse``. The columns of a one-hot table keep their names and their order.
    """
    if y is None:
        # scikit-learn's words, which its estimator checks look for.
        raise ValueError("requires y to be passed, but the target y is None")
    y, names = _without_names(y)
    divided = inputs.divide(y, "y")
    _refuse_unlabelled(divided, inputs)
    labels, single = list(divided.values()), False
    if all(map(_is_label_lists, labels)):
        classes, matrices = _encode_lists(labels, sparse)
    elif all(map(_is_indicator, labels)):
        matrices = [_encode_indicator(each, sparse) for each in labels]
        if len({matrix.shape[1] for matrix in matrices}) > 1:
            raise InputError("y: the indicator matrices of the languages have different numbers of columns.")
        if names is None:
            classes = np.arange(matrices[0].shape[1])
        elif all(isinstance(name, int | np.integer) for name in names):
            classes = np.array(names)
        else:
            classes = np.array(list(map(str, names)), dtype=object)
    else:
        classes, matrices = _encode_classes(labels, sparse)
        single = True
    targets = dict(zip(divided, matrices, strict=True))
    check_learnable(matrices)
    return LabelSpace(classes, single, sparse), targets


def read_further_labels(
    y: Any, inputs: Inputs, space: LabelSpace
) -> tuple[npt.NDArray[Any], dict[str, AnyTargets]]:
    """All classes, those known to a model and new ones, and which of them further documents have.

    y comes as it came to the fit: as label lists, as one label per document, or as an indicator matrix with
    the columns of the model. A one-hot table is known by its names.
    """
    known = space.classes
    named = _all_strings(known.tolist())
    divided = inputs.divide(_with_lists(y) if named else _without_names(y)[0], "y")
    _refuse_unlabelled(divided, inputs)
    labels = list(divided.values())
    if space.single_label:
        lists = _lists_of_one(labels, known)
    elif named and all(map(_is_label_lists, labels)):
        lists = labels
    elif all(map(_is_indicator, labels)):
        matrices = [_encode_indicator(each, space.sparse) for each in labels]
        if any(matrix.shape[1] != len(known) for matrix in matrices):
            raise InputError(f"y must have the {len(known)} columns of the model, in the order of classes_.")
        return known, dict(zip(divided, matrices, strict=True))
    else:
        form = "label lists, each a list of strings" if named else "an indicator matrix, as it was in the fit"
        raise InputError(f"y must be {form}.")
    classes = _with_further(known, {label for each in lists for row in each for label in row})
    encode = sparse_label_matrix if space.sparse else label_matrix
    return classes, {
        language: encode(each, classes.tolist()) for language, each in zip(divided, lists, strict=True)
    }


def _lists_of_one(labels: Sequence[Any], known: npt.NDArray[Any]) -> list[list[list[Any]]]:
    """The one label of each document, in a list."""
    numbers = not _all_strings(known.tolist())
    if any(np.ndim(each) != 1 or not (numbers or _all_strings(each)) for each in labels):
        form = "numbers" if numbers else "strings"
        raise InputError(f"y must be one label per document, a 1-D array of {form}: the model gives one.")
    return [[[label] for label in np.asarray(each).tolist()] for each in labels]


def _with_further(known: npt.NDArray[Any], labels: set[Any]) -> npt.NDArray[Any]:
    """The classes and further ones: sorted, as a fit has them, unless those known are not."""
    further = sorted(labels - set(known.tolist()))
    if not further:
        return known
    listed = known.tolist()
    together = sorted([*listed, *further]) if listed == sorted(listed) else [*listed, *further]
    return np.array(together, dtype=known.dtype if known.dtype.kind in "Oif" else None)


def same_labels(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> list[list[int]]:
    """For each label of now its column of before, none for a new one.

    >>> same_labels(np.array(["cat", "dog"]), np.array(["bird", "cat"]))
    [[], [0]]
    """
    places = {label: [column] for column, label in enumerate(before.tolist())}
    return [places.get(label, []) for label in after.tolist()]


def spread(
    targets: Mapping[str, AnyTargets], classes: npt.NDArray[Any], all_classes: npt.NDArray[Any]
) -> dict[str, AnyTargets]:
    """Labels under more classes; no document has the further ones."""
    place = {label: number for number, label in enumerate(all_classes.tolist())}
    columns = np.array([place[label] for label in classes.tolist()], dtype=np.intp)
    return {language: _in_columns(rows, columns, len(all_classes)) for language, rows in targets.items()}


def _in_columns(targets: AnyTargets, columns: npt.NDArray[np.intp], width: int) -> AnyTargets:
    """Labels in other columns, of so many."""
    if is_sparse(targets):
        moved = (targets.data, columns[targets.indices], targets.indptr)
        return canonical(csr_array(moved, (targets.shape[0], width)))
    wide = np.zeros((targets.shape[0], width), dtype=bool)
    wide[:, columns] = targets
    return wide


def with_names(
    classes: npt.NDArray[Any],
    targets: Mapping[str, AnyTargets],
    label_set: LabelSet | None,
    so_far: Iterable[str] = (),
) -> tuple[npt.NDArray[Any], dict[str, AnyTargets], list[str]]:
    """Classes, labels under them, and those of the classes that are known by name alone, from a label set.

    Those that were known so ``so_far``, and that no document has, are taken out first. Classes that are
    numbers get no company.
    """
    names = set(so_far)
    if names:
        some = np.any([np.asarray(rows.sum(axis=0)) > 0 for rows in targets.values()], axis=0)
        kept = some | np.array([label not in names for label in classes.tolist()])
        classes, targets = classes[kept], {tag: rows[:, kept] for tag, rows in targets.items()}
    known = classes.tolist()
    further = set() if label_set is None or not _all_strings(known) else label_set.assignable() - set(known)
    if not further:
        return classes, dict(targets), []
    wider = _with_further(classes, further)
    return wider, spread(targets, classes, wider), sorted(further)


def read_truth(y: Any, classes: npt.NDArray[Any]) -> Any:
    """Labels to compare with those predicted: the columns of a one-hot table are known by their names.

    Where none of these is a label of the model, they are known by their place.
    """
    matrix, names = _without_names(y)
    known = classes.tolist()
    if names is None or not set(names) & set(known):
        return matrix
    if _all_strings([*names, *known]):
        return _with_lists(y)
    if names != known:
        raise InputError("y: the columns are not those of the model. Give them in the order of classes_.")
    return matrix


def _without_names(y: Any) -> tuple[Any, list[Any] | None]:
    """The matrix of a one-hot table, or of one for each language, and the names of its columns."""
    if not is_mapping(y):
        table = one_hot(y)
        return (y, None) if table is None else (table.matrix, table.labels)
    tables = {language: table for language, each in y.items() if (table := one_hot(each)) is not None}
    if not tables or len(tables) < len(y):
        return y, None
    names = next(iter(tables.values())).labels
    if any(set(table.labels) != set(names) for table in tables.values()):
        raise InputError("y: the tables of the languages have different columns. Give each table all labels.")
    return {language: table.ordered(names) for language, table in tables.items()}, names


def _with_lists(y: Any) -> Any:
    """Label lists of a one-hot table, or of one for each language; anything else as it is."""
    if is_mapping(y):
        return {language: _with_lists(each) for language, each in y.items()}
    table = one_hot(y)
    return y if table is None else table.lists()


def _refuse_unlabelled(divided: Mapping[str, Any], inputs: Inputs) -> None:
    for language, values in divided.items():
        if _is_typed_matrix(values) and (values.ndim > 1 or values.dtype.kind != "f"):
            continue
        for number, labels in enumerate(values):
            if is_missing(labels):
                what = "None" if labels is None else "NaN"
                raise InputError(
                    f"y: {inputs.place(language, number)} has no labels ({what}). "
                    "Leave such documents out: corpus.labelled(), or dropna() of a table."
                )


def _is_typed_matrix(values: Any) -> bool:
    """Whether labels are an array whose type leaves no room for lists or None."""
    return is_sparse(values) or (isinstance(values, np.ndarray) and values.dtype != object)


def _is_label_lists(values: Any) -> bool:
    """Whether labels are lists (or tuples, or sets) of strings, one list per document."""
    return not _is_typed_matrix(values) and all(
        isinstance(labels, COLLECTIONS) and _all_strings(labels) for labels in values
    )


def _is_indicator(values: Any) -> bool:
    """Whether labels are a matrix; one column of anything but 0 and 1 is a 1-D array set upright."""
    if is_sparse(values):
        return True
    try:
        matrix = np.asarray(values)
    except ValueError:  # rows of different lengths
        return False
    return matrix.ndim == 2 and (matrix.shape[1] != 1 or bool(np.isin(matrix, (0, 1)).all()))


def _all_strings(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _encode_lists(lists: list[Any], sparse: bool) -> tuple[npt.NDArray[Any], list[AnyTargets]]:
    classes = sorted({label for each in lists for labels in each for label in labels})
    if not classes:
        raise InputError("Nothing to learn: no document has a label, y has only one class.")
    encode = sparse_label_matrix if sparse else label_matrix
    return np.array(classes, dtype=object), [encode(each, classes) for each in lists]


def _encode_indicator(matrix: Any, sparse: bool) -> AnyTargets:
    rows: Any = csr_array(matrix) if sparse else dense(matrix)
    if not np.isin(rows.data if sparse else rows, (0, 1)).all():
        raise InputError(
            "y: an indicator matrix holds only 0 and 1. Give label lists or a 1-D array instead."
        )
    return canonical(rows).astype(bool) if sparse else rows.astype(bool)


def _encode_classes(labels: list[Any], sparse: bool) -> tuple[npt.NDArray[Any], list[AnyTargets]]:
    if any(isinstance(value, COLLECTIONS) for each in labels if not _is_typed_matrix(each) for value in each):
        raise InputError("y: label lists must hold strings only.")
    columns = [np.asarray(each) if _are_names(each) else _checked_column(each) for each in labels]
    together = np.concatenate(columns)
    if not all(map(_are_names, labels)):
        _check_classes(together)
    classes = np.unique(together)
    if sparse:
        return classes, [one_each(np.searchsorted(classes, column), len(classes)) for column in columns]
    shown = classes[1:] if len(classes) == 2 else classes
    return classes, [column[:, None] == shown for column in columns]


def _are_names(column: Any) -> bool:
    """Whether classes are strings, in a list or in an array of one axis: scikit-learn need not check them."""
    if isinstance(column, np.ndarray):
        if column.ndim != 1 or column.dtype != object:
            return column.ndim == 1 and column.dtype.kind == "U"
    elif not isinstance(column, list):
        return False
    return all(type(value) is str for value in column)


def _checked_column(column: Any) -> npt.NDArray[Any]:
    """Classes as an array of one axis."""
    from sklearn.utils.validation import column_or_1d  # it takes a second to load

    checked: npt.NDArray[Any] = column_or_1d(column, warn=True)
    return checked


def _check_classes(values: npt.NDArray[Any]) -> None:
    """Refuse what is no class, such as a real number."""
    from sklearn.utils.multiclass import check_classification_targets, type_of_target

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of many classes, which are the user's business
        check_classification_targets(values)
        kind = type_of_target(values)
    if kind not in ("binary", "multiclass"):
        raise InputError("y must be label lists, an indicator matrix or a 1-D array of classes.")


def are_right(predicted: npt.NDArray[Any], truth: Any, classes: npt.NDArray[Any]) -> Targets:
    """Which documents have all their labels right; ``truth`` is in any form that `read_labels` takes."""
    if is_sparse(predicted):
        given: Any = csr_array(predicted, dtype=bool)
        lists, names = _is_label_lists(truth), set(classes.tolist())
        known: Any = sparse_label_matrix(truth, classes.tolist()) if lists else csr_array(truth)
        if known.shape != given.shape:
            raise InputError(
                f"y must have the {len(classes)} columns of the model, in the order of classes_."
            )
        all_known = [names.issuperset(labels) for labels in truth] if lists else [True] * known.shape[0]
        differ = np.diff((given != known.astype(bool)).tocsr().indptr) > 0
        return np.asarray(~differ & all_known, dtype=bool)
    if _is_label_lists(truth):
        named = [{row} if predicted.ndim == 1 else set(classes[row != 0]) for row in predicted]
        return np.array([names == set(labels) for names, labels in zip(named, truth, strict=True)])
    right = predicted == dense(truth).reshape(predicted.shape)
    return np.asarray(right.reshape(len(predicted), -1).all(axis=1))
