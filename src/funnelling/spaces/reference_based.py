"""What CLESA and KCCA share: the reference corpus as each language's words see it."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from scipy import sparse

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.matrices import Floats, Matrix
from funnelling.spaces.base import Documents, OwnWordsSpace, check_texts
from funnelling.state import expect, expect_by, expect_matrix
from funnelling.text.languages import is_served, served_by
from funnelling.text.tfidf import fit_own


class ReferenceSpace(OwnWordsSpace):
    """A space spanned by the documents of a reference corpus.

    Vocabulary and idf of a language are those of its training documents; a language of the reference
    without any takes those of its reference documents.
    """

    name: ClassVar[str]
    reference: Reference | None
    reference_documents: int
    random_state: int
    pages_: dict[str, Matrix]

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

    def _fit_reference(
        self, documents: Mapping[str, Documents]
    ) -> tuple[dict[str, Matrix], dict[str, Matrix]]:
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
        return vectors, {code: _unit_rows(page) for code, page in (pages | their_pages).items()}

    def _check_pages(self, languages: Sequence[str], features: int | None) -> int:
        """Refuse pages that are not those of the languages' words; how many there are."""
        expect(features is None, "a space of reference documents")
        words = self._check_words(languages, features)
        pages = expect_by(self.pages_, words, "the reference documents of languages")
        expect(words, "the languages of a space")
        number = int(next(iter(pages.values())).shape[1])
        for language, columns in words.items():
            expect_matrix(pages[language], (columns, number), "the reference documents of a language")
        return number

    def _language(self, language: str) -> str:
        return served_by(language, self.vectorizers_)

    def _cosines(self, X: Matrix, pages: Matrix) -> Floats:
        """Cosines of documents (rows) with reference documents (columns of ``pages``)."""
        cosines: Floats = (_unit_rows(X) @ pages).toarray()
        return cosines


def _unit_rows(X: Any) -> Any:
    """Rows of length 1; there may be no words, and so no columns, at all."""
    from sklearn.preprocessing import normalize

    X = sparse.csr_array(X)
    return normalize(X) if X.shape[1] else X
