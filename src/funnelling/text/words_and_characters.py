"""Texts to the vectors that users of scikit-learn would make: tf-idf of words, and of runs of characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from funnelling.errors import InputError
from funnelling.matrices import Matrix
from funnelling.plain import Estimator, check_fitted
from funnelling.state import (
    SMALLEST,
    empty_row,
    expect,
    expect_by,
    expect_flag,
    expect_numbers,
    expect_strings,
    expect_whole,
)


class WordsAndCharactersVectorizer(Estimator):
    """Turn texts into scikit-learn's tf-idf of words, beside its tf-idf of two to five characters of a word.

    The vectors are those of a `FeatureUnion`. It is kept as terms and their idf: saved as it is, each of its
    hundreds of thousands of terms would be an object of its own. ``sublinear_tf`` and ``min_df`` are its.

    >>> vectorizer = WordsAndCharactersVectorizer().fit(["Black tea"])
    >>> vectorizer.terms_["words"], vectorizer.terms_["characters"][:4]
    (['black', 'tea'], [' b', ' bl', ' bla', ' blac'])
    """

    def __init__(self, sublinear_tf: bool = True, min_df: int = 1) -> None:
        self.sublinear_tf = sublinear_tf
        self.min_df = min_df

    def fit(self, texts: Sequence[str], y: object = None) -> Self:  # noqa: ARG002
        """Learn terms and their idf."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Sequence[str], y: object = None) -> Matrix:  # noqa: ARG002
        """Learn terms and their idf, and return the texts' vectors."""
        union = self._unfitted_union()
        try:
            X: Matrix = union.fit_transform(texts)
        except ValueError as error:  # scikit-learn takes no word of one letter
            raise InputError(
                f"no word of two letters or more is in {self.min_df} of the training documents. Give longer "
                "texts or more, or choose another method."
            ) from error
        self.terms_ = {name: list(part.get_feature_names_out()) for name, part in union.transformer_list}
        self.idf_ = {name: np.asarray(part.idf_) for name, part in union.transformer_list}
        self._union = union
        return X

    def transform(self, texts: Sequence[str]) -> Matrix:
        """Return one row per text."""
        X: Matrix = self._fitted_union().transform(texts)
        return X

    def check_words(self) -> Any:
        """Refuse a state that could not make vectors; gives the vector of a text without a known term."""
        expect_flag(self.sublinear_tf, "whether tf is sublinear")
        expect_whole(self.min_df, "the least df", 1)
        idf = expect_by(self.idf_, ("words", "characters"), "the idf of terms")
        for name, terms in expect_by(self.terms_, idf.keys(), "the terms of a vocabulary").items():
            expect_strings(terms, "the terms of a vocabulary")
            expect(terms and len(set(terms)) == len(terms), "the terms of a vocabulary")
            expect_numbers(idf[name], (len(terms),), "the idf of terms", least=SMALLEST)
        return empty_row(sum(map(len, self.terms_.values())))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """Return the terms as scikit-learn names them, ``words__tea`` or ``characters__ea``."""
        names: npt.NDArray[np.object_] = self._fitted_union().get_feature_names_out()
        return names

    def _fitted_union(self) -> Any:
        """The fitted union, made anew where the terms come from a saved model."""
        check_fitted(self, "idf_")
        union: Any = getattr(self, "_union", None)
        if union is None:
            union = self._unfitted_union()
            for name, part in union.transformer_list:
                part.set_params(vocabulary=self.terms_[name])
                part.idf_ = self.idf_[name]
            self._union = union
        return union

    def _unfitted_union(self) -> Any:
        """The union, not yet fitted."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import FeatureUnion

        given = {"sublinear_tf": self.sublinear_tf, "min_df": self.min_df}
        return FeatureUnion(
            [
                ("words", TfidfVectorizer(**given)),
                ("characters", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), **given)),
            ]
        )
