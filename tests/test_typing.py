"""Types: a user's checker knows what every public name is and gives, from the package as it is installed."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_overloads

import numpy as np
import pytest

import funnelling

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tests" / "typed_script.py"
PAGES = ("README", "docs/python-api", "docs/in-use", "docs/resources", "docs/scale")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRONG = """\
import funnelling
funnelling.FunelingClassifier
funnelling.FunnellingClassifier(random_sate=0)
funnelling.load_model("model").tune("recall=.9")
"""
# The libraries of others that a script may use beside ours; how they are typed is not our business.
SETTINGS = """\
[mypy]
strict = true
[mypy-sklearn.*,pandas.*]
ignore_missing_imports = true
follow_imports = skip
"""
# What is made after scikit-learn, which has no types; what mypy makes of them, the script shows.
OF_SKLEARN = re.compile(r"get_metadata_routing|[gs]et_params|set_\w+_request")


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What mypy says of each script, by its name, all in one go: most of the time goes to reading NumPy."""
    folder = tmp_path_factory.mktemp("scripts")
    scripts = {"typed_script": SCRIPT.read_text(encoding="utf-8"), "wrong": WRONG}
    for page in PAGES:
        blocks = PYTHON.findall((ROOT / f"{page}.md").read_text(encoding="utf-8"))
        scripts[Path(page).name.replace("-", "_")] = "\n".join(blocks)
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    cache = ROOT / "build" / "mypy"
    command = [
        "-m",
        "mypy",
        "--no-error-summary",
        "--cache-dir",
        str(cache),
        *(f"{name}.py" for name in scripts),
    ]
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    said = done.stdout.splitlines()
    return {name: [line for line in said if line.startswith(f"{name}.py:")] for name in scripts}


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.2.0", reason="NumPy's own types know less of arrays before 2.2"
)
def test_a_users_script_is_typed(complaints: dict[str, list[str]]) -> None:
    assert complaints["typed_script"] == []


def test_it_has_every_public_name() -> None:
    words = set(re.findall(r"\w+", SCRIPT.read_text(encoding="utf-8")))
    assert set(funnelling.__all__) <= words


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_is_typed(page: str, complaints: dict[str, list[str]]) -> None:
    assert complaints[Path(page).name.replace("-", "_")] == []


def test_mistakes_are_found(complaints: dict[str, list[str]]) -> None:
    assert {int(line.split(":")[1]) for line in complaints["wrong"]} == {2, 3, 4}


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in set(funnelling.__all__) - {"__version__"}:
        public = getattr(funnelling, name)
        members = (
            [("", public)] if inspect.isfunction(public) else inspect.getmembers(public, inspect.isroutine)
        )
        for member, function in members:
            function = getattr(function, "__func__", function)  # of a class's method
            if inspect.isfunction(function) and not member.startswith("_") and not OF_SKLEARN.match(member):
                yield f"{name}.{member}".rstrip("."), function


def test_no_public_function_gives_just_anything() -> None:
    vague = [
        name
        for name, function in public_functions()
        for signature in get_overloads(function) or [function]
        if signature.__annotations__.get("return", Any) is Any
    ]
    assert vague == []
