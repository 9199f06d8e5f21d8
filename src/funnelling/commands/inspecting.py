"""Look at a model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from funnelling.commands.options import FilePath
from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError
from funnelling.funnel.tuning import check_tunable
from funnelling.methods.learning import check_extensible
from funnelling.methods.rows import names_of_labels, thresholds_of
from funnelling.spaces.embedded import EmbeddedSpace
from funnelling.spaces.outside import EncoderSpace
from funnelling.spaces.reference import ReferenceSpace
from funnelling.storage import describe_model, load

if TYPE_CHECKING:
    from funnelling.methods.model import Model

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
        loaded = load(model, mapped=True)
    except InputError:
        return {**description, "thresholds": None}
    keeps = {**description["keeps"], **possible_changes(loaded)}
    told = {**description, "keeps": keeps, "thresholds": thresholds_of(loaded)}
    if loaded.label_set is not None:
        told["label_set"] = _describe_label_set(loaded.label_set)
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


MERGE = "relabel to merge labels"
ON_TEXTS = ("update", "add-language", "forget")
CHANGE_COMMANDS = ("update", "add-language", "forget", "tune", "relabel", MERGE)
OF_VECTORS = "It was fitted on vectors, not on texts. Use extend and forget in Python."
SPACE_RESOURCES: dict[type, str] = {
    EmbeddedSpace: "embeddings",
    EncoderSpace: "encoder",
    ReferenceSpace: "reference",
}


def possible_changes(model: "Model") -> dict[str, Any]:
    """The commands that a model ``can`` be changed by, and those that it ``cannot``, with the reason.

    ``needs`` are resources that are not kept with a model, and that it needs again to learn.
    """
    cannot = _impossible(model)
    return {
        "can": [command for command in CHANGE_COMMANDS if command not in cannot],
        "cannot": cannot,
        "needs": _resources(model),
    }


def _impossible(model: "Model") -> dict[str, str]:
    again, tune = (_refusal(check, model) for check in (check_extensible, check_tunable))
    on_texts = again if again or model.texts else OF_VECTORS
    reasons = {**dict.fromkeys(ON_TEXTS, on_texts), MERGE: again, "tune": tune}
    archive = model.archive
    if archive is not None and not on_texts and not any(map(archive.given_ids, archive.ids)):
        reasons["forget"] = "Its documents were given no ids. Give them some with update."
    return {command: reason for command, reason in reasons.items() if reason}


def _refusal(check: Callable[["Model"], object], model: "Model") -> str:
    """Why a model is refused; nothing where it is not."""
    try:
        check(model)
    except InputError as error:
        return str(error)
    return ""


def _resources(model: "Model") -> list[str]:
    return sorted(
        {
            name
            for space in model.fitted.spaces
            for kind, name in SPACE_RESOURCES.items()
            if isinstance(space, kind)
        }
    )
