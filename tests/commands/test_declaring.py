"""An option is declared once: from its field everything else is made."""

import inspect
import io
import runpy
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from funnelling.commands import COMMANDS, build_parser
from funnelling.commands.completing import complete
from funnelling.commands.declaring import option
from funnelling.commands.inspect import Inspect
from funnelling.commands.parsing import command_of, every_parser, options_of, subcommands
from funnelling.commands.settings import parse
from funnelling.commands.values import count

SITE = Path(__file__).parents[2] / "docs" / "site" / "commands.py"
MEANING = "how deep to look (3)"


class Deeper(Inspect):
    """Show more."""

    depth: int = option(MEANING, "N", default=3, type=count, common=True)


@pytest.fixture(autouse=True)
def deeper(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = COMMANDS["inspect"]._replace(place=f"{__name__}:Deeper")
    monkeypatch.setitem(COMMANDS, "inspect", entry)


def parsed(*words: str) -> Any:
    return command_of(parse(build_parser(), words)[0])


def test_it_is_parsed_and_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert (parsed("inspect", "x", "--depth", "5").depth, parsed("inspect", "x").depth) == (5, 3)
    with pytest.raises(SystemExit, match="2"):
        parsed("inspect", "x", "--depth", "0")
    assert "funnelling inspect: argument --depth: 0 is not 1 or more" in capsys.readouterr().err


def test_both_helps_describe_it() -> None:
    parser = subcommands(build_parser())["inspect"].defined()
    for text in (parser.format_short(), parser.format_help()):
        assert "--depth N" in text
        assert MEANING in text


def test_settings_have_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[inspect]\ndepth = 7\n", encoding="utf-8")
    assert parsed("inspect", "x", "--config", str(file)).depth == 7
    assert parsed("inspect", "x", "--config", str(file), "--depth", "8").depth == 8


def test_a_shell_completes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    argcomplete = pytest.importorskip("argcomplete")
    line, answer = "funnelling inspect x --dep", io.StringIO()
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    answering = partial(argcomplete.autocomplete, exit_method=sys.exit, output_stream=answer)
    monkeypatch.setattr(argcomplete, "autocomplete", answering)
    with pytest.raises(SystemExit):
        complete(build_parser())
    assert answer.getvalue().strip() == "--depth"


def test_python_takes_it() -> None:
    parameter = inspect.signature(Deeper).parameters["depth"]
    assert (parameter.default, parameter.kind) == (3, parameter.KEYWORD_ONLY)
    assert Deeper("x", depth=4).depth == 4


def test_the_reference_and_the_man_page_describe_it(tmp_path: Path) -> None:
    pages = runpy.run_path(str(SITE))
    for form in pages["Form"]:
        pages["write_pages"](tmp_path, form)
        text = (tmp_path / "funnelling-inspect.rst").read_text(encoding="utf-8")
        assert f".. option:: --depth N\n\n   {MEANING}\n" in text


def test_every_command_has_json_and_every_output_can_be_replaced() -> None:
    commands = {
        " ".join(path): set(options_of(parser))
        for path, parser in every_parser(build_parser())
        if path and not subcommands(parser)
    }
    assert {name for name, options in commands.items() if "json" not in options} == {"serve", "completion"}
    assert not [name for name, options in commands.items() if "output" in options and "force" not in options]
