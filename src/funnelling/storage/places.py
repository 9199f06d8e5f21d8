"""Where a model is: in a folder here, or at an address on the Hub."""

import os
from pathlib import Path
from typing import Any

from funnelling.errors import InputError
from funnelling.storage import folders, hub
from funnelling.storage.trees import with_parameter

PathOrAddress = str | os.PathLike[str]


def is_address(path: PathOrAddress) -> bool:
    """Whether what may be a folder is an address on the Hub, be it a string or a Path.

    >>> is_address("hf://owner/name"), is_address("owner/name")
    (True, False)
    """
    return os.fspath(path).replace(os.sep, "/").startswith("hf:/")


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
    return hub.download(hub.parse(path))[0] if is_address(path) else Path(path)


def lasting(path: PathOrAddress) -> str:
    """What names a model wherever a process is at work, and an address for as long as it is.

    A folder with all that leads to it, an address with the commit that it has now.
    """
    return str(hub.download(hub.parse(path))[1] if is_address(path) else Path(path).resolve())


def read(path: PathOrAddress, mapped: bool = False) -> tuple[folders.Place, folders.Document, dict[str, Any]]:
    """What messages call a model, its document and its files, as they were saved; see `folders.read`."""
    if is_address(path):
        return read_address(hub.parse(path), mapped)
    return Path(path), *folders.read(Path(path), mapped)


def read_address(
    address: hub.HubAddress, mapped: bool = False
) -> tuple[str, folders.Document, dict[str, Any]]:
    """What `read` gives of a model on the Hub; what is damaged in the cache is downloaded once more.

    The folder of an encoder that the model names is on the machine of whoever made it: on this one nothing is
    to be read from there.
    """
    try:
        document, files = _read(address, mapped)
    except folders.DamagedError:
        document, files = _read(address, mapped, again=True)
    with folders.report_damage(str(address)):
        return str(address), with_encoder(document, None), files


def with_encoder(document: folders.Document, folder: str | None) -> folders.Document:
    """A document with another folder of the model's encoder, where it has one."""
    return {**document, "model": with_parameter(document["model"], "EncoderSpace", "folder", folder)}


def _read(
    address: hub.HubAddress, mapped: bool, again: bool = False
) -> tuple[folders.Document, dict[str, Any]]:
    folder, _ = hub.download(address, again)
    with folders.known_as(str(address), folder):
        return folders.read(folder, mapped)
