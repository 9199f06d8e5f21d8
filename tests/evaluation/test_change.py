"""Measures before and after on the same documents, and which falls are more than noise."""

import numpy as np
from numpy.typing import NDArray

from funnelling.evaluation.change import HELD_OUT, TEST, PairedDecisions, measure_change

Matrix = NDArray[np.bool_]


def decided(documents: int, wrong_before: int, wrong_after: int, units: int | None = None) -> PairedDecisions:
    """Documents of two labels, some of which each model gets wrong: before the last ones, after the first."""
    truth = np.tile([[True, False], [False, True]], (documents // 2, 1))
    before, after = truth.copy(), truth.copy()
    before[documents - wrong_before :] ^= True
    after[:wrong_after] ^= True
    names = [("unit", i % (units or documents)) for i in range(documents)]
    return PairedDecisions(TEST, truth, before, after, names)


def fell(*each: PairedDecisions, one_label: bool = False) -> list[tuple[str, str | None]]:
    change = measure_change(dict(zip(("en", "it", "de"), each, strict=False)), one_label)
    return [(fall.measure, fall.language) for fall in change.regressions]


class TestFalls:
    def test_a_clear_fall_is_named_by_every_measure(self) -> None:
        assert ("micro_f1", None) in fell(decided(100, 0, 30))

    def test_as_many_other_errors_are_none(self) -> None:
        assert fell(decided(100, 20, 20)) == []

    def test_a_few_more_errors_are_noise(self) -> None:
        assert fell(decided(100, 10, 14)) == []

    def test_a_rise_is_none(self) -> None:
        assert fell(decided(100, 30, 0)) == []

    def test_few_documents_prove_nothing(self) -> None:
        assert fell(decided(4, 0, 4)) == []

    def test_documents_of_one_group_count_once(self) -> None:
        assert fell(decided(100, 0, 30, units=2)) == []

    def test_one_language_may_fall_where_the_others_rise(self) -> None:
        found = fell(decided(200, 0, 60), decided(200, 60, 0))
        assert ("micro_f1", "en") in found
        assert ("micro_f1", None) not in found

    def test_a_fall_that_no_table_would_show_is_none(self) -> None:
        assert fell(decided(40_000, 0, 20)) == []

    def test_fewer_labels_that_are_right_more_often_are_none(self) -> None:
        truth = np.arange(1_000)[:, None] < 200
        before, after = truth.copy(), truth.copy()
        before[200:220] = True
        after[:10] = False
        change = measure_change(
            {"en": PairedDecisions(TEST, truth, before, after, range(1_000))}, one_label=False
        )
        assert change.average_after["micro_k"] < change.average_before["micro_k"]
        assert change.regressions == ()

    def test_one_label_per_document_falls_by_accuracy(self) -> None:
        assert fell(decided(100, 0, 30), one_label=True)[0] == ("accuracy", None)


class TestMeasures:
    def test_a_new_language_has_none_before_and_is_not_in_the_average(self) -> None:
        known, new = decided(40, 0, 0), decided(40, 0, 40)._replace(before=None, on=HELD_OUT)
        change = measure_change({"de": new, "en": known}, one_label=False)
        assert list(change.before) == ["en"]
        assert list(change.after) == ["de", "en"]
        assert change.average_before["micro_f1"] == change.average_after["micro_f1"] == 1
        assert change.on == {"de": HELD_OUT, "en": TEST}
        assert change.after["de"]["documents"] == 40

    def test_nothing_to_measure(self) -> None:
        change = measure_change({}, one_label=False)
        assert change.record()["regressions"] == []
        assert change.average_after == {}
