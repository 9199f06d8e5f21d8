"""The experiments by the names users type, and running them.

Light enough to be imported for ``--help``: a module is loaded when its experiment runs.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.report.content import Section
    from funnelling.reproduction.experiments.setting import Setting


class Entry(NamedTuple):
    """What an experiment shows, and the module that runs it and tells its results."""

    summary: str
    module: str


_HERE = "funnelling.reproduction.experiments"
EXPERIMENTS = {
    "methods": Entry("all methods, with deviations and significance", f"{_HERE}.main_table"),
    "per-language": Entry("improvement over Naive in each language", f"{_HERE}.per_language"),
    "mono-binary": Entry("what other labels bring, and what other languages bring", f"{_HERE}.mono_binary"),
    "learning-curves": Entry("fractions of one language's training documents", f"{_HERE}.learning_curves"),
    "contributions": Entry("which languages help most, and which are helped", f"{_HERE}.contributions"),
    "calibration": Entry("Fun(TAT) without calibration", f"{_HERE}.calibration"),
    "efficiency": Entry("training and test times", f"{_HERE}.efficiency"),
    "zero-shot": Entry("languages added one by one", f"{_HERE}.zero_shot"),
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
        module = import_module(EXPERIMENTS[name].module)
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
