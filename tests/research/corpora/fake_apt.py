"""Programs called apt-get and apt-cache that serve a folder: apt without a network."""

import os
import sys
from pathlib import Path

# Real ones read their settings from --config-file; so do these, to find where lists belong.
_SCRIPT = """\
#!{python}
import pathlib, re, shutil, sys, time
settings = pathlib.Path(sys.argv[1].removeprefix("--config-file=")).read_text()
action, *names = sys.argv[2:]
served = pathlib.Path({served!r})
with open({log!r}, "a") as log:
    print(" ".join([action, *names]), settings, sep="\\n", file=log)
lists = pathlib.Path(re.search('Dir::State::lists "(.*)"', settings)[1])
if action == "update":
    {update}
    for path in served.glob("*"):
        if path.suffix != ".deb":
            print("Get:1 http://deb.example.org", path.name)
            shutil.copy(path, lists)
elif action == "pkgnames":
    for path in served.glob(names[0] + "*"):
        print(path.name.partition("_")[0])
elif action == "download":
    for name in names:
        print("Get:1 http://deb.example.org", name)
        shutil.copy(next(served.glob(name + "_*")), ".")
"""


def install(folder: Path, served: Path, update: str = "pass") -> dict[str, str]:
    """Put the programs into a folder; what to do first in an update is Python. Gives the environment."""
    programs, temporary = folder / "bin", folder / "tmp"
    programs.mkdir()
    temporary.mkdir()
    script = _SCRIPT.format(python=sys.executable, served=str(served), log=str(folder / "log"), update=update)
    for name in ("apt-get", "apt-cache"):
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    return {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(temporary)}
