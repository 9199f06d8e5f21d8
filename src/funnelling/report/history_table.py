"""What a model learned from, step by step, as a table, and what is not known of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.methods.merging import FIRST, is_whole
from funnelling.report.tables import Table

NOT_KNOWN = "What it learned from is not known: it was made in Python, or by an earlier version."
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
    before = "what came before" if history[0]["step"] != FIRST else "what came after"
    return f"That is not all, {before} is not known: it was done in Python, or by an earlier version."


def _facts(step: Step) -> str:
    """Whatever else is remembered of a step."""
    facts = {key: value for key, value in step.items() if key not in _NO_FACTS}
    return ", ".join(f"{name.replace('_', ' ')} {_told(value)}" for name, value in facts.items())


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{language} {number:,}" for language, number in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)
