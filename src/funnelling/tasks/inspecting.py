"""Look at models: at one, at what makes two differ, at the scores of several."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from funnelling.errors import InputError
from funnelling.evaluation.language_averages import plain_mean, weighted_mean
from funnelling.evaluation.registry import main_measures
from funnelling.labelsets import LabelSet
from funnelling.method.following import names_of_labels
from funnelling.prediction import EVERY, HALF, ROUNDING, thresholds_of
from funnelling.storage import describe_model, load_model
from funnelling.tasks.changing import possible_changes
from funnelling.tasks.sources import FilePath

Description = dict[str, Any]


def inspect_model(model: FilePath, names: str | None = None) -> Description:
    """What `describe_model` says of a model, and what is known once it is loaded.

    ``thresholds`` are those that are not .5, by language, and ``keeps`` has what `possible_changes` gives,
    too. Where the model has a label set, ``label_set`` tells of it, and with the language of ``names``,
    ``label_names`` what each label is called. Of a model that cannot be loaded here, the thresholds are None
    and ``keeps`` has no more.
    """
    description = describe_model(model)
    try:
        loaded = load_model(model, mapped=True)
    except InputError:
        return {**description, "thresholds": None}
    keeps = {**description["keeps"], **possible_changes(loaded)}
    told = {**description, "keeps": keeps, "thresholds": thresholds_of(loaded)}
    if hasattr(loaded, "label_set_"):
        told["label_set"] = _describe_label_set(loaded.label_set_)
    if names is not None:
        called = names_of_labels(loaded, names)
        told["label_names"] = {str(label): called.get(str(label), str(label)) for label in told["labels"]}
    return told


def _describe_label_set(label_set: LabelSet) -> dict[str, Any]:
    """How many labels a set has, in which languages it names them, and what it says of them."""
    labels = list(label_set)
    return {
        "labels": len(labels),
        "names": sorted(label_set.names),
        "with_parents": sum(bool(label.parents) for label in labels),
        "excluded": [label.id for label in labels if label.exclude],
        "roll_up": bool(label_set.roll_up),
    }


def compare_models(first: FilePath, second: FilePath) -> dict[str, Any]:
    """What makes two models differ, in plain values; a list of two has the first model's, then the second's.

    ``documents``
        training documents by language, None where a model did not learn a language
    ``labels``
        how many both know (``shared``), and those that ``only`` one does
    ``scores``
        the main measures of both by language, their ``average``, that ``weighted`` by documents, and
        ``average_of_shared``, over the languages that both were measured in; ``how`` they were measured, and
        whether that is ``alike``. None where neither was measured
    ``settings``, ``versions``
        those that both have, and not alike
    ``choice``
        of views, and why
    ``thresholds``
        that moved, most first, of labels and languages that both know; None where they cannot be told
    ``history``
        how many steps both have in common from the first on (``shared``), and those that ``only`` one has
    ``keeps``
        what each keeps of its documents
    """
    models = [inspect_model(first), inspect_model(second)]
    labels = [model["labels"] for model in models]
    languages = [model["languages"] for model in models]
    settings = [{**model["parameters"], "C of the final classifiers": model["C"]} for model in models]
    versions = [{"funnelling": model["funnelling"], **(model["versions"] or {})} for model in models]
    return {
        "models": [str(first), str(second)],
        "method": [model["method"] for model in models],
        "exclusive": [bool(model["exclusive"]) for model in models],
        "documents": {tag: _values(languages, tag) for tag in sorted(_names(languages))},
        "labels": {
            "shared": len(set(labels[0]) & set(labels[1])),
            "only": [_without(*labels), _without(*reversed(labels))],
        },
        "scores": _compare_scores([model["scores"] for model in models]),
        "settings": _differing(settings),
        "versions": _differing(versions),
        "choice": [model["choice"] for model in models],
        "thresholds": _moved(models),
        "history": _compare_histories([model["history"] or [] for model in models]),
        "keeps": [model["keeps"] for model in models],
    }


def overview(models: Iterable[FilePath]) -> list[dict[str, Any]]:
    """What each of several models is, in a row, with its averages over languages or None."""
    rows = []
    for path in models:
        description = describe_model(path)
        scores = description["scores"] or {}
        rows.append(
            {
                "model": str(path),
                "method": description["method"],
                "exclusive": bool(description["exclusive"]),
                "languages": len(description["languages"]),
                "documents": sum(description["languages"].values()),
                "labels": len(description["labels"]),
                "how": scores.get("how"),
                "average": scores.get("average"),
            }
        )
    return rows


def _compare_scores(scores: Sequence[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    measured = [each for each in scores if each]
    if not measured:
        return None
    names = main_measures(set.intersection(*(set(each["average"]) for each in measured)))
    languages = [each["languages"] if each else {} for each in scores]
    documents = [{tag: values["documents"] for tag, values in each.items()} for each in languages]
    both = [tag for tag in languages[0] if tag in languages[1]]
    of_both = [{tag: each[tag] for tag in both} for each in languages]
    how = [each.get("how") if each else None for each in scores]

    def averages(mean: Callable[[Any], dict[str, float]], by_language: Sequence[Any]) -> dict[str, list[Any]]:
        means = [mean(each) if each else {} for each in by_language]
        return {name: _values(means, name) for name in names}

    return {
        "how": how,
        "alike": how[0] == how[1] and documents[0] == documents[1],
        "languages": {
            tag: {
                "documents": _values(documents, tag),
                **{name: _values([each.get(tag, {}) for each in languages], name) for name in names},
            }
            for tag in sorted(_names(languages))
        },
        "average": averages(plain_mean, languages),
        "weighted": averages(weighted_mean, languages),
        "average_of_shared": averages(plain_mean, of_both),
    }


def _moved(models: Sequence[Description]) -> list[dict[str, Any]] | None:
    """The thresholds that are not the same, languages together whose thresholds moved alike."""
    thresholds = [model["thresholds"] for model in models]
    if None in thresholds or any(model["exclusive"] for model in models):
        return None
    known = {EVERY, *set(models[0]["labels"]) & set(models[1]["labels"])}
    alike: dict[tuple[Any, float, float], list[str]] = {}
    for language in models[0]["languages"]:
        if language in models[1]["languages"]:
            old, new = (each.get(language, {}) for each in thresholds)
            for label in _names([old, new]):
                values = _cut(old, label), _cut(new, label)
                if label in known and abs(values[1] - values[0]) >= ROUNDING:
                    alike.setdefault((label, *values), []).append(language)
    rows = [
        {"label": label, "languages": languages, "values": [old, new]}
        for (label, old, new), languages in alike.items()
    ]
    return sorted(rows, key=lambda row: -abs(row["values"][1] - row["values"][0]))


def _cut(thresholds: Mapping[Any, float], label: Any) -> float:
    return thresholds.get(label, thresholds.get(EVERY, HALF))


def _compare_histories(histories: Sequence[Sequence[Any]]) -> dict[str, Any]:
    shared = sum(1 for _ in takewhile(lambda steps: steps[0] == steps[1], zip(*histories, strict=False)))
    return {"shared": shared, "only": [list(history[shared:]) for history in histories]}


def _differing(mappings: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """What both have, and not alike."""
    first, second = mappings
    return {
        name: [value, second[name]]
        for name, value in first.items()
        if name in second and value != second[name]
    }


def _without(labels: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    known = set(others)
    return [label for label in labels if label not in known]


def _names(mappings: Iterable[Mapping[Any, Any]]) -> list[Any]:
    """The keys of mappings, each once."""
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))


def _values(mappings: Iterable[Mapping[Any, Any]], key: Any) -> list[Any]:
    return [mapping.get(key) for mapping in mappings]
