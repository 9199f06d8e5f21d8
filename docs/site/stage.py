"""The pages of the site, gathered from where the repository has them.

Pages link to each other by their places in the repository, so that they can be read there. On the site they
have other places, and what has none is linked to in the repository.
"""

import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from commands import Form, write_pages

HERE = Path(__file__).parent
DOCS = HERE.parent
ROOT = DOCS.parent
REPOSITORY = "https://github.com/funnelling/funnelling"
GUIDE = "docs/README.md"
PLACES = {  # of pages that are not in docs/
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples": "examples/index.rst",
    "docs/site/index.md": "index.md",
    "docs/site/reports.md": "reports.md",
    "docs/site/api.rst": "api/index.rst",
    "docs/site/commands.py": "commands/index.rst",
    GUIDE: "guide.md",
}
# What a report begins with on the site: it knows of no other page.
WAY_BACK = """
<nav style="padding: .5rem 1rem">
<a href="../../index.html">funnelling</a> › <a href="../../reports.html">Experiments</a>
</nav>"""
GALLERY = "examples"  # Sphinx-Gallery keeps there what it has run

FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^()\s]+)\)")
COMMENT = re.compile(r"[ \t]*<!--.*?-->", re.DOTALL)
ABSOLUTE = re.compile(r"[a-z]+:|#")


def stage(source: Path, copied: Path) -> None:
    """Write the pages into ``source``, and what is to be on the site as it is into ``copied``."""
    source.mkdir(parents=True, exist_ok=True)
    for old in source.iterdir():
        if old.name != GALLERY:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for page in pages():
        place = source / place_of(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / page).read_text(encoding="utf-8")
        if page.endswith(".md"):
            text = _with_links(text, page, source)
        place.write_text(text + (_contents(text) if page == GUIDE else ""), encoding="utf-8")
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(DOCS / "reports", copied / "reports")
    for report in copied.glob("reports/*/*.html"):
        text = report.read_text(encoding="utf-8")
        report.write_text(text.replace("<body>", f"<body>{WAY_BACK}", 1), encoding="utf-8")
    stage_commands(source, Form.SITE)


def stage_commands(source: Path, form: Form) -> None:
    """Write only the pages of the commands."""
    (source / "commands").mkdir(parents=True, exist_ok=True)
    write_pages(source / "commands", form)


def pages() -> Iterator[str]:
    """The pages that people wrote, by their places in the repository."""
    yield from (f"docs/{page.name}" for page in sorted(DOCS.glob("*.md")))
    yield from (
        page for page in PLACES if page not in ("README.md", GUIDE) and page.endswith((".md", ".rst"))
    )


def place_of(path: str) -> str | None:
    """Where a file of the repository is on the site, None if it is not there."""
    if path in PLACES:
        return PLACES[path]
    folder, name = posixpath.split(path)
    if folder == "docs" and name.endswith(".md"):
        return name
    if folder == "examples":
        return f"examples/{name.replace('.py', '.rst')}" if re.match(r"\d\d_", name) else PLACES["examples"]
    if path.startswith("docs/reports/"):
        return path.removeprefix("docs/").replace("report.md", "report.html")
    return None


def _with_links(text: str, page: str, source: Path) -> str:
    """A page with its links made those of the site, and without comments; code is left alone."""

    def mended(link: re.Match[str]) -> str:
        shown, target = link.groups()
        return link[0] if ABSOLUTE.match(target) else f"{shown}({_target(page, target, shown, source)})"

    pieces = FENCE.split(text)
    pieces[::2] = [LINK.sub(mended, COMMENT.sub("", piece)) for piece in pieces[::2]]
    return "".join(pieces)


def _target(page: str, target: str, shown: str, source: Path) -> str:
    path, hash_, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if not (ROOT / path).exists():
        raise SystemExit(f"{page}: no such file: {target}. Mend the link.")
    here = posixpath.dirname(place_of(page) or "")
    if shown.startswith("!"):
        place = f"pictures/{path.replace('/', '-')}"
        (source / place).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / path, source / place)
        return posixpath.relpath(place, here or ".")
    place = place_of(path)
    if place is None:
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{path}{hash_}{anchor}"
    relative = posixpath.relpath(place, here or ".")
    return f"site:{relative}" if place.startswith("reports/") else f"{relative}{hash_}{anchor}"


def _contents(guide: str) -> str:
    """The order of the guide's pages, which is that of the links to them, for the site's menu."""
    listed = re.findall(r"^ ?\d+\. \[[^\]]*\]\(([^)]*)\.md\)", guide, re.MULTILINE)
    return "\n".join(["", "```{toctree}", ":hidden:", "", *listed, "```", ""])
