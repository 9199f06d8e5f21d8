"""Which languages help most, and which are helped (the paper's Tables 3 and 4).

All at a tenth of the target language's training documents. What a source language contributes to a target
is the improvement, in per cent, of Fun(TAT) with its documents over Fun(TAT) without them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from funnelling.evaluation.comparison import summarise_trials
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES, paper_measures
from funnelling.report.content import HeatMap, Section, TableBlock
from funnelling.report.tables import Table, number
from funnelling.reproduction.experiments import paper
from funnelling.reproduction.experiments.funnels import Funnels
from funnelling.reproduction.experiments.improvement import improvement, mean_of_known
from funnelling.reproduction.experiments.learning_curves import under_resourced_naive
from funnelling.reproduction.experiments.setting import Setting

SHARE = 0.1


def run_contributions(setting: Setting) -> Result:
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
        tenth.append({tag: under_resourced_naive(setting, trial, tag, SHARE) for tag in languages})
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
    like = result["like"]
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
            f"macro-F1: {_in_words(result['correlations']['contribution']['macro_f1'])} and "
            f"{_in_words(result['correlations']['benefit']['macro_f1'])}.",
        ],
        [
            _table(
                "contribution", "Contribution of each language, %", result, paper.contribution(like), like
            ),
            _table("benefit", "Benefit of each language, %", result, paper.benefit(like), like),
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


def _table(name: str, text: str, result: Result, theirs: Any, corpus: str) -> TableBlock:
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
