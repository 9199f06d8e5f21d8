"""Many processes at one model folder: it holds a whole model of one of them, and no work is lost unsaid."""

import sys
from pathlib import Path

import pytest

from .contention import contend, without_locks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks of folders")

slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("rounds", "writers"), [(5, 2), pytest.param(1000, 2, marks=slow), pytest.param(300, 4, marks=slow)]
)
def test_writers_and_a_reader(rounds: int, writers: int, tmp_path: Path) -> None:
    counts = contend(tmp_path, rounds, writers, readers=1, seed=writers)
    assert counts["saved"] >= rounds * 0.9
    assert counts["read"] > rounds


@pytest.mark.parametrize("rounds", [4, pytest.param(300, marks=slow)])
def test_writers_make_the_folder(rounds: int, tmp_path: Path) -> None:
    counts = contend(tmp_path, rounds, writers=3, readers=0, fresh=True)
    assert counts["saved"] >= rounds * 0.9


@pytest.mark.parametrize("fresh", [True, pytest.param(False, marks=slow)])
def test_without_locks_it_is_found_out(fresh: bool, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"lost|cannot be written|is none of|is no model folder|failed"):
        contend(tmp_path, 100, 2, 0 if fresh else 1, fresh=fresh, prepare=without_locks)
