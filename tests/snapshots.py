"""Texts that are stored beside the tests, so that no change to them goes unseen."""

import os
from difflib import unified_diff
from pathlib import Path

RENEW = "RENEW_SNAPSHOTS"


def assert_as_stored(path: Path, text: str, test: str) -> None:
    """A text is what a file holds; where RENEW_SNAPSHOTS is set, the file is written first."""
    if os.environ.get(RENEW):
        path.write_text(text, encoding="utf-8", newline="\n")
    stored = path.read_text(encoding="utf-8").splitlines()
    changes = "\n".join(unified_diff(stored, text.splitlines(), "stored", "now", n=1, lineterm=""))
    assert not changes, f"{path.name} differs. If that is meant: {RENEW}=1 python -m pytest {test}\n{changes}"
