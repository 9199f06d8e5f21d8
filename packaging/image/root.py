"""Collect what the image holds: the environment, the Python that runs it, and the libraries they load.

    python3 root.py ENVIRONMENT ROOT

The environment loses what no command of ours uses, a third of its size. No shell and no package manager is
left for an intruder to use.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

USER = 10_001  # as in the Dockerfile

TESTS = ("test", "tests")
SOURCES = (".c", ".cpp", ".h", ".hpp", ".pxd", ".pxi", ".pyi", ".pyx")
# Arrow over a network, which documents do not come by; the other libraries need those of the rest.
UNUSED = ("pyarrow/*flight*", "pyarrow/*s3*", "pyarrow/include")
UNUSED_OF_PYTHON = (
    "ensurepip",
    "idlelib",
    "site-packages",
    "dist-packages",
    "test",
    "*tkinter*",
    "turtledemo",
    "config-*",
)
ALIASES = "pyarrow/libarrow_python*.so*"  # each library three times, of which its soname is loaded

# Run once, so that the modules that are used are compiled: nothing can be, where the root is read-only.
USES = """
import fastapi, httptools, huggingface_hub, pyarrow.parquet, python_calamine, uvicorn, uvloop, xlsxwriter
import http.client, funnelling.serving.protocol, funnelling.serving.supervisor
from funnelling.commands import main
main(["quickstart", "-o", "quickstart"])
"""


def slim(environment: Path) -> None:
    """Take away tests, sources and what is not used, and the symbols of libraries."""
    packages = next(environment.glob("lib/python3*/site-packages"))
    for path in [*_named(packages, TESTS), *(path for pattern in UNUSED for path in packages.glob(pattern))]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in list(packages.rglob("*")):
        if path.suffix in SOURCES:
            path.unlink()
    for path in packages.glob(ALIASES):
        if path.name != _soname(path):
            path.unlink()
    subprocess.run(["strip", "--strip-unneeded", *_libraries(packages)], check=True)


def use(python: Path) -> None:
    """Train a model and load the service, which fails if anything that they need was taken away."""
    with TemporaryDirectory() as folder:
        variables = {**os.environ, "FUNNELLING_CACHE": f"{folder}/cache"}
        subprocess.run([python, "-c", USES], cwd=folder, env=variables, check=True, stdout=subprocess.DEVNULL)


def collect(environment: Path, root: Path) -> None:
    """Copy the environment, its Python and all libraries to where they are, below another root."""
    python = Path(os.path.realpath(environment / "bin" / "python"))
    stdlib = Path(sysconfig.get_path("stdlib"))
    for link in ("lib", "lib64", "bin"):  # into /usr, where the loader is named by its old place
        if Path("/", link).is_symlink():
            root.mkdir(exist_ok=True)
            (root / link).symlink_to(os.readlink(Path("/", link)))
    _copy_tree(environment, root)
    _copy_tree(stdlib, root, shutil.ignore_patterns(*UNUSED_OF_PYTHON))
    _copy_file(python, root)
    called = Path(os.readlink(environment / "bin" / "python3"))
    if called.is_absolute() and called != python:
        (_below(root, called.parent) / called.name).symlink_to(python)
    # The official image has Tk's module, but not its libraries.
    loaded = [library for library in _libraries(stdlib) if "tkinter" not in library.name]
    for library in _needed([python, *loaded, *_libraries(environment)]):
        if not library.is_relative_to(environment):
            _copy_file(library, root)
    for data in ("/etc/ssl/certs/ca-certificates.crt", "/usr/share/zoneinfo", "/etc/ld.so.cache"):
        if Path(data).is_dir():
            _copy_tree(Path(data), root)
        elif Path(data).exists():
            _copy_file(Path(data), root)
    (root / "etc/passwd").write_text(f"root:x:0:0::/:\nfunnelling:x:{USER}:{USER}::/tmp:\n", encoding="ascii")
    (root / "etc/group").write_text(f"root:x:0:\nfunnelling:x:{USER}:\n", encoding="ascii")
    for folder in ("data", "dev", "model", "proc", "sys"):
        (root / folder).mkdir()
    for folder in ("cache", "tmp"):  # for whatever user it is run by
        (root / folder).mkdir()
        (root / folder).chmod(0o1777)


def _named(folder: Path, names: Iterable[str]) -> list[Path]:
    found = [path for name in names for path in folder.rglob(name) if path.is_dir()]
    return [path for path in found if not any(parent in found for parent in path.parents)]


def _libraries(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.so*") if path.is_file() and not path.is_symlink())


def _soname(library: Path) -> str:
    lines = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return next(line.split("[")[1].rstrip("]") for line in lines.splitlines() if "(SONAME)" in line)


def _needed(programs: Iterable[Path]) -> set[Path]:
    """The files of the loader, and of all libraries that it would load."""
    lines = subprocess.run(["ldd", *programs], capture_output=True, text=True).stdout
    missing = sorted({line.split()[0] for line in lines.splitlines() if line.endswith("not found")})
    if missing:
        sys.exit(f"{', '.join(missing)}: not found by what the image is made of.")
    words = (line.split(" => ")[-1].split() for line in lines.splitlines() if line.startswith("\t"))
    return {Path(first) for first, *_ in words if first.startswith("/")}


def _below(root: Path, folder: Path) -> Path:
    place = root / folder.resolve().relative_to("/")
    place.mkdir(parents=True, exist_ok=True)
    return place


def _copy_file(path: Path, root: Path) -> None:
    shutil.copy2(path, _below(root, path.parent) / path.name)


def _copy_tree(folder: Path, root: Path, ignore: object = None) -> None:
    links = folder.name != "zoneinfo" and ignore is None
    shutil.copytree(folder, _below(root, folder), symlinks=links, ignore=ignore, dirs_exist_ok=True)


if __name__ == "__main__":
    environment, root = map(Path, sys.argv[1:])
    slim(environment)
    use(environment / "bin" / "python")
    collect(environment, root)
