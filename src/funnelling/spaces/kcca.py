"""KCCA: directions in which the versions of the reference documents agree (Vinokourov et al. 2003)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

from funnelling.corpus.reference import Reference
from funnelling.matrices import Floats, Matrix, Targets, one_blas_thread, product
from funnelling.spaces.base import Documents
from funnelling.spaces.reference_based import ReferenceSpace
from funnelling.state import empty_row, expect_by, expect_numbers

Square = npt.NDArray[np.float64]


class KCCASpace(ReferenceSpace):
    """Kernel canonical correlation analysis of any number of languages, in its MAXVAR form.

    With K the centred linear kernel of a language's reference documents, scaled to a largest eigenvalue of 1,
    the components are the first eigenvectors g of the sum over languages of K(K² + rI)⁻¹K; a language's
    documents are projected by (K² + rI)⁻¹Kg. So r is in the units of Pyrcca, which the paper used: it scales
    kernels in the same way and adds r to their squares. Pyrcca solves one problem of the size of all
    languages' documents together, in which a language's correlation with itself does not count. Here it
    does, and only one language's matrices are held at a time: memory is of the order of (reference
    documents)², however many languages there are.
    """

    name = "kcca"

    def __init__(
        self,
        reference: Reference | None = None,
        reference_documents: int = 2_000,
        components: int = 1_000,
        regularisation: float = 1.0,
        vectorizer: Any = None,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        self.reference = reference
        self.reference_documents = reference_documents
        self.components = components
        self.regularisation = regularisation
        self.vectorizer = vectorizer
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:  # noqa: ARG002
        vectors, pages = self._fit_reference(documents)
        projections = kcca(pages, self.components, self.regularisation)
        self.pages_ = {language: page.T.tocsr() for language, page in pages.items()}
        self.projections_ = {
            language: projection.astype(np.float32) for language, projection in projections.items()
        }
        self.offsets_ = {
            language: (_row_means(page) @ projections[language]).astype(np.float32)
            for language, page in pages.items()
        }
        return {language: self._projected(language, X) for language, X in vectors.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        language = self._language(language)
        return self._projected(language, self._words(language, documents))

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        pages = self._check_pages(languages, features)
        projections = expect_by(self.projections_, self.pages_, "the projections of languages")
        offsets = expect_by(self.offsets_, self.pages_, "the offsets of languages")
        components = next(iter(projections.values())).shape[1]
        for language, projection in projections.items():
            expect_numbers(projection, (pages, components), "the projection of a language")
            expect_numbers(offsets[language], (components,), "the offset of a language")
        projected: Matrix = empty_row(components, dense=True)
        return projected

    def _projected(self, language: str, X: Matrix) -> Floats:
        cosines = self._cosines(X, self.pages_[language])
        return product(cosines, self.projections_[language]) - self.offsets_[language]


def kcca(pages: Mapping[str, Matrix], components: int, regularisation: float) -> dict[str, Square]:
    """What projects each language's kernel values with its reference documents on the components.

    ``pages`` are the reference documents of each language, row k the same content in all.
    """
    size = next(iter(pages.values())).shape[0]
    with one_blas_thread():
        # K(K² + rI)⁻¹K is I - r(K² + rI)⁻¹: its first eigenvectors are the last of the sum of inverses.
        total = np.zeros((size, size))
        for page in pages.values():
            total += _inverse(_scaled_kernel(page)[0], regularisation)
        wanted = min(components, size - 1)  # centring takes one dimension
        _, directions = linalg.eigh(total, subset_by_index=(0, wanted - 1), overwrite_a=True)
        return {language: _projection(page, regularisation, directions) for language, page in pages.items()}


def _scaled_kernel(page: Matrix) -> tuple[Square, float]:
    """The centred linear kernel of reference documents over its largest eigenvalue, and that eigenvalue."""
    kernel: Square = (page @ page.T).toarray().astype(np.float64)
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1)[:, None]
    last = len(kernel) - 1
    largest = float(linalg.eigvalsh(kernel, subset_by_index=(last, last))[0])
    largest = max(largest, float(np.finfo(np.float64).tiny))  # there may be no word in the documents
    return kernel / largest, largest


def _projection(page: Matrix, regularisation: float, directions: Square) -> Square:
    """What projects kernel values that are not yet scaled."""
    kernel, largest = _scaled_kernel(page)
    projection: Square = _inverse(kernel, regularisation) @ (kernel @ directions) / largest
    return projection


def _inverse(kernel: Square, regularisation: float) -> Square:
    """(K² + rI)⁻¹."""
    square = kernel @ kernel
    square[np.diag_indices_from(square)] += regularisation
    inverse: Square = linalg.lapack.dpotri(linalg.cholesky(square, overwrite_a=True), overwrite_c=True)[0]
    return np.triu(inverse) + np.triu(inverse, 1).T


def _row_means(page: Any) -> npt.NDArray[np.float64]:
    """The mean kernel value of each reference document with all of them."""
    means: npt.NDArray[np.float64] = page @ np.asarray(page.mean(axis=0), dtype=np.float64).ravel()
    return means
