"""A report with one of everything, large enough to show how a page behaves; its numbers are made up."""

import math

from funnelling.report.content import (
    Bars,
    Curves,
    HeatMap,
    MarkedText,
    Points,
    Report,
    Section,
    TableBlock,
    Texts,
)
from funnelling.report.tables import Table, number

LANGUAGES = ["da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "pt", "sv"]
METHODS = ["Naive", "LRI", "CLESA", "KCCA", "Fun(kfcv)", "Fun(tat)"]
MEASURES = ["micro-F1", "macro-F1", "micro-K", "macro-K"]


def demo_report() -> Report:
    """The report that the tests look at."""
    return Report(
        "Eleven languages, one set of labels: how six methods compare",
        [
            "Funnelling gains most where a language has few documents of its own. The averages below are "
            "over ten samples of `rcv1-rcv2`; what the methods do is explained in "
            "[the paper](https://doi.org/10.1145/3326065).",
            "A language is left out of the average when it has no test document.",
        ],
        [
            Section(
                "results",
                "All methods",
                ["The last row rejects every label."],
                [_results(), _numbered_bars()],
            ),
            Section(
                "languages",
                "Where it helps",
                ["Improvements are over `naive`, in per cent."],
                [_gains(), _few()],
            ),
            Section("learning", "How many documents it takes", [], [_learning(), _growth(), _labels()]),
            Section("calibration", "Whether scores are probabilities", [], [_reliability()]),
            Section(
                "transfer",
                "Which language helps which",
                ["Each cell is macro-F1 on the language of its column."],
                [_transfer(), _counts()],
            ),
            Section("errors", "Where it goes wrong", [], [_texts()]),
        ],
        {
            "command": "`funnelling compare --methods all --trials 10`",
            "data": "rcv1-rcv2, 11 languages, 73 labels, 10,000 training and 10,000 test documents",
            "seed": "17",
            "versions": "funnelling 0.1.0, numpy 2.1.0, scikit-learn 1.6.0",
            "time": "1 h 12 min",
        },
    )


def _wave(first: int, second: int) -> float:
    """A number between 0 and 1 that looks like chance and never changes."""
    return (math.sin(first * 12.9898 + second * 78.233) * 43758.5453) % 1


def _results() -> TableBlock:
    scores = [
        [0.35 + 0.06 * row + 0.08 * _wave(row, column) for column in range(8)] for row in range(len(METHODS))
    ]
    marks = ["", "†", "††"]
    rows = [
        [
            method,
            *(
                f"{number(value)} ± {number(0.002 + 0.01 * value)}{marks[(row + c) % 3]}"
                for c, value in enumerate(scores[row])
            ),
        ]
        for row, method in enumerate(METHODS)
    ]
    best = {(max(range(len(rows)), key=lambda row: scores[row][column]), column + 1) for column in range(8)}
    header = ["method", *MEASURES, *MEASURES]
    return TableBlock(
        "results",
        "Averages over ten trials, with deviations",
        Table(
            header, [*rows, ["(assigns nothing)", *[".000"] * 8]], [("RCV1/RCV2", 4), ("JRC-Acquis", 4)], best
        ),
        [
            "† not significantly worse than the best at 0.001; †† at 0.05",
            "K: see [Sebastiani](https://example.org)",
        ],
    )


def _numbered_bars() -> Bars:
    return Bars(
        "seconds",
        "Time to train",
        "KCCA takes longest, about ten times as long as the naive method.",
        METHODS,
        {"seconds": [31.0, 52.0, 160.0, 310.5, 64.0, 22.0]},
        "seconds",
        "method",
    )


def _gains() -> Bars:
    series = {
        method: [-15 + 40 * _wave(position, row) for row in range(len(LANGUAGES))]
        for position, method in enumerate(METHODS[1:])
    }
    gapped: dict[str, list[float | None]] = {name: list(values) for name, values in series.items()}
    gapped["KCCA"][3] = None
    return Bars(
        "gains",
        "Improvement over Naive, by language",
        "Improvements lie between -15 and 25 per cent; KCCA has no value for Spanish.",
        LANGUAGES,
        gapped,
        "improvement in macro-F1, %",
        "language",
    )


def _few() -> Bars:
    return Bars(
        "few",
        "Languages with few documents",
        "In Danish and Finnish funnelling gains most.",
        ["Danish", "Finnish", "Hungarian"],
        {
            "Naive": [0.31, 0.28, None],
            "LRI": [0.35, 0.3, 0.22],
            "KCCA": [-0.05, 0.2, 0.1],
            "Fun(tat)": [0.52, 0.47, 0.4],
        },
        "macro-F1",
        "language",
    )


def _learning() -> Curves:
    fractions = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    return Curves(
        "learning",
        "Macro-F1 as documents of the language are added",
        "With no document of the language funnelling starts at about 0.4, Naive at 0; they meet late.",
        "share of the training documents of the language, %",
        "macro-F1",
        {
            language: {
                "Naive": [
                    (x, 0.6 * (1 - math.exp(-x / (20 + row))) * (0.8 + 0.2 * _wave(row, 1)))
                    for x in fractions
                ],
                "Fun(tat)": [
                    (x, 0.4 + 0.25 * (1 - math.exp(-x / 40)) * (0.7 + 0.3 * _wave(row, 2))) for x in fractions
                ],
            }
            for row, language in enumerate(LANGUAGES)
        },
    )


def _growth() -> Curves:
    sizes = [1, 3, 10, 30, 100, 300, 1000, 3000, 10000]
    return Curves(
        "growth",
        "F1 against the number of training examples of a label",
        "All methods rise with the number of examples; Fun(tat) is ahead throughout.",
        "training examples of the label",
        "F1",
        {
            "": {
                method: [(x, (0.1 + 0.2 * math.log10(x)) * (0.6 + 0.08 * row)) for x in sizes]
                for row, method in enumerate(METHODS)
            }
        },
        logarithmic=True,
    )


def _labels() -> Points:
    return Points(
        "labels",
        "F1 against the number of documents of a label",
        "Rare labels have a lower F1.",
        "label",
        "documents",
        "F1",
        {f"label {i}": (float(1 + 400 * _wave(i, 1) ** 3), _wave(i, 2)) for i in range(60)},
        logarithmic=True,
    )


def _texts() -> Texts:
    texts = {
        "en": "The bank raised the rate of interest, and the river rose over its bank.",
        "ar": "رفع البنك سعر الفائدة بعد اجتماعه يوم الثلاثاء.",
        "ja": "銀行は火曜日の会合の後、金利を引き上げた。",
        "de": "Donaudampfschifffahrtsgesellschaftskapitän " * 8,
    }
    marked = [
        MarkedText(
            f"document-{language} ({language})",
            language,
            {"Wrong": "economics .973; for it: bank +0.52, rate +0.20", "True labels": "weather"},
            text,
            [(0, 3, 0.2), (4, 8, 1.0), (9, 14, -0.4), (len(text) - 3, len(text), -1.0)],
        )
        for language, text in texts.items()
    ]
    data = Table(["document", "text"], [[text.title, text.text] for text in marked])
    return Texts("errors", "The worst errors", marked, data, ["Most sure, and wrong."])


def _reliability() -> Curves:
    means = [0.05 + 0.1 * step for step in range(10)]
    return Curves(
        "reliability",
        "Reliability of the scores",
        "Calibrated scores lie near the diagonal; raw ones are overconfident.",
        "mean score",
        "share of correct labels",
        {
            "": {
                "raw": [(x, x**2) for x in means],
                "sigmoid": [(x, min(1.0, x * 0.95 + 0.02)) for x in means],
                "isotonic": [(x, x + 0.04 * math.sin(9 * x)) for x in means],
            }
        },
        diagonal=True,
    )


def _transfer() -> HeatMap:
    values: list[list[float | None]] = [
        [1.0 if row == column else 0.2 + 0.6 * _wave(row, column) for column in range(11)]
        for row in range(11)
    ]
    values[2][7] = None
    return HeatMap(
        "transfer",
        "Zero-shot transfer",
        "Scores off the diagonal lie between 0.2 and 0.8.",
        "trained on",
        "tested on",
        LANGUAGES,
        LANGUAGES,
        values,
    )


def _counts() -> HeatMap:
    labels = ["corporate and industrial", "economics", "government and social", "markets"]
    return HeatMap(
        "counts",
        "Documents by label and language",
        "Counts lie between 0 and 3,000.",
        "label",
        "language",
        labels,
        ["Danish", "German", "English", "Spanish", "Finnish"],
        [[float(int(3000 * _wave(row, column))) for column in range(5)] for row in range(4)],
    )


def report_of(text: str) -> Report:
    """A report in which one text stands in every place that takes one."""
    other = text + "."
    table = Table([text, text, other], [[text, ".5", text], [other, "-.5", "="]], [(text, 2)], {(0, 1)})
    points = [(1.0, 0.2), (2.0, 0.4)]
    return Report(
        text,
        [text],
        [
            Section(
                text,
                text,
                [text],
                [
                    TableBlock(text, text, table, [text]),
                    Bars(
                        text, text, text, [text, other], {text: [1.0, None], other: [-2.0, 0.5]}, text, text
                    ),
                    Bars(text, text, text, [text] * 12, {text: [1.0] * 12, other: [0.5] * 12}, text, text),
                    Curves(text, text, text, text, text, {text: {text: points, other: points}}),
                    Curves(text, text, text, text, text, {text: {text: points}, other: {text: points}}),
                    HeatMap(text, text, text, text, text, [text], [text, other], [[0.5, None]]),
                    Points(text, text, text, text, text, text, {text: points[0], other: points[1]}),
                    Texts(
                        text,
                        text,
                        [MarkedText(text, text, {text: text}, f"{text} {text}", [(0, len(text), 0.5)])],
                        table,
                        [text],
                    ),
                ],
            )
        ],
        {text: text},
    )
