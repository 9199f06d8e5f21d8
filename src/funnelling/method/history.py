"""What a model learned from, step by step: files by their names, and counts.

No time, no host and no folder, so that the same commands leave the same bytes; and no document and no label,
so that one which is to be forgotten is not remembered here.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from funnelling.formats.files import STANDARD
from funnelling.state import expect, expect_by, expect_whole

FIRST = "train"  # the step that a whole history begins with
STEPS = (FIRST, "update", "add-language", "forget", "relabel", "tune")

Step = dict[str, Any]
Fact = int | str | None | Mapping[str, int]


class Remembering(Protocol):
    """A fitted model, as `funnelling.method.base.Method` is one."""

    documents_: dict[str, int]
    classes_: Any
    history_: list[Step]


def remember_step(
    model: Remembering,
    step: str,
    *,
    file: str | os.PathLike[str] | None = None,
    before: Remembering | None = None,
    **facts: Fact,
) -> None:
    """Add a step, one of `STEPS`, to what a model remembers of its history, ``history_``.

    Parameters
    ----------
    model : as it is after the step
    step : what was done
    file : what was read, of which the name is kept without its folders
    before : the model as it was before, whose history goes on; None where that is ``model`` itself
    facts : counts, by language where there are some, and settings that matter, such as
        ``documents={"en": 20}, corrected=3``; those that are 0, empty or None are left out

    >>> from funnelling import NaiveClassifier
    >>> model = NaiveClassifier().fit(["a cat", "a dog"] * 5, [["cat"], ["dog"]] * 5, ["en"] * 10)
    >>> remember_step(model, "train", file="some/folder/pets.csv", documents={"en": 10}, corrected=0)
    >>> model.history_
    [{'step': 'train', 'file': 'pets.csv', 'documents': {'en': 10}, 'after': {'documents': 10, 'labels': 2}}]
    """
    if step not in STEPS:
        raise ValueError(f"{step!r} is no step of a history, which are {', '.join(STEPS)}")
    done: Step = {"step": step}
    if file is not None:
        done["file"] = _name(file)
    plain = {name: _plain(value) for name, value in facts.items() if value is not None}
    done |= {name: value for name, value in plain.items() if value}
    done["after"] = {"documents": sum(model.documents_.values()), "labels": len(model.classes_)}
    model.history_ = [*getattr(before or model, "history_", ()), done]


def check_history(history: Any) -> None:
    """Refuse what is no history of a model."""
    expect(isinstance(history, list), "the history")
    for step in history:
        done = expect_by(step, None, "a step of the history")
        expect(done["step"] in STEPS, "a step of the history")
        for number in expect_by(done["after"], ("documents", "labels"), "a step of the history").values():
            expect_whole(number, "a step of the history")


def is_whole(history: Sequence[Mapping[str, Any]], documents: int) -> bool:
    """Whether a history tells of all that a model with so many training documents learned from.

    It does not where the model was made, or changed since, in Python or by an earlier version.
    """
    return bool(history) and history[0]["step"] == FIRST and history[-1]["after"]["documents"] == documents


def tuned_for_some(model: Remembering) -> bool:
    """Whether a model has thresholds that were tuned for some labels, as far as it remembers.

    They are gone when it learns again, for then all labels get thresholds for the model's own goal.

    >>> from funnelling import NaiveClassifier
    >>> model = NaiveClassifier().fit(["a cat", "a dog"] * 5, [["cat"], ["dog"]] * 5, ["en"] * 10)
    >>> remember_step(model, "tune", goal="recall=.9", labels=1)
    >>> tuned_for_some(model)
    True
    >>> remember_step(model, "update")
    >>> tuned_for_some(model)
    False
    """
    for step in reversed(getattr(model, "history_", [])):
        if step["step"] == "tune":
            return "labels" in step
        if step["step"] != "relabel" or "merged" in step:  # names and drops leave thresholds
            return False
    return False


def _name(file: str | os.PathLike[str]) -> str:
    path = os.fspath(file)
    return "standard input" if path == STANDARD else os.path.basename(os.path.abspath(path))


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): int(number) for key, number in sorted(value.items()) if number}
    return value if isinstance(value, str) else int(value)
