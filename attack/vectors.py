"""Matrices that no honest program makes, to fit on and to label."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from attack.campaign import Outcome, Round, judged
from funnelling.research import NaiveClassifier, PaperFunnelClassifier
from tests.artificial import VectorCorpus, vector_corpus

CHECKS = ("validate_data", "check_array")  # scikit-learn's, which refuse by errors of their own


class Vectors:
    """Hands matrices that were spoiled to models, or to fits."""

    def __init__(self, home: Path) -> None:
        self._corpus = vector_corpus(documents=24)
        self._models = [_fit(kind(), self._corpus) for kind in (_funnel, _naive)]

    def attempt(self, turn: Round) -> Outcome:
        draw = turn.draw("vectors")
        name = list(SPOILED)[turn.number % len(SPOILED)]
        fits = draw.random() < 0.4
        what = f"{'fit on' if fits else 'label'} {name}"
        turn.announce(what)
        X = SPOILED[name](self._corpus.stacked, draw)
        languages: Any = self._corpus.languages
        if sparse.issparse(X) and not fits and draw.random() < 0.5:
            X, languages = dict.fromkeys(sorted(set(languages)), X), None

        def ask() -> None:
            if fits:
                model = draw.choice((_funnel, _naive))()
                model.fit(X, self._corpus.indicator, languages=languages)
                return
            for question in ("predict", "decision_function"):
                answer = getattr(draw.choice(self._models), question)(X, languages=languages)
                answers = answer.values() if isinstance(answer, dict) else [answer]
                if not all(np.isfinite(each).all() for each in answers):
                    raise ArithmeticError("an answer that is no number")

        outcome = judged(what, ask, CHECKS)
        if outcome.kind == "answered" and name in NONSENSE:
            return Outcome("let in", what, "answered")
        return outcome

    def close(self) -> None:
        pass


def _funnel() -> Any:
    return PaperFunnelClassifier(random_state=0, meta_C=1, n_jobs=1)


def _naive() -> Any:
    return NaiveClassifier(C=1, random_state=0, n_jobs=1)


def _fit(model: Any, corpus: VectorCorpus) -> Any:
    return model.fit(corpus.stacked, corpus.indicator, languages=corpus.languages)


# --- what is spoiled ----------------------------------------------------------------------------


def _indices(value: int) -> Callable[[Any, random.Random], Any]:
    """A sparse matrix one of whose column numbers is out of range, as SciPy lets anybody make it."""

    def spoil(X: Any, draw: random.Random) -> Any:
        matrix = sparse.csr_array(X)
        matrix.indices[draw.randrange(len(matrix.indices))] = value
        return matrix

    return spoil


def _rows_of_lists(X: Any, draw: random.Random) -> Any:
    """A sparse matrix as lists of rows, which SciPy takes as it comes."""
    matrix = sparse.lil_array(X)
    rows = [row for row in matrix.rows if row]
    draw.choice(rows)[-1] = 10**6
    return matrix


def _coordinates(X: Any, draw: random.Random) -> Any:
    matrix = sparse.coo_array(X)
    matrix.coords[1][draw.randrange(matrix.nnz)] = 10**6
    return matrix


def _pointers(X: Any, draw: random.Random) -> Any:
    matrix = sparse.csr_array(X)
    matrix.indptr[draw.randrange(1, len(matrix.indptr) - 1)] = draw.choice((-5, 2**30))
    return matrix


def _entry(value: float) -> Callable[[Any, random.Random], Any]:
    def spoil(X: Any, draw: random.Random) -> Any:
        spoiled = X.copy()
        spoiled[draw.randrange(len(X)), draw.randrange(X.shape[1])] = value
        return draw.choice((spoiled, sparse.csr_array(spoiled)))

    return spoil


SPOILED: dict[str, Callable[[Any, random.Random], Any]] = {
    "an index out of range": _indices(2**30),
    "an index just out of range": _indices(12),
    "a negative index": _indices(-1),
    "pointers out of order": _pointers,
    "rows out of range": _rows_of_lists,
    "coordinates out of range": _coordinates,
    "NaN": _entry(np.nan),
    "infinity": _entry(np.inf),
    "1e300": _entry(1e300),
    "1e38": _entry(1e38),
    "all scaled by 1e15": lambda X, _: X * 1e15,
    "all scaled by 1e150": lambda X, _: X * 1e150,
    "all scaled by 1e-300": lambda X, _: X * 1e-300,
    "zeros": lambda X, _: X * 0,
    "no rows": lambda X, _: X[:0],
    "no columns": lambda X, _: X[:, :0],
    "a column too few": lambda X, _: X[:, :-1],
    "a row too many": lambda X, _: np.vstack([X, X[:1]]),
    "three dimensions": lambda X, _: X[:, :, None],
    "one dimension": lambda X, _: X[:, 0],
    "complex numbers": lambda X, _: X * 1j,
    "objects": lambda X, _: X.astype(object),
    "nonsense objects": lambda X, _: np.full(X.shape, object()),
    "strings in a matrix": lambda X, _: np.full(X.shape, "a"),
    "half precision": lambda X, _: X.astype(np.float16),
    "bytes out of order": lambda X, _: X.astype(">f8"),
    "equal entries twice": lambda X, _: sparse.csr_array((np.ones(4), ([0] * 4, [1] * 4)), X.shape),
}
# These have no meaning, so that no answer is right; of numbers that are merely large some is.
NONSENSE = (
    "an index out of range",
    "an index just out of range",
    "a negative index",
    "pointers out of order",
    "rows out of range",
    "coordinates out of range",
    "NaN",
    "infinity",
    "1e300",
    "three dimensions",
    "complex numbers",
    "nonsense objects",
)
