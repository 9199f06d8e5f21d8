"""What ``--help`` says, of every command: a change shows as a change of help.txt."""

import sys
from pathlib import Path

import pytest

from funnelling.commands import build_parser
from funnelling.commands.declaring import every_parser

from ..snapshots import assert_as_stored

STORED = Path(__file__).with_name("help.txt")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="each Python lays help out in its own way")
def test_help_is_as_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # the width
    texts = [
        f"$ {' '.join(['funnelling', *path, '--help'])}\n{parser.format_help()}"
        for path, parser in every_parser(build_parser())
    ]
    assert_as_stored(STORED, "\n".join(texts), "tests/commands/test_help.py")
