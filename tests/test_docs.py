"""The guide: its commands and its Python run, as a newcomer would type them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest

from funnelling import read_documents, write_documents
from tests.conftest import Shared

ROOT = Path(__file__).parent.parent
FIRST = "first-model"
PAGES = (
    "install",
    FIRST,
    "results",
    "own-data",
    "reading-the-table",
    "python-api",
    "other-data",
    "choosing",
    "resources",
    "in-use",
    "label-sets",
    "many-labels",
    "labelling",
    "serving",
    "deploying",
    "sharing",
    "settings",
    "scale",
    "experiments",
    "reproduction",
    "method",
    "support",
    "releasing",
)
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EVERY = 10  # pages after the first learn from every tenth document


def blocks_of(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))


def run_page(page: str, folder: Path) -> None:
    run_blocks(page, blocks_of(page), folder)


def run_blocks(page: str, blocks: list[tuple[str, str]], folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for kind, run in groupby(blocks, key=itemgetter(0)):
        script = "\n".join(text for _, text in run)
        command = ["sh", "-eu", "-c", script] if kind == "sh" else [sys.executable, "-c", script]
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{page}.md ({kind}):\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="session")
def after_the_first(shared: Shared) -> Path:
    """What the first page leaves, but with fewer documents."""

    def make(folder: Path) -> None:
        run_page(FIRST, folder)
        documents = folder / "quickstart" / "documents.jsonl"
        lines = documents.read_text(encoding="utf-8").splitlines(keepends=True)
        documents.write_text("".join(lines[::EVERY]), encoding="utf-8")

    return shared("guide", make)


@pytest.mark.parametrize("page", [page for page in PAGES if page != FIRST and blocks_of(page)])
def test_a_page_runs_after_the_first(page: str, after_the_first: Path, tmp_path: Path) -> None:
    shutil.copytree(after_the_first, tmp_path, dirs_exist_ok=True)
    run_page(page, tmp_path)


def test_the_readme_runs(after_the_first: Path, tmp_path: Path) -> None:
    documents = after_the_first / "quickstart" / "documents.jsonl"
    shutil.copy(documents, tmp_path)
    corpus = list(read_documents(documents))
    for name, part in (("tickets", corpus[::2]), ("new", corpus[1::4]), ("more", corpus[3::4])):
        write_documents(tmp_path / f"{name}.csv", part)
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    # It is installed, the first page has the quickstart, and a service does not end.
    others = re.compile(r"^(pip|funnelling (quickstart|serve))\b.*", re.MULTILINE)
    run_blocks("README", [(kind, others.sub("", text)) for kind, text in blocks], tmp_path)


@pytest.mark.slow
def test_the_guide_runs_as_it_stands(tmp_path: Path) -> None:
    for page in PAGES:
        run_page(page, tmp_path)


def test_the_guide_links_to_all_its_pages() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert {f"{page}.md" for page in PAGES} == {p.name for p in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert all(f"({page}.md)" in index for page in PAGES)


def test_the_guide_calls_pages_by_their_titles() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\d+\. \[([^\]]+)\]\((.+)\.md\)", index, re.MULTILINE)
    assert [page for _, page in listed] == list(PAGES)
    for title, page in listed:
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {title}\n"), page
        prose = re.sub("^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)  # commands print such lines
        assert not re.search("^Next: ", prose, re.MULTILINE), f"{page}.md: the guide's list has the order"


def test_every_extra_for_users_is_in_the_table_of_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert set(listed) == set(project["optional-dependencies"]) - {"docs", "dev"}
