"""Killed at any moment, a command that changes a model leaves the old one, or the new one, whole."""

import random
import subprocess
import time
from pathlib import Path

import pytest

from funnelling import load_model
from funnelling.storage import describe_model

from .command import command, documents, environment, succeed, write_jsonl


def _run(*arguments: object, seconds: float | None = None) -> float:
    """Run a command, or kill it after so many seconds; how long it took."""
    started = time.monotonic()
    process = subprocess.Popen(
        command(*arguments), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return time.monotonic() - started


@pytest.mark.parametrize("name", ["update", "add-language", "forget"])
def test_the_model_is_whole(name: str, tmp_path: Path, own_words_copy: Path) -> None:
    rows = documents(["de" if name == "add-language" else "it"], each=30)[24:]
    data = write_jsonl(tmp_path / "more.jsonl", rows)
    (tmp_path / "ids.txt").write_text("it-1\n")
    change = ("--ids", tmp_path / "ids.txt") if name == "forget" else (data, "--force")
    old = load_model(own_words_copy).documents_
    took = _run(name, own_words_copy, *change, "--jobs", 1, "-o", tmp_path / "new")
    new = load_model(tmp_path / "new").documents_
    assert old != new
    draw = random.Random(name)
    # Most of the time nothing is written: some moments are near the end, where all is.
    for share in (draw.random(), draw.uniform(0.8, 1), draw.uniform(0.9, 1)):
        _run(name, own_words_copy, *change, "--jobs", 1, seconds=share * took)
        assert load_model(own_words_copy).documents_ in (old, new)
        assert describe_model(own_words_copy)["languages"] in (old, new)
        if load_model(own_words_copy).documents_ == new:
            break  # it is done, or cannot be done twice
    if load_model(own_words_copy).documents_ == old:
        succeed(name, own_words_copy, *change, "--jobs", 1)
    assert load_model(own_words_copy).documents_ == new
