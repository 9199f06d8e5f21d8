"""Languages with few training documents: fractions of one language's, all of the others' (Figure 3)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from funnelling.evaluation.fitting import fit_method
from funnelling.evaluation.measures import Counts
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import MEASURES, is_of_one_label, paper_measures
from funnelling.evaluation.splits import learnable
from funnelling.report.content import Curves, Section
from funnelling.reproduction.experiments.decisions import decisions_of
from funnelling.reproduction.experiments.funnels import Funnels
from funnelling.reproduction.experiments.improvement import improvement, mean_of_known
from funnelling.reproduction.experiments.setting import Setting

NAIVE, FUNNEL = "Naive", "Fun(TAT)"


def run_learning_curves(setting: Setting) -> Result:
    """By language and fraction: the measures of Naive and of Fun(TAT), averaged over trials."""
    trials = [
        {
            (language, fraction): {
                NAIVE: under_resourced_naive(setting, number, language, fraction),
                FUNNEL: _under_resourced_funnel(setting, number, language, fraction),
            }
            for language in setting.languages
            for fraction in setting.fractions
        }
        for number in range(len(setting.trials))
    ]
    return {
        language: [
            {
                "fraction": fraction,
                NAIVE: _mean([trial[language, fraction][NAIVE] for trial in trials], setting.measures),
                FUNNEL: _mean([trial[language, fraction][FUNNEL] for trial in trials], setting.measures),
            }
            for fraction in setting.fractions
        ]
        for language in setting.languages
    }


def under_resourced_naive(setting: Setting, number: int, language: str, fraction: float) -> Result:
    """Naive on a fraction of its language's training documents in a trial."""
    if fraction == 1:
        return dict(setting.results("naive")[number]["languages"][language])
    name, mark = f"naive-{language}-{fraction:g}", setting.marks.get("naive")
    return setting.piece(name, number, mark, _naive, setting, number, language, fraction)


def _under_resourced_funnel(setting: Setting, number: int, language: str, fraction: float) -> Result:
    """Fun(TAT) with a fraction of one language's training documents, on that language.

    Without any it rejects everything: tier 2 has learned that a posterior of 0 means no.
    """
    if fraction == 1:
        return dict(setting.results("fun-tat")[number]["languages"][language])
    name, C = f"fun-tat-{language}-{fraction:g}", setting.meta_cs()[number]
    return setting.piece(name, number, C, _funnel, setting, number, language, fraction)


def _funnel(setting: Setting, number: int, language: str, fraction: float) -> Result:
    funnels = setting.funnels(number)
    if fraction == 0:
        return _rejected(funnels, language)
    shares = dict.fromkeys(funnels.languages, 1.0) | {language: fraction}
    return funnels.measure(funnels.tier_two(shares).counts(language))


def _naive(setting: Setting, number: int, language: str, fraction: float) -> Result:
    funnels = setting.funnels(number)
    train, test = funnels.documents(language, fraction), funnels.tests(language)
    if fraction == 0 or not learnable(train):
        return _rejected(funnels, language)
    method = fit_method(setting.make("naive", setting.seed + number), train)
    decisions = decisions_of(method, test, funnels.classes)
    return funnels.measure(funnels.count(funnels.truth(test), decisions))


def _rejected(funnels: Funnels, language: str) -> Result:
    truth = funnels.truth(funnels.tests(language))
    return funnels.measure(Counts.of(truth, np.zeros_like(truth)))


def _mean(results: Sequence[Result], measures: Sequence[str]) -> Result:
    return {measure: float(np.mean([result[measure] for result in results])) for measure in measures}


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
        [*(_figure(measure, result) for measure in measures), _improvements(result)],
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
    return improvement(point[FUNNEL]["macro_f1"], point[NAIVE]["macro_f1"])


def _improvements(result: Result) -> Curves:
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


def _figure(measure: str, result: Result) -> Curves:
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
