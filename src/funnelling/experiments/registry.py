"""The experiments by the names users type, and running them.

Light enough to be imported for ``--help``: a module is loaded when its experiment runs.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.experiments.setting import Setting
    from funnelling.report.content import Section

EXPERIMENTS = {
    "methods": "all methods, with deviations and significance",
    "per-language": "improvement over Naive in each language",
    "mono-binary": "what other labels bring, and what other languages bring",
    "learning-curves": "fractions of one language's training documents",
    "contributions": "which languages help most, and which are helped",
    "calibration": "Fun(TAT) without calibration",
    "efficiency": "training and test times",
    "zero-shot": "languages added one by one",
}
ALL = "all"
# What experiments read, whatever the tables show.
ALWAYS = ("naive", "fun-tat", "fun-zero-shot")


def parse_experiments(name: str) -> list[str]:
    """The experiments that a name stands for.

    >>> parse_experiments("contribution")
    Traceback (most recent call last):
    funnelling.errors.InputError: There is no experiment 'contribution'. Choose from all, methods, \
per-language, mono-binary, learning-curves, contributions, calibration, efficiency, zero-shot.
    """
    if name == ALL:
        return list(EXPERIMENTS)
    if name not in EXPERIMENTS:
        choices = ", ".join([ALL, *EXPERIMENTS])
        raise InputError(f"There is no experiment {name!r}. Choose from {choices}.")
    return [name]


def run_experiments(names: Sequence[str], setting: "Setting") -> "tuple[dict[str, Any], list[Section]]":
    """The results of experiments, and what a report says of each.

    Of several, one that these documents do not allow is told of and passed over.
    """
    from funnelling.report.content import Section

    results: dict[str, Any] = {}
    sections = []
    for name in names:
        module = import_module(f"funnelling.experiments.{name.replace('-', '_')}")
        try:
            results[name] = module.run(setting)
        except InputError as error:
            if len(names) == 1:
                raise
            setting.tell(f"{name}: not run: {error}")
            sections.append(Section(name, name.replace("-", " ").capitalize(), [f"Not run: {error}"]))
        else:
            sections.append(module.section(results[name]))
    if not results:
        raise InputError(f"no experiment could be run. {sections[0].paragraphs[0]}")
    return results, sections
