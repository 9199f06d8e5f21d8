"""Install a wheel or an sdist into a fresh environment where nothing can be compiled, and use it there.

    python scripts/try_install.py dist/funnelling-*.whl native
    python scripts/try_install.py dist/funnelling-*.tar.gz scikit-learn

The second argument is the solver that has to be in use. Everything runs outside the source tree, so that the
installed package is the only one in reach.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent


def try_install(package: str, solver: str) -> None:
    environment = {**os.environ, "CC": "false"}
    environment.pop("PYTHONPATH", None)
    with TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        python = home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"

        def run(*arguments: str) -> None:
            status = subprocess.run([python, *arguments], cwd=home, env=environment).returncode
            if status:
                sys.exit(status)

        # Without dependencies, and without pip's cache, which would keep the wheel of this sdist.
        run("-m", "pip", "install", "--quiet", "--no-deps", "--no-cache-dir", str(Path(package).resolve()))
        run("-m", "pip", "install", "--quiet", "funnelling", "hypothesis", "pytest")
        run("-c", f"from funnelling.svm import solver_name as name; assert name() == {solver!r}, name()")
        if solver == "native":
            run("-c", "import funnelling.text._lemmas")
        run("-m", "funnelling", "quickstart", "-o", "quickstart")
        shutil.copytree(ROOT / "tests", home / "tests")
        shutil.copy(ROOT / "pyproject.toml", home)  # pytest's settings
        run("-m", "pytest", "-q", "tests/svm")


if __name__ == "__main__":
    try_install(*sys.argv[1:])
