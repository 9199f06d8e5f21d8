"""What may lie where a file should: by name, a function that puts it there."""

import os
import socket
from collections.abc import Callable
from pathlib import Path


def _giant(path: Path) -> None:
    """A file of gigabytes that takes no room."""
    with path.open("wb") as file:
        file.truncate(2**36)


def _socket(path: Path) -> None:
    os.chdir(path.parent)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(path.name)


WAITING = "a pipe"  # who names one waits for whoever writes to it
SPECIAL: dict[str, Callable[[Path], object]] = {
    WAITING: os.mkfifo,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a giant": _giant,
    "a folder": os.mkdir,
    "a socket": _socket,
    "a link to itself": lambda path: path.symlink_to(path.name),
}
