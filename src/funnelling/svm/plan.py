"""Over what a problem is solved, which its size and the memory limit decide before any work is done."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from funnelling.errors import InputError
from funnelling.matrices import Matrix, is_sparse

LANDMARKS = 500  # of the Nyström map, where memory allows
FEWEST = 32  # landmarks worth a map
GRAM_PAYS = 16  # how many numbers of a Gram are read as fast as one of a sparse vector


@dataclass(frozen=True)
class Plan:
    """Solve over the Gram, over the vectors (the same optimum) or over a Nyström map (an approximation).

    ``reason`` is set where the memory limit rules out the Gram, and says so.
    """

    form: Literal["gram", "vectors", "nystrom"]
    landmarks: int = 0
    reason: str = ""


def plan_linear(X: Matrix, memory_limit: float) -> Plan:
    """The vectors where they take less to read than their Gram; else as memory allows.

    A row of the Gram is read in one sweep, a sparse vector here and there, and the solver that reads the Gram
    takes fewer steps: measured on words and on characters, the two even out where a row has sixteen times
    the numbers of a sparse vector.
    """
    documents, width = X.shape
    matrix: Any = X
    size = (2 * matrix.nnz if is_sparse(X) else documents * width) * GRAM_PAYS
    if size <= documents**2:
        return Plan("vectors")
    if gram_bytes(documents) <= memory_limit:
        return Plan("gram")
    return Plan(
        "vectors", reason=f"{_too_large(documents, memory_limit)}; its vectors give the same optimum."
    )


def plan_rbf(documents: int, memory_limit: float, what: str) -> Plan:
    """The Gram, or a Nyström map where the Gram would pass the limit; refused where not even a map fits."""
    if gram_bytes(documents) <= memory_limit:
        return Plan("gram")
    landmarks = min(LANDMARKS, int(memory_limit / (4 * documents)))
    if landmarks < FEWEST:
        raise InputError(
            f"{what}: {documents:,} documents need {amount(4 * documents * FEWEST)}, over the memory_limit "
            f"of {amount(memory_limit)}. Raise memory_limit or train on fewer documents."
        )
    return Plan(
        "nystrom",
        landmarks,
        f"{_too_large(documents, memory_limit)}; {landmarks:,} landmarks approximate it.",
    )


def labels_at_once(documents: int, folds: int, memory_limit: float) -> int:
    """The most labels whose solution keeps within the limit; at least 1, which is always tried."""
    return max(1, int(memory_limit / _solution_bytes(documents, 1, folds)))


def check_solution_size(documents: int, labels: int, folds: int, memory_limit: float, what: str) -> None:
    """Refuse a problem whose solution alone would pass the limit."""
    needed = _solution_bytes(documents, labels, folds)
    if needed > memory_limit:
        raise InputError(
            f"{what}: the solution for {documents:,} documents and {labels:,} labels needs {amount(needed)}, "
            f"over the memory_limit of {amount(memory_limit)}. Raise memory_limit or train on fewer "
            "documents."
        )


def amount(size: float) -> str:
    """A number of bytes as people read it.

    >>> amount(1.6e11), amount(1234), amount(12)
    ('160.0 GB', '1.2 KB', '12 bytes')
    """
    for unit, bytes_ in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= bytes_:
            return f"{size / bytes_:,.1f} {unit}"
    return f"{size:.0f} bytes"


def _solution_bytes(documents: int, labels: int, folds: int) -> int:
    return 12 * documents * labels * folds


def gram_bytes(documents: int) -> int:
    """The bytes of a kernel matrix."""
    return 4 * documents * documents


def largest_gram(memory_limit: float) -> int:
    """The most documents whose kernel matrix keeps within the limit."""
    return math.isqrt(int(memory_limit / 4))


def _too_large(documents: int, memory_limit: float) -> str:
    return (
        f"the kernel matrix of {documents:,} documents would take {amount(gram_bytes(documents))}, over the "
        f"memory_limit of {amount(memory_limit)}"
    )
