"""Look for memory errors in C: tests under sanitizers, then the solver's calls under Valgrind.

    python scripts/sanitize.py

Linux with gcc. Everything is built under build/sanitize; the installed package is left alone.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "sanitize"
# With capture=sys pytest leaves the file descriptors alone, through which a sanitizer reports at the end.
TESTS = [
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "--capture=sys",
    "tests/svm",
    "tests/funnel/many",
    "tests/text/test_lemmas.py",
]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]


def run(*command: str | Path, **environment: str | Path) -> None:
    """Run a command in the root; where it fails, exit with its status."""
    variables = {name: str(value) for name, value in environment.items()}
    status = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False).returncode
    if status:
        sys.exit(status)


def copy_package(target: Path) -> Path:
    """Copy the package without its compiled modules; returns the folder where the solver belongs."""
    shutil.rmtree(target, ignore_errors=True)
    unwanted = shutil.ignore_patterns("_native*", "_lemmas*", "__pycache__")
    shutil.copytree(ROOT / "src" / "funnelling", target / "funnelling", ignore=unwanted)
    return target / "funnelling" / "svm"


def compile_to(target: Path, *flags: str, folder: str = "native") -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    python = ["-DPy_LIMITED_API=0x030B0000", f"-I{sysconfig.get_path('include')}"]
    sources = sorted(ROOT.glob(f"{folder}/*.c"))
    run("gcc", "-std=c11", "-O1", "-g", "-fPIC", "-shared", *flags, *python, *sources, "-o", target)


def test_with_sanitizers() -> None:
    print("AddressSanitizer and UndefinedBehaviorSanitizer:", flush=True)
    package = BUILD / "sanitizers"
    library = copy_package(package) / "_native.abi3.so"
    compile_to(library, *SANITIZERS)
    compile_to(package / "funnelling" / "text" / "_lemmas.abi3.so", *SANITIZERS, folder="native/text")
    environment = {
        "PYTHONPATH": package,
        "PYTHONMALLOC": "malloc",  # blocks of their own instead of Python's arenas
        # Python is built without sanitizers, so they have to be there before it.
        "LD_PRELOAD": " ".join(runtime(name) for name in ("asan", "ubsan", "stdc++")),
        "ASAN_OPTIONS": "detect_leaks=0",  # NumPy and SciPy leak by the thousand; Valgrind looks for ours
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    check = f"from funnelling.svm._native import __file__ as used; assert used == {str(library)!r}, used"
    run(sys.executable, "-c", check, **environment)
    run(*TESTS, **environment)


def runtime(name: str) -> str:
    command = ["gcc", f"-print-file-name=lib{name}.so"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def replay_with_valgrind() -> None:
    print("Valgrind:", flush=True)
    if not shutil.which("valgrind"):
        sys.exit("Valgrind is missing. Install it (apt install valgrind) and run make sanitize again.")
    package, library, calls = BUILD / "recorder", BUILD / "valgrind" / "_native.abi3.so", BUILD / "calls"
    compile_to(library)
    recorder = ROOT / "scripts" / "native_calls.py"
    shutil.copy(recorder, copy_package(package) / "_native.py")
    run(*TESTS, PYTHONPATH=package, NATIVE=library, CALLS=calls)
    report = BUILD / "valgrind.xml"
    options = ["-q", "--xml=yes", f"--xml-file={report}", "--leak-check=full", "--show-leak-kinds=definite"]
    options += ["--partial-loads-ok=no"]  # a vector that is partly out of bounds is an error, too
    run("valgrind", *options, sys.executable, recorder, library, calls, PYTHONMALLOC="malloc")
    errors = 0
    for error in ElementTree.parse(report).iter("error"):
        if frames := solver_frames(error):
            print(error.findtext("what") or error.findtext("xwhat/text"), *frames, sep="\n    ")
            errors += 1
    if errors:
        sys.exit(f"Valgrind found {errors} errors in native/; its full report is {report}.")


def solver_frames(error: ElementTree.Element) -> list[str]:
    """Where in the solver the error is; empty where it is in Python itself."""
    return [
        f"{frame.findtext('fn')} ({frame.findtext('file')}:{frame.findtext('line')})"
        for frame in error.iter("frame")
        if "_native" in frame.findtext("obj", "")
    ]


if __name__ == "__main__":
    test_with_sanitizers()
    replay_with_valgrind()
