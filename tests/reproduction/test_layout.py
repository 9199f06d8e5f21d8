"""What only reproduces the paper is needed by no one who labels documents of their own."""

from pathlib import Path

import funnelling

ROOT = Path(funnelling.__file__).parent


def test_only_commands_and_their_tasks_import_the_reproduction() -> None:
    importing = {
        path.relative_to(ROOT).parts[0]
        for path in ROOT.rglob("*.py")
        if "funnelling.reproduction" in path.read_text(encoding="utf-8")
    }
    assert importing == {"cli", "reproduction", "tasks"}
