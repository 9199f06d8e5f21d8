"""A model that stays as it was read, whatever becomes of its folder, for as long as it is served."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from funnelling.runtime.files import Sealed, arrays_in
from funnelling.storage import folders
from funnelling.storage.models import description_of, restored
from funnelling.storage.places import read
from funnelling.storage.trees import Arrays


@dataclass(frozen=True)
class HeldModel:
    """What was read of a model, out of reach; processes that are started with it share its files.

    ``description`` is what `describe_model` says.
    """

    place: folders.Place
    document: folders.Document
    files: list[Sealed]
    description: dict[str, Any]

    def load(self) -> Any:
        """The fitted model; its arrays lie where they are held, and cannot be changed."""
        return restored(self.place, self.document, _arrays(self.files))


def hold_model(path: str | os.PathLike[str]) -> HeldModel:
    """Read a model's folder, or that of an address on the Hub, once and for all."""
    place, document, contents = read(path)
    files = [Sealed(content) for content in contents.values()]
    with folders.refusing_damage(place):
        arrays = _arrays(files)
    return HeldModel(place, document, files, description_of(place, document, arrays))


def _arrays(files: Sequence[Sealed]) -> Arrays:
    return {key: array for file in files for key, array in arrays_in(file.content).items()}
