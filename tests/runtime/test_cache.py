"""Files of the cache are made once, whole or not at all, and made anew where they are damaged."""

from pathlib import Path

import pytest

from funnelling.runtime.files import draft_in, from_cache
from funnelling.runtime.messages import CACHE


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without anything in it."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def read_number(path: Path) -> int:
    if not path.exists():
        raise OSError(f"{path} is missing")
    if not path.read_text().isdigit():
        raise TypeError("that is no number")
    return int(path.read_text())


def test_a_file_is_made_once(cache: Path) -> None:
    made = []

    def make(path: Path) -> None:
        made.append(path)
        path.write_text("7")

    assert [from_cache("numbers/seven", make, read_number) for _ in range(2)] == [7, 7]
    assert len(made) == 1
    (cache / "numbers" / "seven").write_text("no number")  # libraries raise what they like
    assert from_cache("numbers/seven", make, read_number) == 7
    assert [path.name for path in (cache / "numbers").iterdir()] == ["seven"]


def test_what_fails_leaves_nothing_behind(cache: Path) -> None:
    def fail(path: Path) -> None:
        path.write_text("7")
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="is missing"):
        from_cache("seven", fail, read_number)
    assert list(cache.iterdir()) == []


def test_drafts_of_killed_processes_go_with_the_next_file(cache: Path) -> None:
    cache.mkdir()
    Path(draft_in(cache)).write_text("half of")
    assert from_cache("seven", lambda path: path.write_text("7"), read_number) == 7
    assert [path.name for path in cache.iterdir()] == ["seven"]


def test_a_process_that_was_quicker_is_believed(cache: Path) -> None:
    def too_late(_path: Path) -> None:
        (cache / "seven").write_text("7")
        raise PermissionError("in use")

    assert from_cache("seven", too_late, read_number) == 7
