"""The report on one model: how good it is, label by label, where it goes wrong and why, how it was made."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from funnelling.errors import counted
from funnelling.evaluation.labels import Confusion
from funnelling.evaluation.registry import MEASURE_TITLES, is_of_one_label, main_measures
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.registry import title
from funnelling.report.card import (
    CHOICE_NOTE,
    documents_table,
    history_note,
    history_table,
    kept_sentence,
    made_with,
    probabilities,
    task,
    tried_table,
)
from funnelling.report.comparison import weakest_language
from funnelling.report.content import Bars, Block, Points, Report, Section, TableBlock
from funnelling.report.labels import (
    BY_LABEL,
    CONFUSED,
    MISSED_TOGETHER,
    by_label_table,
    confused_table,
    confusion_blocks,
    error_texts,
    missed_together_table,
    reliability_curves,
)
from funnelling.report.measures import languages_table, notes
from funnelling.report.tables import number

MODEL = "the model"
MAX_LABELS_UNFOLDED = 15  # whose table is not folded away
MAX_LABELS_SHOWN = XMC_MIN_LABELS  # that a table has
MAX_WORST_LABELS = 25  # that have a bar
MAX_PAIRS_SHOWN = 10
NO_TEXTS = (
    "The worst errors are not shown, because the model stores nothing of the documents. "
    "`funnelling evaluate MODEL DATA --errors` shows them."
)

Description = Mapping[str, Any]
Details = Mapping[str, Any]


def model_report(description: Description, details: Details) -> Report:
    """The page in a model's folder: the same for the same model, wherever and whenever it was made.

    ``description`` is what `describe_model` says of the model. ``details`` are what
    `trials.errors.measure_with_errors` measured, so far as it was, and ``how``; ``without_errors`` says why
    there are no errors among them, where they are not left out to keep nothing of the documents.
    """
    versions = ", ".join(f"{name} {number}" for name, number in description["versions"].items())
    return Report(
        f"A {title(description['method'])} model",
        [task(description), details["evaluated_on"]],
        model_sections(description, details),
        {
            **{name: str(value) for name, value in made_with(description).items()},
            "Versions": f"funnelling {description['funnelling']}, {versions}",
        },
        model_summary(description["scores"], details),
    )


def model_summary(scores: Mapping[str, Any] | None, details: Details) -> dict[str, str]:
    """The first questions about a model: how good it is, whether it beats a constant, where it is weakest."""
    if scores is None:
        return {}
    average, languages = scores["average"], scores["languages"]
    measure = main_measures(average)[0]
    documents = sum(values["documents"] for values in languages.values())
    return {
        "What was measured": f"{counted(documents, 'document')} in {counted(len(languages), 'language')}",
        MEASURE_TITLES[measure]: f"{number(average[measure])}, the mean over languages",
        **_against_constant(scores, details.get("confusion")),
        "Better than a baseline?": "Not compared. `funnelling compare` does that.",
        **weakest_language(languages, measure),
    }


def _against_constant(scores: Mapping[str, Any], confusion: Confusion | None) -> dict[str, str]:
    """Whether a model does more than one that assigns the same to all documents, so far as that is known."""
    if confusion:
        documents: Counter[str] = Counter()
        for truth, _, count in confusion:
            documents[truth] += count
        label, constant = documents.most_common(1)[0]
        right = sum(count for truth, given, count in confusion if truth == given)
        ours, theirs = (number(count / documents.total()) for count in (right, constant))
        told = f"{ours} of the documents are right, {theirs} with {label} for all"
    elif "by_label" in scores and not is_of_one_label(scores["average"]):
        right, constant = scores["average"]["recall"], 0
        told = f"{number(right)} of the labels are found, {number(0)} by assigning none"
    else:
        return {}
    return {"Better than a constant?": f"{'Yes' if right > constant else 'No'}: {told}"}


def model_sections(description: Description, details: Details) -> list[Section]:
    """What a report says of a model's measures, its labels, its errors, and how it was made."""
    return [
        *_measures(description["scores"]),
        *_labels(details),
        *_confused(details),
        *_reliability(description, details),
        *_errors(details),
        *_choice(description),
        _training(description),
    ]


def _measures(scores: Mapping[str, Any] | None) -> list[Section]:
    if scores is None:
        return []
    table = TableBlock(
        "languages", "Measures by language", languages_table(scores, paper=True), notes(scores, paper=True)
    )
    return [Section("measures", "How good it is", blocks=[table])]


def _labels(details: Details) -> list[Section]:
    rows = details.get("by_label", ())
    measured = {row["label"]: (row["support"], row["f1"]) for row in rows if row["f1"] is not None}
    if not measured:
        return []
    worst = list(measured)[:MAX_WORST_LABELS]
    every = "each label" if len(worst) == len(measured) else f"the {len(worst)} worst labels"
    blocks: list[Block] = []
    if len(rows) > MAX_LABELS_UNFOLDED:
        table = by_label_table(rows[:MAX_LABELS_UNFOLDED])
        blocks.append(TableBlock("worst-labels", f"The {MAX_LABELS_UNFOLDED} worst labels", table))
    told = (
        [] if len(rows) <= MAX_LABELS_SHOWN else [f"The first {MAX_LABELS_SHOWN:,} of {len(rows):,} labels."]
    )
    blocks.append(
        TableBlock(
            "labels",
            BY_LABEL,
            by_label_table(rows[:MAX_LABELS_SHOWN]),
            told,
            folded=len(rows) > MAX_LABELS_UNFOLDED,
        )
    )
    blocks.append(
        Bars(
            "labels-f1",
            f"F1 of {every}",
            "The worst label comes first.",
            worst,
            {"F1": [measured[label][1] for label in worst]},
            "F1",
            "label",
        )
    )
    if 2 < len(measured) <= MAX_LABELS_SHOWN:
        blocks.append(
            Points(
                "labels-documents",
                "F1 against the number of documents of a label",
                "One point per label: the number of measured documents that have it, and its F1. Rare labels "
                "are harder to learn, and their F1 is less certain.",
                "label",
                "measured documents with the label",
                "F1",
                {label: (float(documents), f1) for label, (documents, f1) in measured.items() if documents},
                logarithmic=True,
            )
        )
    return [Section("labels", "Label by label", blocks=blocks)]


def _confused(details: Details) -> list[Section]:
    blocks: list[Block] = confusion_blocks(details["confusion"], MODEL) if details.get("confusion") else []
    if details.get("confused") and not any(isinstance(block, TableBlock) for block in blocks):
        table = confused_table(details["confused"][:MAX_PAIRS_SHOWN], one_label="confusion" in details)
        blocks.append(TableBlock("confused", CONFUSED, table))
    if details.get("co_missed"):
        table = missed_together_table(details["co_missed"][:MAX_PAIRS_SHOWN])
        blocks.append(TableBlock("missed-together", MISSED_TOGETHER, table))
    return [Section("confused", "Which labels are confused", blocks=blocks)] if blocks else []


def _reliability(description: Description, details: Details) -> list[Section]:
    bins = [
        (pairs, expected / pairs, found / pairs)
        for pairs, expected, found in details.get("reliability", ())
        if pairs
    ]
    if not bins:
        return []
    blocks = [reliability_curves({title(description["method"]): bins})]
    return [Section("probabilities", "Probabilities", [probabilities(description)], blocks)]


def _errors(details: Details) -> list[Section]:
    heading = "Where it was most sure, and wrong"
    if "errors" not in details:
        why = details.get("without_errors", NO_TEXTS)
        return [Section("errors", heading, [why])] if "by_label" in details else []
    if not details["errors"]:
        return [Section("errors", heading, ["Nothing that was measured is wrong."])]
    return [Section("errors", heading, blocks=[error_texts(details["errors"])])]


def _choice(description: Description) -> list[Section]:
    if not description["choice"]:
        return []
    tried = description["candidates"]
    blocks = []
    if tried:
        blocks.append(TableBlock("tried", "All candidates", tried_table(tried), [CHOICE_NOTE], folded=True))
    return [Section("choice", "What was tried, and why this was chosen", [description["choice"]], blocks)]


def _training(description: Description) -> Section:
    languages = description["languages"]
    one_each = ", one per document" if description["single_label"] else ""
    blocks = [TableBlock("training", "Training documents by language", documents_table(description))]
    if description["history"]:
        blocks.append(TableBlock("history", "Step by step", history_table(description["history"])))
    return Section(
        "training",
        "What it learned from",
        [
            f"{counted(sum(languages.values()), 'document')} in {counted(len(languages), 'language')} under "
            f"{counted(len(description['labels']), 'label')}{one_each}.",
            *filter(None, [history_note(description)]),
            kept_sentence(description),
        ],
        blocks,
    )
