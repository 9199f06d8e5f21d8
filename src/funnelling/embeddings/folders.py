"""Folders of word vectors, written whole or not at all."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from funnelling.embeddings.vectors import WordVectors, find_vectors, write_vectors
from funnelling.errors import InputError
from funnelling.formats.files import cannot_write, check_output_folder
from funnelling.runtime.progress import progress_bar


def check_folder(folder: Path, force: bool) -> None:
    """Refuse, before the work, a folder that cannot be written; only a folder of vectors may be replaced."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is no folder. Choose another path.")
    if folder.is_dir() and any(folder.iterdir()):
        if not force:
            raise InputError(f"{folder} exists. Choose another path or add --force.")
        vector_files = set(find_vectors(folder).values())
        for path in folder.iterdir():
            if path not in vector_files:
                raise InputError(
                    f"{folder}: holds {path.name}, which is no file of vectors, so the folder stays. "
                    "Choose another path."
                )
    check_output_folder(folder)


def write_folder(
    folder: Path, vectors: Mapping[str, WordVectors], force: bool = False, shown: bool = False
) -> None:
    """Write one file per language, such as ``it.vec``, into a folder that appears when all are written."""
    check_folder(folder, force)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        draft = Path(tempfile.mkdtemp(prefix=".funnelling-", dir=folder.parent))
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        with progress_bar("write vectors", len(vectors), shown, "languages") as advance:
            for language, of_language in vectors.items():
                write_vectors(draft / f"{language}.vec", of_language)
                advance(1)
        draft.chmod(0o755)  # as any new folder; a temporary one is private to its owner
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=".funnelling-", dir=folder.parent))
            folder.replace(old)
            try:
                draft.replace(folder)
            except BaseException:
                old.replace(folder)
                raise
            shutil.rmtree(old)
        else:
            draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
