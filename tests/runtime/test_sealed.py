"""Bytes that nobody can change, and that processes share."""

import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling.runtime import files as module
from funnelling.runtime.files import SharedBytes


def test_nobody_can_write_to_it() -> None:
    sealed = SharedBytes(bytes(100_000))
    with pytest.raises(TypeError):
        sealed.content[0] = 1
    assert not np.frombuffer(sealed.content, np.uint8).flags.writeable


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no seals")
def test_not_even_by_its_number() -> None:
    sealed = SharedBytes(b"ciao")
    for change in (lambda number: os.write(number, b"x"), lambda number: os.truncate(number, 1)):
        with pytest.raises(OSError, match="not permitted"):
            change(sealed._number)
    assert bytes(sealed.content) == b"ciao"


@pytest.mark.parametrize("seals", [True, False])
def test_another_process_maps_it(seals: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not seals:
        monkeypatch.delattr(module.os, "memfd_create", raising=False)
    sealed = SharedBytes(b"ciao" * 1_000)
    process = multiprocessing.get_context("spawn").Process(target=_copy, args=(sealed, tmp_path / "copy"))
    process.start()
    process.join(60)
    assert (tmp_path / "copy").read_bytes() == b"ciao" * 1_000


def _copy(sealed: Any, path: Path) -> None:
    path.write_bytes(sealed.content)
