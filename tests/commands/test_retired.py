"""Commands and options that have moved: one line that names what is typed now, status 2."""

import pytest

from funnelling.commands import main
from funnelling.commands.declaring import RETIRED

from .conftest import Refuses


@pytest.mark.parametrize("typed", RETIRED)
def test_each_names_what_is_typed_now(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["completion", typed] if typed.startswith("--") else typed.split()
    assert main([*words, "model"]) == 2
    assert capsys.readouterr() == ("", f"funnelling: '{typed}' is now: {RETIRED[typed]}\n")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("sugest", ["--quiet", "sugest", "model"]),
        ("research sample", ["research", "--config", "file", "sample", "docs.jsonl"]),
        ("maths sample", ["--config", "file", "maths", "sample", "docs.jsonl"]),
        ("train --fast", ["train", "--fast=2"]),
        ("--fast", ["research", "corpora", "--fast"]),
    ],
)
def test_wherever_it_is_typed(
    typed: str, words: list[str], refuses: Refuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RETIRED, typed, "another.")
    refuses(*words, says=[f"'{typed}' is now: another."])


def test_what_exists_has_not_moved(refuses: Refuses, monkeypatch: pytest.MonkeyPatch) -> None:
    for typed in ("sample", "research sample", "inspect", "--json", "--fast"):
        monkeypatch.setitem(RETIRED, typed, "another.")
    refuses("inspect", "sample", "--json", says=["funnelling: sample: no such file, and no such model"])
    refuses("train", "-o", "model", "--", "--fast", says=["funnelling: --fast: unknown format"])
