"""The worst errors of a method: documents where it was most sure, and wrong, with what misled it.

A document is wrong if it was given a label that is not true, or if a true label was missed. The method was
as sure of it as the wrong label was probable, or the missed one improbable.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from funnelling.corpus import Corpus
from funnelling.evaluation.measuring import as_indicators, measure_answers, truth_of
from funnelling.evaluation.pieces import Result
from funnelling.matrices import (
    AnyTargets,
    Rows,
    canonical,
    dense_row,
    is_sparse,
    set_difference,
    values_at,
)
from funnelling.text.excerpts import amounts_by_word, cut_out, telling_part

if TYPE_CHECKING:
    from funnelling.methods.model import Model

MAX_ERRORS = 20
MAX_TEXT_CHARACTERS = 400  # characters of a text that are shown
MAX_WORDS_NAMED = 5  # that are named

Passage = tuple[int, int, float]  # from, to, what it added to the score


class ErrorContributions(TypedDict):
    """A label that was given wrongly, or missed: its probability, and what in the text spoke for that.

    ``words`` added most to the score of a label that was given wrongly, or took most from that of one that
    was missed. ``spans`` are places in the text that is shown, with what each added to the score.
    """

    label: str
    probability: float
    words: list[list[Any]]
    spans: list[Passage]


class WorstError(TypedDict):
    """A document with the labels that are true and those it was given, and what is most wrong about them.

    ``false_positives`` has the most probable label that was given wrongly, ``false_negatives`` the least
    probable one of those missed. ``text`` is the part of the text that spoke most for the error.
    ``abstained`` is there where the document is out of vocabulary.
    """

    id: str
    language: str
    labels: list[str]
    predicted: list[str]
    false_positives: NotRequired[list[ErrorContributions]]
    false_negatives: NotRequired[list[ErrorContributions]]
    text: str
    abstained: NotRequired[str]


class LabelError(NamedTuple):
    """A wrong document by its row, and the columns of its most telling labels, if any."""

    row: int
    wrong: int | None
    missed: int | None


def worst_errors_by_row(
    truth: AnyTargets, given: AnyTargets, probabilities: Any, most: int
) -> list[LabelError]:
    """The documents that the method was most sure about, and wrong; see `in_turns` for their order.

    >>> truth = np.array([[1, 0], [0, 1], [0, 1], [1, 0]], dtype=bool)
    >>> given = np.array([[0, 1], [0, 1], [1, 0], [0, 0]], dtype=bool)
    >>> probabilities = np.array([[0.4, 0.6], [0.2, 0.8], [0.9, 0.1], [0.3, 0.2]])
    >>> for mistake in worst_errors_by_row(truth, given, probabilities, 3):
    ...     print(mistake)
    LabelError(row=2, wrong=0, missed=1)
    LabelError(row=3, wrong=None, missed=0)
    LabelError(row=0, wrong=1, missed=0)
    """
    wrong = _surest(set_difference(given, truth), probabilities)
    missed = _surest(set_difference(truth, given), probabilities, missed=True)
    rows = sorted({*wrong, *missed})
    is_given = np.array([row in wrong for row in rows], dtype=bool)
    sureness = np.array([(wrong if row in wrong else missed)[row][1] for row in rows])
    return [
        LabelError(rows[place], wrong.get(rows[place], (None,))[0], missed.get(rows[place], (None,))[0])
        for place in in_turns(is_given, sureness, most)
    ]


def in_turns(is_given: Rows, sureness: NDArray[np.float64], most: int) -> list[int]:
    """The positions of the surest errors: wrong labels and, in turns with them, labels that were only missed.

    Most labels are improbable for most documents, so that by sureness alone there would be none but missed
    ones.
    """
    order = np.argsort(-sureness, kind="stable")
    ranks = np.empty(len(order), dtype=np.intp)
    for kind in (is_given, ~is_given):
        of_kind = order[kind[order]]
        ranks[of_kind] = np.arange(len(of_kind))
    chosen: list[int] = np.lexsort((~is_given, ranks))[:most].tolist()
    return chosen


def worst_errors(
    model: "Model", test: Corpus, decisions: Any, probabilities: Any, most: int = MAX_ERRORS
) -> list[WorstError]:
    """The worst errors of a model on test documents, from its answers to them, and why it made them.

    ``decisions`` and ``probabilities`` have one column per class of the method.
    """
    classes = [str(label) for label in model.labels.classes]
    given, truth = decisions.astype(bool), truth_of(test, classes)
    rules = model.rules
    if rules is not None:  # what is not to be assigned is not missed
        assigned = ~rules.excluded
        truth = canonical(truth.multiply(assigned)) if is_sparse(truth) else truth & assigned
    if is_sparse(probabilities):
        probabilities = canonical(probabilities)
    return [
        _explained(model, test, mistake, classes, given, probabilities)
        for mistake in worst_errors_by_row(truth, given, probabilities, most)
    ]


def measure_with_errors(
    model: "Model", test: Corpus, most: int = MAX_ERRORS, answers: tuple[Any, Any] | None = None
) -> Result:
    """What `evaluate_in_detail` gives, for the same work, and the worst ``errors``; none of those for 0.

    ``answers`` are what the method's `classify` gives, where that is known.
    """
    labels, probabilities = answers or model.classify(test.texts, languages=test.languages)
    result = measure_answers(model, test, labels, probabilities)
    if most:
        result["errors"] = worst_errors(model, test, as_indicators(model, labels), probabilities, most)
    return result


def worst_of(errors: Iterable[WorstError], most: int = MAX_ERRORS) -> list[WorstError]:
    """The worst of several lists of errors: if each has as many, they are the worst of all documents."""
    found = list(errors)
    is_given = np.array(["false_positives" in error for error in found], dtype=bool)
    sureness = np.array(
        [
            error["false_positives"][0]["probability"]
            if "false_positives" in error
            else 1 - error["false_negatives"][0]["probability"]
            for error in found
        ]
    )
    return [found[place] for place in in_turns(is_given, sureness, most)]


def _surest(cells: AnyTargets, probabilities: Any, missed: bool = False) -> dict[int, tuple[int, float]]:
    """For each row that has such cells, the column of the one that the method was surest of, and how sure."""
    rows, columns = cells.nonzero()
    chances = values_at(probabilities, rows, columns)
    sure = 1 - chances if missed else chances
    order = np.lexsort((-sure, rows))
    distinct, first = np.unique(rows[order], return_index=True)
    chosen = order[first]
    found = zip(columns[chosen].tolist(), sure[chosen].tolist(), strict=True)
    return dict(zip(distinct.tolist(), found, strict=True))


def _explained(
    model: "Model",
    test: Corpus,
    mistake: LabelError,
    classes: Sequence[str],
    given: Any,
    probabilities: Any,
) -> WorstError:
    """A wrong document as it is told, with what led the model to its labels."""
    row, text = mistake.row, test.texts[mistake.row]
    blamed = {
        kind: column
        for kind, column in (("false_positives", mistake.wrong), ("false_negatives", mistake.missed))
        if column is not None
    }
    names = [classes[column] for column in blamed.values()]
    (explanation,) = model.explain([text], languages=[test.languages[row]], labels=names)
    reasons = {kind: explanation["labels"][classes[column]] for kind, column in blamed.items()}
    placed = {kind: [tuple(each) for each in reason.get("spans", ())] for kind, reason in reasons.items()}
    start, end = telling_part(text, placed[next(iter(blamed))], MAX_TEXT_CHARACTERS)
    shown, moved = cut_out(text, start, end)
    error: dict[str, Any] = {
        "id": test.ids[row],
        "language": str(test.languages[row]),
        "labels": list(test.labels[row] or ()),
        "predicted": [classes[column] for column in np.flatnonzero(dense_row(given, row)).tolist()],
    }
    chances = dense_row(probabilities, row)
    for kind, column in blamed.items():
        sign = -1 if kind == "false_negatives" else 1
        contributions = {
            "label": classes[column],
            "probability": float(chances[column]),
            "words": telling_words(text, placed[kind], reasons[kind], sign),
            "spans": [(s + moved, e + moved, c) for s, e, c in placed[kind] if start <= s and e <= end],
        }
        error[kind] = [contributions]
    abstained = {"abstained": explanation["abstained"]} if explanation["abstained"] else {}
    return {**error, "text": shown, **abstained}  # type: ignore[typeddict-item]


def telling_words(
    text: str, passages: Sequence[Passage], reason: dict[str, Any], sign: int
) -> list[list[Any]]:
    """The words that added most to a score, or took most from it: those of the text, or the method's own."""
    added = dict(amounts_by_word(text, passages)) if passages else {}
    views = [] if passages else [reason.get("tier_one", {}), *reason.get("other_views", {}).values()]
    for view in views:
        for word, contribution in view.get("words", ()):
            added[word] = added.get(word, 0.0) + contribution
    telling: list[list[Any]] = [[word, value] for word, value in added.items() if value * sign > 0]
    return sorted(telling, key=lambda each: -abs(each[1]))[:MAX_WORDS_NAMED]
