"""Binary problems of many shapes, and what scikit-learn and the theory say about them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.svm import SVC

from funnelling.svm.kernels import Kernel, Vectors
from tests.svm.solutions import Solution, solve

Array = npt.NDArray[np.float64]


@dataclass
class BinaryProblem:
    """Documents by their kernel, which of them have the label, which of them are trained on."""

    name: str
    kernel: Kernel
    has_label: npt.NDArray[np.bool_]
    active: npt.NDArray[np.bool_]

    @property
    def signs(self) -> Array:
        return np.where(self.has_label, 1.0, -1.0)

    @cached_property
    def gram(self) -> Array:
        """The kernel values that the solver sees, in double."""
        if isinstance(self.kernel, Vectors):
            X = self.kernel.matrix().astype(np.float64)
            X = X.toarray() if sparse.issparse(X) else X
            return X @ X.T
        return self.kernel.astype(np.float64)

    def solve(self, C: float, start: Array | None = None) -> Solution:
        return solve(self.kernel, self.has_label[:, None], self.active[None], C, start=start)

    def reference_scores(self, C: float) -> Array:
        """What SVC, trained on the active documents alone, says of all."""
        svc = SVC(kernel="precomputed", C=C, tol=1e-5)
        svc.fit(self.gram[np.ix_(self.active, self.active)], self.has_label[self.active])
        scores: Array = svc.decision_function(self.gram[:, self.active])
        return scores

    def relative_gap(self, C: float, solution: Solution) -> float:
        """(primal - dual) / primal, by their definitions."""
        beta, bias = solution.coefficients[0, 0], solution.bias[0, 0]
        outputs = self.gram @ beta
        hinge = np.maximum(0, 1 - self.signs * (outputs + bias))[self.active]
        norm = float(beta @ outputs)
        primal = norm / 2 + C * float(hinge.sum())
        dual = float(self.signs @ beta) - norm / 2
        return (primal - dual) / primal


def make(
    name: str,
    vectors: Array,
    has_label: npt.NDArray[np.bool_],
    active: npt.NDArray[np.bool_] | None = None,
    form: str = "gram",
) -> BinaryProblem:
    """A linear problem over the Gram of the vectors, or over the vectors as they are."""
    everyone = np.ones(len(vectors), dtype=bool)
    kernel: Kernel
    if form == "gram":
        kernel = (vectors @ vectors.T).astype(np.float32)
    else:
        kernel = Vectors.of(sparse.csr_array(vectors) if form == "sparse" else vectors)
    return BinaryProblem(f"{name} {form}", kernel, has_label, everyone if active is None else active)


def tfidf_like(documents: int, rng: np.random.Generator) -> Array:
    """Sparse non-negative vectors of unit length; a few are all zero."""
    vectors = np.where(rng.random((documents, 400)) < 0.03, rng.exponential(size=(documents, 400)), 0)
    vectors[: documents // 50] = 0
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def rbf(vectors: Array, gamma: float) -> npt.NDArray[np.float32]:
    distances = ((vectors[:, None] - vectors) ** 2).sum(axis=2)
    return np.exp(-gamma * distances).astype(np.float32)


def held_out(documents: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Four documents in five are trained on, and two of each class always."""
    active = rng.random(documents) < 0.8
    active[:4] = True
    return active


def labels(documents: int, share: float, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    has_label = rng.random(documents) < share
    has_label[:4] = [True, False, True, False]
    return has_label


def regular_problems(form: str) -> Iterator[BinaryProblem]:
    rng = np.random.default_rng(0)
    for documents, share in ((12, 0.5), (97, 0.3), (256, 0.05), (300, 0.4)):
        vectors = tfidf_like(documents, rng)
        has_label = labels(documents, share, rng)
        yield make(f"tfidf-{documents}", vectors, has_label, held_out(documents, rng), form)
    for documents in (40, 150):
        # The labels of a noisy direction: neither all right nor all wrong.
        vectors = rng.normal(size=(documents, 60)) / 8
        has_label = vectors[:, 0] + 0.1 * rng.normal(size=documents) > 0
        has_label[:4] = [True, False, True, False]
        yield make(f"gaussian-{documents}", vectors, has_label, held_out(documents, rng), form)


def rbf_problems() -> Iterator[BinaryProblem]:
    rng = np.random.default_rng(2)
    for documents, share in ((120, 0.3), (280, 0.1)):
        gram = rbf(rng.random((documents, 12)), 1 / 12)
        yield BinaryProblem(f"rbf-{documents}", gram, labels(documents, share, rng), held_out(documents, rng))


def degenerate_problems(form: str) -> Iterator[BinaryProblem]:
    rng = np.random.default_rng(1)
    alternating = np.arange(60) % 2 == 0
    first = np.arange(60) == 0
    copies = tfidf_like(15, rng)[rng.integers(0, 15, 60)]
    yield make("duplicates with different labels", copies, alternating, form=form)
    yield make("all rows zero", np.zeros((60, 3)), alternating, form=form)
    yield make("one positive", tfidf_like(60, rng), first, form=form)
    yield make("one negative", tfidf_like(60, rng), ~first, form=form)
    yield make("one document a class", tfidf_like(2, rng), np.array([True, False]), form=form)
    yield make("the same document in both classes", np.ones((2, 3)), np.array([True, False]), form=form)
    yield make("one dimension", rng.normal(size=(60, 1)), alternating, form=form)
    yield make("zeros against a word", np.repeat([[0.0], [1.0]], 30, axis=0), np.arange(60) >= 30, form=form)
    only_two = np.zeros(60, dtype=bool)
    only_two[:2] = True
    yield make("all but two held out", tfidf_like(60, rng), alternating, only_two, form=form)
