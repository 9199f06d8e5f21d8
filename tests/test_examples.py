"""The gallery of examples: each script is a story, and runs as it stands, from any folder."""

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
QUICK = {"03_one_label_each.py", "05_images_and_texts.py"}
LOCAL = re.compile(r"(?<![\w/])/(home|work|tmp|root|Users|mnt)/|[A-Z]:\\")  # folders of one machine
TITLE = re.compile(r"\n(?P<title>[A-Z][^\n]+)\n(?P<line>=+)\n\n(?P<story>.+)", re.DOTALL)


def examples(quick: set[str]) -> list[object]:
    """All examples, those that are not quick marked as slow."""
    return [
        pytest.param(path, id=path.stem, marks=() if path.name in quick else pytest.mark.slow)
        for path in EXAMPLES
    ]


def imported(path: Path) -> set[str]:
    """The packages that a script imports."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("path", examples(QUICK))
def test_an_example_runs_from_any_folder_and_leaves_nothing(path: Path, tmp_path: Path) -> None:
    missing = sorted(name for name in imported(path) if find_spec(name) is None)
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: pip install 'funnelling[examples]'")
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    settings = {
        "MPLBACKEND": "Agg",
        "TMPDIR": str(temporary),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "torch"),  # PyTorch's own, which it never cleans
        "PYTHONWARNINGS": "error::DeprecationWarning:__main__",
    }
    done = subprocess.run(
        [sys.executable, path], cwd=here, env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.strip(), "shows nothing"
    assert not list(here.iterdir())
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_story_and_no_path_of_one_machine(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    heading = TITLE.fullmatch(ast.get_docstring(ast.parse(source), clean=False) or "")
    assert heading, "begins with a title, underlined, and a story"
    assert len(heading["line"]) == len(heading["title"])
    assert len(heading["story"].split()) > 20
    assert source.count("\n# %%\n") > 2, "is divided into steps"
    assert not LOCAL.search(source)


def test_every_page_that_an_example_names_exists() -> None:
    for path in EXAMPLES:
        pages = re.findall(r":doc:`(?:[^`]*<)?/([\w/-]+)>?`", path.read_text(encoding="utf-8"))
        missing = [page for page in pages if not list((ROOT / "docs").glob(f"{page}.*"))]
        assert not missing, f"{path.name} links to {missing}"


def test_the_readme_of_the_examples_lists_them_all_by_their_titles() -> None:
    readme = (ROOT / "examples" / "README.rst").read_text(encoding="utf-8")
    titles = {
        path.name: TITLE.match(ast.get_docstring(ast.parse(path.read_text("utf-8")), clean=False) or "")
        for path in EXAMPLES
    }
    listed = [(name, title) for title, name in re.findall(r"^\* `(.+) <(.+)>`__: ", readme, re.MULTILINE)]
    assert listed == [(name, title and title["title"]) for name, title in titles.items()]
    assert "pip install 'funnelling[examples]'" in readme
