"""The experiments: what they measure is what their pieces say, whichever way it is reached."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.pieces import ResultCache
from funnelling.evaluation.registry import PAPER_MEASURES, measure_counts
from funnelling.evaluation.splits import trial_split
from funnelling.methods.learning import Method
from funnelling.report.content import Bars, Curves, HeatMap, Section, TableBlock
from funnelling.research.commands import run_experiments
from funnelling.research.experiments import contributions, mono_binary, paper, tables, zero_shot
from funnelling.research.experiments.registry import ALL_EXPERIMENTS, parse_experiments
from funnelling.research.experiments.setting import ExperimentContext, Funnels
from tests.research.experiments.made import LANGUAGES, made_corpus, made_one_label_trials, made_trials

FRACTIONS = (0.0, 0.5, 1.0)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> ExperimentContext:
    store = tmp_path_factory.mktemp("store")
    return ExperimentContext(
        made_trials(2), ["naive", "pooled", "fun-tat"], FRACTIONS, pieces=ResultCache(store)
    )


@pytest.fixture(scope="module")
def all_methods(setting: ExperimentContext) -> Any:
    return tables.run_methods(setting)


def blocks(section: Section, kind: type) -> list[Any]:
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_main_table_is_a_comparison_of_all_methods(all_methods: Any) -> None:
    assert list(all_methods["methods"]) == ["naive", "pooled", "fun-tat"]
    assert all(method["runs"] == 2 for method in all_methods["methods"].values())
    shown = blocks(tables.methods_section(all_methods), TableBlock)
    assert [table.name for table in shown] == ["methods", "languages", "significance", "methods-paper"]
    best = {shown[0].table.rows[row][0] for row, _ in shown[0].table.best}
    assert best <= {"Naive", "Pooled", "Fun(TAT)"}
    assert len(shown[0].table.best) == 6
    assert [figure.name for figure in blocks(tables.methods_section(all_methods), Curves)] == [
        "reliability",
        "examples",
    ]


def test_the_papers_figures_stand_beside_ours_with_the_difference(all_methods: Any) -> None:
    beside = blocks(tables.methods_section(all_methods), TableBlock)[-1].table
    naive = next(row for row in beside.rows if row[0] == "Naive")
    ours = all_methods["methods"]["naive"]["average"]["micro_f1"]
    assert naive[2] == ".776"
    assert float(naive[3]) == pytest.approx(ours - 0.776, abs=5e-4)
    assert [row[0] for row in beside.rows] == ["Naive", "Fun(TAT)"]  # pooled is not in the paper


def test_improvement_over_naive_is_in_per_cent(setting: ExperimentContext, all_methods: Any) -> None:
    result = tables.run_per_language(setting)
    naive, fun = (
        all_methods["methods"][name]["languages"]["it"]["macro_f1_paper"] for name in ("naive", "fun-tat")
    )
    assert result["improvements"]["macro_f1_paper"]["fun-tat"]["it"] == pytest.approx(100 * (fun / naive - 1))
    assert set(result["improvements"]["micro_k"]) == set(result["above"]) == {"pooled", "fun-tat"}
    assert result["above"]["pooled"][1] == len(LANGUAGES) * len(PAPER_MEASURES)
    assert len(blocks(tables.per_language_section(result), Bars)) == 4


def test_columns_a_and_d_are_those_of_the_main_table(setting: ExperimentContext, all_methods: Any) -> None:
    columns = mono_binary.run_mono_binary(setting)["methods"]
    assert list(columns) == ["A", "B", "C", "D"]
    for column, name in (("A", "naive"), ("D", "fun-tat")):
        for measure in PAPER_MEASURES:
            assert columns[column]["average"][measure] == all_methods["methods"][name]["average"][measure]
    assert columns["B"]["languages"]["it"]["documents"] == 20


def test_column_b_is_a_funnel_of_one_language(setting: ExperimentContext) -> None:
    columns = mono_binary.run_mono_binary(setting)["methods"]
    expected = []
    for number, trial in enumerate(setting.trials):
        only = trial._replace(
            train=trial.train.select([tag == "it" for tag in trial.train.languages]),
            test=trial.test.select([tag == "it" for tag in trial.test.languages]),
        )
        alone = ExperimentContext([only], [], seed=number).compare(["fun-tat"]).results()[0]["fun-tat"]
        expected.append(alone[0]["average"]["macro_f1_paper"])
    assert columns["B"]["languages"]["it"]["macro_f1_paper"] == pytest.approx(np.mean(expected))


def test_decisions_by_the_documents_of_a_label_add_up_to_those_of_the_columns(
    setting: ExperimentContext,
) -> None:
    result = mono_binary.run_mono_binary(setting)
    truth = sum(int(trial.test.label_matrix(trial.train.label_set()).sum()) for trial in setting.trials)
    for sums in result["by_examples"].values():
        tp, _, fn = np.sum(sums, axis=0)
        assert tp + fn == truth
    assert not np.any(result["by_examples"]["B"][0]), "each label has documents in each language here"
    table = blocks(mono_binary.mono_binary_section(result), TableBlock)[-2]
    assert table.name == "mono-binary-examples"
    assert [row[0] for row in table.table.rows] == [
        "none",
        *["1 to 3", "4 to 10", "11 to 30", "31 to 100", "101 and more"],
    ]


def test_column_c_sees_no_other_label(setting: ExperimentContext) -> None:
    """With one label in all, there is no other to see: C is D."""
    trials = []
    for trial in setting.trials:
        sides = []
        for side in trial:
            own = [tuple(label for label in labels or () if label == "a") for labels in side.labels]
            sides.append(replace(side, labels=own))
        trials.append(trial._replace(train=sides[0], test=sides[1]))
    columns = mono_binary.run_mono_binary(ExperimentContext(trials, []))["methods"]
    # D solved its way up to that C, C begins there: the same optimum to the solver's tolerance.
    assert columns["C"]["average"] == pytest.approx(columns["D"]["average"], abs=0.02)


def test_learning_curves_end_where_the_main_table_is(setting: ExperimentContext, all_methods: Any) -> None:
    curves = contributions.run_learning_curves(setting)
    assert list(curves) == list(LANGUAGES)
    assert [point["fraction"] for point in curves["it"]] == list(FRACTIONS)
    for title, name in ((contributions.NAIVE, "naive"), (contributions.FUNNEL, "fun-tat")):
        expected = all_methods["methods"][name]["languages"]["it"]["macro_f1_paper"]
        assert curves["it"][-1][title]["macro_f1_paper"] == expected
    assert curves["it"][0][contributions.FUNNEL]["micro_f1"] == 0  # a funnel without documents rejects all
    (figure, *_, relative) = blocks(contributions.learning_curves_section(curves), Curves)
    assert list(figure.panels) == list(LANGUAGES)
    naive, funnel = (curves["it"][-1][name]["macro_f1_paper"] for name in ("Naive", "Fun(TAT)"))
    assert relative.panels[""]["it"][-1] == (100, pytest.approx(100 * (funnel / naive - 1)))
    assert len(relative.panels[""]["it"]) == len(FRACTIONS) - 1, "nothing can be said of no documents"


@pytest.mark.parametrize("classes", ["ab", "abcd"])
def test_one_label_per_document(classes: str) -> None:
    setting = ExperimentContext(made_one_label_trials(classes=classes), ["naive", "fun-tat"], FRACTIONS)
    methods = tables.run_methods(setting)["methods"]
    columns = mono_binary.run_mono_binary(setting)
    assert list(columns["best"])[:2] == ["accuracy", "micro_f1"]
    assert [pair["p_groups"] for pair in columns["pairs"]["accuracy"]] == [None] * 6
    for column, name in (("A", "naive"), ("D", "fun-tat")):
        assert columns["methods"][column]["average"]["accuracy"] == methods[name]["average"]["accuracy"]
    for column in "BC":
        average = columns["methods"][column]["average"]
        assert 0 < average["accuracy"] == pytest.approx(average["micro_f1"])
    curves = contributions.run_learning_curves(setting)
    last = curves["it"][-1]["Fun(TAT)"]["accuracy"]
    assert last == methods["fun-tat"]["languages"]["it"]["accuracy"]
    assert curves["it"][0]["Fun(TAT)"]["accuracy"] == 0
    section = contributions.learning_curves_section(curves)
    assert section.paragraphs[1] == "Without any documents both have no answer, which is never right."
    assert "accuracy" in blocks(section, Curves)[0].title
    result = contributions.run_contributions(setting)
    assert blocks(contributions.contributions_section(result), TableBlock)[0].table.rows[0][0] == "accuracy"
    assert next(iter(zero_shot.run_zero_shot(setting)["methods"]["fun-zero-shot"])) == "accuracy"


def test_contributions_and_benefits_are_means_of_improvements(
    setting: ExperimentContext, all_methods: Any
) -> None:
    result = contributions.run_contributions(setting)
    pairs = result["improvements"]["macro_f1_paper"]
    assert set(pairs) == set(LANGUAGES)
    assert all(source not in targets for source, targets in pairs.items())
    assert result["contribution"]["macro_f1_paper"]["it"] == pytest.approx(
        np.mean(list(pairs["it"].values()))
    )
    assert result["benefit"]["macro_f1_paper"]["it"] == pytest.approx(
        np.mean([pairs[s]["it"] for s in ("de", "en")])
    )
    naive = [all_methods["methods"]["naive"]["languages"][tag]["macro_f1_paper"] for tag in LANGUAGES]
    ours = [result["contribution"]["macro_f1_paper"][tag] for tag in LANGUAGES]
    expected = pearsonr(ours, naive)
    found = result["correlations"]["contribution"]["macro_f1_paper"]
    assert found == pytest.approx([expected.statistic, expected.pvalue])
    assert len(blocks(contributions.contributions_section(result), HeatMap)) == 4


def test_calibrations_are_those_of_the_classifier(setting: ExperimentContext, all_methods: Any) -> None:
    result = tables.run_calibration(setting)
    assert list(result["methods"]) == ["naive", "NoProb", "NoCalib", "fun-tat"]
    assert result["methods"]["fun-tat"] == all_methods["methods"]["fun-tat"]
    assert result["methods"]["NoProb"]["average"] != result["methods"]["fun-tat"]["average"]
    table, pairs, beside = blocks(tables.calibration_section(result), TableBlock)
    assert "Calib" in [cell for row in pairs.table.rows for cell in row[:2]]
    assert [row[0] for row in table.table.rows[:-1]] == ["Naive", "NoProb", "NoCalib", "Calib"]
    assert len(beside.table.rows) == 4


def test_times_are_those_of_the_main_table(setting: ExperimentContext, all_methods: Any) -> None:
    result = tables.run_efficiency(setting)
    seconds = result["seconds"]["fun-tat"]["fit"]
    assert np.mean(seconds) == pytest.approx(all_methods["methods"]["fun-tat"]["fit_seconds"])
    (table,) = blocks(tables.efficiency_section(result), TableBlock)
    assert table.table.rows[0][3:] == ["537", "6"]


def test_zero_shot_ends_with_all_languages_learned_from(setting: ExperimentContext, all_methods: Any) -> None:
    result = zero_shot.run_zero_shot(setting)
    scores = np.array(result["methods"]["fun-zero-shot"]["micro_f1"])
    assert scores.shape == (len(LANGUAGES), len(LANGUAGES))
    expected = [all_methods["methods"]["fun-tat"]["languages"][tag]["micro_f1"] for tag in LANGUAGES]
    # Languages with training documents lose nothing by it, to the solver's tolerance: one decision is .025.
    assert scores[-1] == pytest.approx(expected, abs=0.03)
    assert scores[0, 0] > scores[0, 1]  # German was learned from, English was not
    assert len(blocks(zero_shot.zero_shot_section(result), HeatMap)) == 4


def test_a_variant_of_a_language_is_learned_with_it() -> None:
    """Else Brazilian documents, labelled by classifiers of Portuguese, would count as unseen."""
    tags = {"de": "pt_BR", "en": "de", "it": "pt"}
    documents = [replace(d, language=tags[str(d.language)]) for d in made_corpus()]
    trial = trial_split(Corpus.from_documents(documents), 0, 0)
    learned = []

    fit = Method.fit

    def noted(method: Method, train: Corpus) -> Any:
        learned.append(sorted(train.by_language()))
        return fit(method, train)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Method, "fit", noted)
        result = zero_shot.run_zero_shot(ExperimentContext([trial], []))
    assert learned == [["de"], ["de", "pt", "pt_BR"]]
    assert result["steps"] == [["de"], ["pt", "pt_BR"]]
    assert np.array(result["methods"]["fun-zero-shot"]["micro_f1"]).shape == (2, 3)
    section = zero_shot.zero_shot_section(result)
    assert "of seen ones" in section.paragraphs[1]
    assert "unseen" not in section.paragraphs[1], "no language is unseen both before and after a step"
    assert blocks(section, HeatMap)[0].rows == ["de", "+ pt, pt_BR"]


def test_zero_shot_keeps_what_it_learned_from_apart(tmp_path: Path) -> None:
    """The first two languages are others where another trial lacks one."""
    trial = made_trials()[0]
    less = trial._replace(train=trial.train.select([tag != "en" for tag in trial.train.languages]))
    first = zero_shot.run_zero_shot(ExperimentContext([trial], [], pieces=ResultCache(tmp_path)))
    then = zero_shot.run_zero_shot(ExperimentContext([trial, less], [], pieces=ResultCache(tmp_path)))
    anew = zero_shot.run_zero_shot(ExperimentContext([trial, less], []))
    assert first["languages"] == ["de", "en", "it"]
    assert then == anew


def test_zero_shot_shows_its_variants_side_by_side(setting: ExperimentContext) -> None:
    names = ["fun-zero-shot", "fun-zero-shot:joint"]
    settings = {"fun-zero-shot:joint": {"zero_shot_joint": True}}
    result = zero_shot.run_zero_shot(
        ExperimentContext(setting.trials[:1], ["naive", *names], settings=settings)
    )
    assert list(result["methods"]) == names
    section = zero_shot.zero_shot_section(result)
    (means,) = blocks(section, TableBlock)
    first = np.array(result["methods"]["fun-zero-shot"]["micro_f1"])
    above = first[np.triu_indices_from(first, 1)]
    assert means.table.rows[0][:4] == ["Fun(zero-shot)", "unseen", str(above.size), f"{above.mean():.3f}"[1:]]
    assert [row[:2] for row in means.table.rows[1::2]] == [
        ["Fun(zero-shot), joint", "unseen"],
        ["Fun(zero-shot), joint", "seen"],
    ]
    assert section.paragraphs[2].startswith("Fun(zero-shot), joint, one trial: ")
    figures = blocks(section, HeatMap)
    assert [figure.name for figure in figures][::4] == [
        "fun-zero-shot-micro-f1",
        "fun-zero-shot-joint-micro-f1",
    ]


def test_all_of_them_find_everything_the_second_time(setting: ExperimentContext) -> None:
    first, sections = run_experiments(parse_experiments(ALL_EXPERIMENTS), setting)
    lines: list[str] = []
    again = ExperimentContext(
        setting.trials, setting.methods, FRACTIONS, pieces=setting.pieces, report=lines.append
    )
    assert run_experiments(parse_experiments(ALL_EXPERIMENTS), again)[0] == first  # times and all
    assert all("(kept)" in line or "fit" in line for line in lines)
    assert [section.name for section in sections] == parse_experiments(ALL_EXPERIMENTS)


def test_a_parallel_corpus_has_an_upper_bound_and_stands_beside_jrc_acquis(tmp_path: Path) -> None:
    names = ["naive", "fun-tat", "upper-bound"]
    result = tables.run_methods(
        ExperimentContext(made_trials(parallel=True), names, pieces=ResultCache(tmp_path))
    )
    assert result["like"] == paper.JRC
    assert list(result["methods"]["upper-bound"]["languages"]) == ["en"]
    assert result["best"]["micro_f1"] != "upper-bound"
    table = blocks(tables.methods_section(result), TableBlock)
    assert "UpperBound" not in table[1].table.header  # it has one language only
    assert [row[:2] for row in table[2].table.rows] == [["Naive", "Fun(TAT)"]]
    assert all(pairs[0]["p_groups"] is not None for pairs in result["pairs"].values())
    assert [row[0] for row in table[3].table.rows] == ["Naive", "Fun(TAT)", "UpperBound"]


def test_the_papers_tables_agree_with_each_other() -> None:
    for corpus in (paper.RCV, paper.JRC):
        assert paper.MONO_BINARY[corpus]["A"] == paper.CALIBRATION[corpus]["naive"]
        assert paper.MONO_BINARY[corpus]["D"] == paper.METHODS[corpus]["fun-tat"]
        assert set(paper.EFFICIENCY[corpus]) == set(paper.METHODS[corpus]) - {"upper-bound"}
    assert paper.by_language(paper.CONTRIBUTION[paper.RCV])["micro_f1"]["sv"] == 2.25
    assert paper.by_language(paper.BENEFIT[paper.JRC])["micro_f1"]["fi"] == 2.27
    assert "fi" not in paper.by_language(paper.BENEFIT[paper.RCV])["micro_f1"]


class TestOddCorpora:
    def test_a_language_without_test_documents_still_teaches_the_others(self) -> None:
        (trial,) = made_trials()
        less = trial._replace(test=trial.test.select([tag != "it" for tag in trial.test.languages]))
        setting = ExperimentContext([less], [], FRACTIONS)
        funnels = setting.funnels(0)
        assert funnels.languages == list(LANGUAGES)
        assert setting.languages == ["de", "en"]
        found = funnels.tier_two(dict.fromkeys(LANGUAGES, 1.0)).counts("de")
        expected = setting.results("fun-tat")[0]["languages"]["de"]
        assert measure_counts(found)["micro_f1"] == pytest.approx(expected["micro_f1"], abs=0.02)
        pairs = contributions.run_contributions(setting)["improvements"]["micro_f1"]
        assert set(pairs["de"]) == {"en"}
        assert set(contributions.run_learning_curves(setting)) == {"de", "en"}

    def test_only_languages_of_all_trials_count(self) -> None:
        (trial,) = made_trials()
        less = trial._replace(train=trial.train.select([tag != "it" for tag in trial.train.languages]))
        for trials in ([trial, less], [less, trial]):
            setting = ExperimentContext(trials, ["naive", "fun-tat"], FRACTIONS)
            results, _ = run_experiments(parse_experiments(ALL_EXPERIMENTS), setting)
            assert set(results["learning-curves"]) == {"de", "en"}
            assert results["zero-shot"]["languages"] == ["de", "en"]

    def test_base_classifiers_are_fitted_once_however_many_trials(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fits: list[tuple[Funnels, str, int]] = []  # holds the funnels, so that no two have the same id
        fit_base = Funnels._fit_base

        def noted(self: Funnels, language: str, train: Corpus) -> Any:
            fits.append((self, language, len(train)))
            return fit_base(self, language, train)

        monkeypatch.setattr(Funnels, "_fit_base", noted)
        contributions.run_learning_curves(ExperimentContext(made_trials(2), [], FRACTIONS))
        assert len(fits) == len(set(fits)) == 2 * len(LANGUAGES) * 2

    def test_a_language_that_cannot_be_labelled_unseen_is_left_open(self) -> None:
        documents = [replace(d, language="zz") if d.language == "it" else d for d in made_corpus()]
        trial = trial_split(Corpus.from_documents(documents), 0, 0)
        result = zero_shot.run_zero_shot(ExperimentContext([trial], []))
        assert result["languages"] == ["de", "en", "zz"]
        scores = result["methods"]["fun-zero-shot"]["micro_f1"]
        assert scores[0][2] is None
        assert scores[2][2] > 0
        zero_shot.zero_shot_section(result)

    def test_one_that_cannot_be_run_leaves_the_others(self) -> None:
        lines: list[str] = []
        setting = ExperimentContext(made_trials(), ["naive"], FRACTIONS, report=lines.append)
        results, sections = run_experiments(["methods", "per-language"], setting)
        assert list(results) == ["methods"]
        assert sections[1].paragraphs[0].startswith("Not run: per-language compares")
        assert any(line.startswith("per-language: not run") for line in lines)
        with pytest.raises(InputError, match="Add to --methods"):
            run_experiments(["per-language"], setting)

    def test_what_an_experiment_varies_cannot_be_set(self) -> None:
        with pytest.raises(InputError, match="Drop --set"):
            tables.run_calibration(
                ExperimentContext(made_trials(), [], settings={"fun-tat": {"calibration": "none"}})
            )

    def test_upper_bound_is_no_rival_in_figures(self) -> None:
        names = ["naive", "upper-bound"]
        setting = ExperimentContext(made_trials(parallel=True), names)
        (table,) = blocks(tables.efficiency_section(tables.run_efficiency(setting)), TableBlock)
        assert {row for row, _ in table.table.best} == {0}
        result = tables.run_methods(setting)
        examples = blocks(tables.methods_section(result), Curves)[1]
        assert "UpperBound" not in examples.alternative
        # Its training documents count once, not in every version.
        counts = {name: m["f1_by_examples"] for name, m in result["methods"].items()}
        assert [row[2] for row in counts["upper-bound"]] == [row[2] for row in counts["naive"]]

    def test_test_documents_without_known_labels(self) -> None:
        (trial,) = made_trials()
        test = replace(trial.test, labels=[() for _ in trial.test.labels])
        section = tables.methods_section(
            tables.run_methods(ExperimentContext([trial._replace(test=test)], ["naive", "fun-tat"]))
        )
        assert [figure.name for figure in blocks(section, Curves)] == ["reliability"]
