"""CLESA: a document is how similar it is to each reference document of its language (Sorg, Cimiano 2012)."""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.corpus.reference import Reference
from funnelling.matrices import Matrix, Targets
from funnelling.spaces.base import Documents
from funnelling.spaces.reference_based import ReferenceSpace
from funnelling.state import empty_row


class CLESASpace(ReferenceSpace):
    """One dimension a reference document: its cosine with the document, within the document's language."""

    name = "clesa"

    def __init__(
        self,
        reference: Reference | None = None,
        reference_documents: int = 5_000,
        vectorizer: Any = None,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        self.reference = reference
        self.reference_documents = reference_documents
        self.vectorizer = vectorizer
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:  # noqa: ARG002
        vectors, pages = self._fit_reference(documents)
        self.pages_ = {language: page.T.tocsr() for language, page in pages.items()}
        return {language: self._cosines(X, self.pages_[language]) for language, X in vectors.items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        cosines: Matrix = empty_row(self._check_pages(languages, features), dense=True)
        return cosines

    def vectors(self, language: str, documents: Documents) -> Matrix:
        language = self._language(language)
        return self._cosines(self._words(language, documents), self.pages_[language])
