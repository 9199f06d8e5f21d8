"""KCCA, against scikit-learn's CCA, against the primal problem, and on a translated corpus."""

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse
from sklearn.cross_decomposition import CCA

from funnelling.spaces.reference import KCCASpace, kcca
from tests.spaces.translated import corpus, reference

Floats = npt.NDArray[np.float64]


def views(count: int, rows: int = 60, width: int = 5, seed: int = 0) -> dict[str, Floats]:
    """Noisy views of two hidden variables."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(rows, 2))
    return {
        f"view {k}": hidden @ rng.normal(size=(2, width)) + 0.5 * rng.normal(size=(rows, width))
        for k in range(count)
    }


def projected(pages: dict[str, Floats], components: int, regularisation: float) -> dict[str, Floats]:
    projections = kcca(
        {code: sparse.csr_array(page) for code, page in pages.items()}, components, regularisation
    )
    centred = {code: page - page.mean(axis=0) for code, page in pages.items()}
    return {code: page @ page.T @ projections[code] for code, page in centred.items()}


def test_of_two_languages_it_is_canonical_correlation_analysis() -> None:
    pages = views(2)
    ours = projected(pages, 2, 1e-8)
    theirs = CCA(n_components=2, scale=False, max_iter=5_000, tol=1e-12).fit_transform(*pages.values())
    for k in range(2):
        correlations = [np.corrcoef(x[:, k], y[:, k])[0, 1] for x, y in (tuple(ours.values()), theirs)]
        np.testing.assert_allclose(abs(correlations[0]), abs(correlations[1]), atol=1e-3)


def test_of_many_languages_it_solves_the_primal_problem() -> None:
    """All languages' directions at once: SSᵀv = μ(D + rI)v, S the kernels below each other, D their squares.

    Kernels have a largest eigenvalue of 1, and r is added to their squares: Pyrcca's units.
    """
    pages, regularisation = views(4), 0.3
    kernels = {}
    for code, page in pages.items():
        X = page - page.mean(axis=0)
        kernels[code] = X @ X.T / np.linalg.norm(X @ X.T, 2)
    S = np.vstack(list(kernels.values()))
    D = linalg.block_diag(*(kernel @ kernel for kernel in kernels.values()))
    values, vectors = linalg.eigh(S @ S.T, D + regularisation * np.eye(len(D)))
    directions = vectors[:, ::-1][:, :3]
    directions *= np.sqrt(values[::-1][:3])  # g = Sᵀv has the length 1 then
    for number, (code, ours) in enumerate(projected(pages, 3, regularisation).items()):
        expected = kernels[code] @ directions[60 * number : 60 * (number + 1)]
        np.testing.assert_allclose(np.abs(ours), np.abs(expected), atol=1e-6)


def test_it_recovers_the_alignment_of_a_translated_corpus() -> None:
    space = KCCASpace(reference(), components=20, regularisation=1e-4)
    texts, _, languages = corpus()
    documents = {
        code: [t for t, c in zip(texts, languages, strict=True) if c == code] for code in ("en", "it")
    }
    space.fit(documents, {code: np.zeros((len(part), 1), dtype=bool) for code, part in documents.items()})
    new = reference(("en", "it", "fr"), groups=40).texts
    vectors = {code: space.vectors(code, part) for code, part in new.items()}
    assert vectors["en"].shape == (40, 20)
    for other in ("it", "fr"):  # French without training documents
        distances = ((vectors["en"][:, None] - vectors[other]) ** 2).sum(axis=2)
        assert (distances.argmin(axis=1) == np.arange(40)).mean() > 0.8


def test_there_are_fewer_components_than_documents() -> None:
    space = KCCASpace(reference(groups=10), components=1_000)
    texts = {"en": ["a b", "c d"], "it": ["e f", "g h"]}
    vectors = space.fit(texts, {code: np.zeros((2, 1), dtype=bool) for code in texts})
    assert vectors["en"].shape == (2, 9)


def test_a_document_does_not_depend_on_its_neighbours() -> None:
    space = KCCASpace(reference(), components=20)
    texts, _, _ = corpus(("en",))
    space.fit({"en": texts}, {"en": np.zeros((len(texts), 1), dtype=bool)})
    np.testing.assert_array_equal(space.vectors("en", texts[3:4]), space.vectors("en", texts)[3:4])
