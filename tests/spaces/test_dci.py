"""DCI's numbers, against counts done by hand."""

import numpy as np
import pytest
from scipy import sparse

from funnelling.spaces.labels import DCISpace, correspondences

# Documents (rows) and words: "cat" in 1, 2, 4; "dog" in 3; "and" in all.
X = np.array([[0.5, 0.0, 0.1], [0.7, 0.0, 0.2], [0.0, 0.9, 0.3], [0.2, 0.0, 0.4]])
# The label "animals" has documents 1, 2 and 3; "none" has none, "all" has all.
TARGETS = np.array([[1, 0, 1], [1, 0, 1], [1, 0, 1], [0, 0, 1]], dtype=bool)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_correspondences_are_the_counts_worked_out_by_hand(form: object) -> None:
    values = correspondences(form(X), TARGETS)  # type: ignore[operator]
    # P(cat|animals) = 2/3, P(not cat|not animals) = 0/1; P(dog|…) = 1/3 and 1/1; P(and|…) = 1 and 0.
    np.testing.assert_allclose(values[:, 0], [2 / 3 + 0 - 1, 1 / 3 + 1 - 1, 1 + 0 - 1], atol=1e-7)


def test_a_label_that_none_or_all_documents_have_tells_nothing() -> None:
    assert not correspondences(X, TARGETS)[:, 1:].any()


def test_documents_are_weighted_sums_standardised_with_training_statistics() -> None:
    space = DCISpace()
    vectors = space.fit({"en": X}, {"en": TARGETS})["en"]
    sums = X @ correspondences(X, TARGETS)
    np.testing.assert_allclose(vectors[:, 0], (sums[:, 0] - sums[:, 0].mean()) / sums[:, 0].std(), atol=1e-5)
    assert not vectors[:, 1:].any(), "dimensions that do not vary stay as they are"
    np.testing.assert_array_equal(space.vectors("en", X), vectors)


def test_a_document_does_not_depend_on_its_neighbours() -> None:
    space = DCISpace()
    space.fit({"en": X, "it": 2 * X[:, :2]}, {"en": TARGETS, "it": TARGETS})
    np.testing.assert_array_equal(space.vectors("it", X[:1, :2]), space.vectors("it", X[:, :2])[:1])


def test_each_language_has_its_own_words() -> None:
    texts = {"en": ["cat", "dog", "cat"], "it": ["gatto", "cane", "gatto"]}
    targets = {language: np.array([[1], [0], [1]], dtype=bool) for language in texts}
    vectors = DCISpace().fit(texts, targets)
    np.testing.assert_allclose(vectors["en"], vectors["it"])
    assert not DCISpace().serves("fr")
