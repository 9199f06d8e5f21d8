"""What contributors and users are told of the project is what it does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_commits_have_to_pass_what_make_check_runs() -> None:
    _, _, rest = read("Makefile").partition("\ncheck: $(READY)\n")
    commands = [line.strip() for line in rest.partition("\n\n")[0].splitlines()]
    hooks = re.findall(r"^ +entry: (.*)$", read(".pre-commit-config.yaml"), re.MULTILINE)
    assert hooks == [command.replace("$(BIN)", ".venv/bin") for command in commands]


def test_supported_versions_are_those_of_the_package() -> None:
    command = [sys.executable, ROOT / "scripts" / "support.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob(".github/*.md"),
    ROOT / "benchmarks" / "README.md",
]
OPAQUE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`|<!--.*?-->", re.DOTALL | re.MULTILINE)  # code and comments
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub and the site make them."""
    titles = re.findall(
        r"^#+ (.*)$", re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    plain = (re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    dead = []
    for link in LINK.findall(OPAQUE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (page.parent / path) if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []
