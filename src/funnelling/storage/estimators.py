"""scikit-learn's own estimators as bytes, in skops' form: no pickle, and equal fits are equal bytes."""

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Iterator
from itertools import count
from typing import IO, Any

import numpy as np

from funnelling.errors import InputError

# What may be loaded beside what skops trusts by itself: plain Python parts of scikit-learn's estimators.
# Trees are not here, on skops' advice: a forged one can read beyond its arrays.
TRUSTED = [
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
]
# Times its size, and bytes beyond, that an archive may take when it is read: matrices in it are compressed.
MAX_COMPRESSION_RATIO, ALWAYS_ALLOWED_BYTES = 32, 2**20
_SCHEMA = "schema.json"
# What skops and scikit-learn call these holds addresses in memory, which no two processes share.
_NODE_ID, _FILE, _STOP_WORDS_ID = "__id__", "file", "_stop_words_id"


def to_bytes(estimator: Any, what: str, may_be_there: bool = True) -> bytes:
    """An estimator as bytes; a refusal calls it ``what``."""
    kind = type(estimator)
    shown = f"{what} is a {kind.__module__}.{kind.__qualname__}"
    if kind.__module__.partition(".")[0] != "sklearn" or not may_be_there:
        raise InputError(
            f"The model cannot be saved: {shown}, and only scikit-learn's own estimators can be. "
            "It works in memory."
        )
    from skops.io import dumps, get_untrusted_types

    try:
        content = dumps(estimator)
        untrusted = [name for name in get_untrusted_types(data=content) if name not in TRUSTED]
    except Exception as error:
        # skops has no error of its own for what it cannot save.
        raise InputError(
            f"The model cannot be saved: {shown}, which skops cannot take ({type(error).__name__}). "
            "It works in memory."
        ) from error
    if untrusted:
        raise InputError(
            f"The model cannot be saved: {shown} and holds a {untrusted[0]}, which cannot be loaded safely. "
            "It works in memory."
        )
    return _without_addresses(content)


def from_bytes(content: bytes) -> Any:
    """The estimator that was saved; one that holds anything but trusted types is refused.

    So is an archive that would take more memory than it should.
    """
    from skops.io import loads

    _check_sizes(content)
    estimator = loads(content, trusted=TRUSTED)
    estimator.get_params()  # it has all of them
    return estimator


def _check_sizes(content: bytes) -> None:
    """Refuse an archive that unpacks to more than it is, or whose arrays are larger than their files.

    Ours are stored as they are; sparse matrices in them are archives that skops has compressed.
    """
    most = ALWAYS_ALLOWED_BYTES + MAX_COMPRESSION_RATIO * len(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("an estimator that is compressed")
        if sum(entry.file_size for entry in entries) > len(content):
            raise ValueError("an estimator that is larger than its archive")
        sizes = {}
        for entry in entries:
            file = archive.read(entry)
            sizes[entry.filename] = len(file)
            if entry.filename.endswith(".npy"):
                _check_array(io.BytesIO(file), len(file))
            elif entry.filename.endswith(".npz"):
                sizes[entry.filename] = _check_matrix(file, most)
            elif entry.filename != _SCHEMA:
                raise ValueError("an estimator with a file that is none of its own")
        # Equal arrays are one file, which each of them reads.
        read: list[int] = []
        nodes = json.JSONDecoder(object_hook=lambda node: read.append(sizes.get(node.get(_FILE, ""), 0)))
        nodes.decode(archive.read(_SCHEMA).decode())
        if sum(read) > most:
            raise ValueError("an estimator that reads its files again and again")


def _check_array(file: IO[bytes], size: int) -> None:
    """Refuse an array whose header promises more than its file has."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize > size:
        raise ValueError("an array that is larger than its file")


def _check_matrix(content: bytes, most: int) -> int:
    """The bytes of a sparse matrix, which may not be too many, nor have indices out of range."""
    from scipy import sparse

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > most:
            raise ValueError("a matrix that is larger than its archive")
        for entry in archive.infolist():
            with archive.open(entry) as file:
                _check_array(file, entry.file_size)
    matrix: Any = sparse.load_npz(io.BytesIO(content))
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
    return size


def _without_addresses(content: bytes) -> bytes:
    """An archive with its objects numbered and its files named by their content, without times."""
    numbers = count()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != _SCHEMA}
        names = {name: _content_name(name, file) for name, file in files.items()}
        schema = json.loads(archive.read(_SCHEMA), object_hook=lambda node: _counted(node, numbers, names))
    renamed = {names[name]: file for name, file in files.items()}
    renamed[_SCHEMA] = json.dumps(schema).encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(renamed):
            archive.writestr(zipfile.ZipInfo(name), renamed[name])
    return target.getvalue()


def _content_name(name: str, content: bytes) -> str:
    _, dot, suffix = name.partition(".")
    return hashlib.sha256(content).hexdigest()[:16] + dot + suffix


def _counted(node: dict[str, Any], numbers: Iterator[int], names: dict[str, str]) -> dict[str, Any]:
    if _NODE_ID in node:
        node[_NODE_ID] = next(numbers)
    if isinstance(file := node.get(_FILE), str):
        node[_FILE] = names[file]
    if _STOP_WORDS_ID in node:
        node[_STOP_WORDS_ID]["content"] = "0"
    return node
