"""Files of the cache are made once, whole or not at all, and made anew where they are damaged."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from funnelling.runtime.files import Arrays, draft_in, from_cache
from funnelling.runtime.messages import CACHE


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without anything in it."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


SEVEN: Arrays = {"number": np.array(7)}


def read_number(arrays: Arrays) -> int:
    return int(arrays["number"])


def test_a_file_is_made_once(cache: Path) -> None:
    made = []

    def make() -> Arrays:
        made.append(7)
        return SEVEN

    assert [from_cache("numbers/seven", make, read_number) for _ in range(2)] == [7, 7]
    assert len(made) == 1
    for damaged in (b"no number", save({"letter": np.array(7)})):  # libraries raise what they like
        (cache / "numbers" / "seven.safetensors").write_bytes(damaged)
        assert from_cache("numbers/seven", make, read_number) == 7
    assert [path.name for path in (cache / "numbers").iterdir()] == ["seven.safetensors"]


def test_what_fails_leaves_nothing_behind(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(draft: str) -> None:
        assert Path(draft).stat().st_size  # it is written in part
        raise OSError("No space left on device")

    monkeypatch.setattr("funnelling.runtime.files.sync", fail)
    with pytest.raises(FileNotFoundError):
        from_cache("seven", lambda: SEVEN, read_number)
    assert list(cache.iterdir()) == []


def test_drafts_of_killed_processes_go_with_the_next_file(cache: Path) -> None:
    cache.mkdir()
    Path(draft_in(cache)).write_text("half of")
    assert from_cache("seven", lambda: SEVEN, read_number) == 7
    assert [path.name for path in cache.iterdir()] == ["seven.safetensors"]


def test_a_process_that_was_quicker_is_believed(cache: Path) -> None:
    def too_late() -> Arrays:
        (cache / "seven.safetensors").write_bytes(save(SEVEN))
        raise PermissionError("in use")

    assert from_cache("seven", too_late, read_number) == 7
