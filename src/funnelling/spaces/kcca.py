"""KCCA: directions in which the versions of the reference documents agree (Vinokourov et al. 2003)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

from funnelling.corpus.reference import Reference
from funnelling.matrices import Floats, Matrix, Targets, one_blas_thread, product
from funnelling.spaces.base import Documents
from funnelling.spaces.reference_based import ReferenceSpace

Square = npt.NDArray[np.float64]


class KCCASpace(ReferenceSpace):
    """Kernel canonical correlation analysis of any number of languages, in its MAXVAR form.

    With K the centred linear kernel of a language's reference documents, the components are the first
    eigenvectors g of the sum over languages of K(K + rI)⁻¹; a language's documents are projected by
    (K + rI)⁻¹g. Only one language's matrices are held at a time, so that memory is of the order of
    (reference documents)², however many languages there are.
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

    def _projected(self, language: str, X: Matrix) -> Floats:
        cosines = self._cosines(X, self.pages_[language])
        return product(cosines, self.projections_[language]) - self.offsets_[language]


def kcca(pages: Mapping[str, Matrix], components: int, regularisation: float) -> dict[str, Square]:
    """What projects each language's kernel values with its reference documents on the components.

    ``pages`` are the reference documents of each language, row k the same content in all.
    """
    size = next(iter(pages.values())).shape[0]
    with one_blas_thread():
        # K(K + rI)⁻¹ is I - r(K + rI)⁻¹: its first eigenvectors are the last of the sum of inverses.
        total = np.zeros((size, size))
        for page in pages.values():
            total += _inverse(page, regularisation)
        wanted = min(components, size - 1)  # centring takes one dimension
        _, directions = linalg.eigh(total, subset_by_index=(0, wanted - 1), overwrite_a=True)
        return {language: _inverse(page, regularisation) @ directions for language, page in pages.items()}


def _inverse(page: Matrix, regularisation: float) -> Square:
    """(K + rI)⁻¹ of the centred kernel."""
    kernel: Square = (page @ page.T).toarray().astype(np.float64)
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1)[:, None]
    kernel[np.diag_indices_from(kernel)] += regularisation
    inverse: Square = linalg.lapack.dpotri(linalg.cholesky(kernel, overwrite_a=True), overwrite_c=True)[0]
    return np.triu(inverse) + np.triu(inverse, 1).T


def _row_means(page: Any) -> npt.NDArray[np.float64]:
    """The mean kernel value of each reference document with all of them."""
    means: npt.NDArray[np.float64] = page @ np.asarray(page.mean(axis=0), dtype=np.float64).ravel()
    return means
