"""What a model's folder keeps of its training documents, told without loading the model."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from funnelling.matrices import sizes_of
from funnelling.storage.trees import Arrays, decode

ARCHIVE = "training_"  # the attribute of a model that holds it
AS_WRITTEN, BAGS_OF_WORDS = "as written", "bags of words"
# What there may be of a document, and the fields of an archive that hold it.
FIELDS = {
    "ids": ("ids", "unnamed"),
    "groups": ("groups",),
    "labels": ("targets",),
    "texts": ("texts",),
    "vectors": ("vectors",),
    "beginnings": ("beginnings",),
    "posteriors": ("training", "held_out"),
    "scores": ("scores",),
    "solutions": ("coefficients",),
}
MAY_BE_BLANK = ("groups", "beginnings")  # have an empty string where there is none


def describe_kept(tree: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """What a model, as `encode` gives it, keeps of its training documents.

    ``documents`` are how many, by language: none where it keeps nothing of them. ``texts`` is "as written",
    "bags of words" or None. ``bytes`` has what each thing that is kept takes, of the model's
    ``bytes_in_all``.
    """
    state = tree["state"].get(ARCHIVE, {"state": {}})["state"]
    kept = {field for field, content in state.items() if _has_content(field, content, arrays)}
    sizes = {
        name: sum(_size(f"/{ARCHIVE}/{field}", state[field], arrays) for field in fields if field in kept)
        for name, fields in FIELDS.items()
    }
    targets = decode(state["targets"], arrays) if state else {}
    return {
        "documents": sizes_of(targets),
        "texts": (AS_WRITTEN if state["as_written"] else BAGS_OF_WORDS) if "texts" in kept else None,
        "bytes": {name: size for name, size in sizes.items() if size},
        "bytes_in_all": _size("", tree, arrays),
    }


def _has_content(field: str, content: Any, arrays: Arrays) -> bool:
    """Whether a field, a mapping from languages for the most part, has anything in it."""
    if not isinstance(content, dict) or not content.get("items"):
        return False
    return field not in MAY_BE_BLANK or any(any(decode(item, arrays)) for item in content["items"].values())


def _size(place: str, tree: Any, arrays: Arrays) -> int:
    """The bytes of a place in a model: those of its arrays, and of what stands in the tree itself."""
    return sum(_array_sizes(place, arrays)) + len(
        json.dumps(tree, ensure_ascii=False).encode(errors="replace")
    )


def _array_sizes(place: str, arrays: Arrays) -> Iterator[int]:
    return (array.nbytes for key, array in arrays.items() if f"{key}/".startswith(f"{place}/"))
