"""Which languages help most and which are helped: Tables 3 and 4, and Figure 3's learning curves.

Tables 3 and 4 are at a tenth of the target language's training documents. What a source language contributes
to a target is the improvement, in per cent, of Fun(TAT) with its documents over Fun(TAT) without them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from funnelling.evaluation.comparison import summarise_trials
from funnelling.evaluation.measures import Counts
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, is_of_one_label, paper_measures
from funnelling.evaluation.splits import learnable
from funnelling.report.content import Curves, HeatMap, Section, TableBlock
from funnelling.report.tables import Table, number
from funnelling.research.experiments import paper
from funnelling.research.experiments.setting import ExperimentContext, Funnels
from funnelling.research.experiments.tables import decisions_of, improvement, mean_of_known

NAIVE, FUNNEL = "Naive", "Fun(TAT)"
METHODS = {NAIVE: "naive", FUNNEL: "fun-tat"}


def run_learning_curves(setting: ExperimentContext) -> Result:
    """By language and fraction: the measures of Naive and of Fun(TAT), averaged over trials."""
    trials = [
        {
            (language, fraction, name): under_resourced(setting, number, name, language, fraction)
            for language in setting.languages
            for fraction in setting.fractions
            for name in METHODS.values()
        }
        for number in range(len(setting.trials))
    ]

    def mean(*key: Any) -> Result:
        return {m: float(np.mean([trial[key][m] for trial in trials])) for m in setting.measures}

    return {
        language: [
            {
                "fraction": fraction,
                **{title: mean(language, fraction, name) for title, name in METHODS.items()},
            }
            for fraction in setting.fractions
        ]
        for language in setting.languages
    }


def under_resourced(
    setting: ExperimentContext, number: int, name: str, language: str, fraction: float
) -> Result:
    """A method with a fraction of one language's training documents in a trial, on that language.

    Fun(TAT) without any rejects everything: tier 2 has learned that a posterior of 0 means no.
    """
    if fraction == 1:
        return dict(setting.results(name)[number]["languages"][language])
    measure, mark = (
        (_naive, setting.marks.get(name)) if name == "naive" else (_funnel, setting.meta_cs()[number])
    )
    return setting.piece(
        f"{name}-{language}-{fraction:g}", number, mark, measure, setting, number, language, fraction
    )


def _funnel(setting: ExperimentContext, number: int, language: str, fraction: float) -> Result:
    funnels = setting.funnels(number)
    if fraction == 0:
        return _rejected(funnels, language)
    shares = dict.fromkeys(funnels.languages, 1.0) | {language: fraction}
    return funnels.measure(funnels.tier_two(shares).counts(language))


def _naive(setting: ExperimentContext, number: int, language: str, fraction: float) -> Result:
    funnels = setting.funnels(number)
    train, test = funnels.documents(language, fraction), funnels.tests(language)
    if fraction == 0 or not learnable(train):
        return _rejected(funnels, language)
    model = setting.make("naive", setting.seed + number).fit(train)
    decisions = decisions_of(model, test, funnels.classes)
    return funnels.measure(funnels.count(funnels.truth(test), decisions))


def _rejected(funnels: Funnels, language: str) -> Result:
    truth = funnels.truth(funnels.tests(language))
    return funnels.measure(Counts.of(truth, np.zeros_like(truth)))


def learning_curves_section(result: Result) -> Section:
    """What a report says of it."""
    measures = _measures(result)
    nothing = "say no to everything, and score what absent labels are worth"
    if is_of_one_label(measures):
        nothing = "have no answer, which is never right"
    return Section(
        "learning-curves",
        "Languages with few training documents",
        [
            "Fun(TAT) and Naive on the test documents of one language, for growing shares of its training "
            "documents; Fun(TAT) has all documents of all other languages too, and the C that was chosen on "
            "all documents. In the paper it is always above Naive, and relatively more so the fewer "
            f"documents there are. {_finding(result)}",
            f"Without any documents both {nothing}.",
        ],
        [*(_curves_figure(measure, result) for measure in measures), _curve_improvements(result)],
    )


def _measures(result: Result) -> list[str]:
    return paper_measures(next(iter(result.values()))[0][NAIVE])


def _finding(result: Result) -> str:
    points = [point for points in result.values() for point in points if point["fraction"] > 0]
    if not points:
        return ""
    measures = _measures(result)
    above = sum(point[FUNNEL][m] > point[NAIVE][m] for point in points for m in measures)
    fractions = sorted({point["fraction"] for point in points})
    gains = [
        mean_of_known([_improvement(point) for point in points if point["fraction"] == fraction])
        for fraction in fractions
    ]
    shown = [
        f"{gain:+.1f} % with {fraction:.0%} of the documents"
        for gain, fraction in zip(gains, fractions, strict=True)
        if gain is not None
    ]
    return (
        f"Here it is above Naive in {above} of {len(points) * len(measures)} points; the improvement in "
        f"the paper's macro-F1, in the mean over languages, is {', '.join(shown)}."
    )


def _improvement(point: Any) -> float | None:
    """That of macro-F1 over Naive in per cent, as the paper's figure has it."""
    return improvement(point[FUNNEL]["macro_f1_paper"], point[NAIVE]["macro_f1_paper"])


def _curve_improvements(result: Result) -> Curves:
    """The paper's figure: the relative improvement in macro-F1, one line per language."""
    lines = {
        language: [
            (100 * point["fraction"], gain)
            for point in points
            if point["fraction"] > 0 and (gain := _improvement(point)) is not None
        ]
        for language, points in result.items()
    }
    return Curves(
        "learning-curves-improvement",
        "Improvement over Naive in the paper's macro-F1, per cent",
        "One line per language: the improvement of Fun(TAT) over Naive in the paper's macro-F1, per cent of "
        "Naive's, for growing shares of the language's training documents.",
        "% of the language's training documents",
        "% over Naive",
        {"": lines},
    )


def _curves_figure(measure: str, result: Result) -> Curves:
    panels = {
        language: {
            name: [(100 * point["fraction"], point[name][measure]) for point in points]
            for name in (FUNNEL, NAIVE)
        }
        for language, points in result.items()
    }
    return Curves(
        f"learning-curves-{measure.replace('_', '-')}",
        f"{MEASURES[measure].title} against the share of a language's training documents",
        f"One panel per language: {MEASURES[measure].title} of Fun(TAT) and of Naive, for growing shares of "
        "the language's training documents.",
        "% of the language's training documents",
        MEASURES[measure].title,
        panels,
    )


SHARE = 0.1


def run_contributions(setting: ExperimentContext) -> Result:
    """Improvements by measure, source and target; contributions, benefits, and their correlations."""
    languages, measures = setting.languages, setting.measures
    trials, tenth = [], []
    for trial, C in enumerate(setting.meta_cs()):
        funnels = setting.funnels(trial)
        trials.append(
            {
                target: setting.piece(f"contributions-{target}", trial, C, _improvements, funnels, target)
                for target in languages
            }
        )
        tenth.append({tag: under_resourced(setting, trial, "naive", tag, SHARE) for tag in languages})
    pairs = {
        measure: {
            source: {
                target: mean_of_known([trial[target][source][measure] for trial in trials])
                for target in languages
                if target != source
            }
            for source in languages
        }
        for measure in measures
    }
    contribution = {m: {s: mean_of_known(list(pairs[m][s].values())) for s in languages} for m in measures}
    benefit = {
        m: {t: mean_of_known([pairs[m][s][t] for s in languages if s != t]) for t in languages}
        for m in measures
    }
    naive = summarise_trials(setting.results("naive"))["languages"]
    return {
        "improvements": pairs,
        "contribution": contribution,
        "benefit": benefit,
        "correlations": {
            "contribution": {
                m: _pearson(contribution[m], {tag: naive[tag][m] for tag in languages}) for m in measures
            },
            "benefit": {
                m: _pearson(
                    benefit[m], {tag: mean_of_known([trial[tag][m] for trial in tenth]) for tag in languages}
                )
                for m in measures
            },
        },
        "like": paper.like(setting.trials[0]),
    }


def _improvements(funnels: Funnels, target: str) -> Result:
    """By source and measure: how much better the target's test documents are labelled with the source."""
    tier_two = funnels.tier_two(dict.fromkeys(funnels.languages, 1.0) | {target: SHARE})
    full = funnels.measure(tier_two.counts(target))
    improvements = {}
    for source in funnels.languages:
        if source != target:
            less = funnels.measure(tier_two.counts(target, without=source))
            improvements[source] = {m: improvement(full[m], less[m]) for m in paper_measures(full)}
    return improvements


def _pearson(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[float] | None:
    """Pearson's correlation and its p; None where there are too few languages, or none differs."""
    from scipy.stats import pearsonr

    pairs = np.array([(a[tag], b[tag]) for tag in a if a[tag] is not None and b[tag] is not None])
    if len(pairs) < 3 or np.ptp(pairs[:, 0]) == 0 or np.ptp(pairs[:, 1]) == 0:
        return None
    correlation = pearsonr(pairs[:, 0], pairs[:, 1])
    return [float(correlation.statistic), float(correlation.pvalue)]


def contributions_section(result: Result) -> Section:
    """What a report says of it."""
    return Section(
        "contributions",
        "Which languages help, and which are helped",
        [
            "At a tenth of the target's training documents: the improvement in per cent that another "
            "language's documents bring. Contribution is its mean over targets, benefit that over sources. "
            "Tier 2's C is the one chosen on all documents.",
            "The paper conjectures that languages whose own classifier is good contribute more (Pearson "
            f"{_in_words(paper.CONTRIBUTION_CORRELATION)} on {paper.RCV}), and that languages whose own "
            f"classifier is weak benefit more ({_in_words(paper.BENEFIT_CORRELATION)}). Here, on the paper's "
            f"macro-F1: {_in_words(result['correlations']['contribution']['macro_f1_paper'])} and "
            f"{_in_words(result['correlations']['benefit']['macro_f1_paper'])}.",
        ],
        [
            _table("contribution", "Contribution of each language, %", result, paper.CONTRIBUTION),
            _table("benefit", "Benefit of each language, %", result, paper.BENEFIT),
            _correlations(result["correlations"]),
            *(_figure(measure, pairs) for measure, pairs in result["improvements"].items()),
        ],
    )


def _in_words(correlation: Any) -> str:
    return (
        "no correlation can be given"
        if correlation is None
        else f"{correlation[0]:+.3f}, p = {correlation[1]:.3f}"
    )


def _table(name: str, text: str, result: Result, reported: Mapping[str, Any]) -> TableBlock:
    corpus = result["like"]
    theirs = paper.by_language(reported[corpus])
    languages = list(result[name][PAPER_MEASURES[0]])
    rows: list[list[str]] = []
    best = []
    for measure, ours in result[name].items():
        known = {tag: value for tag, value in ours.items() if value is not None}
        if known:
            best.append((len(rows), 1 + languages.index(max(known, key=lambda tag: known[tag]))))
        rows.append([MEASURES[measure].title, *(_percent(ours[tag]) for tag in languages)])
    for measure in PAPER_MEASURES:
        cells = [_percent(theirs[measure].get(tag)) for tag in languages]
        rows.append([f"{MEASURES[measure].title}, paper", *cells])
    notes = [f"The paper's rows are for {corpus}, for the languages that it has too."]
    return TableBlock(name, text, Table(["measure", *languages], rows, best=best), notes)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _correlations(correlations: Result) -> TableBlock:
    rows = []
    for measure in correlations["contribution"]:
        cells = [MEASURES[measure].title]
        for kind in ("contribution", "benefit"):
            correlation = correlations[kind][measure]
            cells += ["", ""] if correlation is None else list(map(number, correlation))
        rows.append(cells)
    table = Table(
        ["measure", "Pearson", "p", "Pearson", "p"],
        rows,
        [("contribution and Naive", 2), ("benefit and Naive at 10 %", 2)],
    )
    return TableBlock("correlations", "Correlations with the quality of Naive", table)


def _figure(measure: str, pairs: Result) -> HeatMap:
    languages = list(pairs)
    values = [[pairs[source].get(target) for target in languages] for source in languages]
    known = {(s, t): v for s in languages for t, v in pairs[s].items() if v is not None}
    most = max(known, key=lambda pair: known[pair]) if known else ("", "")
    return HeatMap(
        f"contributions-{measure.replace('_', '-')}",
        f"{MEASURES[measure].title}: what each language brings to each other, %",
        f"Improvement in {MEASURES[measure].title}, per cent, of the language of the column by the documents "
        f"of the language of the row. Most: {known.get(most, 0):+.1f} from {most[0]} to {most[1]}.",
        "source",
        "target",
        languages,
        languages,
        values,
    )
