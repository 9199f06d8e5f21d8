"""How much the labels of documents look as if one had been dropped, added or swapped.

Each label of a document has a probability by its text, and, where documents have several labels, by its other
labels (`CoOccurrenceModel`). The odds that a label was added are those against it, the odds that one was
dropped those for it, and a swap is both: Bayes' rule, each label being as likely a slip as any other. How the
three weigh against each other differs from corpus to corpus, for in most there are more gaps than wrong
labels: it is learned by changing a label of every document, and telling such documents from those as they
are. How often each happens is read off where nothing else explains it: gaps among the surest labels, and
labels that are there though they are least likely (as in learning from noisy labels, where these bound the
noise).

Where each document has exactly one label it is doubted as much as it is improbable.

People give labels that go together, and often the text does not show which. For each label, a logistic
regression weighs the log-odds that the text gives it, how usual it is in the language, and which other labels
the document has. It is fitted on other documents than those it judges, and never sees the label that it
judges.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from funnelling.funnel.learners import log_odds
from funnelling.matrices import Folds, Rows, Targets
from funnelling.randomness import stream
from funnelling.runtime.progress import watched

# Of the optimiser: it is then near its end, and more change the order of documents little
OPTIMISER_STEPS = 60
# The weights of text and language where a label's documents say nothing else
TEXT_WEIGHT, LANGUAGE_WEIGHT = 0.5, 0.3
# The priors around those and around no intercept, beside 1 around no weight
TIGHT_PRIOR, LOOSE_PRIOR = 5.0, 0.1
MAX_OTHER_LABELS = 1_000  # labels, the most frequent ones, that are weighed as other labels
INTERCEPT, OF_TEXT, OF_LANGUAGE, FIRST_LABEL = range(4)  # rows of weights

Array = NDArray[np.float64]
Cells = NDArray[np.float32]  # (documents, labels): half the memory, and twice the speed


class LabelLogOdds(NamedTuple):
    """What is known of documents before their other labels are looked at: log-odds (documents, labels)."""

    text: Cells
    usual: Cells

    def of(self, rows: Rows) -> "LabelLogOdds":
        """Those of some documents."""
        return LabelLogOdds(self.text[rows], self.usual[rows])


class CoOccurrenceModel:
    """The regressions of all labels, one set of them per fold, fitted on the other folds."""

    def __init__(self, beliefs: LabelLogOdds, given: Targets, folds: Folds, verbose: int = 0) -> None:
        self._beliefs, self._folds = beliefs, folds
        self.seen = np.sort(np.argsort(-given.sum(axis=0), kind="stable")[:MAX_OTHER_LABELS])
        numbers = np.unique(folds).tolist()
        self._weights = {
            fold: _fitted(beliefs.of(folds != fold), given[folds != fold], self.seen)
            for fold in watched(numbers, "labels beside labels", bool(verbose), "folds")
        }

    def log_odds(self, given: Targets) -> Cells:
        """The log-odds of each label of each document, if its labels were those given."""
        odds = np.empty(given.shape, dtype=np.float32)
        for fold, weights in self._weights.items():
            rows = self._folds == fold
            odds[rows] = _log_odds(weights, self._beliefs.of(rows), _ones(given[rows][:, self.seen]))
        return odds

    def contributions(self, row: int, column: int) -> Cells:
        """What each of the labels seen adds to the log-odds of a label, where a document has it."""
        weights: Cells = self._weights[int(self._folds[row])][FIRST_LABEL:, column]
        return weights


def _ones(given: Targets) -> Any:
    return sparse.csr_array(given.astype(np.float32))


def _log_odds(weights: Cells, beliefs: LabelLogOdds, others: Any) -> Cells:
    odds: Cells = others @ weights[FIRST_LABEL:]
    odds += weights[OF_TEXT] * beliefs.text
    odds += weights[OF_LANGUAGE] * beliefs.usual
    odds += weights[INTERCEPT]
    return odds


def _fitted(beliefs: LabelLogOdds, given: Targets, seen: NDArray[np.intp]) -> Cells:
    """The weights of the regressions of all labels, which share nothing but their prior."""
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    others = _ones(given[:, seen])
    turned = sparse.csr_array(others.T)
    truth = given.astype(np.float32)
    centre = np.zeros((FIRST_LABEL + len(seen), given.shape[1]))
    tightness = np.ones(centre.shape)
    centre[OF_TEXT], centre[OF_LANGUAGE] = TEXT_WEIGHT, LANGUAGE_WEIGHT
    tightness[INTERCEPT], tightness[[OF_TEXT, OF_LANGUAGE]] = LOOSE_PRIOR, TIGHT_PRIOR
    own = (FIRST_LABEL + np.arange(len(seen)), seen)  # a label says nothing of itself

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(centre.shape)
        odds = _log_odds(weights.astype(np.float32), beliefs, others)
        small = np.exp(-np.abs(odds))
        away = weights - centre
        lost = (np.log1p(small) + np.maximum(odds, 0) - truth * odds).sum(dtype=np.float64)
        lost += (tightness * away * away).sum() / 2
        error = np.where(odds >= 0, np.float32(1), small) / (1 + small) - truth
        slope = tightness * away
        slope[INTERCEPT] += error.sum(axis=0, dtype=np.float64)
        slope[OF_TEXT] += (error * beliefs.text).sum(axis=0, dtype=np.float64)
        slope[OF_LANGUAGE] += (error * beliefs.usual).sum(axis=0, dtype=np.float64)
        slope[FIRST_LABEL:] += turned @ error
        slope[own] = 0
        return float(lost), slope.ravel()

    with threadpool_limits(
        1, "blas"
    ):  # for the same bits; `one_blas_thread` may not know scipy's own library
        found = minimize(
            loss, centre.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": OPTIMISER_STEPS}
        )
    return np.asarray(found.x, dtype=np.float32).reshape(centre.shape)


WRONG, MISSING, SWAPPED = "wrong label", "missing label", "swapped"
PROBABILITY_CLIP = 1e-4  # probabilities nearer to 0 and 1 say no more
MAX_LOG_ODDS = 14.0  # log-odds that count
PRIOR_DOCUMENTS = 5  # that a language counts as having, labelled as in all languages
NO_COLUMN = -1  # in place of a column
NEWTON_STEPS, L2_PENALTY = 25, 1e-3  # of Newton's method
CONFIDENT_SHARE = 0.1  # the part of labels, by their odds, of which gaps and additions are counted

Columns = NDArray[np.intp]
Change = Literal["dropped", "added", "swapped"]
CHANGES: tuple[Change, ...] = ("dropped", "added", "swapped")


@dataclass(frozen=True)
class LabelIssues:
    """What is doubted of each document.

    ``scores`` are from 0 to 1; ``wrong`` and ``missing`` the columns of the most doubtful label that it has
    and of the one that it most likely lacks, or -1; ``kinds`` which of them is meant. ``probabilities`` are
    those of labels by all that is known, and ``others``, if documents have several labels, what labels say of
    labels.
    """

    scores: Array
    wrong: Columns
    missing: Columns
    kinds: list[str]
    probabilities: Array
    others: CoOccurrenceModel | None = None


def score_label_issues(
    probabilities: Array,
    given: Targets,
    languages: Sequence[str | None],
    folds: Folds,
    *,
    one_label: bool,
    seed: int = 0,
    verbose: int = 0,
) -> LabelIssues:
    """What is doubted of documents and the labels ``given``, by held-out ``probabilities``."""
    if one_label:
        return _of_one_label(probabilities, given)
    usual = _usual(given, np.asarray(languages, dtype=object))
    beliefs = LabelLogOdds(
        *(log_odds(each, PROBABILITY_CLIP).astype(np.float32) for each in (probabilities, usual))
    )
    others = CoOccurrenceModel(beliefs, given, folds, verbose)
    judged = _judged(given, folds)
    odds = others.log_odds(given)
    changed = []
    for kind in CHANGES:
        labels, rows = _changed(given, kind, stream(seed, "audit", kind))
        changed.append(_issue_features(others.log_odds(labels), labels, judged)[rows])
    traces = _issue_features(odds, given, judged)
    against = np.where(given & judged, -odds, -np.inf)
    missed = np.where(given, -np.inf, odds)
    shares = _shares(odds[judged], given[judged])
    kinds = [(MISSING, WRONG, SWAPPED)[place] for place in _parts(traces, shares).argmax(axis=1).tolist()]
    return LabelIssues(
        scores=_issue_scores(traces, changed, shares),
        wrong=_best(against),
        missing=_best(missed),
        kinds=kinds,
        probabilities=1 / (1 + np.exp(-odds.astype(np.float64))),
        others=others,
    )


def _of_one_label(probabilities: Array, given: Targets) -> LabelIssues:
    own = np.where(given, probabilities, 0).sum(axis=1)
    return LabelIssues(
        scores=1 - own,
        wrong=_best(np.where(given, 0.0, -np.inf)),
        missing=_best(np.where(given, -np.inf, probabilities)),
        kinds=[SWAPPED] * len(given),
        probabilities=probabilities,
    )


def _usual(given: Targets, languages: NDArray[np.object_]) -> Array:
    """How usual each label is in the language of each document."""
    everywhere = given.mean(axis=0)
    usual = np.empty(given.shape)
    for language in set(languages.tolist()):
        rows = languages == language
        usual[rows] = (given[rows].sum(axis=0) + PRIOR_DOCUMENTS * everywhere) / (
            rows.sum() + PRIOR_DOCUMENTS
        )
    return usual


def _judged(given: Targets, folds: Folds) -> Targets:
    """Of which labels anything is known without a document's own fold: others have them."""
    judged = np.empty(given.shape, dtype=bool)
    for fold in np.unique(folds):
        judged[folds == fold] = given[folds != fold].any(axis=0)
    return judged


def _issue_features(odds: Cells, given: Targets, judged: Targets) -> Array:
    """The log-odds that a document lacks a dropped label, and that it has an added one: (documents, 2)."""
    odds = np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
    added = np.where(given & judged, np.exp(-odds), 0).sum(axis=1, dtype=np.float64) / np.maximum(
        (~given).sum(axis=1), 1
    )
    dropped = np.where(given, 0, np.exp(odds)).sum(axis=1, dtype=np.float64) / (given.sum(axis=1) + 1)
    traces: Array = np.log(np.column_stack([dropped, added]) + np.exp(-MAX_LOG_ODDS))
    return traces


def _parts(traces: Array, shares: Array) -> Array:
    """The log-odds of a missing label, a wrong one, and both, if they are as frequent as ``shares``."""
    return np.column_stack([traces, traces.sum(axis=1)]) + np.log(shares)


def _changed(given: Targets, kind: Change, random: np.random.Generator) -> tuple[Targets, Rows]:
    """Documents with a label dropped, added or swapped, any as likely as another; and where that could be."""
    has, lacks = given.any(axis=1), ~given.all(axis=1)
    rows = np.ones(len(given), dtype=bool)
    if kind != "added":
        rows &= has
    if kind != "dropped":
        rows &= lacks
    labels, places = given.copy(), np.flatnonzero(rows)
    if kind != "added":
        labels[places, _drawn(given, places, random)] = False
    if kind != "dropped":
        labels[places, _drawn(~given, places, random)] = True
    return labels, rows


def _drawn(cells: Targets, places: Columns, random: np.random.Generator) -> Columns:
    """A column of each place among those that are true in it, any as likely as another."""
    numbers = random.integers(np.count_nonzero(cells[places], axis=1))
    order = np.cumsum(cells[places], axis=1, dtype=np.int32)
    columns: Columns = np.argmax(order > numbers[:, None], axis=1)
    return columns


def _shares(odds: NDArray[np.float32], given: Rows) -> Array:
    """How many of all changed documents have a label dropped, added and swapped, by the labels judged.

    As many labels are looked at on either side as a part of the documents has or lacks, so that the counts
    compare; one more on each side keeps a few labels from saying much. People leave labels out on purpose,
    too: the ratio of the counts is halved on the logarithmic scale. Of swaps the counts tell nothing: half of
    what either side can hold is taken for them, which makes the three as many where the sides are equal.
    """
    if not len(odds):
        return np.full(len(CHANGES), 1 / len(CHANGES))
    has, lacks = np.count_nonzero(given), np.count_nonzero(~given)
    low, high = int(CONFIDENT_SHARE * lacks), odds.size - 1 - int(CONFIDENT_SHARE * has)
    bounds = np.partition(odds, [low, high])[[low, high]]
    additions = np.sqrt(np.count_nonzero(given & (odds < bounds[0])) + 1)
    gaps = np.sqrt(np.count_nonzero(~given & (odds > bounds[1])) + 1)
    swaps = min(gaps, additions) / 2
    shares: Array = np.array([gaps - swaps, additions - swaps, swaps]) / (gaps + additions - swaps)
    return shares


def _issue_scores(traces: Array, changed: Sequence[Array], shares: Array) -> Array:
    """How much each document looks like one with a label changed, 0 to 1, by a logistic regression.

    ``changed`` are traces of documents by what was changed in them, and ``shares`` what each of these counts.
    """
    present = [(each, share) for each, share in zip(changed, shares.tolist(), strict=True) if len(each)]
    if not present:
        return np.zeros(len(traces))
    points = np.vstack([_with_any(each, shares) for each in (traces, *(each for each, _ in present))])
    sizes = [len(traces), *(len(each) for each, _ in present)]
    is_changed = np.repeat([0.0, *[1.0] * len(present)], sizes)
    weights = np.repeat([1.0, *(share for _, share in present)], sizes)
    spread = points.std(axis=0)
    points = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1)
    points = np.column_stack([np.ones(len(points)), points])
    slopes = np.zeros(points.shape[1])
    for _ in range(NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-(points * slopes).sum(axis=1)))
        curve = weights * chance * (1 - chance)
        hessian = np.array([[(a * b * curve).sum() for a in points.T] for b in points.T])
        step = (points * (weights * (is_changed - chance))[:, None]).sum(axis=0) - L2_PENALTY * slopes
        slopes = slopes + np.linalg.solve(hessian + L2_PENALTY * np.eye(len(slopes)), step)
    return np.asarray(1 / (1 + np.exp(-(points[: len(traces)] * slopes).sum(axis=1))))


def _with_any(traces: Array, shares: Array) -> Array:
    """Both traces, and the odds of any change at all."""
    return np.column_stack([traces, np.logaddexp.reduce(_parts(traces, shares), axis=1)])


def _best(values: NDArray[np.floating[Any]]) -> Columns:
    """The column of each row's highest value, or -1 where all are out of the question."""
    columns = values.argmax(axis=1)
    highest = values[np.arange(len(values)), columns]
    return np.where(np.isfinite(highest), columns, NO_COLUMN)
