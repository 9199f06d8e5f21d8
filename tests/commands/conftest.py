"""Tiny models, trained once."""

import shutil
from pathlib import Path
from typing import Protocol

import pytest

from funnelling.commands import main

from .command import assert_one_line, contents, documents, succeed, with_splits, write_jsonl


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents in English and Italian without splits."""
    return write_jsonl(tmp_path_factory.mktemp("data") / "docs.jsonl", documents())


@pytest.fixture(scope="session")
def split_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those documents with splits."""
    return write_jsonl(tmp_path_factory.mktemp("data") / "split.jsonl", with_splits(documents()))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, split_data: Path) -> Path:
    """A fun-auto model of English and Italian. Do not change it: copy it."""
    path = tmp_path_factory.mktemp("models") / "fun-auto"
    succeed("train", split_data, "-o", path, "--jobs", 1)
    return path


@pytest.fixture(scope="session")
def own_words_model(tmp_path_factory: pytest.TempPathFactory, split_data: Path) -> Path:
    """A fun-tat model, which knows no language but English and Italian. Do not change it: copy it."""
    path = tmp_path_factory.mktemp("models") / "fun-tat"
    succeed("train", split_data, "-o", path, "--method", "fun-tat", "--jobs", 1)
    return path


@pytest.fixture
def model_copy(tmp_path: Path, model: Path) -> Path:
    """A copy of that model, to change."""
    shutil.copytree(model, tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def own_words_copy(tmp_path: Path, own_words_model: Path) -> Path:
    """A copy of that one, to change."""
    shutil.copytree(own_words_model, tmp_path / "model")
    return tmp_path / "model"


class Refuses(Protocol):
    """What `assert_refused` does, but in this process, which is much quicker."""

    def __call__(self, *arguments: object, says: list[str]) -> None: ...


@pytest.fixture
def refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refuses:
    """Run a command in the temporary folder and expect one line, status 2 and no change there."""
    monkeypatch.chdir(tmp_path)

    def check(*arguments: object, says: list[str]) -> None:
        before = contents(tmp_path)
        capsys.readouterr()  # what a test printed before
        try:
            status: object = main([str(argument) for argument in arguments])
        except SystemExit as error:  # of argparse
            status = error.code
        captured = capsys.readouterr()
        assert_one_line(captured.err, says)
        assert (status, captured.out) == (2, "")
        assert contents(tmp_path) == before

    return check
