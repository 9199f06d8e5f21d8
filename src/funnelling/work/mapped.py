"""Arrays of a safetensors file where they lie, without a copy."""

import json
import mmap

import numpy as np
import numpy.typing as npt

_LENGTH = 8  # bytes that say how long the header is
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


def arrays_in(content: bytes | mmap.mmap) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays by name, which cannot be written to; a file that is no such raises one error or another."""
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    header = json.loads(content[_LENGTH:start])
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            kind = np.dtype(_TYPES[entry["dtype"]])
            flat = np.frombuffer(content, kind, (end - begin) // kind.itemsize, start + begin)
            arrays[name] = flat.reshape(entry["shape"])
    return arrays
