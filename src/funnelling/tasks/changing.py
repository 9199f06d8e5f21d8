"""By which commands a model can be changed without training it anew, and why not by others."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from funnelling.errors import InputError
from funnelling.spaces.embedded import EmbeddedSpace
from funnelling.spaces.outside import EncoderSpace
from funnelling.spaces.reference import ReferenceSpace
from funnelling.tasks.tuning import tunable

if TYPE_CHECKING:
    from funnelling.methods.model import Method

MERGE = "relabel to merge labels"
ON_TEXTS = ("update", "add-language", "forget")
COMMANDS = ("update", "add-language", "forget", "tune", "relabel", MERGE)
OF_VECTORS = "It was fitted on vectors, not on texts. Use extend and forget in Python."
RESOURCES: dict[type, str] = {
    EmbeddedSpace: "embeddings",
    EncoderSpace: "encoder",
    ReferenceSpace: "reference",
}


def possible_changes(model: "Method") -> dict[str, Any]:
    """The commands that a model ``can`` be changed by, and those that it ``cannot``, with the reason.

    ``needs`` are resources that are not kept with a model, and that it needs again to learn.
    """
    cannot = _impossible(model)
    return {
        "can": [command for command in COMMANDS if command not in cannot],
        "cannot": cannot,
        "needs": _resources(model),
    }


def _impossible(model: "Method") -> dict[str, str]:
    again, tune = _refusal(model.check_extensible), _refusal(lambda: tunable(model))
    on_texts = again if again or model.texts_ else OF_VECTORS
    reasons = {**dict.fromkeys(ON_TEXTS, on_texts), MERGE: again, "tune": tune}
    if not on_texts and not any(map(model.training_.given_ids, model.training_.ids)):
        reasons["forget"] = "Its documents were given no ids. Give them some with update."
    return {command: reason for command, reason in reasons.items() if reason}


def _refusal(check: Callable[[], object]) -> str:
    """Why a model is refused; nothing where it is not."""
    try:
        check()
    except InputError as error:
        return str(error)
    return ""


def _resources(model: "Method") -> list[str]:
    views = [view.space for view in getattr(model, "shared_views_", {}).values()]
    spaces = [*views, getattr(model, "space_", None)]
    return sorted({name for space in spaces for kind, name in RESOURCES.items() if isinstance(space, kind)})
