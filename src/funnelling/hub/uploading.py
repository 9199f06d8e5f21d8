"""Files into a repository, in one commit: whoever reads it meets the old ones or the new ones."""

from collections.abc import Callable, Mapping, Sequence

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
    check: Callable[[HubAddress, Sequence[str]], None],
) -> str:
    """Make files those of a place on the Hub; gives the address of the page of the commit.

    A repository that does not exist is made, and so is a branch. Files that are there already and that the
    new ones ``replaces`` go in the same commit; ``check`` is called with them before anything is changed,
    and with the address of the commit that has them.
    """
    made: list[str] = []
    with asking(address, made):
        api = hub().HfApi(**agent())
        if not api.repo_exists(address.repository):
            api.create_repo(address.repository, private=private or None, exist_ok=True)
            made.append("an empty repository")
        if private and not api.model_info(address.repository).private:
            raise InputError(
                f"{address}: exists, and everyone can read it. Make it private on its page first, or leave "
                "--private out."
            )
        branch = address.revision
        is_new = branch is not None and not api.revision_exists(address.repository, branch)
        before = api.model_info(address.repository, revision=None if is_new else branch)
        old = [
            name
            for folder, _, name in sorted(file.rfilename.rpartition("/") for file in before.siblings or ())
            if folder == address.folder and replaces(name)
        ]
        check(address.at(before.sha), old)
        if is_new:
            api.create_branch(address.repository, branch=branch, revision=before.sha, exist_ok=True)
            made.append(f"the branch {branch}")
        added = [hub().CommitOperationAdd(address.file(name), content) for name, content in files.items()]
        gone = [hub().CommitOperationDelete(address.file(name)) for name in old if name not in files]
        commit = api.create_commit(
            address.repository,
            [*added, *gone],
            commit_message=message,
            revision=branch,
            parent_commit=before.sha,  # so that a push that comes between is not overwritten unseen
        )
        return str(commit.commit_url)
