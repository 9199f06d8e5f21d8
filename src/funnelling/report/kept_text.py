"""What a model keeps of its training documents, and what follows, in words."""

from collections.abc import Mapping
from typing import Any

from funnelling.errors import counted
from funnelling.report.tables import Table

NOTHING = (
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

Description = Mapping[str, Any]


def kept_sentence(description: Description) -> str:
    """What is kept, in a sentence that has "it" for its subject; takes what `describe_model` says."""
    keeps = description["keeps"]
    if not keeps["documents"]:
        return f"It keeps {NOTHING}."
    names = list(_things(keeps))
    things = ", ".join(names[:-1]) + f" and {names[-1]}"
    return f"It keeps of {counted(sum(keeps['documents'].values()), 'training document')}: {things}."


def kept_table(description: Description) -> Table:
    """What each thing takes that is kept."""
    keeps = description["keeps"]
    return Table(
        ["of each document", "takes"],
        [[name, shown_bytes(size)] for name, size in _things(keeps).items()]
        + [["the model in all", shown_bytes(keeps["bytes_in_all"])]],
    )


def what_follows(description: Description) -> list[str]:
    """By what the model can be changed without training it anew, and by what it cannot and why.

    Takes what `inspect_model` says of it; nothing is known of a model that cannot be loaded here.
    """
    keeps = description["keeps"]
    lines = []
    if keeps.get("can"):
        again = f" ({', '.join(f'--{name}' for name in keeps['needs'])} again)" if keeps["needs"] else ""
        lines.append(f"Without training anew it can be changed by: {', '.join(keeps['can'])}{again}.")
    reasons: dict[str, list[str]] = {}
    for command, reason in keeps.get("cannot", {}).items():
        reasons.setdefault(reason, []).append(command)
    return lines + [f"Not by {', '.join(names)}. {reason}" for reason, names in reasons.items()]


def _things(keeps: Mapping[str, Any]) -> dict[str, int]:
    """What is kept, and the bytes it takes."""
    names = {**_NAMES, "texts": f"texts ({keeps['texts']})"}
    return {names[name]: size for name, size in keeps["bytes"].items()}


def shown_bytes(number: float) -> str:
    """A size as people read it.

    >>> shown_bytes(999), shown_bytes(40_400), shown_bytes(3.2e9)
    ('999 bytes', '40 kB', '3.2 GB')
    """
    power = min((len(str(int(number))) - 1) // 3, len(_UNITS) - 1)
    value = number / 1000**power
    return f"{value:.1f} {_UNITS[power]}" if power and value < 10 else f"{value:.0f} {_UNITS[power]}"
