"""What users hand to an estimator, brought into one form: documents and labels by language."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d

from funnelling.errors import InputError
from funnelling.svm.gram import is_sparse
from funnelling.text.languages import normalise_tag, primary

ONE_LANGUAGE = "und"  # the name of the only language of a plain matrix: BCP 47's "undetermined"

Positions = dict[str, npt.NDArray[np.intp]]


@dataclass
class Inputs:
    """Documents by language, each language a list of texts or a matrix of its own.

    ``positions`` tells where the documents of a language stand in what the user gave, None where that
    was a mapping by language already.
    """

    parts: dict[str, Any]
    positions: Positions | None
    texts: bool

    def sizes(self) -> dict[str, int]:
        """Documents by language."""
        return {language: _length(part) for language, part in self.parts.items()}

    def divide(self, values: Any, name: str) -> dict[str, Any]:
        """Cut what runs along the documents (labels, groups) the way the documents are cut."""
        if self.positions is None:
            if not isinstance(values, Mapping) or set(values) != set(self.parts):
                raise InputError(f"{name} must be a mapping with the same languages as X.")
            divided = {language: values[language] for language in self.parts}
        else:
            if not hasattr(values, "__len__"):
                values = np.asarray(values)
            if _length(values) != sum(map(len, self.positions.values())):
                raise InputError(
                    f"{name} has {_length(values)} entries for "
                    f"{sum(map(len, self.positions.values()))} documents."
                )
            divided = {language: _take(values, where) for language, where in self.positions.items()}
        for language, size in self.sizes().items():
            if _length(divided[language]) != size:
                raise InputError(
                    f"{name}: {_length(divided[language])} entries for the {size} documents of {language!r}."
                )
        return divided

    def gather(self, results: Mapping[str, npt.NDArray[Any]]) -> Any:
        """Put results by language into the user's order, or leave them a mapping if X was one."""
        if self.positions is None:
            return dict(results)
        parts = list(results.values())
        gathered = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), dtype=parts[0].dtype)
        for language, where in self.positions.items():
            gathered[where] = results[language]
        return gathered


def is_mapping(X: Any) -> bool:
    """Whether X maps languages to documents; scipy's dictionary-of-keys matrix is a dict, but no such map."""
    return isinstance(X, Mapping) and not is_sparse(X)


def is_texts(X: Any) -> bool:
    """Whether X is a sequence of strings rather than of vectors."""
    if is_sparse(X) or isinstance(X, Mapping | str):
        return False
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and (X.dtype.kind == "U" or (X.dtype == object and _all_strings(X)))
    try:
        return len(X) > 0 and _all_strings(X)
    except TypeError:
        return False


def _all_strings(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _length(values: Any) -> int:
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)


def _take(values: Any, where: npt.NDArray[np.intp]) -> Any:
    if is_sparse(values) or isinstance(values, np.ndarray):
        return values[where]
    if hasattr(values, "iloc"):
        return values.iloc[where]
    return [values[i] for i in where]


def read_inputs(X: Any, languages: Sequence[str | None] | None, known: Sequence[str] | None = None) -> Inputs:
    """Sort documents by language; ``known`` are the languages of a fitted model.

    Texts without a language get it detected, among the known ones where there are any. A matrix
    without languages is one language.
    """
    if is_mapping(X):
        if languages is not None:
            raise InputError("A mapping names its languages itself: leave `languages` out.")
        if not X:
            raise InputError("X is an empty mapping: give at least one language.")
        texts = all(is_texts(part) for part in X.values())
        parts = {
            str(language): list(part) if texts else check_array(part, accept_sparse="csr", dtype="numeric")
            for language, part in sorted(X.items())
        }
        return Inputs(parts, None, texts)
    texts = is_texts(X)
    count = _length(X)
    if texts:
        codes = _codes(list(X), languages, known)
    elif languages is None:
        codes = np.full(count, known[0] if known else ONE_LANGUAGE)
    else:
        codes = np.asarray(languages, dtype=str)
    if len(codes) != count:
        raise InputError(f"languages has {len(codes)} entries for {count} documents.")
    positions = {str(code): np.flatnonzero(codes == code) for code in np.unique(codes)}
    parts = {language: _take(X, where) for language, where in positions.items()}
    return Inputs(parts, positions, texts)


def _codes(
    texts: list[str], languages: Sequence[str | None] | None, known: Sequence[str] | None
) -> npt.NDArray[np.str_]:
    """A language for each text: normalised, or detected where it is missing."""
    from funnelling.text.detection import detect_languages

    given = [None] * len(texts) if languages is None else list(languages)
    if len(given) != len(texts):
        raise InputError(f"languages has {len(given)} entries for {len(texts)} documents.")
    tags = {code: normalise_tag(code) for code in set(given) if code is not None}
    codes = [None if code is None else tags[code] for code in given]
    missing = [i for i, code in enumerate(codes) if code is None]
    if missing:
        candidates = known or sorted({code for code in codes if code}) or None
        found = detect_languages([texts[i] for i in missing], candidates)
        for i, code in zip(missing, found, strict=True):
            codes[i] = code
    if known is not None:
        codes = [served_by(code, known) for code in codes]
    return np.asarray(codes, dtype=str)


def served_by(language: str | None, known: Sequence[str]) -> str | None:
    """The known language that serves a document: its own, or for a regional variant the plain one."""
    if language in known or language is None:
        return language
    return primary(language) if primary(language) in known else language


@dataclass
class Labels:
    """Labels as a matrix: ``targets`` (documents, columns), one column a class.

    A 1-D y is ``exclusive``: one label a document. With two classes it has one column, the second
    class's.
    """

    classes: npt.NDArray[Any]
    targets: dict[str, npt.NDArray[np.bool_]]
    exclusive: bool


def read_labels(y: Any, inputs: Inputs) -> Labels:
    """Encode label lists, an indicator matrix or a 1-D array of classes, divided like the documents."""
    if y is None:
        # scikit-learn's words, which its estimator checks look for.
        raise ValueError("requires y to be passed, but the target y is None")
    divided = inputs.divide(y, "y")
    parts = list(divided.values())
    if all(_is_label_lists(part) for part in parts):
        classes, matrices = _encode_lists(parts)
        exclusive = False
    elif all(_is_indicator(part) for part in parts):
        matrices = [_encode_indicator(part) for part in parts]
        if len({matrix.shape[1] for matrix in matrices}) > 1:
            raise InputError("y: the indicator matrices of the languages have different numbers of columns.")
        classes, exclusive = np.arange(matrices[0].shape[1]), False
    else:
        classes, matrices = _encode_classes(parts)
        exclusive = True
    targets = dict(zip(divided, matrices, strict=True))
    together = np.vstack(matrices)
    if not together.any() or together.all():
        raise InputError(
            "Nothing to learn: y has only one class. Every document has the same labels; "
            "training needs documents with a label and documents without it."
        )
    return Labels(classes, targets, exclusive)


def _is_indicator(part: Any) -> bool:
    """Whether labels are a matrix; one column of anything but 0 and 1 is a 1-D array set upright."""
    if is_sparse(part):
        return True
    matrix = np.asarray(part)
    return matrix.ndim == 2 and (matrix.shape[1] != 1 or bool(np.isin(matrix, (0, 1)).all()))


def _is_label_lists(part: Any) -> bool:
    if is_sparse(part) or (isinstance(part, np.ndarray) and part.dtype != object):
        return False
    unlabelled = next((i for i, labels in enumerate(part) if labels is None), None)
    if unlabelled is not None:
        raise InputError(
            f"y: document {unlabelled} has no labels (None). Train on the labelled ones: corpus.labelled()."
        )
    return all(
        isinstance(labels, list | tuple | set | frozenset) and _all_strings(labels) for labels in part
    ) and not isinstance(part, np.ndarray)


def _encode_lists(parts: list[Any]) -> tuple[npt.NDArray[Any], list[npt.NDArray[np.bool_]]]:
    classes = sorted({label for part in parts for labels in part for label in labels})
    if not classes:
        raise InputError("Nothing to learn: no document has a label, y has only one class.")
    column = {label: j for j, label in enumerate(classes)}
    matrices = []
    for part in parts:
        matrix = np.zeros((len(part), len(classes)), dtype=bool)
        for i, labels in enumerate(part):
            for label in labels:
                matrix[i, column[label]] = True
        matrices.append(matrix)
    return np.array(classes, dtype=object), matrices


def _encode_indicator(part: Any) -> npt.NDArray[np.bool_]:
    dense = part.toarray() if is_sparse(part) else np.asarray(part)
    if not np.isin(dense, (0, 1)).all():
        raise InputError(
            "y: an indicator matrix holds only 0 and 1. Give label lists or a 1-D array instead."
        )
    return dense.astype(bool)


def _encode_classes(parts: list[Any]) -> tuple[npt.NDArray[Any], list[npt.NDArray[np.bool_]]]:
    columns = [column_or_1d(part, warn=True) for part in parts]
    together = np.concatenate(columns)
    check_classification_targets(together)
    if type_of_target(together) not in ("binary", "multiclass"):
        raise InputError("y must be label lists, an indicator matrix or a 1-D array of classes.")
    classes = np.unique(together)
    shown = classes[1:] if len(classes) == 2 else classes
    return classes, [column[:, None] == shown for column in columns]
