"""Small archives that unpack to gigabytes."""

import struct
import zlib
from functools import cache

SIZE = 3 * 2**29  # bytes, more than a child of ours may take
_BLOCK = 2**23


@cache
def _deflated(fill: bytes) -> bytes:
    """As many bytes of one kind, deflated: a block that ends on a whole byte, again and again."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflate.compress(b"")
    block = deflate.compress(fill * _BLOCK) + deflate.flush(zlib.Z_FULL_FLUSH)
    return block * (SIZE // _BLOCK) + deflate.flush()


def gzip_bomb(before: bytes, fill: bytes) -> bytes:
    """A gzip file of some text and then of one byte without end; nobody should get as far as the checksum."""
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    start = zlib.compressobj(9, zlib.DEFLATED, -15)
    text = start.compress(before) + start.flush(zlib.Z_FULL_FLUSH)
    return head + text + _deflated(fill) + struct.pack("<LL", 0, SIZE + len(before))


def zip_bomb(name: str, others: dict[str, bytes] | None = None) -> bytes:
    """An archive of one huge member, and of others that are what they should be."""
    members = {**{key: (value, len(value), 0) for key, value in (others or {}).items()}}
    members[name] = (_deflated(b"\0"), SIZE, zlib.DEFLATED)
    content, index = b"", b""
    for member, (stored, size, method) in members.items():
        checksum = 0 if method else zlib.crc32(stored)
        told = struct.pack("<HHHHHLLLHH", 20, 0, method, 0, 33, checksum, len(stored), size, len(member), 0)
        index += b"PK\1\2" + struct.pack("<H", 20) + told
        index += struct.pack("<HHHLL", 0, 0, 0, 0, len(content)) + member.encode()
        content += b"PK\3\4" + told + member.encode() + stored
    end = struct.pack("<HHHHLLH", 0, 0, len(members), len(members), len(index), len(content), 0)
    return content + index + b"PK\5\6" + end
