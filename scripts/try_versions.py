"""Install an sdist with the lowest or the newest versions of all that it depends on, and run its tests.

    python scripts/try_versions.py dist/funnelling-*.tar.gz lowest
    python scripts/try_versions.py dist/funnelling-*.tar.gz newest tests/svm tests/text

Lowest are the versions that pyproject.toml promises to work with, tools for tests included. The tests are
those in the sdist, run from its folder in a fresh environment of the Python that runs this.
"""

import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}


def promised_torch(source: Path) -> str:
    """What a user needs at least: for developers it is pinned."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    neural = project["optional-dependencies"]["neural"]
    return next(wanted for wanted in neural if wanted.startswith("torch"))


def try_versions(package: str, which: str, *tests: str) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        with tarfile.open(package) as archive:
            archive.extractall(home, filter="data")
        (source,) = home.iterdir()
        environment = home / "venv"
        python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        override = home / "override.txt"
        override.write_text(promised_torch(source) if which == "lowest" else "")
        wanted = home / "requirements.txt"

        def run(*command: str | Path) -> None:
            status = subprocess.run(command, cwd=source).returncode
            if status:
                sys.exit(status)

        def uv(*arguments: str | Path) -> None:
            run(sys.executable, "-m", "uv", "--quiet", *arguments)

        uv("venv", "--python", sys.executable, environment)
        resolution = ("--resolution", RESOLUTIONS[which], "--override", override)
        uv(
            "pip",
            "compile",
            "--python",
            python,
            "--extra",
            "dev",
            *resolution,
            "pyproject.toml",
            "-o",
            wanted,
        )
        uv("pip", "install", "--python", python, "-r", wanted)
        uv("pip", "install", "--python", python, "--no-deps", "--no-cache", Path(package).resolve())
        run(python, "-c", "from funnelling.svm import solver_name as name; assert name() == 'native', name()")
        run(python, "-c", "import funnelling.text._lemmas")
        # Not src: its doctests would run there, and not in what was installed.
        run(
            python,
            "-m",
            "pytest",
            "-n",
            "auto",
            "--dist",
            "worksteal",
            "-m",
            "not slow",
            *(tests or ["tests"]),
        )


if __name__ == "__main__":
    try_versions(*sys.argv[1:])
