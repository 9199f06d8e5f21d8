"""Files into a repository, in one commit: whoever reads it meets the old ones or the new ones."""

from collections.abc import Callable, Mapping
from typing import Any

from funnelling.errors import InputError
from funnelling.hub.addresses import HubAddress
from funnelling.hub.client import agent, asking, hub


def upload(
    address: HubAddress,
    files: Mapping[str, bytes],
    message: str,
    *,
    private: bool = False,
    replaces: Callable[[str], bool],
) -> str:
    """Make files those of a place on the Hub; gives the address of the page of the commit.

    A repository that does not exist is made, and so is a branch. Files that are there already, are not among
    the new ones and that these ``replaces`` go in the same commit.
    """
    with asking(address):
        api = hub().HfApi(**agent())
        api.create_repo(address.repository, private=private or None, exist_ok=True)
        if private and not api.model_info(address.repository).private:
            raise InputError(
                f"{address}: exists, and everyone can read it. Make it private on its page first, or leave "
                "--private out."
            )
        if address.revision is not None:
            api.create_branch(address.repository, branch=address.revision, exist_ok=True)
        return str(_commit(api, address, files, message, replaces).commit_url)


def _commit(
    api: Any,
    address: HubAddress,
    files: Mapping[str, bytes],
    message: str,
    replaces: Callable[[str], bool],
) -> Any:
    before = api.model_info(address.repository, revision=address.revision)
    there = {file.rfilename for file in before.siblings or ()}
    old = sorted(
        file
        for file in there
        for folder, _, name in [file.rpartition("/")]
        if folder == address.folder and name not in files and replaces(name)
    )
    added = [hub().CommitOperationAdd(address.file(name), content) for name, content in files.items()]
    gone = [hub().CommitOperationDelete(file) for file in old]
    return api.create_commit(
        address.repository,
        [*added, *gone],
        commit_message=message,
        revision=address.revision,
        parent_commit=before.sha,  # so that a push that comes between is not overwritten unseen
    )
