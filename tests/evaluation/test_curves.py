"""Learning curves: shares of the training documents, measured over the same labels."""

import numpy as np
import pytest

from funnelling import Corpus, Document, InputError
from funnelling.evaluation.comparison import Comparison
from funnelling.evaluation.curves import doubling, run_comparison
from funnelling.evaluation.splits import Trial, shares_of
from tests.evaluation.oracle import Oracle, made_corpus


def _corpus() -> Corpus:
    """Eight documents, and one of them alone has a third label."""
    labels = [("a",), ("b",)] * 4
    labels[5] = ("b", "rare")
    return Corpus.from_documents(
        Document(str(i), f"text {i}", language="en", labels=own) for i, own in enumerate(labels)
    )


def test_shares_are_nested_and_have_their_part_of_every_language_and_label() -> None:
    corpus = made_corpus(40)
    drawn = shares_of(Trial(corpus, made_corpus(4), Corpus()), [0.5, 0.25], seed=0)
    half, quarter = drawn[0.5].train, drawn[0.25].train
    assert {*quarter.ids} < {*half.ids} < {*corpus.ids}
    for share, number in ((half, 20), (quarter, 10)):
        assert [
            len(own.ids) for own in (share.select(np.array(share.languages) == tag) for tag in ("en", "it"))
        ] == [
            number,
            number,
        ]
        assert share.labels.count(("a", "b")) == number
    assert shares_of(Trial(corpus, corpus, Corpus()), [0.5], seed=1)[0.5].train.ids != half.ids


def test_groups_stay_together() -> None:
    corpus = Corpus.from_documents(
        Document(f"{tag}{i}", f"{tag} text {i}", language=tag, labels=("ab"[i % 2],), group=str(i))
        for tag in ("en", "it")
        for i in range(12)
    )
    train = shares_of(Trial(corpus, corpus, Corpus()), [0.5], seed=0)[0.5].train
    assert sorted(train.groups.count(group) for group in {*train.groups}) == [2] * 6


def test_a_label_that_a_share_lacks_counts_as_never_found() -> None:
    corpus = _corpus()
    trial = Trial(corpus, corpus, Corpus())
    makers = {"oracle": lambda seed: Oracle()}  # noqa: ARG005
    result = run_comparison(Comparison([trial], makers), [0.5])  # type: ignore[arg-type]
    curve = result["methods"]["oracle"]["fractions"]
    assert list(curve) == ["0.5", "1"]
    assert [point["documents"] for point in curve.values()] == [4, 8]
    known = {*shares_of(trial, [0.5], seed=0)[0.5].train.ids}
    rare = float("5" in known)
    # Of a and b, with two documents of four known each: F1 = 2 * 2 / (2 + 4).
    assert curve["0.5"]["average"]["macro_f1"] == pytest.approx((2 / 3 + 2 / 3 + rare) / 3)
    assert curve["1"]["average"] == result["methods"]["oracle"]["average"]
    assert result["methods"]["oracle"]["doubling"] == {}, "two points are no curve"


def test_a_share_in_which_nothing_differs_is_refused() -> None:
    labels = [("a",)] * 30 + [("b",)]
    corpus = Corpus.from_documents(
        Document(str(i), f"text {i}", language="en", labels=own) for i, own in enumerate(labels)
    )
    with pytest.raises(InputError, match=r"0\.1 of the training documents: nothing to learn"):
        shares_of(Trial(corpus, corpus, Corpus()), [0.1], seed=0)


def test_of_one_language_the_error_is_that_of_the_line() -> None:
    def point(documents: int, score: float) -> dict[str, object]:
        return {
            "documents": documents,
            "average": {"macro_f1": score},
            "languages": {"en": {"macro_f1": score}},
        }

    line = {"0.25": point(25, 0.1), "0.5": point(50, 0.2), "1": point(100, 0.3)}
    assert doubling(line)["macro_f1"] == pytest.approx((0.05, 0.1))
    bent = {**line, "0.5": point(50, 0.26)}
    # Slope 0.1 per doubling, residuals -.02, .04, -.02: error sqrt(.0024 / 1 / 2).
    assert doubling(bent)["macro_f1"] == pytest.approx((0.05 - 0.0346, 0.1 + 0.0346), abs=1e-4)
    near = {"0.9": point(90, 0.1), "0.95": point(95, 0.2), "1": point(100, 0.3)}
    assert doubling(near) == {}
