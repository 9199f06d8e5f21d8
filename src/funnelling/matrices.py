"""Matrices whose rows are documents: their types, and what is done to them everywhere.

Bits: a product of matrices may round differently with its shape and with the number of BLAS threads,
so every product here has a shape that depends on its weights alone and runs on one thread.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import ThreadpoolController

from funnelling.errors import InputError

Undo = Callable[[], object]


class RefcountedContext:
    """A context that many may be in at once: the first to enter sets something, the last to leave undoes it.

    ``begin`` sets it and returns what undoes that. Were each to undo its own, one that leaves would undo it
    for those that are still in it.
    """

    def __init__(self, begin: Callable[[], Undo]) -> None:
        self._begin = begin
        self._lock = Lock()
        self._inside = 0
        self._undo: Undo | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._undo is None:
                self._undo = self._begin()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    undo, self._undo = self._undo, None
                    undo()


class Matrix(Protocol):
    """A scipy sparse matrix or a dense array, one row per document."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def T(self) -> Any: ...  # noqa: N802
    def __getitem__(self, key: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def astype(self, dtype: Any, /) -> Any: ...


Floats = npt.NDArray[np.float32]
Scores = npt.NDArray[np.floating[Any]]  # (documents, labels)
Targets = npt.NDArray[np.bool_]  # (documents, labels): which document has which label
AnyTargets = Any  # Targets, or of many labels the same as a `csr_array`
Places = npt.NDArray[np.integer[Any]]  # of rows or of columns
Folds = npt.NDArray[np.intp]  # (documents,): the fold of each
Rows = npt.NDArray[np.bool_]  # (documents,): some of them


class Scored(NamedTuple):
    """The scores of some documents, and which are ``in_vocabulary``: have a known feature."""

    scores: Scores
    in_vocabulary: Rows


FLOATS = (np.float64, np.float32)  # the types of vectors that are taken as they are
MAX_ABS_VALUE = 1e12  # of vectors: beyond it no margin of 1 can be told, and a fit would search without end
EINSUM_BUFFER_VALUES = 8192  # of einsum: rows that are longer are cut where their neighbours end
ROWS_PER_BLOCK = 32  # documents of a dense product, always filled up to this number
MAX_INT32_ENTRIES = 2**31  # entries of a sparse matrix that 32 bits can count
XMC_MIN_LABELS = 1_000  # labels; of more, those of documents are kept sparse


@cache
def _controller(with_scipys: bool) -> ThreadpoolController:  # noqa: ARG001
    """What limits the libraries that are loaded by now: SciPy's own comes later than NumPy's."""
    return ThreadpoolController()


def _limit_blas() -> Undo:
    with_scipys = not sys.modules.keys().isdisjoint(("scipy.special", "scipy.linalg"))
    limit = _controller(with_scipys).limit(limits=1, user_api="blas")
    return limit.restore_original_limits  # type: ignore[no-any-return]


# It keeps to one thread while anybody's body runs.
one_blas_thread = RefcountedContext(_limit_blas)


def is_sparse(X: object) -> bool:
    """Whether X is a scipy sparse matrix or array."""
    return bool(sparse.issparse(X))


def check_places(X: Any, name: str = "X") -> None:
    """Refuse a sparse matrix with entries outside it, which compiled code would read and write there."""
    try:
        if X.format == "coo":
            sparse.coo_array((X.data, (X.row, X.col)), X.shape)
        else:
            (X if hasattr(X, "check_format") else X.tocsr()).check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"{name} is a damaged sparse matrix ({error}). Build it again.") from None


def check_vectors(X: Any) -> Any:
    """A dense or CSR matrix of floats up to `MAX_ABS_VALUE`; small integers would overflow in dot products.

    It may lack columns: texts that hold no word have no vocabulary.
    """
    if is_sparse(X):
        check_places(X)
    is_ours = is_sparse(X) and X.format == "csr" and X.ndim == 2 and X.dtype in FLOATS
    if not is_ours or not X.shape[0] or not np.isfinite(X.data).all():
        # It takes a second to load, which our own vectors need not wait.
        from sklearn.utils.validation import check_array

        X = check_array(X, accept_sparse="csr", dtype=FLOATS, ensure_min_features=0)
    values = X.data if is_sparse(X) else X
    if values.size and max(values.max(), -values.min()) > MAX_ABS_VALUE:
        raise InputError(f"X holds values beyond {MAX_ABS_VALUE:.0e}. Scale the features to about 1.")
    return X


def count_true(targets: Any) -> int:
    """How many labels documents have together, whether their matrix is sparse or dense."""
    return int(targets.count_nonzero() if is_sparse(targets) else np.count_nonzero(targets))


def n_cells(matrix: Any) -> int:
    """How many places a matrix has."""
    return int(matrix.shape[0]) * int(matrix.shape[1])


def length(values: Any) -> int:
    """How many documents something runs along: a list, an array or a matrix."""
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)


def take_rows(values: Any, places: npt.NDArray[np.intp]) -> Any:
    """What stands at some places of what runs along the documents."""
    if is_sparse(values):
        return values.tocsr()[places]
    if isinstance(values, np.ndarray):
        return values[places]
    if hasattr(values, "iloc"):
        return values.iloc[places]
    return [values[i] for i in places]


def canonical(X: Any) -> sparse.csr_array:
    """The same matrix, sparse, its rows sorted and without entries that are zero or there twice."""
    ours = sparse.csr_array(X, copy=True)
    ours.sum_duplicates()
    ours.eliminate_zeros()
    return ours


def dense(X: Any) -> npt.NDArray[Any]:
    """The same matrix, dense."""
    return X.toarray() if is_sparse(X) else np.asarray(X)


def one_each(columns: npt.NDArray[np.intp], width: int) -> sparse.csr_array:
    """A matrix with one yes per row, in these columns.

    >>> one_each(np.array([1, 0]), 3).toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
    ends = np.arange(len(columns) + 1)
    return sparse.csr_array((np.ones(len(columns), dtype=bool), columns, ends), (len(columns), width))


def match_format(targets: AnyTargets, X: Any) -> Any:
    """The same matrix, canonical and sparse if the targets are sparse, and dense if they are not."""
    return canonical(X) if is_sparse(targets) else dense(X)


def downcast_indices(X: Any) -> Any:
    """A matrix as it is kept, whatever it came in: the places of a sparse one in 32 bits, if these suffice.

    That takes a third less room, and compiled code takes it as it is.
    """
    if not is_sparse(X):
        return X
    kind = np.int32 if max(X.nnz, *X.shape) < MAX_INT32_ENTRIES else np.int64
    places = X.indices.astype(kind, copy=False), X.indptr.astype(kind, copy=False)
    return sparse.csr_array((X.data, *places), X.shape)


def values_at(X: Any, rows: Places, columns: Places) -> npt.NDArray[Any]:
    """What stands in some cells of a dense matrix, or of a canonical sparse one.

    >>> values_at(sparse.csr_array([[0, 5], [7, 0]]), np.array([1, 1]), np.array([0, 1]))
    array([7, 0])
    """
    if not is_sparse(X):
        return X[rows, columns]  # type: ignore[no-any-return]
    asked = np.unique(rows)
    if len(asked) < X.shape[0]:  # the others need not be numbered
        X, rows = X[asked], np.searchsorted(asked, rows)
    own_rows = np.repeat(np.arange(X.shape[0], dtype=np.int64), np.diff(X.indptr))
    places = own_rows * X.shape[1] + X.indices  # of what the matrix holds, numbered row by row
    wanted = rows.astype(np.int64) * X.shape[1] + columns
    found = np.searchsorted(places, wanted)
    is_there = np.append(places, -1)[found] == wanted
    values = np.zeros(len(wanted), dtype=X.dtype)
    values[is_there] = X.data[found[is_there]]
    return values


def set_difference(targets: Any, others: Any) -> Any:
    """The cells of one indicator matrix that another does not have, both dense or both canonical and sparse.

    >>> set_difference(np.array([[True, True]]), np.array([[False, True]]))
    array([[ True, False]])
    """
    if not is_sparse(targets):
        return targets & ~others
    rows, columns = targets.nonzero()
    left = ~values_at(others, rows, columns)
    return sparse.csr_array((np.ones(int(left.sum()), bool), (rows[left], columns[left])), targets.shape)


def dense_row(X: Any, row: int) -> npt.NDArray[Any]:
    """One row of a dense matrix or of a sparse one."""
    values: npt.NDArray[Any] = X[[row]].toarray()[0] if is_sparse(X) else X[row]
    return values


def filled_columns(X: Any, row: int) -> npt.NDArray[np.intp]:
    """The columns of one row that hold something, of a dense matrix or of a canonical sparse one.

    >>> filled_columns(np.array([[0, 1, 1]]), 0), filled_columns(sparse.csr_array([[0, 1, 1]]), 0)
    (array([1, 2]), array([1, 2]))
    """
    if not is_sparse(X):
        return np.flatnonzero(X[row])
    columns: npt.NDArray[np.intp] = X.indices[X.indptr[row] : X.indptr[row + 1]].astype(np.intp)
    return columns


def stacked(matrices: Mapping[str, Any]) -> Any:
    """The matrices of several languages below each other, sparse where any is."""
    blocks = list(matrices.values())
    return sparse.vstack(blocks, format="csr") if any(map(is_sparse, blocks)) else np.vstack(blocks)


def by_language(rows: Any, sizes: Mapping[str, int]) -> dict[str, Any]:
    """What runs along the documents of all languages, cut into languages of these ``sizes``.

    >>> by_language(np.array([1, 2, 3]), {"en": 2, "it": 1})
    {'en': array([1, 2]), 'it': array([3])}
    """
    ends = np.cumsum(list(sizes.values()))
    return {tag: rows[end - size : end] for (tag, size), end in zip(sizes.items(), ends, strict=True)}


def positions_of(languages: Iterable[str]) -> dict[str, npt.NDArray[np.intp]]:
    """The rows of each language among the languages of documents, languages in alphabetical order."""
    positions: dict[str, list[int]] = {}
    for position, language in enumerate(languages):
        positions.setdefault(str(language), []).append(position)
    return {language: np.array(positions[language], dtype=np.intp) for language in sorted(positions)}


def sizes_of(by_language: Mapping[str, Any]) -> dict[str, int]:
    """How many documents each language has."""
    return {language: length(values) for language, values in by_language.items()}


def widths_of(by_language: Mapping[str, Matrix | None]) -> dict[str, int]:
    """How many columns each language's matrix has, where there is one."""
    return {language: int(X.shape[1]) for language, X in by_language.items() if X is not None}


def in_vocabulary_rows(documents: Any, X: Any) -> Rows:
    """Which documents their vectors X tell anything of: texts whose row is not all zeros.

    Vectors that the user gave stand for themselves: a row of zeros may mean anything there.

    >>> in_vocabulary_rows(["a cat", "?"], np.array([[0.6, 0.8], [0, 0]])).tolist()
    [True, False]
    """
    if not isinstance(documents, list):
        return np.ones(length(documents), dtype=bool)
    if is_sparse(X):
        X = X.tocsr()
        before = np.concatenate([[0], np.cumsum(X.data != 0)])  # each entry, that are not 0
        filled = np.diff(before[X.indptr])
    else:
        filled = np.count_nonzero(X, axis=1)
    evident: Rows = filled > 0
    return evident


def unit_rows(X: Floats) -> Floats:
    """Rows of length 1; a row of zeros stays one. A row's bits do not depend on its neighbours."""
    X = np.ascontiguousarray(X)  # for sums in the order of columns, whatever order X is kept in
    lengths = np.sqrt((X * X).sum(axis=1, keepdims=True))
    rows: Floats = (X / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return rows


def product(X: Any, weights: Any) -> Floats:
    """X times a matrix of weights; a row's bits do not depend on its neighbours."""
    if is_sparse(X) or is_sparse(weights):
        return X.astype(np.float32, copy=False) @ weights  # type: ignore[no-any-return]
    products = np.empty((X.shape[0], weights.shape[1]), dtype=np.float32)
    padded = np.zeros((ROWS_PER_BLOCK, X.shape[1]), dtype=np.float32)
    with one_blas_thread():
        for start in range(0, len(X), ROWS_PER_BLOCK):
            rows = X[start : start + ROWS_PER_BLOCK]
            padded[: len(rows)] = rows
            products[start : start + ROWS_PER_BLOCK] = (padded @ weights)[: len(rows)]
    return products


def squared_norms(X: Floats) -> Floats:
    """The squared length of each row."""
    if X.shape[1] > EINSUM_BUFFER_VALUES:
        return (np.ascontiguousarray(X) ** 2).sum(axis=1)  # type: ignore[no-any-return]
    norms: Floats = np.einsum("ij,ij->i", X, X)
    return norms
