"""Words and runs of characters, each language's apart from all others'."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Matrix, Targets
from funnelling.spaces.base import Documents
from funnelling.spaces.mixed import MixedSpace
from funnelling.state import empty_row, expect, expect_by, expect_numbers
from funnelling.text.tfidf import Places

LANGUAGE = 0.5  # the weight of a language, a column of its own, beside 1 for all features of a document


class OwnMixedSpace(MixedSpace):
    """The features of ``mixed``, a set for each language: what they mean there, whatever they mean elsewhere.

    Beside ``mixed`` that is Daumé's feature augmentation ("Frustratingly easy domain adaptation", 2007), but
    with classifiers apart, so that tier 2 can say how far each of them is to be trusted. All languages have
    one calibration, which sixty documents of one language could not teach.
    """

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        shared = super().fit(documents, targets)
        self.columns_: dict[str, npt.NDArray[np.intp]] = {
            language: np.unique(_rows(X).indices).astype(np.intp) for language, X in shared.items()
        }
        return {language: self._own(language, X) for language, X in shared.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        return self._own(language, super().vectors(language, documents))

    def all_vectors(self, documents: Mapping[str, Documents]) -> Mapping[str, Matrix]:
        return {tag: self._own(tag, X) for tag, X in super().all_vectors(documents).items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        shared = super().check_space(languages, features).shape[1]
        for columns in expect_by(self.columns_, languages, "the columns of languages").values():
            expect_numbers(columns, (None,), "the columns of a language", "i", 0, shared - 1)
            expect((np.diff(columns) > 0).all(), "the columns of a language")
        own: Matrix = empty_row(int(self._starts()[-1]) + len(self.columns_))
        return own

    def feature_names(self) -> Sequence[str] | None:
        shared = super().feature_names() or []
        own = [f"{shared[column]} ({tag})" for tag, each in self.columns_.items() for column in each.tolist()]
        return [*own, *(f"({language})" for language in self.columns_)]

    def places(self, language: str, text: str) -> Places | None:
        shared = super().places(language, text)
        assert shared is not None
        own = self.columns_[language]  # sorted
        numbers = np.minimum(np.searchsorted(own, shared.columns), max(len(own) - 1, 0))
        known = np.isin(shared.columns, own)
        columns, starts, ends = (each[known] for each in (numbers, shared.starts, shared.ends))
        return Places(self._starts()[list(self.columns_).index(language)] + columns, starts, ends)

    def serves(self, language: str) -> bool:  # noqa: ARG002
        return False  # it has no columns here

    def _starts(self) -> npt.NDArray[np.intp]:
        """Where the columns of each language start, and where the last ones end."""
        return np.cumsum([0, *map(len, self.columns_.values())])

    def _own(self, language: str, X: Matrix) -> Matrix:
        """Rows of the shared space in the columns of a language."""
        starts = self._starts()
        number = list(self.columns_).index(language)
        known = _rows(X)[:, self.columns_[language]].tocoo()
        evident = np.unique(known.row)  # of which something is known
        entries = (
            (known.data, known.row, starts[number] + known.col),
            (np.full(len(evident), LANGUAGE), evident, np.full(len(evident), starts[-1] + number)),
        )
        values, rows, columns = (np.concatenate(each) for each in zip(*entries, strict=True))
        own: Matrix = sparse.csr_array(
            (values.astype(np.float32), (rows, columns)),
            (known.shape[0], int(starts[-1]) + len(self.columns_)),
        )
        return own


def _rows(X: Any) -> sparse.csr_array[np.float32]:
    return sparse.csr_array(X)
