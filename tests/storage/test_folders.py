"""Folders on the disk: a save is whole or not at all, and touches nothing but the model."""

import errno
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import InputError, load_model
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.research import NaiveClassifier
from funnelling.runtime import alone
from funnelling.runtime.files import draft_file
from funnelling.storage import folders, save_model

from .saved_models import contents, small_model
from .steps import at_each_step


@pytest.fixture(scope="module")
def model() -> FunnelEstimator:
    return small_model()


# The nth call is struck. An old model has a page that goes first.
WRITES, MOVES = ("write_bytes 0", "write_bytes 1"), ("replace 0", "replace 1")


class TestInterruptedSave:
    @pytest.fixture
    def other(self) -> FunnelEstimator:
        return small_model(base_C=3)

    @pytest.mark.parametrize(
        ("existing", "step"),
        [
            *((existing, step) for existing in ("a model", "an empty folder", "nothing") for step in WRITES),
            *((existing, step) for existing in ("a model", "an empty folder") for step in MOVES),
            ("a model", "replace 2"),
            ("nothing", "rename 0"),
        ],
    )
    @pytest.mark.parametrize("blow", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
    def test_leaves_what_was_there(
        self,
        existing: str,
        step: str,
        blow: BaseException,
        model: FunnelEstimator,
        other: FunnelEstimator,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        name, _, number = step.partition(" ")
        folder = tmp_path / "m"
        if existing == "a model":
            save_model(model, folder)
        elif existing == "an empty folder":
            folder.mkdir()
        before = contents(folder) if folder.exists() else None
        untouched, calls = getattr(Path, name), []

        def struck(self: Path, *arguments: Any) -> Any:
            calls.append(self)
            if len(calls) == int(number) + 1:
                raise blow
            return untouched(self, *arguments)

        monkeypatch.setattr(Path, name, struck)
        with pytest.raises((KeyboardInterrupt, InputError)):
            save_model(other, folder, force=True)
        monkeypatch.undo()
        assert (contents(folder) if folder.exists() else None) == before
        assert [path.name for path in tmp_path.iterdir()] == ([] if before is None else ["m"])
        if existing == "a model":
            assert load_model(folder).base_C == model.base_C
        save_model(other, folder, force=True)
        assert load_model(folder).base_C == 3

    def test_a_full_disk_is_told_in_one_line(
        self, model: FunnelEstimator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", full)
        with pytest.raises(InputError, match=r"m: cannot be written \(no space left on device\)\. Choose"):
            save_model(model, tmp_path / "m")


class TestAbandonedDrafts:
    """What a killed process left behind goes with the next save, unless another process is at it."""

    DRAFT = ".funnelling-0123456789abcdef.tmp"

    @pytest.mark.parametrize("exists", [True, False])
    def test_are_removed(self, exists: bool, model: FunnelEstimator, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        if exists:
            save_model(model, folder)
        home = folder if exists else tmp_path
        (home / self.DRAFT).mkdir()
        (home / self.DRAFT / "model.json").write_text("{")
        save_model(model, folder, force=True)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]
        assert len(list(folder.iterdir())) == 3

    def test_files_of_others_stay(self, model: FunnelEstimator, tmp_path: Path) -> None:
        (tmp_path / self.DRAFT).write_text("predictions, half of them, of a process that was killed")
        (tmp_path / ".funnelling-mine.tmp").mkdir()
        with draft_file(tmp_path) as draft:
            save_model(model, tmp_path / "m")
            names = {path.name for path in tmp_path.iterdir()}
        assert names == {"m", ".funnelling-mine.tmp", Path(draft).name}

    @pytest.mark.parametrize("existing", ["an empty folder", "nothing"])
    def test_a_save_that_was_killed_can_be_run_again(
        self, existing: str, model: FunnelEstimator, tmp_path: Path
    ) -> None:
        home, left = tmp_path / "home", tmp_path / "left"
        (home / "m" if existing == "an empty folder" else home).mkdir(parents=True)
        with at_each_step(home, lambda step: shutil.copytree(home, left / str(step))):
            save_model(model, home / "m")
        for step in sorted(left.iterdir()):
            save_model(model, step / "m", force=(step / "m" / "model.json").exists())
            assert [path.name for path in step.iterdir()] == ["m"]
            assert contents(step / "m") == contents(home / "m")

    def test_arrays_without_a_model_are_no_draft(self, model: FunnelEstimator, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        (tmp_path / "m" / "README.md").unlink()
        (tmp_path / "m" / "model.json").unlink()
        with pytest.raises(InputError, match=r"m exists and is no model folder\."):
            save_model(model, tmp_path / "m", force=True)
        assert len(list((tmp_path / "m").iterdir())) == 1

    def test_a_folder_that_was_received_moves_no_files_of_ours(
        self, model: FunnelEstimator, tmp_path: Path
    ) -> None:
        """One draft leads elsewhere, another has more than pages in it."""
        save_model(model, tmp_path / "m")
        ours = tmp_path / "ours"
        ours.mkdir()
        for name in ("old-README.md", "README.md", "notes.txt"):
            (ours / name).write_text("mine")
        (tmp_path / "m" / self.DRAFT).symlink_to(ours)
        draft = tmp_path / "m" / self.DRAFT.replace("0", "f")
        draft.mkdir()
        for name in ("old-README.md", "notes.txt", "old-model.json"):
            (draft / name).write_text("theirs")
        save_model(model, tmp_path / "m", force=True)
        assert sorted(path.name for path in ours.iterdir()) == ["README.md", "notes.txt", "old-README.md"]
        assert not (tmp_path / "m" / "notes.txt").exists()
        assert not draft.exists()
        load_model(tmp_path / "m")

    def test_without_locks_only_old_ones_are(
        self, model: FunnelEstimator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(alone, "fcntl", None)
        new, old = tmp_path / self.DRAFT, tmp_path / self.DRAFT.replace("0", "f")
        new.mkdir()
        old.mkdir()
        os.utime(old, (0, 0))
        save_model(model, tmp_path / "m")
        assert new.exists()
        assert not old.exists()


class TestTwoProcesses:
    """Both write to a model's folder: one waits for the other, and readers find either model."""

    def test_one_writes_after_the_other(self, model: FunnelEstimator, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        save_model(model, folder)
        saving = threading.Thread(
            target=save_model, args=(small_model(base_C=2), folder), kwargs={"force": True}
        )
        with alone.write_lock(folder) as sure:
            assert sure
            saving.start()
            saving.join(0.5)
            assert saving.is_alive()
            assert load_model(folder).base_C == model.base_C
        saving.join()
        assert load_model(folder).base_C == 2

    def test_one_waits_for_the_other_that_makes_the_folder(
        self, model: FunnelEstimator, tmp_path: Path
    ) -> None:
        """Without force it may not replace what it did not see when it began."""
        refused: list[str] = []

        def save(force: bool) -> None:
            try:
                save_model(small_model(base_C=2), tmp_path / "m", force=force)
            except InputError as error:
                refused.append(str(error))

        savers = [threading.Thread(target=save, args=(force,)) for force in (True, False)]
        with alone.write_lock(tmp_path):
            for saver in savers:
                saver.start()
                saver.join(0.5)
                assert saver.is_alive()
            save_model(model, tmp_path / "m")
        for saver in savers:
            saver.join()
        assert refused == [f"{tmp_path / 'm'} exists. Choose another path or add --force."]
        assert load_model(tmp_path / "m").base_C == 2

    def test_a_model_that_is_replaced_and_comes_back_is_not_damaged(
        self, model: FunnelEstimator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, untouched = tmp_path / "m", folders.read_file
        save_model(model, folder)

        def read(folder: Path, name: str, *how: Any, **limits: Any) -> Any:
            if name != "model.json":
                monkeypatch.undo()
                save_model(small_model(base_C=2), folder, force=True)
                try:
                    return untouched(folder, name, *how, **limits)
                finally:
                    save_model(model, folder, force=True)
            return untouched(folder, name, *how, **limits)

        monkeypatch.setattr(folders, "read_file", read)
        assert load_model(folder).base_C == model.base_C

    def test_a_model_can_be_loaded_while_others_replace_it(
        self, model: FunnelEstimator, tmp_path: Path
    ) -> None:
        folder = tmp_path / "m"
        models = [model, small_model(base_C=2), small_model(base_C=3)]
        save_model(model, folder)

        def replace(one: FunnelEstimator) -> None:
            for _ in range(10):
                save_model(one, folder, force=True)

        writers = [threading.Thread(target=replace, args=(one,)) for one in models]
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            assert load_model(folder).base_C in {one.base_C for one in models}
        assert len(list(folder.iterdir())) == 3


class TestFolders:
    def test_force_is_needed_to_replace(self, model: FunnelEstimator, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        with pytest.raises(InputError, match=r"m exists\. Choose another path or add --force"):
            save_model(model, tmp_path / "m")
        save_model(small_model(base_C=2), tmp_path / "m", force=True)
        assert load_model(tmp_path / "m").base_C == 2
        assert len(list((tmp_path / "m").iterdir())) == 3

    def test_other_files_in_the_folder_stay(self, model: FunnelEstimator, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        (tmp_path / "m" / "README").write_text("mine")
        save_model(small_model(base_C=2), tmp_path / "m", force=True)
        assert (tmp_path / "m" / "README").read_text() == "mine"

    def test_a_damaged_model_can_be_replaced(self, model: FunnelEstimator, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        (tmp_path / "m" / "model.json").write_text("{")
        save_model(model, tmp_path / "m", force=True)
        load_model(tmp_path / "m")
        assert len(list((tmp_path / "m").iterdir())) == 3

    def test_a_model_may_be_moved(self, model: FunnelEstimator, tmp_path: Path) -> None:
        save_model(model, tmp_path / "m")
        (tmp_path / "m").rename(tmp_path / "elsewhere ü")
        load_model(str(tmp_path / "elsewhere ü"))

    def test_labels_of_half_a_character(self, tmp_path: Path) -> None:
        labels = [["\ud800"], ["b"]] * 4
        save_model(NaiveClassifier(C=1).fit(np.eye(8), labels), tmp_path / "m")
        assert load_model(tmp_path / "m").classes_.tolist() == ["b", "\ud800"]
