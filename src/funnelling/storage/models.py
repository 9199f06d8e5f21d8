"""A fitted model as a document and files of arrays, and back; what they say of it without being loaded."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from funnelling.corpus.blocks import Block
from funnelling.errors import InputError
from funnelling.matrices import length
from funnelling.methods.algorithm import NOTHING, Parameters
from funnelling.methods.model import Model
from funnelling.methods.registry import estimator_type, name_of
from funnelling.runtime.alone import sole_writer_of_all
from funnelling.runtime.files import arrays_in
from funnelling.spaces import plain_view
from funnelling.state import RUNTIME_PARAMETERS, StateError, check_fields, expect, field_kinds
from funnelling.storage import folders
from funnelling.storage.trees import Arrays, decode, encode, encode_place
from funnelling.text.languages import is_served

if TYPE_CHECKING:
    from funnelling.methods.estimator import MethodEstimator

BLOCKS, POSTERIORS = "archive.blocks", "fitted.kept"  # the places of a model that have its documents
TEXTS = {"bags": "bags of words", "as written": "as written"}  # what is told of a kind of documents
# What there may be of a document, and the columns of a language's documents that hold it.
COLUMNS = {
    "ids": ("ids", "unnamed"),
    "groups": ("groups",),
    "labels": ("targets",),
    "content": ("content",),
    "beginnings": ("beginnings",),
}
FIELDS = {
    "posteriors": (f"{POSTERIORS}.training", f"{POSTERIORS}.held_out"),
    "scores": (f"{POSTERIORS}.scores", f"{POSTERIORS}.zero_shot_scores"),
    "solutions": (f"{POSTERIORS}.coefficients",),
}
MAY_BE_BLANK = ("groups", "beginnings")  # have an empty string where there is none


def describe_kept(tree: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """What a model, as `encode` gives it, stores of its training documents.

    ``documents`` counts them by language: none where nothing is stored. ``texts`` is "as written", "bags of
    words" or None. ``bytes`` are the sizes of what is stored, of the model's ``total_bytes``.
    """
    kind, kinds = _at(tree, "archive.kind"), field_kinds(Block)
    blocks = {f"{_key(BLOCKS)}/{quote(tag, '')}": block for tag, block in (_at(tree, BLOCKS) or {}).items()}

    def read(column: str) -> list[Any]:
        return [decode(each[column], kinds[column], arrays, f"{at}/{column}") for at, each in blocks.items()]

    sizes = {
        {"content": "vectors" if kind == "vectors" else "texts"}.get(name, name): sum(
            _size(f"{at}/{column}", block[column], arrays)
            for at, block in blocks.items()
            for column in columns
            if block[column] is not None
        )
        for name, columns in COLUMNS.items()
        if name not in MAY_BE_BLANK or any(any(each or ()) for each in read(name))
    } | {
        name: sum(_size(_key(place), _at(tree, place), arrays) for place in places if _at(tree, place))
        for name, places in FIELDS.items()
    }
    return {
        "documents": dict(zip(_at(tree, BLOCKS) or {}, map(length, read("targets")), strict=True)),
        "texts": TEXTS.get(kind),
        "bytes": {name: size for name, size in sizes.items() if size},
        "total_bytes": _size("", tree, arrays),
    }


def _at(tree: Any, place: str) -> Any:
    """What stands at a place of a model's tree, ``fitted.learned``; None where nothing does."""
    for name in place.split("."):
        tree = None if tree is None else tree.get(name)
    return tree


def _key(place: str) -> str:
    """What the arrays of a place are called."""
    return "/" + place.replace(".", "/")


def _size(place: str, tree: Any, arrays: Arrays) -> int:
    """The bytes of a place in a model: those of its arrays, and of what stands in the tree itself."""
    text = json.dumps(tree, ensure_ascii=False).encode(errors="replace")
    return len(text) + sum(each.nbytes for key, each in arrays.items() if f"{key}/".startswith(f"{place}/"))


# Whose versions a prediction may depend on.
LIBRARIES = (
    *("numpy", "scipy", "scikit-learn", "simplemma", "snowballstemmer", "stopwordsiso"),
    *("py3langid", "langcodes", "anyascii"),
)
DESCRIBED = (
    *("method", "parameters", "languages", "labels", "single_label", "serves_unseen", "C", "choice"),
    *("candidates", "scores", "history", "stored", "format", "readable_by", "funnelling", "versions"),
)
# A model that labels one of these without having learned it labels languages it has not seen.
WIDESPREAD = ("en", "zh", "hi", "es", "ar", "fr", "bn", "pt", "ru", "de")


def model_of(given: "MethodEstimator | Model") -> Model:
    """The model of a fitted estimator, which must be one of ours: a folder names no class of the user's."""
    if isinstance(given, Model):
        return given
    if not hasattr(type(given), "_current_model"):
        raise InputError(f"Give a fitted estimator of funnelling, not {type(given).__name__}.")
    model: Model = given._current_model
    if type(given) is not estimator_type(model.algorithm, model.parameters):
        raise InputError(
            f"{type(given).__name__} is a class of your own, which no model folder names. Save it by joblib."
        )
    return model


def save_model(
    estimator: "MethodEstimator | Model",
    path: str | os.PathLike[str],
    *,
    scores: Any = None,
    details: Mapping[str, Any] | None = None,
    keep: str | None = None,
    force: bool = False,
) -> None:
    """Write a fitted estimator's model to a folder, whole or not at all.

    Parameters
    ----------
    estimator : a fitted estimator of ours, or its model
    path : the folder; only a model that is there is ever replaced
    scores : what ``funnelling.evaluation.measure_languages`` measured of it, kept for ``funnelling inspect``
    details : what the report shows beside them; with them the folder has a ``report.html``
    keep : "nothing" for a copy that stores nothing of its training documents
    force : whether an existing model is replaced, its report too
    """
    model = model_of(estimator)
    if keep not in (None, model.fit_parameters.keep, NOTHING):
        raise InputError(f"keep: a copy stores what the model does, or 'nothing', not {keep!r}.")
    save(model.compact() if keep == NOTHING else model, path, scores=scores, details=details, force=force)


def save(
    model: Model,
    path: str | os.PathLike[str],
    *,
    scores: Any = None,
    details: Mapping[str, Any] | None = None,
    force: bool = False,
) -> None:
    """Write a fitted model to a folder, whole or not at all; see `save_model`."""
    folder = folders.folder_here(path)
    folders.check_writable(folder, force)
    folders.write(folder, *whole(model, scores, details), force)


def whole(
    model: Model, scores: Any, details: Mapping[str, Any] | None
) -> tuple[folders.Document, dict[str, Any]]:
    """The document and the files of a model."""
    from safetensors.numpy import save

    try:
        model.check()
    except (StateError, InputError) as error:  # while it is still in memory
        reason = str(error).rstrip(".")
        raise InputError(f"The model could not be loaded again: {reason}. It works in memory.") from error
    tree, arrays = encode(model, Model)
    content = save(arrays)
    digest = hashlib.sha256(content).hexdigest()
    name = folders.arrays_name(digest)
    parameters, fitted = model.fit_parameters, model.fitted
    document = {
        "format": folders.FORMAT,
        "readable_by": folders.READABLE_BY,
        "method": name_of(model.algorithm, parameters),
        "parameters": _plain_parameters(parameters),
        "languages": dict(model.documents),
        "labels": model.labels.classes.tolist(),
        "single_label": model.labels.single_label,
        "serves_unseen": any(fitted.serves(tag) for tag in WIDESPREAD if not is_served(tag, model.languages)),
        "C": fitted.final_c,
        "choice": None if fitted.chosen is None else fitted.chosen.summary(),
        "scores": scores,
        "funnelling": version("funnelling"),
        "versions": {library: version(library) for library in LIBRARIES},
        "files": {name: digest},
        "model": tree,
    }
    return document, {name: content, **pages(document, arrays, details)}


def save_changes(
    model: Model,
    source: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    changed: Sequence[str] | None = None,
    *,
    document: folders.Document,
    scores: Any,
    details: Mapping[str, Any] | None,
    force: bool = False,
) -> None:
    """Write a model that was loaded from a folder and has changed since, there or elsewhere.

    ``document`` is what came with the model from `load_to_change`: a folder that has another one now holds
    another model, which would be lost, and the changes are refused. ``changed`` are the places of the model
    to write, None for all. Their arrays go to a small file beside the large one, which stays as it
    is: what a model's later files have takes the place of what is in earlier ones. ``force`` says whether
    another model elsewhere is replaced.
    """
    source = folders.folder_here(source)
    folder = source if path is None else folders.folder_here(path)
    there = [folder] if folder.is_dir() else []
    with sole_writer_of_all(source, *there):
        if folders.read_document(source) != document:
            raise InputError(f"{source}: the model has changed meanwhile. Run the command again.")
        in_place = folder.exists() and folder.samefile(source)
        if changed is None:
            document, files = whole(model, scores, details)
        else:
            document, files = _parts(model, source, in_place, changed, document, scores, details)
        folders.write(folder, document, files, force or in_place)


def _parts(
    model: Model,
    source: Path,
    in_place: bool,
    changed: Sequence[str],
    document: folders.Document,
    scores: Any,
    details: Mapping[str, Any] | None,
) -> tuple[folders.Document, dict[str, Any]]:
    """The document of a model of which little has changed, and the files that are not in its folder yet."""
    from safetensors.numpy import load, save

    (large, digest), *small = document["files"].items()
    arrays: dict[str, Any] = {}
    for name, _ in small:
        arrays |= load(folders.read_file(source, name))
    tree = deepcopy(document["model"])
    for place in changed:
        key = _key(place)
        arrays = {name: array for name, array in arrays.items() if not f"{name}/".startswith(f"{key}/")}
        owner, _, name = place.rpartition(".")
        state = _at(tree, owner) if owner else tree
        state[name], added = encode_place(model, place)
        arrays |= added
    content = save(arrays)
    changes = hashlib.sha256(content).hexdigest()
    document = document | {
        "parameters": _plain_parameters(model.fit_parameters),
        "scores": scores,
        "files": {large: digest, folders.arrays_name(changes): changes},
        "model": tree,
    }
    unchanged = folders.read_file(source, large, mapped=True)
    everything = {**arrays_of([unchanged], mapped=True), **arrays}
    files = {folders.arrays_name(changes): content, **pages(document, everything, details)}
    return document, files if in_place else {large: unchanged, **files}


def pages(
    document: folders.Document, arrays: Arrays, details: Mapping[str, Any] | None
) -> dict[str, bytes | None]:
    """The model's card, and its report where there are details for one."""
    from funnelling.report.card import model_card
    from funnelling.report.model import model_report
    from funnelling.report.rendering import html_page

    described = _described(document, arrays)
    card, report = model_card(described), None
    if details is not None:
        report = html_page(model_report(described, details)).encode("utf-8", "replace")
    return {folders.CARD: card.encode("utf-8", "replace"), folders.REPORT: report}


def restored(place: folders.Place, document: folders.Document, arrays: Arrays) -> Model:
    """The fitted model that a document and arrays are."""
    with folders.report_damage(place):
        try:
            model = decode(document["model"], Model, arrays)
        except InputError as error:
            raise folders.damaged(place, str(error).rstrip(".")) from error
        if not isinstance(model, Model):
            raise folders.damaged(place, "it holds no fitted model")
        expect(document["labels"] == model.labels.classes.tolist(), "what it says of its labels")
        expect(document["languages"] == model.documents, "what it says of its languages")
    return model


def description_of(place: folders.Place, document: folders.Document, arrays: Arrays) -> dict[str, Any]:
    """What `describe_model` says of a document and arrays."""
    from funnelling.report.card import model_card

    with folders.report_damage(place):
        described = _described(document, arrays)
        model_card(described)  # what cannot be told to people is damaged
    return described


def arrays_of(files: Iterable[Any], mapped: bool) -> Arrays:
    """The arrays in the files of a model; ``mapped`` ones lie where they are."""
    from safetensors.numpy import load

    read = arrays_in if mapped else load
    return {key: array for content in files for key, array in read(content).items()}


def _described(document: folders.Document, arrays: Arrays) -> dict[str, Any]:
    """What a model's document says to people."""
    tree = document["model"]
    own = {
        **document,
        "candidates": _tried(tree),
        "history": tree.get("history"),
        "stored": describe_kept(tree, arrays),
    }
    return {key: own.get(key) for key in DESCRIBED}


def _tried(tree: Any) -> list[dict[str, Any]] | None:
    """All candidates that the choice of a model was made from; None where there was no choice."""
    if _at(tree, "fitted.choice") is None:
        return None
    from funnelling.funnel.choice import Choice

    choice = decode(_at(tree, "fitted.choice"), Choice, {})
    check_fields(choice)
    choice.check_choice()
    tried: list[dict[str, Any]] = choice.candidates()
    return tried


def _plain_parameters(parameters: Parameters) -> dict[str, Any]:
    """The parameters that made the model; estimators as Python prints them."""
    given = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.get_params(deep=False).items()
        if name not in RUNTIME_PARAMETERS
    }
    if isinstance(views := given.get("views"), list):
        given["views"] = list(map(plain_view, views))  # where a resource is, is the user's own business
    return {
        key: value if isinstance(value, None | bool | int | float | str) else " ".join(repr(value).split())
        for key, value in sorted(given.items())
    }
