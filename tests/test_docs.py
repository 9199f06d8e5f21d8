"""The guide: its commands and its Python run, in the order of its pages, as a newcomer would type them."""

import os
import re
import subprocess
import sys
from itertools import groupby
from operator import itemgetter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = (
    "first-model",
    "own-data",
    "reading-the-table",
    "python-api",
    "other-data",
    "choosing",
    "resources",
    "in-use",
    "serving",
    "scale",
    "experiments",
    "reproduction",
    "method",
)
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_guide_runs_as_it_stands(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for page in PAGES:
        blocks = BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
        for kind, run in groupby(blocks, key=itemgetter(0)):
            script = "\n".join(text for _, text in run)
            command = ["sh", "-eu", "-c", script] if kind == "sh" else [sys.executable, "-c", script]
            done = subprocess.run(
                command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{page}.md ({kind}):\n{done.stdout}\n{done.stderr}"


def test_the_guide_links_to_all_its_pages() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert {f"{page}.md" for page in PAGES} == {p.name for p in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert all(f"({page}.md)" in index for page in PAGES)
