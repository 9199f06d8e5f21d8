"""Tasks that change a model which another process changes meanwhile: no work is lost without a word."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from funnelling import InputError, load_model
from funnelling.commands import change as frame
from funnelling.storage import save_model
from tests.commands.command import LABELS, documents, forget, relabel, tune, update, write_jsonl
from tests.storage.saved_models import contents


def _update(model: Path, output: Path | None) -> None:
    rows = [{**row, "id": f"new-{row['id']}", "text": f"{row['text']} xyz"} for row in documents(each=2)]
    update(model, write_jsonl(model.parent / "more.jsonl", rows), output, force=output is None)


def _forget(model: Path, output: Path | None) -> None:
    (model.parent / "ids.txt").write_text("en-1\n")
    forget(model, model.parent / "ids.txt", output)


def _relabel(model: Path, output: Path | None) -> None:
    (model.parent / "map.csv").write_text(f"from,to\n{LABELS[0]},devices\n")
    relabel(model, model.parent / "map.csv", output)


def _tune(model: Path, output: Path | None) -> None:
    tune(model, "recall=.9", output)


Change = Callable[[Path, Path | None], None]
CHANGES = [_update, _forget, _relabel, _tune]


@pytest.fixture
def folder(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model, tmp_path / "model"))


def meanwhile(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Have something done between load and save of a command."""
    untouched = frame.remember_step

    def remember(*arguments: Any, **facts: Any) -> Any:
        do()
        return untouched(*arguments, **facts)

    monkeypatch.setattr(frame, "remember_step", remember)


@pytest.mark.parametrize("change", CHANGES)
def test_what_another_made_of_the_model_stays(
    change: Change, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = load_model(folder)
    other.tune("micro-f1")
    meanwhile(monkeypatch, lambda: save_model(other, folder, force=True))
    with pytest.raises(InputError, match=r"model: the model has changed meanwhile\. Run the command again\."):
        change(folder, None)
    monkeypatch.undo()
    assert (
        load_model(folder).model_.fitted.learned.tier_two.thresholds.tolist()
        == other.model_.fitted.learned.tier_two.thresholds.tolist()
    )
    change(folder, None)


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_came_to_the_output_stays(
    change: Change, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = folder.parent / "new"
    other = load_model(folder)
    meanwhile(monkeypatch, lambda: save_model(other, output))
    before = contents(folder)
    with pytest.raises(InputError, match=r"new exists\. Choose another path or add --force\."):
        change(folder, output)
    assert contents(folder) == before
    assert load_model(output).documents_ == other.documents_
