"""The view of a scikit-learn transformer, or of a function, that the user gives."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from funnelling.errors import InputError
from funnelling.matrices import (
    Matrix,
    Targets,
    by_language,
    check_vectors,
    is_sparse,
    length,
    sizes_of,
    stacked,
)
from funnelling.plain import clone
from funnelling.randomness import stream
from funnelling.spaces.base import Documents, Space, are_texts, check_one_width
from funnelling.state import empty_row, expect, expect_flag, expect_whole, filled_row
from funnelling.text.languages import is_language


class TransformedSpace(Space):
    """Documents as a transformer, or a function, makes vectors of them: of texts, or of the user's vectors.

    A transformer is cloned and fitted on the documents of all languages together; where it draws at random
    and has no seed of its own, it gets one. A function is called as it is and never copied: what it belongs
    to may hold a lock, or a GPU.
    """

    def __init__(self, view: Any = None, name: str = "", random_state: int = 0) -> None:
        self.view = view
        self.name = name
        self.random_state = random_state

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:  # noqa: ARG002
        self.texts_ = are_texts(documents)
        sizes = sizes_of(documents)
        everything = self._together(documents)
        self.transformer_: Any = None
        if hasattr(self.view, "transform"):
            self.transformer_ = seeded(clone(self.view), self.random_state, self.name)
            both = getattr(self.transformer_, "fit_transform", None)
            vectors = both(everything) if both else self.transformer_.fit(everything).transform(everything)
        else:
            vectors = self.view(everything)
        X = self._checked(vectors, sum(sizes.values()))
        self.columns_ = int(X.shape[1])
        return by_language(X, sizes)

    def _together(self, documents: Mapping[str, Documents]) -> Documents:
        if self.texts_:
            return [text for texts in documents.values() for text in texts]
        check_one_width(documents, f"The view {self.name!r}")
        return stacked(documents)

    def vectors(self, language: str, documents: Documents) -> Matrix:  # noqa: ARG002
        transform = self.view if self.transformer_ is None else self.transformer_.transform
        X = self._checked(transform(documents), length(documents))
        if X.shape[1] != self.columns_:
            raise InputError(
                f"The view {self.name!r} gives {X.shape[1]} columns, and gave {self.columns_} when the model "
                "was trained. It must always give as many."
            )
        return X

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        """What a transformer holds, only it knows: it is asked about a document."""
        expect_flag(self.texts_, "a view of your own")
        expect_whole(self.columns_, "the columns of a view of your own")
        expect(self.texts_ == (features is None) and isinstance(self.name, str), "a view of your own")
        document = ["a"] if features is None else filled_row(empty_row(features, dense=True))
        return self.vectors(languages[0] if languages else "", document)

    def _checked(self, vectors: Any, count: int) -> Matrix:
        X = vectors if is_sparse(vectors) else np.asarray(vectors)
        if X.ndim != 2 or X.shape[0] != count:
            raise InputError(
                f"The view {self.name!r} gives an array of shape {X.shape} for {count} documents. "
                "It must give a row each."
            )
        try:
            matrix: Matrix = check_vectors(X)
        except ValueError as error:
            raise InputError(f"The view {self.name!r} gives vectors that are no finite numbers.") from error
        return matrix

    def feature_names(self) -> Sequence[str] | None:
        try:
            return list(self.transformer_.get_feature_names_out())
        except (AttributeError, ValueError):  # one of a pipeline's steps may have none
            return None

    def serves(self, language: str) -> bool:
        # Vectors of the user's own may come from a language of any name, and mean anything.
        return is_language(language) and getattr(self, "texts_", True)


def seeded(transformer: Any, *keys: object) -> Any:
    """A transformer whose random choices, and those of its parts, follow from the keys where none are set.

    >>> from sklearn.decomposition import TruncatedSVD
    >>> seeded(TruncatedSVD(), 0).random_state == seeded(TruncatedSVD(), 0).random_state
    True
    """
    for name, value in sorted(transformer.get_params().items()):
        if value is None and name.rpartition("__")[2] == "random_state":
            transformer.set_params(**{name: int(stream(*keys, name).integers(2**31))})
    return transformer
