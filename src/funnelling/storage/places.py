"""Where a model is: in a folder here, or at an address on the Hub."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from funnelling.errors import InputError
from funnelling.hub import Downloads, HubAddress, is_address
from funnelling.runtime.messages import MODEL
from funnelling.storage import folders
from funnelling.storage.trees import with_parameter

PathOrAddress = str | os.PathLike[str]


def folder_here(path: PathOrAddress) -> Path:
    """The folder of a model to be written; an address on the Hub is refused."""
    if is_address(path):
        raise InputError(
            f"{path}: is on the Hub, where a model is only read. Copy it with funnelling pull, change the "
            "copy, and share that with funnelling push."
        )
    return Path(path)


def folder_of(path: PathOrAddress) -> Path:
    """The folder of a model to be read; that of an address is in the Hub's cache, once it is downloaded."""
    return _download(HubAddress.parse(path))[0] if is_address(path) else Path(path)


def lasting(path: PathOrAddress) -> str:
    """What names a model wherever a process is at work, and an address for as long as it is.

    A folder with all that leads to it, an address with the commit that it has now.
    """
    return str(_download(HubAddress.parse(path))[1] if is_address(path) else Path(path).resolve())


def read(
    path: PathOrAddress | HubAddress, mapped: bool = False
) -> tuple[folders.Place, folders.Document, dict[str, Any]]:
    """What messages call a model, its document and its files, as they were saved; see `folders.read`.

    What is damaged in the Hub's cache is downloaded once more. The folder of an encoder that a model from the
    Hub names is on the machine of whoever made it: on this one nothing is to be read from there.
    """
    if not isinstance(path, HubAddress):
        if not is_address(path):
            return Path(path), *folders.read(Path(path), mapped)
        path = HubAddress.parse(path)
    try:
        document, files = _read(path, mapped)
    except folders.DamagedError:
        document, files = _read(path, mapped, anew=True)
    with folders.refusing_damage(path):
        return path, with_encoder(document, None), files


def with_encoder(document: folders.Document, folder: str | None) -> folders.Document:
    """A document with another folder of the model's encoder, where it has one."""
    return {**document, "model": with_parameter(document["model"], "EncoderSpace", "folder", folder)}


def _read(address: HubAddress, mapped: bool, anew: bool = False) -> tuple[folders.Document, dict[str, Any]]:
    folder, _ = _download(address, anew)
    with _named(folder, address):
        return folders.read(folder, mapped)


def _download(address: HubAddress, anew: bool = False) -> tuple[Path, HubAddress]:
    """The folder in the Hub's cache that has the files of a model, and no others, all of one commit."""
    downloads = Downloads(address, anew)
    file = downloads.file(MODEL)
    folder = file.parent
    try:
        with _named(folder, address), folders.refusing_damage(folder):
            named = folders.named_files(folder, folders.read_document(folder))
    except InputError:
        downloads.drop(file)  # for it may have been damaged on its way
        raise
    for name, digest in named.items():
        downloads.file(name, digest)
    return folder, downloads.pinned


@contextmanager
def _named(folder: Path, address: HubAddress) -> Iterator[None]:
    """Refuse by the name that the user knows."""
    try:
        yield
    except InputError as error:
        raise type(error)(str(error).replace(str(folder), str(address))) from error
