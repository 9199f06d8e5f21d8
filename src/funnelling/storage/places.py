"""Where models are: in folders here, or on the Hugging Face Hub, by its own library, at ``hf://owner/name``."""

import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from funnelling.errors import InputError
from funnelling.methods.algorithm import NOTHING
from funnelling.methods.model import Model
from funnelling.methods.registry import estimator_type
from funnelling.runtime.files import SharedBytes
from funnelling.runtime.messages import MODEL, Style, at_terminal, style
from funnelling.spaces.base import Embeddings, Encoder
from funnelling.spaces.outside import EncoderSpace
from funnelling.storage import folders
from funnelling.storage.folders import PathOrAddress, folder_here, is_address
from funnelling.storage.models import arrays_of, description_of, model_of, pages, restored, whole

if TYPE_CHECKING:
    from funnelling.methods.estimator import MethodEstimator

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
    "TransportError": "no connection to the Hub. Check the network, or name a folder.",
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


def folder_of(path: PathOrAddress) -> Path:
    """The folder of a model to be read; that of an address is in the Hub's cache, once it is downloaded."""
    return download(parse(path))[0] if is_address(path) else Path(path)


def lasting(path: PathOrAddress) -> str:
    """What names a model wherever a process is at work, and an address for as long as it is.

    A folder with all that leads to it, an address with the commit that it has now.
    """
    return str(download(parse(path))[1] if is_address(path) else Path(path).resolve())


def read(path: PathOrAddress, mapped: bool = False) -> tuple[folders.Place, folders.Document, dict[str, Any]]:
    """What messages call a model, its document and its files, as they were saved; see `folders.read`.

    What is damaged in the Hub's cache is downloaded once more. The folder of an encoder that a model there
    names is on the machine of whoever made it: on this one nothing is to be read from there.
    """
    if not is_address(path):
        return Path(path), *folders.read(Path(path), mapped)
    address = parse(path)
    try:
        document, files = _read(address, mapped)
    except folders.DamagedError:
        document, files = _read(address, mapped, again=True)
    with folders.report_damage(str(address)):
        return str(address), with_encoder(document, None), files


def _read(address: HubAddress, mapped: bool, again: bool = False) -> tuple[folders.Document, dict[str, Any]]:
    folder, _ = download(address, again)
    with folders.known_as(str(address), folder):
        return folders.read(folder, mapped)


def with_encoder(document: folders.Document, folder: str | None) -> folders.Document:
    """A document with another folder of the model's encoder, where it has one, and none of word vectors."""

    def changed(tree: Any) -> Any:
        if isinstance(tree, list):
            return list(map(changed, tree))
        if not isinstance(tree, dict):
            return tree
        fields = {name: changed(each) for name, each in tree.items()}
        if fields.get("$") == EncoderSpace.__name__:
            return fields | {"folder": folder}
        if fields.get("$") in (Encoder.__name__, Embeddings.__name__):
            return fields | {"model": folder if fields["$"] == Encoder.__name__ else None}
        return fields

    return {**document, "model": changed(document["model"])}


def load_model(path: str | os.PathLike[str], mapped: bool = False) -> "MethodEstimator":
    """The fitted estimator of a model in a folder, or at an address on the Hub: ``hf://owner/name``.

    The address may end with ``/folder`` and ``@revision``. What the model consists of, and nothing else, is
    downloaded into the cache of ``huggingface_hub``, where it is found without a network too. A private model
    needs a token (``HF_TOKEN``).

    ``mapped`` leaves its arrays on the disk: they are read as they are used, cannot be changed, and
    processes that load the same model share their memory.

    >>> load_model("nowhere")
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere: no such model folder. Check the path.
    """
    model = load(path, mapped)
    return estimator_type(model.algorithm, model.parameters)._of(model)


def load(path: str | os.PathLike[str], mapped: bool = False) -> Model:
    """The fitted model that `load_model` finds, by itself: it labels documents without scikit-learn."""
    return _load(path, mapped)[0]


def load_to_change(path: str | os.PathLike[str], mapped: bool = False) -> tuple[Model, folders.Document]:
    """The fitted model in a folder, and the document that `save_changes` takes with it."""
    return _load(folder_here(path), mapped)


def _load(path: str | os.PathLike[str], mapped: bool) -> tuple[Model, folders.Document]:
    place, document, files = read(path, mapped)
    with folders.report_damage(place):
        arrays = arrays_of(files.values(), mapped)
    return restored(place, document, arrays), document


def describe_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model is: method, parameters, training documents by language, labels, scores, versions.

    And what it learned from, step by step (``history``, None where that is not known), and what it keeps of
    its documents (``stored``, see `describe_kept`).
    """
    place, document, files = read(path, mapped=True)
    with folders.report_damage(place):
        arrays = arrays_of(files.values(), mapped=True)
    return description_of(place, document, arrays)


@dataclass(frozen=True)
class ModelSnapshot:
    """What was read of a model, out of reach; processes that are started with it share its files.

    ``description`` is what `describe_model` says.
    """

    place: folders.Place
    document: folders.Document
    files: list[SharedBytes]
    description: dict[str, Any]

    def load(self) -> Any:
        """The fitted model; its arrays lie where they are held, and cannot be changed."""
        arrays = arrays_of([file.content for file in self.files], mapped=True)
        return restored(self.place, self.document, arrays)


def take_snapshot(path: str | os.PathLike[str]) -> ModelSnapshot:
    """Read a model's folder, or that of an address on the Hub, once and for all."""
    place, document, contents = read(path)
    files = [SharedBytes(content) for content in contents.values()]
    with folders.report_damage(place):
        arrays = arrays_of([file.content for file in files], mapped=True)
    return ModelSnapshot(place, document, files, description_of(place, document, arrays))


@dataclass(frozen=True)
class Pushed:
    """What was sent: to which address, in which commit, how many bytes in which files, and what they keep."""

    address: str
    commit: str
    files: dict[str, int]
    keeps: str

    def record(self) -> dict[str, Any]:
        """In plain values."""
        return asdict(self)


def push_model(
    model: "Model | MethodEstimator | PathOrAddress",
    address: str,
    *,
    private: bool = False,
    license: str | None = None,  # noqa: A002 - the Hub's word
    message: str | None = None,
    keep: str | None = None,
    force: bool = False,
) -> Pushed:
    """Share a model on the Hugging Face Hub, in one commit: ``load_model("hf://owner/name")`` reads it there.

    Parameters
    ----------
    model : fitted model, or the folder of one, which is loaded first: what cannot be loaded is not sent
    address : such as ``owner/name`` or ``owner/name@branch``; both are created where they are missing
    private : whether only you, and those you let in, read the repository; a public one is refused
    license : the Hub's name of a licence, such as ``apache-2.0``, for the card
    message : what the commit is about
    keep : what the copy on the Hub stores of the training documents. "nothing" leaves them out; "words" or
        "texts", whichever the model stores, sends them with the report, which shows parts of texts. A model
        that stores training documents is refused without it
    force : whether pages are replaced that do not belong to a model, such as a ``README.md`` of yours; an
        earlier model is always replaced

    >>> push_model("nowhere", "owner/name")
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere: no such model folder. Check the path.
    """
    from funnelling.report.card import kept_sentence, model_card

    target = parse(address)
    if not re.fullmatch("[a-z0-9][a-z0-9.-]*", (license or "none").lower(), re.ASCII):
        raise InputError(f"{license!r} is no licence on the Hub. Write its name there, such as apache-2.0.")
    place, document, files, kept = _content(model, keep)
    described = description_of(place, document, arrays_of(files.values(), mapped=False))
    keeps = kept_sentence(described)
    if described["stored"]["documents"] and keep is None:
        raise InputError(
            f"{place}: {keeps[0].lower()}{keeps[1:-1]}; whoever reads the repository could read that. Push a "
            f"copy without it by --keep {NOTHING}, or all of it by --keep {kept}."
        )
    # The folder of an encoder says where on this machine it is, which is nobody else's business.
    content = {MODEL: folders.document_bytes(place, with_encoder(document, None))}
    card = model_card(described, str(target), license and license.lower())
    content |= {folders.CARD: card.encode("utf-8", "replace"), **files}
    report = place / folders.REPORT
    if keep == kept != NOTHING and os.path.lexists(report) and isinstance(model, str | os.PathLike):
        if report.is_symlink() or not report.is_file():  # a link could lead to any file
            raise InputError(f"{report}: is no regular file, and is not sent. Remove it.")
        content[folders.REPORT] = report.read_bytes()
    commit = upload(target, content, message or "A model of funnelling", private, force)
    return Pushed(str(target), commit, {name: len(each) for name, each in content.items()}, keeps)


def pull_model(
    address: str, path: PathOrAddress, *, encoder: PathOrAddress | None = None, force: bool = False
) -> None:
    """Copy a model from the Hub to a folder, where it can be changed.

    It is loaded first. Of what is beside it nothing comes along: the card is written anew from the model.

    Parameters
    ----------
    address : where it is, such as ``hf://owner/name``
    path : folder of the copy
    encoder : folder of the encoder that the model was trained with, where it has such a view; the copy
        remembers it
    force : whether a model that is there is replaced
    """
    target = folder_here(path)
    folders.check_writable(target, force)
    place, document, files = read(str(parse(address)))
    with folders.report_damage(place):
        arrays = arrays_of(files.values(), mapped=False)
    model = restored(place, document, arrays)
    description_of(place, document, arrays)
    if encoder is not None:
        spaces = [space for space in model.fitted.spaces if isinstance(space, EncoderSpace)]
        if not spaces:
            raise InputError(f"{place}: has no view of an encoder. Leave --encoder out.")
        document = with_encoder(document, str(spaces[0].find(encoder).resolve()))
    folders.write(target, document, {**files, **pages(document, arrays, None)}, force)


def _content(
    model: "Model | MethodEstimator | PathOrAddress", keep: str | None
) -> tuple[Path, folders.Document, dict[str, bytes], str]:
    """What messages call a model, its document, its files of arrays, and what it keeps of its documents."""
    if isinstance(model, str | os.PathLike):
        place = folder_here(model)
        document, files = folders.read(place)
        with folders.report_damage(place):
            arrays = arrays_of(files.values(), mapped=False)
        loaded, scores = restored(place, document, arrays), document["scores"]
    else:
        place, loaded, scores, files = Path("The model"), model_of(model), None, {}
    kept = loaded.fit_parameters.keep
    if keep not in (None, kept, NOTHING):
        raise InputError(f"{place}: it stores {kept}. Choose --keep {' or '.join({kept: 0, NOTHING: 0})}.")
    if keep == NOTHING or not files:
        document, files = whole(loaded.compact() if keep == NOTHING else loaded, scores, None)
    return place, document, {name: each for name, each in files.items() if name not in folders.PAGES}, kept
