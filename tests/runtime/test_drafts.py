"""Drafts of files: those of killed processes are removed, those at work are left alone."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from funnelling.runtime import alone
from funnelling.runtime.files import draft_file, draft_in, sweep

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks of folders")

WRITE = """
import sys, time
from funnelling.formats.files import writing
with writing(sys.argv[1]) as stream:
    print("writing", flush=True)
    time.sleep(60)
"""


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_draft_of_a_process_goes_when_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, str(tmp_path / "out.txt")], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        drafts = names(tmp_path)
        assert len(drafts) == 1
        sweep(tmp_path)
        assert names(tmp_path) == drafts
        process.send_signal(signal.SIGKILL)
    sweep(tmp_path)
    assert names(tmp_path) == set()


def test_nothing_else_is_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    Path(draft_in(tmp_path)).symlink_to(tmp_path / "mine")
    Path(draft_in(tmp_path)).mkdir()
    for name in (".funnelling-mine.tmp", ".funnelling-0123456789abcdef.tmp2", "0123456789abcdef.tmp"):
        (tmp_path / name).touch()
    before = names(tmp_path)
    sweep(tmp_path)
    assert names(tmp_path) == before
    sweep(tmp_path / "missing")


def test_where_there_are_no_locks_a_draft_goes_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alone, "fcntl", None)
    old, new = Path(draft_in(tmp_path)), Path(draft_in(tmp_path))
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    with draft_file(tmp_path) as draft:
        sweep(tmp_path)
        assert names(tmp_path) == {new.name, Path(draft).name}
    assert names(tmp_path) == {new.name}


def test_those_who_sweep_take_no_draft_from_those_who_begin_one(tmp_path: Path) -> None:
    done = threading.Event()

    def keep_sweeping() -> None:
        while not done.is_set():
            sweep(tmp_path)

    sweepers = [threading.Thread(target=keep_sweeping) for _ in range(2)]
    for sweeper in sweepers:
        sweeper.start()
    try:
        for number in range(3000):
            with draft_file(tmp_path) as draft:
                os.replace(draft, tmp_path / f"{number % 5}")
    finally:
        done.set()
        for sweeper in sweepers:
            sweeper.join()
    assert names(tmp_path) == set("01234")
