"""What all languages share and what is one language's own, in one space: Daumé's feature augmentation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.matrices import Matrix, Targets
from funnelling.spaces.base import Documents
from funnelling.spaces.mixed import MixedSpace

COPY = 0.5  # the weight of a language's copy of a feature, beside 1 for the feature itself
LANGUAGE = 0.25  # that of its language, a column of its own


class AugmentedSpace(MixedSpace):
    """Words and characters that each language also has a copy of, and a column per language.

    A classifier then learns what a feature means everywhere, and what it means in one language beyond that
    (Daumé III, "Frustratingly easy domain adaptation", 2007). Copies are lighter than the features, so that
    what all languages say comes first; a language without training documents has none and goes by that.
    """

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        shared = super().fit(documents, targets)
        self.width_ = int(next(iter(shared.values())).shape[1])
        self.columns_: dict[str, npt.NDArray[np.intp]] = {
            language: np.unique(_rows(X).indices).astype(np.intp) for language, X in shared.items()
        }
        return {language: self._augmented(language, X) for language, X in shared.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        return self._augmented(language, super().vectors(language, documents))

    def feature_names(self) -> Sequence[str] | None:
        shared = super().feature_names() or []
        own = [f"{shared[column]} ({tag})" for tag, each in self.columns_.items() for column in each.tolist()]
        return [*shared, *own, *(f"({language})" for language in self.columns_)]

    def _augmented(self, language: str, X: Matrix) -> Matrix:
        """Rows of the shared space, with the copies of a language beside them."""
        shared = _rows(X)
        rows = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
        entries = [(shared.data, rows, shared.indices)]
        starts = self.width_ + np.cumsum([0, *map(len, self.columns_.values())])
        if language in self.columns_:
            number, own = list(self.columns_).index(language), self.columns_[language]
            places, known = np.searchsorted(own, shared.indices), np.isin(shared.indices, own)
            everyone = np.flatnonzero(np.diff(shared.indptr))  # but for those of which nothing is known
            entries += [
                (COPY * shared.data[known], rows[known], starts[number] + places[known]),
                (np.full(len(everyone), LANGUAGE), everyone, np.full(len(everyone), starts[-1] + number)),
            ]
        values, rows, columns = (np.concatenate(each) for each in zip(*entries, strict=True))
        augmented: Matrix = sparse.csr_array(
            (values.astype(np.float32), (rows, columns)),
            (shared.shape[0], int(starts[-1]) + len(self.columns_)),
        )
        return augmented


def _rows(X: Any) -> sparse.csr_array[np.float32]:
    return sparse.csr_array(X)
