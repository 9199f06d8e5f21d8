"""CLESA and KCCA: documents as a reference corpus sees them, whose documents exist in every language."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.matrices import Floats, Matrix, Targets, one_blas_thread, product
from funnelling.spaces.base import Documents, MonolingualBowSpace, check_texts, width_of
from funnelling.state import Keys, Seed, empty_row, expect, matrix, numbers
from funnelling.text.characters import Template
from funnelling.text.languages import is_served
from funnelling.text.tfidf import fit_own


@dataclass(eq=False, repr=False)
class ReferenceSpace(MonolingualBowSpace):
    """A space spanned by the documents of a reference corpus.

    Vocabulary and idf of a language are those of its training documents; a language of the reference
    without any takes those of its reference documents.
    """

    name: ClassVar[str]
    reference: Reference | None = None
    reference_documents: int = 5_000
    _: KW_ONLY
    vectorizer: Template = None
    random_state: Seed = 0
    verbose: int = 0
    pages_: Annotated[dict[str, Annotated[Matrix, matrix(None, "pages")]], Keys("languages")] = field(
        init=False
    )

    def usable(self, languages: Sequence[str]) -> list[str]:
        known = self._reference()
        return [language for language in languages if known.language_for(language) is not None]

    def serves(self, language: str) -> bool:
        known = getattr(self, "vectorizers_", None) or self._reference().languages
        return is_served(language, known)

    def _reference(self) -> Reference:
        if self.reference is None:
            raise InputError(f"{self.name} needs a reference corpus: give reference, or --reference FILE.")
        return self.reference

    def _fit_reference(self, documents: Mapping[str, Documents]) -> tuple[dict[str, Matrix], dict[str, Any]]:
        """Vectors of the training documents, and of the reference documents in every language."""
        check_texts(documents, self.name, "the reference corpus")
        reference = self._reference().sample(self.reference_documents, self.random_state)
        vectors = self._fit_words(documents)
        codes = {language: reference.language_for(language) for language in documents}
        pages = {
            language: self.vectorizers_[language].transform(reference.texts[str(code)])
            for language, code in codes.items()
        }
        unseen = {code: texts for code, texts in reference.texts.items() if code not in documents}
        further, their_pages = fit_own(unseen, self.vectorizer, bool(self.verbose))
        self.vectorizers_ |= further
        pages = {code: _unit_rows(page) for code, page in (pages | their_pages).items()}
        self.pages_ = {code: page.T.tocsr() for code, page in pages.items()}
        return vectors, pages

    def _check_pages(self, languages: Sequence[str], features: int | None) -> int:
        """Refuse pages that are not those of the languages' words; how many there are."""
        expect(features is None, "a space of reference documents")
        return width_of(self.pages_, self._check_words(languages, features))

    def _projected(self, language: str, words: Any) -> Floats:
        """Cosines of documents with reference documents."""
        cosines: Floats = (_unit_rows(words) @ self.pages_[language]).toarray()
        return cosines


def _unit_rows(X: Any) -> Any:
    """Rows of length 1; there may be no words, and so no columns, at all."""
    from sklearn.preprocessing import normalize

    X = sparse.csr_array(X)
    return normalize(X) if X.shape[1] else X


class CLESASpace(ReferenceSpace):
    """One dimension a reference document: its cosine with the document, within the document's language."""

    name = "clesa"

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        vectors, _ = self._fit_reference(documents)
        return {language: self._projected(language, X) for language, X in vectors.items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        return empty_row(self._check_pages(languages, features), dense=True)


Square = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False)
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

    reference_documents: int = 2_000
    _: KW_ONLY
    components: int = 1_000
    regularisation: float = 1.0
    projections_: Annotated[
        dict[str, Annotated[Floats, numbers("pages", "components")]], Keys("languages")
    ] = field(init=False)
    offsets_: Annotated[dict[str, Annotated[Floats, numbers("components")]], Keys("languages")] = field(
        init=False
    )

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        vectors, pages = self._fit_reference(documents)
        projections = kcca(pages, self.components, self.regularisation)
        self.projections_ = {
            language: projection.astype(np.float32) for language, projection in projections.items()
        }
        self.offsets_ = {
            language: (_row_means(page) @ projections[language]).astype(np.float32)
            for language, page in pages.items()
        }
        return {language: self._projected(language, X) for language, X in vectors.items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        self._check_pages(languages, features)
        return empty_row(len(next(iter(self.offsets_.values()))), dense=True)

    def _projected(self, language: str, words: Any) -> Floats:
        cosines = super()._projected(language, words)
        return product(cosines, self.projections_[language]) - self.offsets_[language]


def kcca(pages: Mapping[str, Matrix], components: int, regularisation: float) -> dict[str, Square]:
    """What projects each language's kernel values with its reference documents on the components.

    ``pages`` are the reference documents of each language, row k the same content in all.
    """
    from scipy import linalg

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
    from scipy import linalg

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
    from scipy import linalg

    square = kernel @ kernel
    square[np.diag_indices_from(square)] += regularisation
    inverse: Square = linalg.lapack.dpotri(linalg.cholesky(square, overwrite_a=True), overwrite_c=True)[0]
    return np.triu(inverse) + np.triu(inverse, 1).T


def _row_means(page: Any) -> npt.NDArray[np.float64]:
    """The mean kernel value of each reference document with all of them."""
    means: npt.NDArray[np.float64] = page @ np.asarray(page.mean(axis=0), dtype=np.float64).ravel()
    return means
