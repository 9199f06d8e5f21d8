"""Where a model is: in a folder here, or at an address on the Hub."""

import os
from pathlib import Path

from funnelling.errors import InputError
from funnelling.hub import Downloads, HubAddress, is_address
from funnelling.storage import folders


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The folder of a model to be read; that of an address is in the Hub's cache, once it is downloaded."""
    return download(HubAddress.parse(str(path))) if is_address(path) else Path(path)


def download(address: HubAddress) -> Path:
    """The folder in the Hub's cache that has the files of a model, and no others, all of one commit."""
    downloads = Downloads(address)
    file = downloads.file(folders.MODEL)
    folder = file.parent
    try:
        document = folders.read_document(folder)
        with folders.refusing_damage(folder):
            named = folders.named_files(folder, document)
    except InputError:
        downloads.drop(file)  # it may have been damaged on its way
        raise
    for name, digest in named.items():
        downloads.file(name, digest)
    return folder
