"""Completion: keys pressed in real shells, and what they then show."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from funnelling import formats
from funnelling.commands import build_parser
from funnelling.commands.completing import ENDINGS, SHELLS
from funnelling.commands.corpora import CORPORA
from funnelling.commands.parsing import subcommands
from funnelling.formats.layout import MARKUP
from funnelling.methods.registry import METHODS, settings_of
from funnelling.runtime.messages import MODEL

from .command import succeed
from .test_startup import HEAVY

pexpect = pytest.importorskip("pexpect", reason="this system has no pseudo-terminals")

READY = "READY> "
SECONDS = 60  # until a shell has answered, on a machine that is busy
START = {
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; "
        "bind 'set show-all-if-ambiguous on'; bind 'set page-completions off'; "
        'eval "$(funnelling completion bash)"; PS1=READY; PS1+="> "',
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        "autoload -U compinit; compinit -u -D; unsetopt beep; setopt list_ambiguous; LISTMAX=1000; "
        'eval "$(funnelling completion zsh)"; unset zle_bracketed_paste; PS1=READY; PS1+="> "',
    ),
}
Press = Callable[[str], str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models, one of them deeper down, a folder without any, and documents."""
    for model in ("mine", "models/older"):
        (tmp_path / model).mkdir(parents=True)
        (tmp_path / model / MODEL).touch()
    (tmp_path / "empty" / "below").mkdir(parents=True)
    for name in ("docs.jsonl", "notes.bin"):
        (tmp_path / name).touch()
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "TERM": "dumb", "HOME": str(folder), "LC_ALL": "C.UTF-8"}


@pytest.fixture(params=list(START))
def press(request: pytest.FixtureRequest, folder: Path) -> Iterator[Press]:
    """Type something and press Tab; what the shell then shows."""
    command, start = START[request.param]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    shell: Any = pexpect.spawn(
        command[0],
        command[1:],
        cwd=folder,
        env=environment(folder),
        encoding="utf-8",
        timeout=SECONDS,
        dimensions=(50, 200),
    )
    shell.sendline(start)
    shell.expect_exact(READY)

    def type_and_press(line: str) -> str:
        # A shell reads on only once it has completed: what is typed after that marks the end.
        shell.send(f"{line}\t@@")
        shell.expect_exact("@@")
        shown = str(shell.before)
        shell.sendcontrol("c")
        shell.expect_exact(READY)
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x08|\r", "", shown)

    yield type_and_press
    shell.close(force=True)


def test_commands_options_methods_and_models(press: Press) -> None:
    shown = press("funnelling ").split()
    assert {"train", "predict", "update", "research", "completion"} <= set(shown)
    assert press("funnelling tra").rstrip().endswith("train")
    assert {"--method", "--output", "--quiet"} <= set(press("funnelling train --").split())
    assert {name for name in METHODS if name.startswith("fun-")} <= set(
        press("funnelling train docs.jsonl --method fun-").split()
    )
    shown = press("funnelling predict m").split()
    assert {"mine", "models/"} <= set(shown)
    assert press("funnelling predict models/").rstrip().endswith("models/older")


def test_what_options_and_commands_take(press: Press) -> None:
    shown = press("funnelling predict mine ")
    assert "docs.jsonl" in shown
    assert "notes.bin" not in shown
    assert press("funnelling predict emp").endswith("empty/")  # a folder without models can be entered
    assert press("funnelling compare docs.jsonl --methods naive,fun-t").rstrip().endswith("naive,fun-tat")
    assert press("funnelling research corp").rstrip().endswith("corpora")
    assert press("funnelling predict mine docs.jsonl --probabilities w").rstrip().endswith("wide")


def asking(line: str, folder: Path) -> dict[str, str]:
    """The environment in which a shell asks how a line goes on."""
    return {
        **environment(folder),
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(folder / "answer"),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }


def completions(line: str, folder: Path) -> list[str]:
    """What funnelling answers a shell."""
    answer = subprocess.run(
        [sys.executable, "-m", "funnelling"],
        cwd=folder,
        env=asking(line, folder),
        capture_output=True,
        text=True,
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    return (folder / "answer").read_text(encoding="utf-8").split("\n")


def test_answers_come_from_the_registries(folder: Path) -> None:
    assert completions("funnelling train x --method ", folder) == ["auto", *METHODS]
    assert completions("funnelling train x --set pooled.", folder) == [
        f"pooled.{name}=" for name in settings_of("pooled")
    ]
    assert completions("funnelling tune mine --goal mac", folder) == ["macro-f1", "macro-k"]
    assert "de" in completions("funnelling compare x --hold-out ", folder)
    assert completions("funnelling train x --jobs ", folder) == [""]
    assert {f".{name}" for name in formats._FORMATS} <= set(ENDINGS)
    for line in ("funnelling compare ", "funnelling research experiment methods --data "):
        assert [answer for answer in completions(line, folder) if answer in CORPORA] == list(CORPORA)
    assert not set(CORPORA) & set(completions("funnelling train ", folder))
    assert completions("funnelling train x --strip html,", folder) == [
        f"html,{kind}" for kind in MARKUP if kind != "html"
    ]
    (strip,) = (
        action for action in subcommands(build_parser())["train"].defined()._actions if action.dest == "strip"
    )
    assert all(kind in str(strip.help) for kind in MARKUP)  # which is not loaded for help


def test_an_answer_loads_nothing_heavy(folder: Path) -> None:
    script = (
        "import os, sys\nimport argcomplete\nfrom funnelling.commands import main\n"
        "def leave(status): raise SystemExit(status)\n"
        "finder = argcomplete.autocomplete.__call__\n"
        "argcomplete.autocomplete = lambda *a, **k: finder(*a, **k, exit_method=leave)\n"
        "try:\n    main([])\nexcept SystemExit:\n    pass\n"
        f"sys.exit(str([name for name in {HEAVY!r} if name in sys.modules] or ''))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env=asking("funnelling predict m", folder),
        capture_output=True,
        text=True,
    )
    assert done.stderr.strip() == ""
    assert "mine" in (folder / "answer").read_text(encoding="utf-8")


def test_nothing_of_it_is_loaded_otherwise(folder: Path) -> None:
    script = (
        "import sys\nfrom funnelling.commands import main\nmain(['data', 'list'])\n"
        "assert 'argcomplete' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish(folder: Path) -> None:
    def complete(line: str) -> list[str]:
        script = f"funnelling completion fish | source; complete -C '{line}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", script],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            check=True,
        )
        return [answer.split("\t")[0] for answer in done.stdout.splitlines()]

    assert complete("funnelling tra") == ["train"]
    assert complete("funnelling train --met") == ["--method"]
    assert set(complete("funnelling predict m")) == {"mine", "models/"}
    assert complete("funnelling train --method fun-t") == ["fun-tat"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    succeed("completion", shell)
    assert "funnelling" in capsys.readouterr().out
