"""Starting up: ``--help`` and ``--version`` at once, without the heavy libraries."""

import argparse
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name

import pytest

from funnelling.commands import COMMANDS, build_parser, main
from funnelling.commands.parsing import every_parser

from .command import run_command, succeed

HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "pandas",
    "pyarrow",
    "simplemma",
    "py3langid",
    "langcodes",
    "safetensors",
    "tqdm",
    "jinja2",
)


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["train", "-h"]], ids=" ".join)
def test_help_takes_fifteen_hundredths_of_a_second(arguments: list[str]) -> None:
    """Of the processor: others may use it, too."""
    resource = pytest.importorskip("resource", reason="this system does not count seconds of a processor")
    program = str(Path(sys.executable).parent / "funnelling")
    durations, before = [], 0.0
    for _ in range(8):
        subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        durations.append(used.ru_utime + used.ru_stime - before)
        before = used.ru_utime + used.ru_stime
    assert min(durations[1:]) < 0.15


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["--version"], ["train", "--help"], ["trian"]])
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom funnelling.commands import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"assert not [name for name in {HEAVY!r} if name in sys.modules]"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_reading_corpora_and_cards_waits_for_no_learner() -> None:
    """`inspect` and `inspect` need no scikit-learn, which takes seconds to load."""
    modules = ("corpus", "corpus.findings", "evaluation", "methods.registry", "report.card", "storage")
    script = "import sys\n" + "\n".join(f"import funnelling.{name}" for name in modules)
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\nassert 'sklearn' not in sys.modules"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("method", ["fun-tat", "naive", "pooled"])
def test_a_prediction_waits_for_no_learner(
    method: str, own_words_model: Path, split_data: Path, data: Path, tmp_path: Path
) -> None:
    """Nor for other libraries that take long to load: each is a good part of what one document takes."""
    model = own_words_model
    if method != "fun-tat":
        model = tmp_path / method
        succeed("train", split_data, "-o", model, "--method", method, "--jobs", 1)
    slow = (
        *("sklearn", "pandas", "joblib", "langcodes", "tqdm", "jinja2"),
        *("scipy.special", "scipy.optimize", "scipy.linalg"),
        *("numpy.f2py.crackfortran", "numpy.testing._private"),
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            f"import sys\nfrom funnelling.commands import main\nmain(sys.argv[1:])\n"
            f"print([name for name in {slow!r} if name in sys.modules], file=sys.stderr)",
            *("predict", model, data),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]")


@pytest.mark.parametrize("method", ["fun-tat", "fun-auto", "naive", "pooled"])
def test_training_waits_for_no_estimator(method: str, data: Path, tmp_path: Path) -> None:
    """A method is an algorithm and its parameters: scikit-learn's classes are for users of Python."""
    script = (
        "import sys\nfrom funnelling.commands import main\nassert not main(sys.argv[1:])\n"
        "assert 'sklearn' not in sys.modules"
    )
    arguments = ["train", data, "-o", tmp_path / "model", "--method", method, "--no-measure", "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_method_can_be_named_without_pytorch() -> None:
    script = (
        "import sys\nfrom importlib.abc import MetaPathFinder\n"
        "class NoTorch(MetaPathFinder):\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.partition('.')[0] == 'torch': raise ImportError(name)\n"
        "sys.meta_path.insert(0, NoTorch())\nimport funnelling.research\n"
        "from funnelling.methods.registry import METHODS, settings_of\n"
        "for name in METHODS:\n    settings_of(name)\nfunnelling.research.MLELSTMClassifier()"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_is_loaded_lazily_works() -> None:
    script = (
        "import sys\nfrom funnelling.commands import load_lazily\nload_lazily()\nimport scipy.sparse\n"
        "import numpy\nassert 'numpy.testing._private' not in sys.modules\n"
        "numpy.testing.assert_array_equal([1], [1])\nassert numpy.f2py.get_include()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_version(tmp_path: Path) -> None:
    done = run_command("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"funnelling {version('funnelling')}\n")


def test_help_names_every_command_and_doubles_no_sign(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    printed = capsys.readouterr().out
    for name in {each.split()[0] for each in COMMANDS}:
        assert name in printed.split()
        with pytest.raises(SystemExit, match="0"):
            main([name, "--help"])
        assert "%%" not in capsys.readouterr().out


def test_help_ends_with_examples_that_can_be_typed() -> None:
    for path, parser in every_parser(build_parser()):
        assert parser.description, path
        lines = [line for line in (parser.epilog or "").splitlines() if line.startswith("  funnelling ")]
        assert lines or not path or path == ("completion",), path
        for line in lines:
            parsed = build_parser().parse_args(shlex.split(line)[1:])
            assert parsed.kind is resolve_name(COMMANDS[" ".join(parsed.path)].place)
            assert line.split()[1:][: len(parsed.path)] == list(parsed.path)
        for action in parser._actions:
            assert action.help or action.dest == argparse.SUPPRESS, (path, action.dest)


def test_help_fits_a_terminal_and_breaks_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for path, parser in every_parser(build_parser()):
        lines = parser.format_help().splitlines()
        assert not [line for line in lines if len(line) > 80 or line.endswith("-")], path
