"""Addresses on the Hub: ``hf://owner/name``, with a folder and a revision where there are some."""

import os
import re
from dataclasses import dataclass, replace
from typing import Any, Self

from funnelling.errors import InputError

SCHEME = "hf://"
_SCHEME = re.compile("hf://?")  # of two slashes a Path leaves one
_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_PARTS = r"[\w.-]+(?:/[\w.-]+)*"
_ADDRESS = re.compile(rf"({_NAME}/{_NAME})(?:/({_PARTS}))?(?:@({_PARTS}))?", re.ASCII)


def is_address(path: Any) -> bool:
    """Whether what may be a folder is an address on the Hub, be it a string or a Path.

    >>> is_address("hf://owner/name"), is_address("owner/name")
    (True, False)
    """
    return isinstance(path, str | os.PathLike) and _SCHEME.match(_text(path)) is not None


def _text(path: str | os.PathLike[str]) -> str:
    return os.fspath(path).replace(os.sep, "/")  # that of a Path, on Windows


@dataclass(frozen=True)
class HubAddress:
    """A place in a repository on the Hub, at a branch, tag or commit; None is the main branch."""

    repository: str
    folder: str = ""
    revision: str | None = None

    @classmethod
    def parse(cls, address: str | os.PathLike[str]) -> Self:
        """Read an address, whose beginning may be left out.

        >>> str(HubAddress.parse("owner/name/small@v1"))
        'hf://owner/name/small@v1'
        >>> HubAddress.parse("hf://name")
        Traceback (most recent call last):
        funnelling.errors.InputError: 'hf://name' is no address on the Hub. Write hf://owner/name, with \
/folder or @revision where there is one.
        """
        text = _text(address)
        found = _ADDRESS.fullmatch(_SCHEME.sub("", text, count=1))
        # The Hub has none of these, and its library makes paths of what it is given.
        if (
            found is None
            or ".." in text
            or "." in re.split("[/@]", text)
            or "--" in found[1]
            or found[1].endswith(".git")
        ):
            raise InputError(
                f"{text!r} is no address on the Hub. Write hf://owner/name, with /folder or @revision where "
                "there is one."
            )
        return cls(found[1], found[2] or "", found[3])

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
