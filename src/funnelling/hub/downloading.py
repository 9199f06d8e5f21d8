"""Files of a repository, by way of the cache that all users of the Hub's library share."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from funnelling.errors import InputError
from funnelling.hub.addresses import HubAddress
from funnelling.hub.client import agent, asking, hub


class Downloads:
    """Files of one place on the Hub, all of one commit: that which the first of them came from.

    Those of a commit that are in the cache are not asked for again, so that they are there without a network;
    ``anew`` asks for those that are not whole, or of which that is not known.
    """

    def __init__(self, address: HubAddress, anew: bool = False) -> None:
        self.address = address
        self._anew = anew
        self._commit: str | None = None
        self._arrived: set[Path] = set()

    def file(self, name: str, digest: str | None = None) -> Path:
        """The path of a file in the cache; one without the ``digest``, its SHA-256, is not kept there."""
        file, revision = self.address.file(name), self._commit or self.address.revision
        with asking(self.address):
            known = hub().try_to_load_from_cache(self.address.repository, file, revision=revision)
            again = self._anew and not (isinstance(known, str) and digest == _sha256(Path(known)))
            path = Path(
                hub().hf_hub_download(
                    self.address.repository, file, revision=revision, force_download=again, **agent()
                )
            )
        if again or str(path) != known:
            self._arrived.add(path)
            if digest is not None and _sha256(path) != digest:
                self.drop(path)
                raise InputError(
                    f"{self.address}: {name} did not arrive as it was saved. Try again, or ask its owner."
                )
        # The cache has a folder for each commit, with the layout of the repository.
        self._commit = path.parents[file.count("/")].name
        return path

    @property
    def pinned(self) -> HubAddress:
        """The address with the commit that the files came from."""
        return self.address.at(self._commit)

    def drop(self, path: Path) -> None:
        """Remove a file that has just come from the cache, so that it is downloaded again."""
        # The content, and the link to it. What was there before may be of use to others.
        for each in {os.path.realpath(path), str(path)} if path in self._arrived else ():
            with suppress(OSError):
                os.unlink(each)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
