"""Can we do without calibration? Naive, NoProb, NoCalib and Calib (the paper's Table 5)."""

from funnelling.errors import InputError
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.methods.registry import title
from funnelling.report.comparison import pairs_blocks
from funnelling.report.content import Section, TableBlock
from funnelling.report.measures import comparison_table, notes
from funnelling.reproduction.experiments import paper
from funnelling.reproduction.experiments.paper_comparison import compare_with_paper
from funnelling.reproduction.experiments.setting import Setting

VARIANTS = {"NoProb": {"calibration": "none"}, "NoCalib": {"calibration": "fixed"}}
TITLES = {"fun-tat": "Calib"}


def run_calibration(setting: Setting) -> Result:
    """Naive, and Fun(TAT) with tier 1's scores as they are, squashed, and calibrated."""
    if "calibration" in setting.settings.get("fun-tat", {}):
        raise InputError("calibration is what this experiment varies. Drop --set fun-tat.calibration.")
    result = setting.compare(["naive", "fun-tat"], **VARIANTS).run()
    order = ("naive", "NoProb", "NoCalib", "fun-tat")
    methods = {name: result["methods"][name] for name in order}
    return {**result, "methods": methods, "like": paper.like(setting.trials[0])}


def calibration_section(result: Result) -> Section:
    """What a report says of it."""
    scores = {name: method["average"] for name, method in result["methods"].items()}
    table = comparison_table(result)
    rows = [[TITLES["fun-tat"], *cells[1:]] if cells[0] == "Fun(TAT)" else cells for cells in table.rows]
    order = sorted(scores, key=lambda name: -sum(scores[name][measure] for measure in PAPER_MEASURES))
    return Section(
        "calibration",
        "Can we do without calibration?",
        [
            "Tier 2 fed with tier 1's scores as they are (NoProb), with scores squashed by a fixed logistic "
            "function (NoCalib), and with calibrated posteriors (Calib, which is Fun(TAT)). Each chooses its "
            "own C. In the paper Calib is always best and NoCalib below NoProb. Here, by the mean of the "
            "four measures: "
            f"{' > '.join(TITLES.get(name) or title(name) for name in order)}.",
        ],
        [
            TableBlock("calibration", "Calibrations of Fun(TAT)", table._replace(rows=rows), notes(result)),
            *pairs_blocks("calibration-significance", result, TITLES),
            *compare_with_paper(
                "calibration-paper", scores, paper.CALIBRATION[result["like"]], result["like"], TITLES
            ),
        ],
    )
