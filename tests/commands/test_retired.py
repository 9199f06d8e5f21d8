"""Commands and options that were removed: one line that names the replacement, status 2."""

import pytest

from funnelling.commands.declaring import RETIRED

from .conftest import Refuses


@pytest.mark.parametrize("typed", RETIRED)
def test_each_names_its_replacement(typed: str, refuses: Refuses) -> None:
    refuses(*typed.split(), says=[f"funnelling: '{typed}' is retired. {RETIRED[typed]}"])


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("sugest", ["--quiet", "sugest", "model"]),
        ("data sample", ["data", "--config", "file", "sample", "docs.jsonl"]),
        ("train --fast", ["train", "--fast=2"]),
        ("--fast", ["data", "list", "--fast"]),
    ],
)
def test_wherever_it_is_typed(
    typed: str, words: list[str], refuses: Refuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RETIRED, typed, "Use another.")
    refuses(*words, says=[f"'{typed}' is retired. Use another."])


def test_a_file_may_be_called_like_it(refuses: Refuses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RETIRED, "data sample", "Use another.")
    monkeypatch.setitem(RETIRED, "train --fast", "Use another.")
    refuses("data", "describe", "sample", says=["funnelling: sample: unknown format"])
    refuses("train", "-o", "model", "--", "--fast", says=["funnelling: --fast: unknown format"])
