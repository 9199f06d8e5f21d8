"""The multilabel SVM: all labels and folds of a set of documents, C given or chosen."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.svm import SVC

from funnelling.corpus.labels import MULTILABEL, LabelSpace
from funnelling.matrices import Folds, Targets
from funnelling.svm import SVM, CSetting, Fit, KernelScorer, LinearScorer, learner
from funnelling.svm.learner import C_GRID
from funnelling.svm.solver import TOLERANCE

Array = npt.NDArray[np.float64]


def corpus(documents: int = 90, seed: int = 0) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """Sparse vectors, four labels that some features tell, and five folds."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((documents, 60)) < 0.15, rng.exponential(size=(documents, 60)), 0)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    targets = X @ rng.normal(size=(60, 4)) + 0.1 * rng.normal(size=(documents, 4)) > [0, 0.2, 0.3, 0.5]
    targets[:8] = np.vstack([np.eye(4), 1 - np.eye(4)]).astype(bool)
    return X, targets, rng.permutation(documents) % 5


def svc_scores(
    X: Array, targets: npt.NDArray[np.bool_], rows: npt.NDArray[np.bool_], C: float, gamma: float | None
) -> Array:
    """What scikit-learn's SVC, trained on some rows, says of all."""
    kernel = {"kernel": "linear"} if gamma is None else {"kernel": "rbf", "gamma": gamma}
    columns = [
        SVC(C=C, tol=1e-5, **kernel).fit(X[rows], target[rows]).decision_function(X) for target in targets.T
    ]
    return np.column_stack(columns)


@pytest.mark.parametrize("gamma", [None, 0.25])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_a_fit_is_one_svc_for_each_label_and_fold(gamma: float | None, C: float) -> None:
    X, targets, folds = corpus()
    documents = sparse.csr_array(X) if gamma is None else X.astype(np.float32)
    fit = SVM(C, gamma=gamma).problem(documents, targets).fit(folds)
    everyone = np.ones(len(X), dtype=bool)
    np.testing.assert_allclose(fit.scores, svc_scores(X, targets, everyone, C, gamma), atol=1e-2)
    for fold in range(5):
        expected = svc_scores(X, targets, folds != fold, C, gamma)
        np.testing.assert_allclose(fit.held_out[folds == fold], expected[folds == fold], atol=1e-2)
        # The scorers go by the vectors, the fit by the Gram: rounding is all that differs.
        scores = fit.scorer_without(fold).scores(documents)
        np.testing.assert_allclose(scores[folds == fold], fit.held_out[folds == fold], atol=1e-4)
    np.testing.assert_allclose(fit.scorer().scores(documents), fit.scores, atol=1e-4)


def test_dense_and_sparse_documents_are_the_same() -> None:
    X, targets, folds = corpus()
    dense = SVM().problem(X, targets).fit(folds)
    thin = SVM().problem(sparse.csr_matrix(X), targets).fit(folds)
    np.testing.assert_allclose(dense.held_out, thin.held_out, atol=1e-2)
    np.testing.assert_allclose(
        dense.scorer().scores(X), thin.scorer().scores(sparse.csr_matrix(X)), atol=1e-2
    )


def test_documents_outside_are_scored_but_not_learnt_from() -> None:
    X, targets, folds = corpus()
    within = np.arange(len(X)) % 3 != 0
    fit = SVM(1.0).problem(X, targets).fit(folds, within=within)
    np.testing.assert_allclose(fit.scores, svc_scores(X, targets, within, 1.0, None), atol=1e-2)
    inside = SVM(1.0).problem(X[within], targets[within]).fit(folds[within])
    np.testing.assert_allclose(fit.held_out[within], inside.held_out, atol=1e-2)


def test_folds_may_have_any_numbers() -> None:
    X, targets, folds = corpus()
    problem = SVM(1.0).problem(X, targets)
    plain, named = problem.fit(folds), problem.fit(folds * 7 + 3)
    np.testing.assert_array_equal(plain.held_out, named.held_out)
    np.testing.assert_array_equal(
        plain.scorer_without(2).scores(X), named.scorer_without(2 * 7 + 3).scores(X)
    )


@pytest.mark.parametrize("gamma", [None, 1.0])
def test_the_chosen_c_is_fitted_like_a_given_one(gamma: float | None) -> None:
    X, targets, folds = corpus()
    X = X.astype(np.float32)
    chosen = SVM(None, gamma=gamma).problem(X, targets).fit(folds)
    fixed = SVM(chosen.C, gamma=gamma).problem(X, targets).fit(folds)
    np.testing.assert_allclose(chosen.held_out, fixed.held_out, atol=2e-2)
    np.testing.assert_allclose(chosen.scores, fixed.scores, atol=2e-2)


def test_micro_f1_chooses_c() -> None:
    """On this corpus macro-F1 would choose another one."""
    X, targets, folds = corpus(150, seed=15)
    grid = (0.1, 1.0, 10.0, 100.0)
    best = {}
    for average in ("micro", "macro"):
        f1 = {
            C: f1_score(
                targets,
                SVM(C).problem(X, targets).fit(folds).held_out > 0,
                average=average,
                zero_division=1.0,
            )
            for C in grid
        }
        best[average] = max(grid, key=f1.__getitem__)
    assert best["micro"] != best["macro"]
    chosen = SVM(None, grid=grid).problem(X, targets).fit(folds)
    assert best["micro"] == chosen.C


def noisy_posts(documents: int = 400) -> tuple[sparse.csr_array[np.float64], Targets, Folds]:
    """Short texts, a fourth of them with a wrong label: of the grid, C = 1 is best."""
    rng = np.random.default_rng(3)
    words = rng.integers(0, 300, size=(documents, 6))
    X = sparse.csr_array((np.full(words.size, 6**-0.5), (np.repeat(np.arange(documents), 6), words.ravel())))
    targets = ((words < 80).sum(axis=1) > 1) ^ (rng.random(documents) < 0.25)
    return X, targets[:, None], np.arange(documents) % 5


@pytest.mark.parametrize("single", [False, True])
def test_the_search_for_c_ends_when_it_pays_no_more(single: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    X, targets, folds = noisy_posts()
    tried: list[float] = []
    advanced: list[int] = []
    f1 = Fit.held_out_f1
    monkeypatch.setattr(Fit, "held_out_f1", lambda fit, rows: (tried.append(fit.C), f1(fit, rows))[1])

    def search(C: CSetting) -> Fit:
        tried.clear()
        advanced.clear()
        svm = SVM(C, labels=LabelSpace(np.arange(2), single), advance=advanced.append)
        found = svm.problem(X, targets).fit(folds)
        assert sum(advanced) == svm.problems_solved(1, 5) == 36
        return found

    ended, ended_after = search(None), list(tried)
    whole, whole_after = search("grid"), list(tried)
    assert whole_after == list(C_GRID)
    assert ended_after == [0.1, 1.0, 10.0, 100.0]
    assert ended.C == whole.C == 1.0
    np.testing.assert_array_equal(ended.scores, whole.scores)
    np.testing.assert_array_equal(ended.held_out, whole.held_out)


def test_a_search_goes_on_after_a_tie_and_after_one_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    qualities = dict(zip(C_GRID, (0.5, 0.5, 0.4, 0.6, 0.5, 0.6), strict=True))
    monkeypatch.setattr(Fit, "held_out_f1", lambda fit, _rows: qualities[fit.C])
    X, targets, folds = noisy_posts(60)
    assert SVM(None).problem(X, targets).fit(folds).C == 100.0


def test_after_one_fall_the_next_c_is_solved_roughly_first(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[tuple[float, float]] = []
    solve = learner.solve_path

    def spy(*arguments: Any, tolerance: float, **others: Any) -> Any:
        solved.append((arguments[3][0], tolerance))
        return solve(*arguments, tolerance=tolerance, **others)

    monkeypatch.setattr(learner, "solve_path", spy)
    X, targets, folds = noisy_posts()
    SVM(None).problem(X, targets).fit(folds)
    assert {tolerance for _, tolerance in solved} == {TOLERANCE}  # of few decisions F1 is too coarse
    solved.clear()
    monkeypatch.setattr(learner, "MIN_DECISIONS", len(targets))
    found = SVM(None).problem(X, targets).fit(folds)
    well = [(0.1, TOLERANCE), (1.0, TOLERANCE), (10.0, TOLERANCE)]
    assert solved == [*well, (100.0, learner.LOOSEST_TOL)]  # it had fallen far
    solved.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner, "STEEP_F1_LOSS", 1.0)
        assert SVM(None).problem(X, targets).fit(folds).C == found.C
    assert solved == [*well, (100.0, learner.LOOSE_TOL)]
    rough = found.problem._fits([10.0], folds, tolerance=learner.LOOSE_TOL)[0]
    exact = found.problem._fits([10.0], folds)[0]
    assert 0 < np.abs(rough.scores - exact.scores).max() < 0.3
    assert abs(rough.held_out_f1() - exact.held_out_f1()) < learner.MIN_F1_DIFFERENCE
    # What is not clearly worse is solved well.
    solved.clear()
    qualities = dict(
        zip(C_GRID, (0.5, 0.6, 0.595, 0.6 - learner.MIN_F1_DIFFERENCE / 2, 0.7, 0.5), strict=True)
    )
    monkeypatch.setattr(Fit, "held_out_f1", lambda fit, _rows: qualities[fit.C])
    assert SVM(None).problem(X, targets).fit(folds).C == 1.0
    assert solved[-2:] == [(100.0, learner.LOOSE_TOL), (100.0, TOLERANCE)]


@pytest.mark.parametrize("grid", [(0.1, 1.0, 10.0), (10.0, 0.1, 1.0)])
def test_ties_go_to_the_smaller_c(grid: tuple[float, ...]) -> None:
    """Two far groups of documents: every C is right about all of them."""
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    targets = np.arange(40)[:, None] < 20
    assert SVM(None, grid=grid).problem(X, targets).fit(np.arange(40) % 5).C == 0.1


def test_single_labels_are_decided_by_the_highest_score() -> None:
    one_each = LabelSpace(np.arange(3), single_label=True)
    scores = np.array([[-3, -1, -2], [0.5, 2, 1], [0, 0, 0]], dtype=np.float32)
    assert one_each.decide(scores).argmax(axis=1).tolist() == [1, 1, 0]
    assert one_each.decide(scores).sum(axis=1).tolist() == [1, 1, 1]
    assert MULTILABEL.decide(scores).tolist() == [[False] * 3, [True] * 3, [False] * 3]
    assert one_each.decide(scores[:, :1]).tolist() == [[False], [True], [False]]


def test_single_labels_choose_c_by_their_own_decisions() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 10))
    classes = (X[:, :4] + rng.normal(size=(120, 4))).argmax(axis=1)
    targets, folds = classes[:, None] == np.arange(4), np.arange(120) % 5
    grid = (0.001, 0.1, 1.0, 10.0)
    accuracy = [
        np.mean(SVM(C).problem(X, targets).fit(folds).held_out.argmax(axis=1) == classes) for C in grid
    ]
    chosen = SVM(None, grid=grid, labels=LabelSpace(np.arange(4), True)).problem(X, targets).fit(folds)
    assert grid[np.argmax(accuracy)] == chosen.C


def test_one_document_is_enough() -> None:
    fit = SVM(None).problem(np.ones((1, 3)), np.array([[True, False]])).fit(np.array([3]))
    assert fit.scores.tolist() == [[1, -1]]
    assert fit.held_out.tolist() == [[-1, -1]]
    assert fit.C == 0.1


def test_the_kernel_is_the_scorer_s() -> None:
    X, targets, folds = corpus(30)
    assert isinstance(SVM().problem(X, targets).fit(folds).scorer(), LinearScorer)
    scorer = SVM(gamma=0.5).problem(X.astype(np.float32), targets).fit(folds).scorer()
    assert isinstance(scorer, KernelScorer)
    assert len(scorer.support) <= 30


@pytest.mark.parametrize("C", [1.0, None])
def test_progress_adds_up_to_what_was_announced(C: float | None) -> None:
    X, targets, folds = corpus(30)
    steps: list[int] = []
    learner = SVM(C, advance=steps.append)
    learner.problem(X, targets).fit(folds)
    assert sum(steps) == learner.problems_solved(labels=4, folds=5)
