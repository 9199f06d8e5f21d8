"""Experiments by name: their results, and the sections of a report."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from funnelling.errors import InputError
from funnelling.report.content import Section
from funnelling.reproduction.experiments.registry import EXPERIMENTS
from funnelling.reproduction.experiments.setting import Setting


def run_experiments(names: Sequence[str], setting: Setting) -> tuple[dict[str, Any], list[Section]]:
    """The results of experiments, and a section of a report on each.

    Of several, one that these documents do not allow is reported and passed over.
    """
    results: dict[str, Any] = {}
    sections = []
    for name in names:
        module, key = import_module(EXPERIMENTS[name].module), name.replace("-", "_")
        try:
            results[name] = getattr(module, f"run_{key}")(setting)
        except InputError as error:
            if len(names) == 1:
                raise
            setting.report(f"{name}: not run: {error}")
            sections.append(Section(name, name.replace("-", " ").capitalize(), [f"Not run: {error}"]))
        else:
            sections.append(getattr(module, f"{key}_section")(results[name]))
    if not results:
        raise InputError(f"no experiment could be run. {sections[0].paragraphs[0]}")
    return results, sections
