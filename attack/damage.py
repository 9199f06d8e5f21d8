"""Bytes with some of them changed, as a fault or a fuzzer would have it."""

import random


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Content that differs in one place or a few."""
    spoiled = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8))):
        at = draw.randrange(len(spoiled) + 1)
        match draw.randrange(6):
            case 0 if at < len(spoiled):
                spoiled[at] ^= 1 << draw.randrange(8)
            case 1:
                del spoiled[at:]
            case 2:
                del spoiled[at : at + draw.choice((1, 4, 100))]
            case 3:
                spoiled[at : at + 64] = bytes(len(spoiled[at : at + 64]))
            case 4:
                spoiled[at:at] = spoiled[: draw.choice((10, 1_000))]
            case _:
                spoiled[at:at] = draw.randbytes(draw.choice((1, 8, 500)))
    return bytes(spoiled)
