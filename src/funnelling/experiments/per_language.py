"""Which languages gain: each method's improvement over Naive, language by language (the paper's Figure 2)."""

from funnelling.evaluation.measures import MEASURES
from funnelling.evaluation.pieces import Result
from funnelling.experiments.setting import Setting
from funnelling.methods import title
from funnelling.report.content import Bars, Section
from funnelling.report.tables import MEASURE_TITLES


def run(setting: Setting) -> Result:
    """Improvement over Naive in per cent, by measure, method and language, averaged over trials."""
    rivals = [name for name in setting.methods if name not in ("naive", "upper-bound")]
    methods = setting.compare(["naive", *rivals]).run()["methods"]
    naive = methods.pop("naive")["languages"]
    return {
        measure: {
            name: {
                language: improvement(values[measure], naive[language][measure])
                for language, values in method["languages"].items()
            }
            for name, method in methods.items()
        }
        for measure in MEASURES
    }


def improvement(value: float, naive: float) -> float | None:
    """In per cent; None over nothing."""
    return 100 * (value - naive) / naive if naive > 0 else None


def section(result: Result) -> Section:
    """What a report says of it."""
    figures = [_figure(measure, methods) for measure, methods in result.items()]
    return Section(
        "per-language",
        "Which languages gain",
        [
            "Improvement over Naive, one classifier a language, in per cent. In the paper the two funnels "
            "are the only methods above Naive in every language. " + _stability(result),
        ],
        figures,
    )


def _stability(result: Result) -> str:
    """How often each method is above Naive."""
    told = []
    for name in result["macro_f1"]:
        values = [value for measure in MEASURES for value in result[measure][name].values()]
        above = sum(value is not None and value > 0 for value in values)
        told.append(f"{title(name)} {above} of {len(values)}")
    return f"Here, of all pairs of language and measure, above Naive: {', '.join(told)}."


def _figure(measure: str, methods: Result) -> Bars:
    languages = list(next(iter(methods.values())))
    series = {title(name): [values[tag] for tag in languages] for name, values in methods.items()}
    never_below = [name for name, values in series.items() if all(v is not None and v >= 0 for v in values)]
    return Bars(
        f"per-language-{measure.replace('_', '-')}",
        f"{MEASURE_TITLES[measure]}: improvement over Naive",
        f"Improvement over Naive in {MEASURE_TITLES[measure]}, per cent, for each language and method. "
        f"Never below Naive: {', '.join(never_below) or 'none'}.",
        languages,
        series,
        "% over Naive",
        "language",
    )
