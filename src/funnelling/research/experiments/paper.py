"""What the paper reports, its Tables 1 to 6, for the reader to set beside ours.

Each cell is a mean over ten trials; the order of the measures is that of `PAPER_MEASURES`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES
from funnelling.evaluation.splits import Trial
from funnelling.methods.registry import title
from funnelling.report.content import TableBlock
from funnelling.report.tables import Table, number

RCV, JRC = "RCV1/RCV2", "JRC-Acquis"
CORPUS_KINDS = {RCV: "comparable", JRC: "parallel"}

PaperScores = dict[str, tuple[float, float, float, float]]

METHODS: dict[str, PaperScores] = {
    RCV: {
        "naive": (0.776, 0.467, 0.690, 0.417),
        "lri": (0.771, 0.490, 0.696, 0.440),
        "clesa": (0.714, 0.471, 0.659, 0.434),
        "kcca": (0.616, 0.385, 0.550, 0.358),
        "dci": (0.770, 0.485, 0.696, 0.456),
        "mle": (0.696, 0.453, 0.644, 0.466),
        "mle-lstm": (0.574, 0.302, 0.515, 0.280),
        "fun-kfcv": (0.801, 0.512, 0.731, 0.482),
        "fun-tat": (0.802, 0.534, 0.760, 0.506),
    },
    JRC: {
        "naive": (0.559, 0.340, 0.429, 0.288),
        "lri": (0.594, 0.411, 0.476, 0.348),
        "clesa": (0.557, 0.379, 0.453, 0.330),
        "kcca": (0.357, 0.206, 0.244, 0.176),
        "dci": (0.510, 0.317, 0.382, 0.274),
        "mle": (0.478, 0.300, 0.429, 0.349),
        "mle-lstm": (0.378, 0.182, 0.292, 0.170),
        "fun-kfcv": (0.581, 0.356, 0.457, 0.328),
        "fun-tat": (0.587, 0.399, 0.490, 0.365),
        "upper-bound": (0.707, 0.599, 0.632, 0.547),
    },
}
MONO_BINARY: dict[str, PaperScores] = {
    RCV: {
        "A": METHODS[RCV]["naive"],
        "B": (0.800, 0.526, 0.747, 0.492),
        "C": (0.801, 0.532, 0.757, 0.505),
        "D": METHODS[RCV]["fun-tat"],
    },
    JRC: {
        "A": METHODS[JRC]["naive"],
        "B": (0.577, 0.369, 0.454, 0.325),
        "C": (0.589, 0.395, 0.487, 0.359),
        "D": METHODS[JRC]["fun-tat"],
    },
}
CALIBRATION: dict[str, PaperScores] = {
    RCV: {
        "naive": METHODS[RCV]["naive"],
        "NoProb": (0.796, 0.463, 0.737, 0.428),
        "NoCalib": (0.789, 0.443, 0.716, 0.406),
        "fun-tat": METHODS[RCV]["fun-tat"],
    },
    JRC: {
        "naive": METHODS[JRC]["naive"],
        "NoProb": (0.585, 0.376, 0.478, 0.338),
        "NoCalib": (0.578, 0.366, 0.465, 0.325),
        "fun-tat": METHODS[JRC]["fun-tat"],
    },
}
# Seconds to train and to test, on twelve cores of 2013.
EFFICIENCY: dict[str, dict[str, tuple[float, float]]] = {
    RCV: {
        "naive": (537, 6),
        "lri": (5_506, 91),
        "clesa": (28_508, 575),
        "kcca": (18_204, 264),
        "dci": (344, 9),
        "mle": (1_293, 55),
        "mle-lstm": (559, 3),
        "fun-kfcv": (1_041, 13),
        "fun-tat": (215, 11),
    },
    JRC: {
        "naive": (6_005, 84),
        "lri": (67_571, 1_713),
        "clesa": (63_497, 4_049),
        "kcca": (57_563, 1_372),
        "dci": (4_888, 253),
        "mle": (4_435, 874),
        "mle-lstm": (26_991, 6),
        "fun-kfcv": (13_127, 312),
        "fun-tat": (4_987, 278),
    },
}
# Per cent, at a tenth of the target language's training documents.
_LANGUAGES = ("en", "it", "es", "fr", "de", "sv", "da", "pt", "nl", "fi", "hu")
CONTRIBUTION: dict[str, tuple[tuple[float, ...], ...]] = {
    RCV: (
        (0.08, 0.68, 0.34, 0.49, 0.03, 2.25, 0.06, 0.41, 0.18),
        (-0.05, 0.36, -0.00, 0.11, 0.04, 0.75, 0.17, 1.19, 0.82),
        (0.70, 1.52, 0.99, 0.41, 1.12, 7.71, 0.74, 2.91, 1.65),
        (0.39, 1.03, 0.45, 0.39, 0.60, 3.55, 0.46, 2.81, 2.07),
    ),
    JRC: (
        (-0.11, 2.85, -0.20, 0.67, 0.01, -0.56, -0.12, 2.67, 3.35, 0.03, 1.84),
        (-0.64, 5.98, -0.95, 0.83, -0.45, -10.23, -0.37, 3.61, 6.23, -0.60, 3.76),
        (0.80, 7.85, 1.07, 3.63, 0.63, 2.67, 0.16, 7.78, 8.83, 1.85, 5.90),
        (0.99, 10.97, 1.37, 4.74, 0.66, -1.23, 0.15, 9.20, 11.65, 2.30, 8.36),
    ),
}
BENEFIT: dict[str, tuple[tuple[float, ...], ...]] = {
    RCV: (
        (1.70, 0.76, 0.39, 0.95, 0.72, 0.08, -0.26, 0.20, -0.01),
        (2.98, 0.27, 0.13, -0.12, 0.56, -0.06, -0.62, 0.21, 0.04),
        (3.33, 2.73, 1.81, 2.40, 2.41, 1.26, 0.12, 2.60, 1.10),
        (4.68, 1.37, 0.77, 1.01, 2.60, 0.51, -0.25, 0.80, 0.25),
    ),
    JRC: (
        (0.17, 1.22, 1.59, 1.31, 2.20, -0.45, 1.16, 0.53, 0.61, 2.27, -0.17),
        (1.13, 2.12, 1.08, 1.22, 1.55, -2.16, 1.05, 0.57, 1.17, 0.75, -1.31),
        (3.06, 4.45, 4.21, 4.47, 4.85, 1.89, 3.34, 3.01, 3.14, 5.62, 3.15),
        (4.85, 5.89, 4.29, 5.28, 5.15, 1.57, 3.57, 4.32, 4.69, 5.45, 4.11),
    ),
}
# Pearson's correlation and its p, of macro-F1. The paper names no corpus; p fits nine languages, RCV1/RCV2.
CONTRIBUTION_CORRELATION = (0.788, 0.011)
BENEFIT_CORRELATION = (-0.605, 0.084)


def like(trial: Trial) -> str:
    """The corpus of the paper that is made like a trial: parallel or comparable."""
    return JRC if len(trial.parallel) else RCV


def by_language(rows: Sequence[Sequence[float]]) -> dict[str, dict[str, float]]:
    """Rows of `CONTRIBUTION` or `BENEFIT` by measure and language."""
    return {
        measure: dict(zip(_LANGUAGES, row, strict=False))
        for measure, row in zip(PAPER_MEASURES, rows, strict=True)
    }


def compare_with_paper(
    name: str,
    result: Mapping[str, Any],
    scores: Mapping[str, PaperScores],
    titles: Mapping[str, str] | None = None,
) -> list[TableBlock]:
    """A table of the methods that both a result and the paper's scores have; none where there is none."""
    corpus = result["like"]
    rows = []
    for key, method in result["methods"].items():
        if key not in scores[corpus]:
            continue
        cells = [(titles or {}).get(key) or title(key)]
        for measure, theirs in zip(PAPER_MEASURES, scores[corpus][key], strict=True):
            ours = method["average"][measure]
            sign = "+" if ours >= theirs else ""
            cells += [number(ours), number(theirs), f"{sign}{number(ours - theirs)}"]
        rows.append(cells)
    if not rows:
        return []
    header = ["method", *(["here", "paper", "difference"] * len(PAPER_MEASURES))]
    groups = [(MEASURES[measure].title, 3) for measure in PAPER_MEASURES]
    note = (
        f"The paper's figures are for {corpus}, its {CORPUS_KINDS[corpus]} corpus. On other documents levels "
        "differ; what can be compared is which method is above which."
    )
    return [TableBlock(name, "Beside the paper", Table(header, rows, groups), [note])]
