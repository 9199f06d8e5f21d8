"""Models to the Hub and from there: what is sent, and what has to be agreed to before it is."""

import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.errors import InputError
from funnelling.methods.model import Model
from funnelling.runtime.messages import MODEL
from funnelling.spaces.outside import EncoderSpace
from funnelling.storage import folders, hub
from funnelling.storage.models import arrays_of, description_of, model_of, pages, restored, whole
from funnelling.storage.places import PathOrAddress, folder_here, read_address, with_encoder

if TYPE_CHECKING:
    from funnelling.methods.estimator import MethodEstimator


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
    compact: bool = False,
    with_documents: bool = False,
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

    target = hub.parse(address)
    if not re.fullmatch("[a-z0-9][a-z0-9.-]*", (license or "none").lower(), re.ASCII):
        raise InputError(f"{license!r} is no licence on the Hub. Write its name there, such as apache-2.0.")
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
    # The folder of an encoder says where on this machine it is, which is nobody else's business.
    content = {MODEL: folders.document_bytes(place, with_encoder(document, None))}
    card = model_card(described, str(target), license and license.lower())
    content |= {folders.CARD: card.encode("utf-8", "replace"), **files}
    report = place / folders.REPORT
    if with_documents and os.path.lexists(report) and isinstance(model, str | os.PathLike):
        if report.is_symlink() or not report.is_file():  # a link could lead to any file
            raise InputError(f"{report}: is no regular file, and is not sent. Remove it.")
        content[folders.REPORT] = report.read_bytes()
    commit = hub.upload(target, content, message or "A model of funnelling", private, force)
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
    place, document, files = read_address(hub.parse(address))
    with folders.report_damage(place):
        arrays = arrays_of(files, mapped=False)
    model = restored(place, document, arrays)
    description_of(place, document, arrays)
    if encoder is not None:
        spaces = [space for space in model.fitted.spaces if isinstance(space, EncoderSpace)]
        if not spaces:
            raise InputError(f"{place}: has no view of an encoder. Leave --encoder out.")
        document = with_encoder(document, str(spaces[0].find(encoder).resolve()))
    folders.write(target, document, {**files, **pages(document, arrays, None)}, force)


def _content(
    model: "Model | MethodEstimator | PathOrAddress", compact: bool
) -> tuple[Path, folders.Document, dict[str, bytes]]:
    """What messages call a model, its document and its files of arrays."""
    if isinstance(model, str | os.PathLike):
        place = folder_here(model)
        document, files = folders.read(place)
        with folders.report_damage(place):
            arrays = arrays_of(files, mapped=False)
        loaded, scores = restored(place, document, arrays), document["scores"]
    else:
        place, loaded, scores, files = Path("The model"), model_of(model), None, {}
    if compact or not files:
        document, files = whole(loaded.compact() if compact else loaded, scores, None)
    return place, document, {name: each for name, each in files.items() if name not in folders.PAGES}
