"""Write the table of docs/support.md from pyproject.toml.

python scripts/support.py            # write it
python scripts/support.py --check    # status 1 where the page says something else
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "support.md"
BLOCK = re.compile(r"(?<=<!-- begin: python scripts/support.py -->\n).*?(?=<!-- end -->)", re.DOTALL)
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[.*?\])?\s*(?P<versions>[^;]*)(?:;.*)?")
NEVER_INSTALLED = ("dev", "docs", "rivals")  # for those who work on the project, not for users
PYTHON = "Programming Language :: Python :: 3."


def table(project: dict) -> str:
    """The versions that a project's metadata allows, as Markdown."""
    minors = sorted(
        int(each[len(PYTHON) :]) for each in project["classifiers"] if re.match(f"{PYTHON}\\d", each)
    )
    extras = {
        f"with `[{extra}]`": needs
        for extra, needs in project["optional-dependencies"].items()
        if extra not in NEVER_INSTALLED
    }
    rows = [("Python", ", ".join(f"3.{minor}" for minor in minors), "always")]
    for when, requirements in {"always": project["dependencies"], **extras}.items():
        for requirement in requirements:
            match = REQUIREMENT.fullmatch(requirement)
            assert match, requirement
            if match["name"] != project["name"]:  # which an extra names to hold other extras
                rows.append((match["name"], _shown(match["versions"]), when))
    lines = ["| package | versions | installed |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def _shown(versions: str) -> str:
    """'>=0.4,<0.5' as '0.4, below 0.5'."""
    bounds = [bound.strip() for bound in versions.split(",") if bound.strip()]
    lowest = [bound.lstrip(">=~") for bound in bounds if bound[0] in ">=~"]
    highest = [f"below {bound[1:]}" for bound in bounds if re.match(r"<[^=]", bound)]
    excluded = [f"not {bound[2:]}" for bound in bounds if bound.startswith("!=")]
    return ", ".join([f"{lowest[0]} or newer" if lowest else "any", *highest, *excluded])


def main(arguments: list[str]) -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = PAGE.read_text(encoding="utf-8")
    right = BLOCK.sub(lambda _: f"\n{table(project)}\n<!-- not measured: settings -->\n", page)
    if arguments == ["--check"]:
        if page != right:
            print(
                "docs/support.md is not what pyproject.toml says. Run python scripts/support.py.",
                file=sys.stderr,
            )
        return int(page != right)
    PAGE.write_text(right, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
