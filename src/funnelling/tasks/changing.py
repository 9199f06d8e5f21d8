"""By which commands a model can be changed without training it anew, and why not by others."""

from typing import TYPE_CHECKING, Any

from funnelling.errors import InputError
from funnelling.spaces.embedded import EmbeddedSpace
from funnelling.spaces.encoder import EncoderSpace
from funnelling.spaces.reference_based import ReferenceSpace

if TYPE_CHECKING:
    from funnelling.method.base import Method

MERGE = "relabel to merge labels"
LEARN_AGAIN = ("update", "add-language", "forget", MERGE)  # from what the model keeps of its documents
COMMANDS = ("update", "add-language", "forget", "tune", "relabel", MERGE)
NO_SCORES = "It keeps no scores of documents that were held out."
NO_THRESHOLDS = "It gives each document one label, for which there are no thresholds."
OF_VECTORS = "It was fitted on vectors, and is changed from Python."
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
    if not model.texts_:
        return dict.fromkeys(COMMANDS, OF_VECTORS)
    reasons: dict[str, str] = {}
    try:
        archive: Any = model.check_extensible()
    except InputError as error:
        archive, reasons = None, dict.fromkeys(LEARN_AGAIN, str(error))
    if model.exclusive_:
        reasons["tune"] = NO_THRESHOLDS
    elif not getattr(archive or getattr(model, "training_", None), "scores", None):
        reasons["tune"] = NO_SCORES
    return reasons


def _resources(model: "Method") -> list[str]:
    views = [view.space for view in getattr(model, "shared_views_", {}).values()]
    spaces = [*views, getattr(model, "space_", None)]
    return sorted({name for space in spaces for kind, name in RESOURCES.items() if isinstance(space, kind)})
