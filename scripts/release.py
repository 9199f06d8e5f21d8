"""All that can go wrong with a release, before its tag is pushed.

    python scripts/release.py            # a dry run, at any time
    python scripts/release.py v0.1.0     # the changelog has to name the day, too
    python scripts/release.py v0.1.0 --only-versions    # nothing is built

The version stands in pyproject.toml; what repeats it has to agree. Then an sdist and a wheel are built and
looked through, and the wheel is installed where nothing can be compiled and used there.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "release"
# Where the version is repeated, because whoever reads the file has no pyproject.toml.
REPEATED = {
    "CHANGELOG.md": r"^## (\S+), ",
    "CITATION.cff": r"^version: (\S+)$",
    "packaging/conda/recipe.yaml": r'^  version: "(\S+)"$',
}
RELEASED = r"^## (\S+), \d{4}-\d{2}-\d{2}$"
NOT_CODE = (  # what a wheel has besides Python, and would work without for a while
    "funnelling/py.typed",
    "funnelling/corpus/sample.jsonl.gz",
    "funnelling/corpus/NOTICE",
    "funnelling/report/templates/page.css",
    "funnelling/serving/page/index.html",
    "funnelling/text/language_names.txt",
)


def version() -> str:
    """The version, from the one place where it is decided."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def disagreements(tag: str | None = None) -> Iterator[str]:
    """What says another version than pyproject.toml, one line each."""
    places = REPEATED if tag is None else {**REPEATED, "CHANGELOG.md": RELEASED}
    for name, pattern in places.items():
        found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        if found is None or found[1] != version():
            told = found[1] if found else "no version with a day" if tag else "no version"
            yield f"{name}: says {told}, pyproject.toml {version()}. Make them agree."
    if tag not in (None, f"v{version()}"):
        yield f"The tag is {tag}, the version {version()}. Tag v{version()}."


def missing(wheel: Path) -> list[str]:
    """What a wheel should have and has not."""
    code = [path.relative_to(ROOT / "src").as_posix() for path in ROOT.glob("src/funnelling/**/*.py")]
    present = set(zipfile.ZipFile(wheel).namelist())
    compiled = {
        "funnelling/svm/_native": "the solver in C",
        "funnelling/text/_lemmas": "the lookup of lemmas in C",
    }
    not_built = [
        what for start, what in compiled.items() if not any(name.startswith(start) for name in present)
    ]
    return [name for name in (*code, *NOT_CODE) if name not in present] + not_built


def run(*command: str | Path) -> None:
    """Run a command in the root; where it fails, exit with its status."""
    print("+", *(str(part).replace(f"{ROOT}/", "") for part in command[1:]), flush=True)
    status = subprocess.run(command, cwd=ROOT).returncode
    if status:
        sys.exit(status)


def check_versions(tag: str | None) -> None:
    """Exit with what says another version."""
    if wrong := [*disagreements(tag)]:
        sys.exit("\n".join(wrong))


def check_packages() -> None:
    """Build the packages, look through them, install and use the wheel; exit where anything is wrong."""
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    if changed.stdout:
        sys.exit("The working tree has changes that are not committed. Commit them, or stash them.")
    shutil.rmtree(BUILD, ignore_errors=True)
    run(sys.executable, "-m", "build", "--quiet", "--outdir", BUILD)  # the wheel from the sdist
    (wheel,), (sdist,) = BUILD.glob("*.whl"), BUILD.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    if lacking := missing(wheel):
        sys.exit(
            f"{wheel.name} lacks {', '.join(lacking)}. See package-data in pyproject.toml and MANIFEST.in."
        )
    run(sys.executable, ROOT / "scripts" / "try_install.py", wheel, "native")
    print(f"funnelling {version()} can be released: docs/releasing.md says how.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A dry run of a release.")
    parser.add_argument("tag", nargs="?")
    parser.add_argument("--only-versions", action="store_true")
    arguments = parser.parse_args()
    check_versions(arguments.tag)
    if not arguments.only_versions:
        check_packages()
