"""The Hugging Face Hub, by its own library: addresses such as ``hf://owner/name``, downloads, uploads."""

import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from funnelling.errors import InputError
from funnelling.runtime.messages import MODEL, Style, at_terminal, style
from funnelling.storage import folders

_PARTS = r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*"
_ADDRESS = re.compile(rf"(?:hf://?)?([\w.-]+/[\w.-]+)(?:/({_PARTS}))?(?:@({_PARTS}))?", re.ASCII)
_TOKEN = "with a token that may (HF_TOKEN, or hf auth login)"
# By the name of an error of the Hub's library or of its HTTP client (httpx, then httpx2), or by status.
_REASONS = {
    401: f"the token is not valid. Come {_TOKEN}.",
    403: f"not allowed. Come {_TOKEN}.",
    404: "nothing of this name is there. Check the name, and HF_ENDPOINT if it is set.",
    412: "it has changed meanwhile. Push again.",
    "GatedRepoError": f"its owner asks who reads it. Ask for access on its page, and come back {_TOKEN}.",
    "HFValidationError": "is no name of a repository on the Hub. Check the name.",
    "OfflineModeIsEnabled": "HF_HUB_OFFLINE is set, and only the cache is read. Unset it.",
    "RemoteEntryNotFoundError": "no model of funnelling is there, or not all of it. Check the name.",
    "RepositoryNotFoundError": f"not found, or private. Check the name, or come {_TOKEN}.",
    "RevisionNotFoundError": "no such revision. Name a branch, a tag or a commit of it.",
    "TransportError": "the Hub cannot be reached, or broke off. Check the network and HF_ENDPOINT.",
}


class HubAddress(NamedTuple):
    """A folder of a repository on the Hub, at a branch, tag or commit; None is the main branch."""

    repository: str
    folder: str
    revision: str | None

    def file(self, name: str) -> str:
        return f"{self.folder}/{name}".removeprefix("/")

    def __str__(self) -> str:
        place = f"hf://{self.repository}/{self.folder}".rstrip("/")
        return f"{place}@{self.revision}" if self.revision else place


def parse(address: str | os.PathLike[str]) -> HubAddress:
    """Read an address such as ``hf://owner/name/folder@revision``; ``hf://`` may be left out."""
    text = os.fspath(address).replace(os.sep, "/")  # a Path has one slash of two
    found = _ADDRESS.fullmatch(text)
    if found is None or ".." in text:
        raise InputError(f"{text!r} is no address on the Hub. Write hf://owner/name[/folder][@revision].")
    return HubAddress(found[1], found[2] or "", found[3])


def download(address: HubAddress, again: bool = False) -> tuple[Path, HubAddress]:
    """Cache a model's own files, of one commit, ``again`` if need be; return their folder and its address."""
    repository, _, revision = address
    model = address.file(MODEL)
    with _translate_hub_errors(address) as hub:
        path = Path(hub.hf_hub_download(repository, model, revision=revision, force_download=again))
        folder, commit = path.parent, path.parents[model.count("/")].name  # the cache has one for each commit
        with folders.known_as(str(address), folder):
            named = folders.named_files(folder, folders.read_document(folder))
        for name in named:
            hub.hf_hub_download(repository, address.file(name), revision=commit, force_download=again)
    return folder, address._replace(revision=commit)


def upload(address: HubAddress, files: Mapping[str, bytes], message: str, private: bool, force: bool) -> str:
    """Replace a model in one commit, and other pages only by ``force``; return the page of the commit."""
    repository, folder, branch = address
    with _translate_hub_errors(address) as hub:
        api = hub.HfApi(library_name="funnelling")
        api.create_repo(repository, private=private or None, exist_ok=True)
        if branch:
            api.create_branch(repository, branch=branch, exist_ok=True)
        before = api.model_info(repository, revision=branch)
        if private and not before.private:
            raise InputError(f"{address}: everyone can read it. Make it private there, or omit --private.")
        paths = [file.rfilename.rpartition("/") for file in before.siblings or ()]
        old = {name for parent, _, name in paths if parent == folder and folders.is_file_of_model(name)}
        is_ours = force or not old
        if not is_ours and MODEL in old:
            path = hub.hf_hub_download(repository, address.file(MODEL), revision=before.sha)
            is_ours = folders.holds_document(Path(path).parent)
        if not is_ours:
            found = " and ".join(sorted(old))
            raise InputError(f"{address}: not of a model: {found}. Choose another place or add --force.")
        changes = [hub.CommitOperationAdd(address.file(name), content) for name, content in files.items()]
        changes += [hub.CommitOperationDelete(address.file(name)) for name in sorted(old - files.keys())]
        # The parent commit: a push that comes between is not overwritten.
        there = {"revision": branch, "parent_commit": before.sha}
        return str(api.create_commit(repository, changes, commit_message=message, **there).commit_url)


@contextmanager
def _translate_hub_errors(address: HubAddress) -> Iterator[Any]:
    """Give the Hub's library; whatever goes wrong with it becomes one line that begins with the address."""
    try:
        import huggingface_hub.file_download  # with its handler of messages
        from huggingface_hub.utils.tqdm import disable_progress_bars

        for handler in logging.getLogger("huggingface_hub").handlers:
            handler.addFilter(_is_shown)
        if style() != Style() or getattr(sys.stderr, "closed", True):
            disable_progress_bars()
        yield huggingface_hub
    except (InputError, MemoryError):
        raise
    except ImportError:
        raise InputError("hf:// needs huggingface_hub: pip install 'funnelling[hub]'") from None
    except Exception as error:
        raise InputError(f"{address}: {_reason(error)}") from error


def _is_shown(record: logging.LogRecord) -> bool:
    """Whether a line of the library is shown: its warnings are for people at a terminal."""
    return record.levelno >= logging.ERROR or (at_terminal() and style() == Style())


def _reason(error: BaseException) -> str:
    """What is wrong, by the first that is known of an error and its causes, and what to do."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    for key in (*(kind.__name__ for kind in type(error).__mro__), status):
        if key in _REASONS:
            return _REASONS[key]
    if error.__cause__ is not None and status is None:
        return _reason(error.__cause__)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the cache'}: {error.strerror.lower()}. Check the disk, or HF_HOME."
    said = " ".join(str(error).split()) or type(error).__name__
    return f"the Hub did not do it: {said[:200].rstrip('.')}. Try again later."
