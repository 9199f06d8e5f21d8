"""What stands above a model card for the Hub's catalogue: YAML of facts that are in the model's folder."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from funnelling.errors import counted
from funnelling.evaluation.registry import TITLES, main_measures
from funnelling.methods.registry import title
from funnelling.text.languages import is_language, primary

LIBRARY, TASK = "funnelling", "text-classification"
DIGITS = 4  # of a score
# Measures that the Hub knows, by its names for them; K and nDCG are none of them.
_METRICS = {
    "accuracy": "accuracy",
    "sklearn_macro_f1": "f1",
    "micro_f1": "f1",
    "macro_f1_present": "f1",
    "macro_f1": "f1",
    "p_at_1": "precision",
    "p_at_3": "precision",
    "p_at_5": "precision",
}

Description = Mapping[str, Any]


def card_data(description: Description, licence: str | None = None) -> str:
    """The front matter of a model card, from what `describe_model` says of a model.

    The licence is left out where none is given: a model's folder does not know it.
    """
    languages = hub_languages(description["languages"])
    results = [result for result in _results(description["scores"] or {}) if result["metrics"]]
    metrics = dict.fromkeys(metric["type"] for result in results for metric in result["metrics"])
    data = {
        "library_name": LIBRARY,
        "pipeline_tag": TASK if languages else None,  # of other spaces than languages nothing is known
        "license": licence,
        "language": languages,
        "tags": _tags(description, languages),
        "metrics": list(metrics),
        "model-index": [{"name": title(description["method"]), "results": results}] if results else [],
    }
    lines = _yaml({key: value for key, value in data.items() if value})
    return "\n".join(["---", *lines, "---"])


def hub_languages(names: Iterable[str]) -> list[str]:
    """The languages of a model as ISO 639 has them, variants under their language; other spaces are none.

    >>> hub_languages(["pt_BR", "pt", "zh_Hant", "images"])
    ['pt', 'zh']
    """
    return list(dict.fromkeys(primary(name) for name in names if is_language(name)))


def _tags(description: Description, languages: list[str]) -> list[str]:
    labels = "single-label" if description["exclusive"] else "multi-label"
    several = ["multilingual"] if len(languages) > 1 else []
    return [LIBRARY, *([TASK] if languages else []), *several, f"{labels}-classification"]


def _results(scores: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The scores of each language, then those of all, as the Hub's ``model-index`` has them."""
    by_language = scores.get("languages", {})
    for language, values in by_language.items():
        yield _result(f"{counted(values['documents'], 'document')} in {language}", language, values)
    if len(by_language) > 1:
        yield _result("mean over languages", "average", scores["average"])


def _result(name: str, config: str, values: Mapping[str, float]) -> dict[str, Any]:
    metrics = [
        {"type": _METRICS[measure], "name": TITLES[measure], "value": round(values[measure], DIGITS)}
        for measure in main_measures(values)
        if measure in _METRICS and math.isfinite(values[measure])
    ]
    return {
        "task": {"type": TASK},
        "dataset": {"type": "documents", "name": name, "config": config},
        "metrics": metrics,
    }


def _yaml(value: Any, indent: str = "") -> list[str]:
    """Mappings and lists as lines of YAML."""
    if isinstance(value, list):
        lines = []
        for item in value:
            first, *others = _yaml(item, f"{indent}  ")
            lines += [f"{indent}- {first.lstrip(' ')}", *others]
        return lines
    if not isinstance(value, dict):
        return [_scalar(value)]
    lines = []
    for key, item in value.items():
        inner = _yaml(item, f"{indent}  ")
        nested = isinstance(item, dict | list)
        lines += [f"{indent}{key}:", *inner] if nested else [f"{indent}{key}: {inner[0]}"]
    return lines


def _scalar(value: float | str) -> str:
    """A number, or a string in quotes: bare, ``no`` is a truth value, and ``a: [`` no string at all."""
    if not isinstance(value, str):
        return repr(value)
    return f'"{"".join(map(_escaped, value))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if "\ud800" <= character <= "\udfff":  # half of a sign, which UTF-8 cannot say
        return "\ufffd"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
