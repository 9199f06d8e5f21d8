"""A model that stays as it was read, whatever becomes of its folder, for as long as it is served."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from funnelling.storage import folders
from funnelling.storage.models import description_of, restored
from funnelling.storage.places import folder_of
from funnelling.storage.trees import Arrays
from funnelling.work.mapped import arrays_in
from funnelling.work.sealed import Sealed


@dataclass(frozen=True)
class HeldModel:
    """What a model's folder said, out of reach; processes that are started with it share its files.

    ``description`` is what `describe_model` says.
    """

    folder: Path
    document: folders.Document
    files: list[Sealed]
    description: dict[str, Any]

    def load(self) -> Any:
        """The fitted model; its arrays lie where they are held, and cannot be changed."""
        return restored(self.folder, self.document, _arrays(self.files))


def hold_model(path: str | os.PathLike[str]) -> HeldModel:
    """Read a model's folder, or that of an address on the Hub, once and for all."""
    folder = folder_of(path)
    document, contents = folders.read(folder)
    files = [Sealed(content) for content in contents.values()]
    with folders.refusing_damage(folder):
        arrays = _arrays(files)
    return HeldModel(folder, document, files, description_of(folder, document, arrays))


def _arrays(files: Sequence[Sealed]) -> Arrays:
    return {key: array for file in files for key, array in arrays_in(file.content).items()}
