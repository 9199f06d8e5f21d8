"""The corpora that can be built, by name; each is a module with a function ``build``.

Light enough to be imported for ``--help``: a module is loaded when its corpus is built.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.datasets.built import Built


class Entry(NamedTuple):
    """Where a corpus is built, what it is and under which licence."""

    module: str
    summary: str
    licence: str


CORPORA = {
    "libreoffice-help": Entry(
        "funnelling.datasets.libreoffice_help",
        "reference corpus: LibreOffice's help, a page a group; with apt, or from .deb files in --source",
        "MPL-2.0",
    ),
    "debian-untagged": Entry(
        "funnelling.datasets.debian_untagged",
        "reference corpus: descriptions of packages without debtags, a source package a group; with apt, "
        "or from index files (Packages, Translation-XX) in --source",
        "each under the licence of its package",
    ),
    "wikipedia": Entry(
        "funnelling.datasets.wikipedia",
        "reference corpus: articles that WikiExtractor --json put into --source, one folder a language, "
        "aligned by --alignments",
        "CC BY-SA",
    ),
}

_OPTIONS = {"sources": "source"}


def build(name: str, **given: Any) -> "Built":
    """Build a corpus from what its ``build`` takes; an option it does not take is refused, but for a seed.

    >>> build("libreoffice-help", documents=10)
    Traceback (most recent call last):
    funnelling.errors.InputError: libreoffice-help takes no --documents. Leave it out.
    """
    import inspect

    function = import_module(CORPORA[name].module).build
    taken = inspect.signature(function).parameters
    if "seed" not in taken:
        given.pop("seed", None)  # nothing is drawn at random
    for option in given:
        if option not in taken:
            shown = _OPTIONS.get(option, option).replace("_", "-")
            raise InputError(f"{name} takes no --{shown}. Leave it out.")
    built: Built = function(**given)
    return built
