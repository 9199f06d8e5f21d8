"""The models that are attacked, made once for a run."""

from collections.abc import Callable
from pathlib import Path

from funnelling.storage import save_model
from tests.commands.command import documents, with_splits, write_jsonl
from tests.research.corpora.jrc_makers import law, name_of, write_laws
from tests.storage.saved_models import fitted

LAW_LANGUAGES = ("en", "it")


def saved(home: Path, case: str) -> Path:
    """The folder of a model of `tests.storage.saved_models`. Do not change it: copy it."""
    return _once(home, case, lambda folder: save_model(fitted(case), folder))


def documents_file(home: Path) -> Path:
    """Labelled documents in English and Italian, some of them for test."""
    return _once(home, "documents.jsonl", lambda path: write_jsonl(path, with_splits(documents(each=30))))


def write_archives(folder: Path) -> None:
    """Write the archives of a corpus of laws, one for each language."""
    for language in LAW_LANGUAGES:
        files = {
            name_of(f"3{year}L{number:04}", language, year): law(
                f"3{year}L{number:04}", language, ["1", "2"][: 1 + number % 2], f"text {number} in {language}"
            )
            for year in (2004, 2005, 2006)
            for number in range(20)
        }
        write_laws(folder, language, files)


def _once(home: Path, name: str, make: Callable[[Path], object]) -> Path:
    path = home / "material" / name
    if not path.exists():
        make(path)
    return path
