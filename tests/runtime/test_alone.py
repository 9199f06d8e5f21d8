"""Folders that only one writes to at a time."""

import os
import threading
from pathlib import Path

import pytest

from funnelling.runtime.alone import sole_writer_of_all, write_lock

fcntl = pytest.importorskip("fcntl")


def test_those_who_lock_the_same_folders_the_other_way_round_do_not_wait_for_ever(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    rounds: list[int] = []

    def lock(*order: Path) -> None:
        for _ in range(300):
            with sole_writer_of_all(*order):
                rounds.append(1)

    threads = [
        threading.Thread(target=lock, args=order, daemon=True) for order in (folders, reversed(folders))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(rounds) == 600


def test_who_holds_a_folder_may_ask_for_it_among_others(tmp_path: Path) -> None:
    with write_lock(tmp_path) as sure, sole_writer_of_all(tmp_path, tmp_path):
        assert sure


def test_a_folder_that_is_replaced_while_one_waits_is_locked_anew(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    waited = threading.Event()

    def wait() -> None:
        with write_lock(folder) as sure:
            assert sure
            waited.set()

    with write_lock(folder):
        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        waiting.join(0.3)
        folder.rename(tmp_path / "old")
        folder.mkdir()
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert not waited.wait(0.3)
    os.close(lock)
    assert waited.wait(10)
