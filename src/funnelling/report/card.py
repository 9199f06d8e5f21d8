"""The model card, with the Hub's front matter; a model's history, stored data and choice as tables."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from funnelling.errors import counted
from funnelling.evaluation.registry import MEASURE_TITLES, MEASURES, are_ranked, shown_measures
from funnelling.methods.merging import is_whole
from funnelling.methods.model import FIRST_STEP
from funnelling.methods.registry import title
from funnelling.report.labels import calibration, mistakes
from funnelling.report.measures import languages_table, notes
from funnelling.report.rendering import render_markdown
from funnelling.report.tables import DASH, Table, number
from funnelling.text.languages import is_language, primary

LIBRARY, TASK = "funnelling", "text-classification"
DIGITS = 4  # of a score
# Measures that the Hub knows, by its names for them; K and nDCG are none of them.
_METRICS = {
    "accuracy": "accuracy",
    "micro_f1": "f1",
    "macro_f1": "f1",
    "p_at_1": "precision",
    "p_at_3": "precision",
    "p_at_5": "precision",
}

Description = Mapping[str, Any]


def front_matter(description: Description, licence: str | None = None) -> dict[str, str]:
    """What the Hub reads at the top of a model card: names, and their values as YAML on one line.

    The licence is left out where none is given: a model's folder does not know it.
    """
    languages = hub_languages(description["languages"])
    results = [result for result in _results(description["scores"] or {}) if result["metrics"]]
    data = {
        "library_name": LIBRARY,
        "pipeline_tag": TASK if languages else None,  # of other spaces than languages nothing is known
        "license": licence,
        "language": languages,
        "tags": _tags(description, languages),
        "metrics": list(dict.fromkeys(each["type"] for result in results for each in result["metrics"])),
        "model-index": [{"name": title(description["method"]), "results": results}] if results else [],
    }
    return {key: _yaml(value) for key, value in data.items() if value}


def hub_languages(names: Iterable[str]) -> list[str]:
    """The languages of a model as ISO 639 has them, variants under their language; other spaces are none.

    >>> hub_languages(["pt_BR", "pt", "zh_Hant", "images"])
    ['pt', 'zh']
    """
    return list(dict.fromkeys(primary(name) for name in names if is_language(name)))


def _tags(description: Description, languages: list[str]) -> list[str]:
    labels = "single-label" if description["single_label"] else "multi-label"
    several = ["multilingual"] if len(languages) > 1 else []
    return [LIBRARY, *([TASK] if languages else []), *several, f"{labels}-classification"]


def _results(scores: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The scores of each language, then their mean, as the Hub's ``model-index`` has them."""
    by_language = scores.get("languages", {})
    for language, values in by_language.items():
        yield _result(f"{counted(values['documents'], 'document')} in {language}", language, values)
    if len(by_language) > 1:
        yield _result("mean over languages", "average", scores["average"])


def _result(name: str, config: str, values: Mapping[str, float]) -> dict[str, Any]:
    metrics = [
        {"type": _METRICS[measure], "name": MEASURE_TITLES[measure], "value": round(values[measure], DIGITS)}
        for measure in shown_measures(values)
        if measure in _METRICS and math.isfinite(values[measure])
    ]
    return {
        "task": {"type": TASK},
        "dataset": {"type": "documents", "name": name, "config": config},
        "metrics": metrics,
    }


def _yaml(value: Any) -> str:
    """A value as JSON, which is YAML once its strings escape all that YAML does not allow as it is."""
    return "".join(map(_escaped, json.dumps(value, ensure_ascii=False)))


def _escaped(character: str) -> str:
    if "\ud800" <= character <= "\udfff":  # half of a character, which UTF-8 cannot encode
        return "\ufffd"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


NOT_KNOWN = "What it learned from is not known: it was made in Python."
_NO_FACTS = ("step", "file", "documents", "after", "journal")  # have a column, or say nothing to people

Step = Mapping[str, Any]


def history_table(history: Sequence[Step]) -> Table:
    """One row per step, in their order.

    >>> step = {"step": "update", "file": "more.csv", "documents": {"en": 20, "it": 4}, "corrected": 3}
    >>> history_table([{**step, "after": {"documents": 121, "labels": 7}}]).rows
    [['update', 'more.csv', 'en 20, it 4', 'corrected 3', '121', '7']]
    """
    return Table(
        ["step", "file", "documents", "of which, and more", "documents then", "labels then"],
        [
            [
                step["step"],
                step.get("file", ""),
                _told(step.get("documents", {})),
                _facts(step),
                f"{step['after']['documents']:,}",
                f"{step['after']['labels']:,}",
            ]
            for step in history
        ],
    )


def history_note(description: Mapping[str, Any]) -> str:
    """What is not known of a model's history, if anything; takes what `describe_model` says of it."""
    history, documents = description["history"], sum(description["languages"].values())
    if not history:
        return NOT_KNOWN
    if is_whole(history, documents):
        return ""
    before = "what came before" if history[0]["step"] != FIRST_STEP else "what came after"
    return f"That is not all, {before} is not known: it was done in Python."


def _facts(step: Step) -> str:
    """Whatever else is remembered of a step."""
    facts = {key: value for key, value in step.items() if key not in _NO_FACTS}
    return ", ".join(f"{name.replace('_', ' ')} {_told(value)}" for name, value in facts.items())


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{language} {number:,}" for language, number in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


NOTHING_STORED = (
    "nothing of its training documents, but words of its vocabularies and what its classifiers made of them"
)
_NAMES = {
    "ids": "ids",
    "groups": "groups",
    "labels": "labels",
    "vectors": "vectors",
    "beginnings": "the first 200 characters of each text",
    "posteriors": "posteriors",
    "scores": "scores",
    "solutions": "solutions to start from",
}
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def kept_sentence(description: Description) -> str:
    """What is kept, in a sentence that has "it" for its subject; takes what `describe_model` says."""
    stored = description["stored"]
    if not stored["documents"]:
        return f"It keeps {NOTHING_STORED}."
    names = list(_things(stored))
    things = ", ".join(names[:-1]) + f" and {names[-1]}"
    return f"It keeps of {counted(sum(stored['documents'].values()), 'training document')}: {things}."


def kept_table(description: Description) -> Table:
    """What each thing takes that is kept."""
    stored = description["stored"]
    return Table(
        ["of each document", "takes"],
        [[name, shown_bytes(size)] for name, size in _things(stored).items()]
        + [["the model in all", shown_bytes(stored["total_bytes"])]],
    )


def what_follows(description: Description) -> list[str]:
    """By what the model can be changed without training it anew, and by what it cannot and why.

    Takes what `inspect_model` says of it; nothing is known of a model that cannot be loaded here.
    """
    stored = description["stored"]
    lines = []
    if stored.get("supported_changes"):
        again = f" ({', '.join(f'--{name}' for name in stored['needs'])} again)" if stored["needs"] else ""
        lines.append(
            f"Without training anew it can be changed by: {', '.join(stored['supported_changes'])}{again}."
        )
    reasons: dict[str, list[str]] = {}
    for command, reason in stored.get("unsupported_changes", {}).items():
        reasons.setdefault(reason, []).append(command)
    return lines + [f"Not by {', '.join(names)}. {reason}" for reason, names in reasons.items()]


def _things(stored: Mapping[str, Any]) -> dict[str, int]:
    """What is kept, and the bytes it takes."""
    names = {**_NAMES, "texts": f"texts ({stored['texts']})"}
    return {names[name]: size for name, size in stored["bytes"].items()}


def shown_bytes(number: float) -> str:
    """A size as people read it.

    >>> shown_bytes(999), shown_bytes(40_400), shown_bytes(3.2e9)
    ('999 bytes', '40 kB', '3.2 GB')
    """
    power = min((len(str(int(number))) - 1) // 3, len(_UNITS) - 1)
    value = number / 1000**power
    return f"{value:.1f} {_UNITS[power]}" if power and value < 10 else f"{value:.0f} {_UNITS[power]}"


MAX_LABELS_SHOWN = 50
MEASURED = "Measured on documents that it did not learn from."
MODEL_PLACEHOLDER = "MODEL"  # what a card calls a folder that may be anywhere
MAX_MISTAKES_SHOWN = 10  # of the worst labels, and of those taken for others


def model_card(
    description: Mapping[str, Any], address: str = MODEL_PLACEHOLDER, licence: str | None = None
) -> str:
    """A model card in Markdown, from what `describe_model` says of a model; what is above it is for the Hub.

    ``address`` is where its readers find the model.
    """
    made = made_with(description)
    scores, labels = description["scores"], [str(label) for label in description["labels"]]
    return render_markdown(
        "card.md",
        front_matter=front_matter(description, licence),
        title=title(description["method"]),
        task=task(description),
        version=description["funnelling"],
        languages=documents_table(description),
        labels=", ".join(labels[:MAX_LABELS_SHOWN]),
        n_more_labels=f"{len(labels) - MAX_LABELS_SHOWN:,}" if len(labels) > MAX_LABELS_SHOWN else None,
        how=(scores or {"evaluated_on": "It was not measured."}).get("evaluated_on", MEASURED),
        scores=scores and languages_table(scores),
        notes=scores and notes(scores),
        mistakes=scores and mistakes(scores, MAX_MISTAKES_SHOWN),
        probabilities=probabilities(description),
        history=description["history"] and history_table(description["history"]),
        history_note=history_note(description),
        limits=limits(description),
        choice=description["choice"] or "",
        parameters=Table(["parameter", "value"], [[name, str(made[name])] for name in made]),
        versions=description["versions"],
        address=address,
        placeholder=MODEL_PLACEHOLDER,
    )


def documents_table(description: Description) -> Table:
    """The number of training documents in each language."""
    rows = [[language, f"{number:,}"] for language, number in description["languages"].items()]
    return Table(["language", "training documents"], rows)


def task(description: Mapping[str, Any]) -> str:
    """What the model does, in a sentence."""
    languages = counted(len(description["languages"]), "language")
    labels = counted(len(description["labels"]), "label")
    if description["single_label"]:
        return f"It gives each document one of {labels}, in {languages}, with a probability for each label."
    return f"It labels documents in {languages} under {labels}, with a probability for each."


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
    if scores:
        trust += f"{calibration(scores)} ".lstrip()
    if description["single_label"]:
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
    if description["parameters"].get("keep") == "nothing":
        return ""
    shown = " Its report.html, where there is one, may show parts of texts"
    known = "keep" in description["parameters"]
    return f"{shown}. A model trained with --keep nothing has neither." if known else f"{shown}."


def _of_rare(scores: Mapping[str, Any] | None) -> str:
    """Which measures tell of rare labels."""
    return "PSP@k" if scores and are_ranked(scores["average"]) else "the macro averages"


CHOICE_NOTE = (
    "Each candidate has its best C and is measured on outer folds of the training documents. Where the "
    "difference between candidates may be chance, the first of them is chosen, so another one may have "
    "higher metrics. A candidate that is far behind is dropped: its metrics are of fewer documents."
)


def tried_table(tried: Sequence[Mapping[str, Any]]) -> Table:
    """The candidates in the order in which ties are decided, with their measures.

    ``tried`` is what `describe_model` says under ``candidates``.

    >>> tried_table([{"name": "own + mixed", "C": 1.0, "micro_f1": 0.5, "chosen": True}])[:2]
    (['candidate', 'chosen', 'C', 'micro-F1'], [['own + mixed', 'chosen', '1', '.500']])
    """
    measures = [name for name in MEASURES if all(name in row for row in tried)]
    return Table(
        ["candidate", "chosen", "C", *(MEASURES[name].title for name in measures)],
        [
            [
                row["name"],
                "chosen" if row["chosen"] else "",
                DASH if row["C"] is None else f"{row['C']:g}",
                *(number(row[name]) for name in measures),
            ]
            for row in tried
        ],
    )
