"""Arrays of a safetensors file where they lie, without a copy."""

import json
import math
import mmap
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

_LENGTH = 8  # bytes that say how long the header is
_MOST_OF_HEADER = 100_000_000  # bytes, as in safetensors
_TYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}


def told_size(file: BinaryIO) -> int:
    """How many bytes a file has by its header, which is read; a file that is no such raises an error."""
    length = int.from_bytes(file.read(_LENGTH), "little")
    if length > _MOST_OF_HEADER:
        raise ValueError("no header of arrays")
    header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return _LENGTH + length + max((int(entry["data_offsets"][1]) for entry in header.values()), default=0)


def arrays_in(content: bytes | mmap.mmap) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays by name, which cannot be written to; a file that is no such raises one error or another.

    They lie one after the other, from the header to the end of the file.
    """
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    if start > min(len(content), _MOST_OF_HEADER):
        raise ValueError("no header of arrays")
    header = json.loads(content[_LENGTH:start])
    header.pop("__metadata__", None)
    arrays = {}
    at = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        kind, shape = np.dtype(_TYPES[entry["dtype"]]), entry["shape"]
        if begin != at or any(size < 0 for size in shape) or end - begin != math.prod(shape) * kind.itemsize:
            raise ValueError(f"the array {name!r} is not where it should be")
        flat = np.frombuffer(content, kind, math.prod(shape), start + begin)
        arrays[name] = np.require(flat, requirements="A").reshape(shape)
        at = end
    if start + at != len(content):
        raise ValueError("something stands behind the arrays")
    return arrays
