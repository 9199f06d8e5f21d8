"""What ``-h`` and ``--help`` say, of every command: a change of help shows as a change of help.txt."""

import sys
from pathlib import Path

import pytest

from funnelling.commands import build_parser, main
from funnelling.commands.options import Reading
from funnelling.commands.parsing import every_parser

from ..snapshots import assert_as_stored

STORED = Path(__file__).with_name("help.txt")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="each Python lays help out in its own way")
def test_help_is_as_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # the width
    texts = [f"$ funnelling -h\n{build_parser().format_short()}"]
    texts += [
        f"$ {' '.join(['funnelling', *path, '--help'])}\n{parser.format_help()}"
        for path, parser in every_parser(build_parser())
    ]
    assert_as_stored(STORED, "\n".join(texts), "tests/commands/test_help.py")


def test_short_help_fits_a_screen_and_has_common_options_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for path, parser in every_parser(build_parser()):
        short = parser.format_short()
        if path:
            assert short.count("\n") <= 30, f"{' '.join(path)}\n{short}"
        assert "--text-column" not in short
        kind = parser.get_default("kind")
        reads = kind is not None and issubclass(kind, Reading)
        assert ("The format of DATA is detected: see funnelling inspect DATA." in short) == reads, path


def test_a_bare_name_shows_the_commands_as_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr() == ("", build_parser().format_short())


@pytest.mark.parametrize("usage", ["tune MODEL [DATA]", "update MODEL [DATA]", "label [MODEL] DATA"])
def test_help_names_arguments_that_may_be_left_out(usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([usage.split()[0], "-h"])
    assert f"usage: funnelling {usage}" in capsys.readouterr().out
