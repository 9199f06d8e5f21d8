"""What to label next: suggested documents beside drawn ones, from the same beginning, as a report says it."""

from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.report.content import Curves, TableBlock
from funnelling.reproduction.experiments import labelling
from funnelling.reproduction.experiments.registry import parse_experiments
from funnelling.reproduction.experiments.setting import Setting
from funnelling.trials.pieces import Pieces

from .made import LANGUAGES, made_one_label_trials, made_trials

RANDOM, SUGGESTED = labelling.RANDOM, labelling.SUGGESTED


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return labelling.run_labelling(_setting(tmp_path_factory.mktemp("store"), made_trials(2, each=60)))


def _setting(store: Path, trials: Any) -> Setting:
    return Setting(trials, [], pieces=Pieces(store), learner="naive", label_up_to=90, steps=3)


def test_both_ways_begin_alike_and_grow_alike(result: Any) -> None:
    for trial in result["trials"]:
        assert [point["labelled"] for point in trial[RANDOM]] == [60, 90]
        assert [point["labelled"] for point in trial[SUGGESTED]] == [60, 90]
        assert trial[RANDOM][0] == trial[SUGGESTED][0]
        assert set(trial[RANDOM][0]["languages"]) == set(LANGUAGES)


def test_a_report_has_bands_and_every_language(result: Any) -> None:
    section = labelling.labelling_section(result)
    curves = [block for block in section.blocks if isinstance(block, Curves)]
    assert [curve.name for curve in curves] == ["labelling-micro-f1", "labelling-macro-f1"]
    assert list(curves[0].panels) == ["average", *LANGUAGES]
    for (_, mean), (low, high) in zip(
        curves[0].panels["average"][SUGGESTED], curves[0].band("average", SUGGESTED), strict=True
    ):
        assert low <= mean <= high
    assert curves[0].table().header[-2:] == ["from", "to"]
    by_language = next(each for each in section.blocks if each.name == "labelling-languages")
    assert isinstance(by_language, TableBlock)
    assert [row[0] for row in by_language.table.rows] == list(LANGUAGES)
    assert "As good as 90 documents drawn at random" in section.paragraphs[0]


def test_documents_with_one_label_are_measured_by_accuracy(tmp_path: Path) -> None:
    result = labelling.run_labelling(_setting(tmp_path, made_one_label_trials()))
    assert "labelling-accuracy" in {block.name for block in labelling.labelling_section(result).blocks}


def test_too_few_documents_are_refused_and_all_means_those_of_the_paper(tmp_path: Path) -> None:
    setting = Setting(made_trials(), [], pieces=Pieces(tmp_path), learner="naive")
    with pytest.raises(InputError, match="--label-up-to 2000 is out of reach"):
        labelling.run_labelling(setting)
    assert "labelling" not in parse_experiments("all")
    assert parse_experiments("labelling") == ["labelling"]


@pytest.mark.parametrize(("reached", "needed"), [((0.2, 0.6), 75), ((0.2, 0.3), None), ((0.5, 0.6), 60)])
def test_what_is_needed_lies_between_steps(reached: tuple[float, float], needed: int | None) -> None:
    def points(*values: float) -> list[Any]:
        return [
            {"labelled": size, "average": {"micro_f1": value}}
            for size, value in zip((60, 90), values, strict=True)
        ]

    result = {"label_up_to": 90, "trials": [{RANDOM: points(0.2, 0.4), SUGGESTED: points(*reached)}]}
    found = labelling._needed(result, "micro_f1")
    assert found == (None if needed is None else pytest.approx(needed))
