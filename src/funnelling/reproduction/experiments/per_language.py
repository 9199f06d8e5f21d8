"""Which languages gain: each method's improvement over Naive, language by language (the paper's Figure 2)."""

from funnelling.errors import InputError
from funnelling.evaluation.comparison import summarise_trials
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import MEASURES
from funnelling.evaluation.significance import NO_RIVALS
from funnelling.methods.registry import title
from funnelling.report.content import Bars, Section
from funnelling.reproduction.experiments.improvement import improvement
from funnelling.reproduction.experiments.setting import Setting


def run_per_language(setting: Setting) -> Result:
    """Improvement over Naive in per cent, by measure, method and language, averaged over trials.

    ``above`` has, for each method, in how many of how many pairs of language and measure it is above Naive.
    """
    rivals = [name for name in setting.methods if name not in ("naive", *NO_RIVALS)]
    if not rivals:
        raise InputError("per-language compares methods with Naive, and there is no other. Add to --methods.")
    by_method = setting.compare(["naive", *rivals]).results()[0]
    methods = {name: summarise_trials(results) for name, results in by_method.items()}
    if "naive" not in methods:
        raise InputError(
            "per-language compares with Naive, which can label no language of the test documents. "
            "Add training documents in them."
        )
    naive = methods.pop("naive")["languages"]
    gains = {
        name: [
            values[m] - naive[tag][m] for tag, values in method["languages"].items() for m in setting.measures
        ]
        for name, method in methods.items()
    }
    return {
        "improvements": {
            measure: {
                name: {
                    language: improvement(values[measure], naive[language][measure])
                    for language, values in method["languages"].items()
                }
                for name, method in methods.items()
            }
            for measure in setting.measures
        },
        "above": {name: [sum(gain > 0 for gain in values), len(values)] for name, values in gains.items()},
    }


def per_language_section(result: Result) -> Section:
    """What a report says of it."""
    above = ", ".join(f"{title(name)} {number} of {of}" for name, (number, of) in result["above"].items())
    return Section(
        "per-language",
        "Which languages gain",
        [
            "Improvement over Naive, one classifier per language, in per cent. In the paper the two funnels "
            "are the only methods above Naive in every language. Here, of all pairs of language and measure, "
            f"above Naive: {above}.",
        ],
        [_figure(measure, methods) for measure, methods in result["improvements"].items()],
    )


def _figure(measure: str, methods: Result) -> Bars:
    languages = list(next(iter(methods.values())))
    return Bars(
        f"per-language-{measure.replace('_', '-')}",
        f"{MEASURES[measure].title}: improvement over Naive",
        f"Improvement over Naive in {MEASURES[measure].title}, per cent, for each language and method. "
        f"{_extremes(methods)}",
        languages,
        {title(name): [values[tag] for tag in languages] for name, values in methods.items()},
        "% over Naive",
        "language",
    )


def _extremes(methods: Result) -> str:
    improvements = [
        (value, f"{title(name)} on {tag}")
        for name, values in methods.items()
        for tag, value in values.items()
        if value is not None
    ]
    if not improvements:
        return ""
    (least, loser), (most, winner) = min(improvements), max(improvements)
    return f"Most: {most:+.1f} by {winner}. Least: {least:+.1f} by {loser}."
