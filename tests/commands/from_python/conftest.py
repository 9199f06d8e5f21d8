"""Small files of documents, and a model trained on one."""

from pathlib import Path

import pytest

from tests.commands.command import documents, train, with_splits, write_jsonl


@pytest.fixture(scope="session")
def split_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents in English and Italian, every third for test."""
    return write_jsonl(tmp_path_factory.mktemp("data") / "split.jsonl", with_splits(documents()))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, split_data: Path) -> Path:
    """A Fun(TAT) model of them."""
    path = tmp_path_factory.mktemp("models") / "fun-tat"
    train("fun-tat", split_data, path)
    return path
