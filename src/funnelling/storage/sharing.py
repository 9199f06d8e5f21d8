"""Models to the Hub and from there: what is sent, and what has to be said before it is."""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.errors import InputError
from funnelling.hub import Downloads, HubAddress, upload
from funnelling.plain import check_fitted
from funnelling.runtime.messages import MODEL
from funnelling.storage import folders
from funnelling.storage.models import arrays_of, description_of, pages, restored, whole
from funnelling.storage.places import PathOrAddress, folder_here, read, with_encoder

if TYPE_CHECKING:
    from funnelling.methods.model import Method

MESSAGE = "A model of funnelling"
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*", re.ASCII)


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
    model: "Method | PathOrAddress",
    address: str,
    *,
    private: bool = False,
    revision: str | None = None,
    license: str | None = None,  # noqa: A002 - the Hub's word
    message: str = MESSAGE,
    compact: bool = False,
    with_documents: bool = False,
    force: bool = False,
) -> Pushed:
    """Share a model on the Hugging Face Hub, in one commit: ``load_model("hf://owner/name")`` reads it there.

    Parameters
    ----------
    model : fitted model, or the folder of one, which is loaded first: what cannot be loaded is not sent
    address : where to, such as ``owner/name``; the repository is made where there is none
    private : whether a new repository is for you and those you let in; one that everyone can read is refused
    revision : branch, which is made where there is none; by default the main one
    license : the Hub's name of a licence, such as ``apache-2.0``, for the card
    message : what the commit is about
    compact : whether to send a copy that keeps nothing of its training documents; the folder stays as it is
    with_documents : whether to send what the model keeps of its training documents, and its report, which
        shows parts of texts. Without either, a model that keeps something of them is refused
    force : whether pages are replaced that do not belong to a model, such as a ``README.md`` of yours; an
        earlier model is always replaced

    >>> push_model("nowhere", "owner/name")
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere: no such model folder. Check the path.
    """
    from funnelling.report.card import kept_sentence, model_card

    target = _target(address, revision)
    licence = _checked_licence(license)
    if compact and with_documents:
        raise InputError("compact leaves out what with_documents sends. Leave one out.")
    place, document, files = _content(model, compact)
    described = description_of(place, document, arrays_of(files, mapped=False))
    keeps = kept_sentence(described)
    if described["keeps"]["documents"] and not with_documents:
        raise InputError(
            f"{place}: {keeps[0].lower()}{keeps[1:-1]}; whoever reads the repository could read that. Push a "
            "copy without it by --compact, or all of it by --with-documents."
        )
    content = {
        # The folder of an encoder says where on this machine it is, which is nobody else's business.
        MODEL: folders.document_bytes(place, with_encoder(document, None)),
        folders.CARD: model_card(described, str(target), licence).encode("utf-8", "replace"),
        **files,
        **(_report(model) if with_documents else {}),
    }
    commit = upload(
        target,
        content,
        message,
        private=private,
        replaces=folders.is_file_of_model,
        check=partial(_check_free, target, force),
    )
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
    place, document, files = read(HubAddress.parse(address))
    with folders.refusing_damage(place):
        arrays = arrays_of(files, mapped=False)
    model = restored(place, document, arrays)
    description_of(place, document, arrays)
    if encoder is not None:
        document = with_encoder(document, _checked_encoder(model, place, encoder))
    folders.write(target, document, {**files, **pages(document, arrays, None)}, force)


def _target(address: str, revision: str | None) -> HubAddress:
    target = HubAddress.parse(address)
    if revision is None:
        return target
    named = HubAddress.parse(f"{target.at(None)}@{revision}")
    if target.revision not in (None, revision):
        raise InputError(f"{target}: names a revision already, and {revision!r} is another. Leave one out.")
    return named


def _checked_licence(licence: str | None) -> str | None:
    if licence is not None and not _LICENCE.fullmatch(licence.lower()):
        raise InputError(f"{licence!r} is no licence on the Hub. Write its name there, such as apache-2.0.")
    return licence and licence.lower()


def _checked_encoder(model: "Method", place: folders.Place, encoder: PathOrAddress) -> str:
    """The folder of a model's encoder, in full; another encoder is refused."""
    view = getattr(model, "shared_views_", {}).get("encoder")
    if view is None:
        raise InputError(f"{place}: has no view of an encoder. Leave --encoder out.")
    return str(view.space.find(encoder).resolve())


def _check_free(target: HubAddress, force: bool, there: HubAddress, names: Sequence[str]) -> None:
    """Refuse to replace what is no model of ours: somebody wrote it by hand, or another program."""
    if force or not names:
        return
    if MODEL in names and folders.holds_document(Downloads(there).file(MODEL).parent):
        return
    raise InputError(
        f"{target}: {' and '.join(names)} there {'is' if len(names) == 1 else 'are'} not of a model of "
        "funnelling, and would be replaced. Choose another place or add --force."
    )


def _content(
    model: "Method | PathOrAddress", compact: bool
) -> tuple[Path, folders.Document, dict[str, bytes]]:
    """What messages call a model, its document and its files of arrays."""
    if not isinstance(model, str | os.PathLike):
        check_fitted(model, "classes_")
        document, files = whole(model.without_documents() if compact else model, None, None)
        return Path("The model"), document, _of_arrays(files)
    folder = folder_here(model)
    document, files = folders.read(folder)
    with folders.refusing_damage(folder):
        arrays = arrays_of(files, mapped=False)
    loaded = restored(folder, document, arrays)
    if compact:
        document, files = whole(loaded.without_documents(), document["scores"], None)
    return folder, document, _of_arrays(files)


def _of_arrays(files: Mapping[str, Any]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name not in folders.PAGES}


def _report(model: "Method | PathOrAddress") -> dict[str, bytes]:
    """The report beside a model, where there is one; a link could lead to any file."""
    if not isinstance(model, str | os.PathLike):
        return {}
    file = Path(model) / folders.REPORT
    if not os.path.lexists(file):
        return {}
    if not stat.S_ISREG(file.lstat().st_mode):
        raise InputError(f"{file}: is no regular file, and is not sent. Remove it.")
    return {folders.REPORT: file.read_bytes()}
