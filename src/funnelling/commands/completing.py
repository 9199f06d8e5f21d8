"""``funnelling completion``, and what could be typed next: from the registries and from the disk."""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from funnelling.commands.corpora import CORPORA
from funnelling.commands.declaring import Command, argument
from funnelling.commands.parsing import Parser, subcommands
from funnelling.methods.registry import METHODS, settings_of
from funnelling.runtime.messages import MODEL, Reporter, silent

SHELLS = ("bash", "zsh", "fish")


class Completion(Command):
    """Print what a shell needs to complete commands, options, methods, goals, languages, models and
    documents.
    """

    epilog = """\
for the shell that is open, and from then on in its start-up file:
  bash (~/.bashrc)                   eval "$(funnelling completion bash)"
  zsh (~/.zshrc, after compinit)     eval "$(funnelling completion zsh)"
  fish (~/.config/fish/config.fish)  funnelling completion fish | source"""

    shell: str = argument(f"one of {', '.join(SHELLS)}", "SHELL", choices=SHELLS)

    def run(self, report: Reporter = silent, verbose: int = 0) -> str:
        """What the shell is to evaluate."""
        from argcomplete.shell_integration import shellcode

        # Where nothing fits, such as after --jobs, nothing is offered: files would not do.
        return shellcode(["funnelling"], use_defaults=False, shell=self.shell)

    def show(self, result: str) -> None:
        print(result)


ENDINGS = tuple(
    f".{name}{gz}"
    for name in ("jsonl", "ndjson", "json", "csv", "tsv", "txt", "parquet", "xlsx", "xls", "ods")
    for gz in ("", ".gz")
)
MAX_FOLDER_DEPTH = 3  # how far below a folder models are looked for
MAX_ENTRIES = 1_000  # entries of a folder that are looked at on the way to models

Completer = Callable[..., Iterable[str]]


def complete(parser: Parser) -> None:
    """Answer the shell and leave."""
    import argcomplete

    command = parser
    for word in os.environ.get("COMP_LINE", "").split():  # argcomplete patches a parser before it parses
        command = subcommands(command).get(word, command).defined()
    argcomplete.autocomplete(parser, always_complete_options=False, default_completer=_complete)  # type: ignore[arg-type]


def _complete(prefix: str, action: argparse.Action, **_: Any) -> Iterable[str]:
    """What could be a value: names, or a kind of things, which its metavar says where its field does not."""
    said = getattr(action, "complete", "") or str(action.metavar)
    completer = _listed(said) if callable(said) else COMPLETERS.get(said)
    return completer(prefix=prefix) if completer else ()


def _listed(names: Callable[[], Iterable[str]]) -> Completer:
    """Names with commas between them: what follows the last comma is completed."""

    def complete_last(prefix: str, **_: Any) -> Iterator[str]:
        before, comma, _last = prefix.rpartition(",")
        taken = before.split(",")
        return (f"{before}{comma}{name}" for name in names() if name not in taken)

    return complete_last


def _settings(prefix: str, **_: Any) -> Iterator[str]:
    """METHOD.PARAM=, the parameters once a method is typed: to know them it has to be loaded."""
    name, dot, _parameter = prefix.partition(".")
    if not dot:
        yield from (f"{method}." for method in METHODS)
    elif name.partition(":")[0] in METHODS:
        yield from (f"{name}.{parameter}=" for parameter in settings_of(name))


def _goals(**_: Any) -> Iterable[str]:
    from funnelling.funnel.thresholds import GOALS, PRECISION, RECALL

    return [*GOALS, f"{RECALL}=", f"{PRECISION}="]


def _languages() -> Iterable[str]:
    """Those that have lemmas; others can be typed."""
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    return SUPPORTED_LANGUAGES


def _markup() -> Iterable[str]:
    from funnelling.formats.layout import MARKUP

    return MARKUP


def _models(prefix: str, **_: Any) -> list[str]:
    """Models and folders on the way to them; every folder where there are none."""
    folders = [path for path, is_folder in _entries(prefix) if is_folder]
    models = [path for path in folders if _is_model(os.path.expanduser(path))]
    on_the_way = [
        f"{path}/" for path in folders if _leads_to_model(os.path.expanduser(path), MAX_FOLDER_DEPTH)
    ]
    return sorted({*models, *on_the_way}) or [f"{path}/" for path in folders]


def _is_model(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, MODEL))


def _leads_to_model(folder: str, depth: int) -> bool:
    if not depth:
        return False
    below: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        below = [entry.path for entry in islice(entries, MAX_ENTRIES) if entry.is_dir(follow_symlinks=False)]
    return any(_is_model(path) for path in below) or any(_leads_to_model(path, depth - 1) for path in below)


def _documents(prefix: str, **_: Any) -> list[str]:
    """Folders and files of documents; every file where there are none."""
    entries = list(_entries(prefix))
    files = [path for path, is_folder in entries if not is_folder]
    documents = [path for path in files if path.lower().endswith(ENDINGS)]
    return [*(f"{path}/" for path, is_folder in entries if is_folder), *(documents or files)]


def _documents_and_corpora(prefix: str, **_: Any) -> list[str]:
    return [*_documents(prefix), *CORPORA]


def _files(prefix: str, **_: Any) -> list[str]:
    return [f"{path}/" if is_folder else path for path, is_folder in _entries(prefix)]


def _folders(prefix: str, **_: Any) -> list[str]:
    return [f"{path}/" for path, is_folder in _entries(prefix) if is_folder]


def _entries(prefix: str) -> Iterator[tuple[str, bool]]:
    """What begins like this on the disk, as it would be typed, and whether it is a folder."""
    folder, start = os.path.split(prefix)
    with suppress(OSError), os.scandir(os.path.expanduser(folder) or ".") as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith(start) and (start or not entry.name.startswith(".")):
                yield os.path.join(folder, entry.name), entry.is_dir()


COMPLETERS: dict[str, Completer] = {
    "settings": _settings,
    "goals": _goals,
    "languages": _listed(_languages),
    "markup": _listed(_markup),
    "MODEL": _models,
    "DATA": _documents,
    "DATA|CORPUS": _documents_and_corpora,
    "FILE|CORPUS": _documents_and_corpora,
    "FILE": _files,
    "DIR": _folders,
}
