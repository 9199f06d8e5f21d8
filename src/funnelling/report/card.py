"""The model card: what a model's folder says of it to whoever opens it."""

from collections.abc import Mapping
from typing import Any

from funnelling.errors import counted
from funnelling.evaluation.registry import are_ranked
from funnelling.methods.registry import title
from funnelling.report.card_data import card_data
from funnelling.report.history_table import history_note, history_table
from funnelling.report.kept_text import kept_sentence
from funnelling.report.label_tables import mistakes
from funnelling.report.markup import escape_markdown, escape_table
from funnelling.report.measure_tables import languages_table, notes, rates
from funnelling.report.tables import Table, markdown

LABELS_SHOWN = 50
PLACE = "MODEL"  # what a card calls a folder that may be anywhere
MISTAKES_SHOWN = 10  # of the worst labels, and of those taken for others


def model_card(description: Mapping[str, Any], address: str = PLACE, licence: str | None = None) -> str:
    """A model card in Markdown, from what `describe_model` says of a model; what is above it is for the Hub.

    ``address`` is where its readers find the model.
    """
    languages, labels = description["languages"], description["labels"]
    paragraphs = [
        card_data(description, licence),
        f"# A {title(description['method'])} model",
        f"{task(description)} Made with funnelling {description['funnelling']}; loading it runs no code.",
        "## Languages",
        markdown(
            Table(
                ["language", "training documents"],
                [[escape_markdown(language), f"{number:,}"] for language, number in languages.items()],
            )
        ),
        "## Labels",
        _labels(labels),
        "## How good it is",
        *_scores(description["scores"]),
        "## Probabilities",
        escape_markdown(probabilities(description)),
        "## What it learned from",
        *_history(description),
        "## Limits",
        "\n".join(f"- {escape_markdown(limit)}" for limit in limits(description)),
        "## How it was made",
        *([escape_markdown(description["choice"])] if description["choice"] else []),
        markdown(
            Table(
                ["parameter", "value"],
                [
                    [escape_markdown(key), escape_markdown(str(value))]
                    for key, value in made_with(description).items()
                ],
            )
        ),
        "Versions: "
        + ", ".join(f"{name} {number}" for name, number in description["versions"].items())
        + ".",
        "## How to use it",
        *_use(address),
    ]
    return "\n\n".join(paragraphs) + "\n"


def _use(address: str) -> list[str]:
    extra = "" if address == PLACE else "[hub]"
    return [
        f"```sh\npip install 'funnelling{extra}'\nfunnelling predict {address} documents.jsonl\n"
        f"funnelling inspect {address}\n```",
        f'```python\nfrom funnelling import load_model\n\nmodel = load_model("{address}")\n'
        "model.predict_proba(texts)  # columns as in model.classes_\n```",
    ]


def task(description: Mapping[str, Any]) -> str:
    """What the model does, in a sentence."""
    languages = counted(len(description["languages"]), "language")
    labels = counted(len(description["labels"]), "label")
    if description["exclusive"]:
        return f"It gives each document one of {labels}, in {languages}, with a probability for each label."
    return f"It labels documents in {languages} under {labels}, with a probability for each."


def _labels(labels: list[Any]) -> str:
    shown = ", ".join(escape_markdown(str(label)) for label in labels[:LABELS_SHOWN])
    return shown if len(labels) <= LABELS_SHOWN else f"{shown} and {len(labels) - LABELS_SHOWN:,} more."


def _scores(scores: Mapping[str, Any] | None) -> list[str]:
    if scores is None:
        return ["It was not measured."]
    below = "\n".join(f"{escape_markdown(note)}  " for note in notes(scores))
    how = scores.get("how", "Measured on documents that it did not learn from.")
    tables = [
        paragraph
        for heading, table in mistakes(scores, MISTAKES_SHOWN).items()
        for paragraph in (f"### {heading}", markdown(escape_table(table)))
    ]
    return [escape_markdown(how), markdown(languages_table(scores)), below.rstrip(), *tables]


def _history(description: Mapping[str, Any]) -> list[str]:
    steps, note = description["history"], history_note(description)
    return [
        *([markdown(escape_table(history_table(steps)))] if steps else []),
        *([escape_markdown(note)] if note else []),
    ]


def made_with(description: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, and the C that was chosen."""
    return {**description["parameters"], "C of the final classifiers": description["C"]}


def probabilities(description: Mapping[str, Any]) -> str:
    """How far the probabilities can be trusted, and what is made of them."""
    trust = (
        "Probabilities are calibrated on training documents that were held out: of the labels given .8, "
        "about 80 % should be right, on documents like those it was trained on. "
    )
    scores = description["scores"] or {}
    if "calibration_error" in scores:
        trust += f"{rates(scores)}. "
    if description["exclusive"]:
        return trust + "They sum to 1, and the most probable label is assigned: thresholds do not apply."
    return (
        trust
        + "A label is assigned where its probability is above its threshold, which is told where not .5."
    )


def limits(description: Mapping[str, Any]) -> list[str]:
    """What the model should not be relied on for."""
    few = [language for language, number in description["languages"].items() if number < 100]
    sentences = [
        "It knows the languages above; a regional variant is taken for its language.",
        "It has seen no other labels, and no other kind of text than its training documents.",
        f"Rare labels are found less often than frequent ones: see {_of_rare(description['scores'])} above.",
    ]
    if description["serves_unseen"]:
        sentences[0] = (
            "Other languages than those above are labelled through what all languages share, less well; such "
            "answers are marked zero_shot."
        )
    sentences.append(f"{kept_sentence(description)}{_besides(description)}")
    if few:
        sentences.append(f"Few training documents: {', '.join(few)}.")
    return sentences


def _besides(description: Mapping[str, Any]) -> str:
    """Where else texts may stand, and how to keep none."""
    compact = description["parameters"].get("compact")
    if compact:
        return ""
    shown = " Its report.html, where there is one, may show parts of texts"
    return (
        f"{shown}. A model trained with --compact has nothing of either." if compact is False else f"{shown}."
    )


def _of_rare(scores: Mapping[str, Any] | None) -> str:
    """Which measures tell of rare labels."""
    return "PSP@k" if scores and are_ranked(scores["average"]) else "the macro averages"
