"""The map in CONTRIBUTING is kept: an import the wrong way, or a circle, fails `make check`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONTRACT = ROOT / "pyproject.toml"

pytestmark = pytest.mark.skipif(not CONTRACT.exists(), reason="the contract stands in the repository only")


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("lint-imports", path=os.path.dirname(sys.executable)) or "lint-imports"
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    return subprocess.run(
        [program, "--no-cache"], cwd=root, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The sources, to plant something in."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.gz")
    shutil.copytree(ROOT / "src" / "funnelling", tmp_path / "src" / "funnelling", ignore=ignored)
    shutil.copy(CONTRACT, tmp_path)
    return tmp_path


def plant(root: Path, file: str, line: str) -> None:
    path = root / "src" / "funnelling" / file
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{line}\n", encoding="utf-8")


def test_as_it_stands_all_contracts_are_kept(copy: Path) -> None:
    result = lint(copy)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("svm/solver.py", "from funnelling.commands import options", "Each folder knows only those below it"),
        (
            "methods/model.py",
            "from funnelling.funnel import estimator",
            "Each folder knows only those below it",
        ),
        (
            "funnel/design.py",
            "def later():\n    from funnelling.funnel import choosing",
            "No circle, in any folder",
        ),
    ],
)
def test_what_is_planted_the_wrong_way_is_refused(copy: Path, file: str, line: str, contract: str) -> None:
    plant(copy, file, line)
    result = lint(copy)
    assert result.returncode == 1
    assert f"{contract} BROKEN" in result.stdout


def test_a_module_that_the_map_does_not_have_is_refused(copy: Path) -> None:
    (copy / "src" / "funnelling" / "attic.py").write_text('"""Where to?"""\n')
    result = lint(copy)
    assert result.returncode == 1
    assert "attic" in result.stdout
