"""Folders of parts for tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from funnelling import Document, write_documents
from tests.commands.command import documents, with_splits


def rows(each: int = 40) -> list[dict[str, Any]]:
    """Documents in three languages, a third of them for test."""
    return with_splits(documents(("en", "it", "de"), each=each))


def as_documents(made: Sequence[dict[str, Any]]) -> list[Document]:
    return [
        Document(
            row["id"],
            row["text"],
            row.get("language"),
            tuple(row["labels"]) if row.get("labels") is not None else None,
            row.get("split"),
            row.get("group"),
        )
        for row in made
    ]


def write_parts(folder: Path, made: Sequence[dict[str, Any]], parts: int = 3) -> Path:
    """The documents in so many Parquet files."""
    folder.mkdir()
    found = as_documents(made)
    size = -(-len(found) // parts)
    for number in range(parts):
        part = found[number * size : (number + 1) * size]
        write_documents(folder / f"part-{number}.parquet", part)
    return folder
