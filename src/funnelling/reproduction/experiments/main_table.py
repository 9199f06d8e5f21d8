"""The main table: all methods, with deviations over trials and the daggers of significance."""

from funnelling.evaluation.pieces import Result
from funnelling.report.comparison import comparison_blocks
from funnelling.report.content import Section
from funnelling.reproduction.experiments import paper
from funnelling.reproduction.experiments.paper_comparison import compare_with_paper
from funnelling.reproduction.experiments.setting import Setting


def run_methods(setting: Setting) -> Result:
    """Every method on every trial."""
    result = setting.compare(setting.methods).run()
    return {**result, "like": paper.like(setting.trials[0])}


def methods_section(result: Result) -> Section:
    """What a report says of it."""
    scores = {name: method["average"] for name, method in result["methods"].items()}
    return Section(
        "methods",
        "All methods",
        [
            "Each cell is the mean over languages and trials; ± is the deviation over trials. Pooled is not "
            "in the paper: one vocabulary for all languages, a strong rival where they share words.",
        ],
        [
            *comparison_blocks(result),
            *compare_with_paper("methods-paper", scores, paper.METHODS[result["like"]], result["like"]),
        ],
    )
