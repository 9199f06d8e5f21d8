"""Addresses on the Hub: ``hf://owner/name``, with a folder and a revision where there are some."""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from funnelling.errors import InputError

SCHEME = "hf://"
_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_ADDRESS = re.compile(rf"({_NAME}/{_NAME})((?:/[\w.-]+)*)(?:@([\w./-]+))?", re.ASCII)


def is_address(path: Any) -> bool:
    """Whether what may be a folder is an address on the Hub.

    >>> is_address("hf://owner/name"), is_address("owner/name")
    (True, False)
    """
    return isinstance(path, str) and path.startswith(SCHEME)


def folder_here(path: str | os.PathLike[str]) -> Path:
    """The folder of a model to be written; an address on the Hub is refused."""
    if is_address(path):
        raise InputError(
            f"{path}: is on the Hub, where a model is only read. Copy it with funnelling pull, change the "
            "copy, and share that with funnelling push."
        )
    return Path(path)


@dataclass(frozen=True)
class HubAddress:
    """A place in a repository on the Hub, at a branch, tag or commit; None is the main branch."""

    repository: str
    folder: str = ""
    revision: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an address, whose beginning may be left out.

        >>> str(HubAddress.parse("owner/name/small@v1"))
        'hf://owner/name/small@v1'
        >>> HubAddress.parse("hf://name")
        Traceback (most recent call last):
        funnelling.errors.InputError: 'hf://name' is no address on the Hub. Write hf://owner/name, with \
/folder or @revision where there is one.
        """
        found = _ADDRESS.fullmatch(text.removeprefix(SCHEME))
        parts = [] if found is None else f"{found[1]}{found[2]}/{found[3] or ''}".split("/")
        if found is None or ".." in parts or "." in parts or "--" in found[1]:  # which the Hub has none of
            raise InputError(
                f"{text!r} is no address on the Hub. Write hf://owner/name, with /folder or @revision where "
                "there is one."
            )
        return cls(found[1], found[2].strip("/"), found[3])

    def at(self, revision: str | None) -> Self:
        """The same place at another revision."""
        return replace(self, revision=revision)

    def file(self, name: str) -> str:
        """Where a file of this place stands in its repository."""
        return f"{self.folder}/{name}" if self.folder else name

    def __str__(self) -> str:
        folder = f"/{self.folder}" if self.folder else ""
        revision = f"@{self.revision}" if self.revision else ""
        return f"{SCHEME}{self.repository}{folder}{revision}"
