"""The solver in C is packed whole, built by any compiler, and done without where there is none."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, PlatformError

ROOT = Path(__file__).parent.parent
NOT_BUILT = (
    "funnelling: no working C compiler found, so training and lemma lookup will be slower; "
    "install one and reinstall with pip's --no-cache-dir to be fast.\n"
)
# What all compilers can be expected to know: MSVC has no extension of GNU, and no arrays of computed length.
STRICT = ("-std=c11", "-pedantic", "-Wall", "-Wextra", "-Wvla", "-Werror")
PLAIN = "-DFUNNELLING_PLAIN"  # the branch for compilers without vector types, with any compiler


def run_setup(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "setup.py", "--quiet", *arguments]
    variables = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True)


def build_with(compiler: SimpleNamespace, platform: str = "linux-x86_64") -> Extension:
    """Build an extension by the command of setup.py; what setuptools' own command does is up to the test."""
    build = runpy.run_path(str(ROOT / "setup.py"))["BuildIfPossible"](Distribution())
    build.compiler, build.plat_name = compiler, platform
    extension = Extension("funnelling.svm._native", [])
    build.build_extension(extension)
    return extension


class MSVC(SimpleNamespace):
    """A compiler as setuptools makes it on Windows: it looks for its programs when it is initialised."""

    compiler_type = "msvc"
    initialized = False
    include_dirs: ClassVar[list[str]] = []

    def initialize(self, platform: str) -> None:
        vars(self).update(initialized=True, platform=platform, cc="cl.exe", linker="link.exe")
        self.compile_options = ["/nologo", "/O2", "/GL"]
        MSVC.include_dirs = ["VC/include"]


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Builds that end before a compiler is called, where the environment asks for none."""
    monkeypatch.setattr(build_ext, "build_extension", lambda _self, _extension: None)
    monkeypatch.delenv("CC", raising=False)
    return monkeypatch


def found_as(path: str | None) -> Callable[[str], str | None]:
    """A search of the PATH that finds clang-cl there, and nothing else."""
    return lambda name: path if name in ("clang-cl", path) else None


def test_one_compiled_file_serves_all_versions_of_python() -> None:
    compiled = find_spec("funnelling.svm._native")
    if compiled is None:
        pytest.skip("installed without a compiler")
    # Windows has no ending for the stable ABI; there it is the one without a version.
    assert Path(compiled.origin or "").name in ("_native.abi3.so", "_native.pyd")


def test_the_sdist_has_all_that_a_build_needs(tmp_path: Path) -> None:
    run_setup("egg_info", "--egg-base", tmp_path)
    listed = (tmp_path / "funnelling.egg-info" / "SOURCES.txt").read_text(encoding="utf-8").splitlines()
    needed = [ROOT / "setup.py", *ROOT.glob("native/**/*.[ch]"), *ROOT.glob("src/funnelling/**/*.py")]
    assert {path.relative_to(ROOT).as_posix() for path in needed} <= set(listed)
    if shutil.which("git") and (ROOT / ".git").exists():  # else this is an sdist itself
        tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        missing = set(tracked.stdout.splitlines()).difference(listed)  # its tests read files of all kinds
        assert not {name for name in missing if not name.startswith((".ci/", ".git"))}


@pytest.mark.parametrize(
    ("compiler_type", "expected"),
    [("unix", {"-std=c11", "-O3"}), ("mingw32", {"-std=c11", "-O3"}), ("msvc", {"/std:c11", "/O2"})],
)
def test_flags_are_those_of_the_compiler(
    compiler_type: str, expected: set[str], built: pytest.MonkeyPatch
) -> None:
    built.setattr(shutil, "which", found_as(None))
    flags = build_with(SimpleNamespace(compiler_type=compiler_type)).extra_compile_args
    assert expected <= set(flags)
    assert len({flag[0] for flag in flags}) == 1


@pytest.mark.parametrize(
    ("platform", "target"),
    [("win-amd64", "x86_64-pc-windows-msvc"), ("win-arm64", "aarch64-pc-windows-msvc")],
)
@pytest.mark.parametrize("asked", [None, "clang-cl", "LLVM/clang-cl.exe"])
def test_on_windows_clang_cl_compiles_where_it_is_found(
    platform: str, target: str, asked: str | None, built: pytest.MonkeyPatch
) -> None:
    built.setattr(shutil, "which", found_as("LLVM/clang-cl.exe"))
    if asked:
        built.setenv("CC", asked)
    compiler = MSVC()
    flags = build_with(compiler, platform).extra_compile_args
    assert {f"--target={target}", "/clang:-std=c11", "/clang:-O3", "/clang:-ffp-contract=fast"} <= set(flags)
    assert "-imsvcVC/include" in flags
    assert compiler.include_dirs == []
    assert (compiler.cc, compiler.linker) == ("LLVM/clang-cl.exe", "link.exe")
    assert compiler.compile_options == ["/nologo", "/O2"]
    assert compiler.platform == platform


def test_all_extensions_are_compiled_with_the_same_flags(built: pytest.MonkeyPatch) -> None:
    built.setattr(shutil, "which", found_as("LLVM/clang-cl.exe"))
    build = runpy.run_path(str(ROOT / "setup.py"))["BuildIfPossible"](Distribution())
    build.compiler, build.plat_name = MSVC(), "win-amd64"
    extensions = [Extension("funnelling.svm._native", []), Extension("funnelling.text._lemmas", [])]
    for extension in extensions:
        build.build_extension(extension)
    first, second = (extension.extra_compile_args for extension in extensions)
    assert first == second
    assert "-imsvcVC/include" in first


@pytest.mark.parametrize(("platform", "asked"), [("win-amd64", "cl"), ("win32", None)])
def test_on_windows_msvc_compiles_where_it_is_asked_for_and_for_32_bits(
    platform: str, asked: str | None, built: pytest.MonkeyPatch
) -> None:
    built.setattr(shutil, "which", found_as("LLVM/clang-cl.exe"))
    if asked:
        built.setenv("CC", asked)
    compiler = MSVC()
    assert build_with(compiler, platform).extra_compile_args == ["/std:c11", "/O2"]
    assert not compiler.initialized


def test_clang_cl_without_the_build_tools_of_microsoft_is_told_in_one_line(
    built: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def initialize(_platform: str) -> None:
        raise PlatformError("Microsoft Visual C++ 14.0 or greater is required.")

    built.setattr(shutil, "which", found_as("LLVM/clang-cl.exe"))
    build_with(SimpleNamespace(compiler_type="msvc", initialized=False, initialize=initialize), "win-amd64")
    assert capsys.readouterr().err == NOT_BUILT


@pytest.mark.parametrize("error", [CCompilerError("gcc failed"), PlatformError("Visual C++ is required")])
def test_a_build_that_fails_is_told_in_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(build_ext, "build_extension", fail)
    build_with(SimpleNamespace(compiler_type="unix"))
    assert capsys.readouterr().err == NOT_BUILT


@pytest.mark.skipif(sys.platform == "win32", reason="there CC does not choose the compiler")
def test_without_a_compiler_the_build_goes_on_with_that_line_alone(tmp_path: Path) -> None:
    folders = ("--build-lib", tmp_path / "lib", "--build-temp", tmp_path / "temp")
    done = run_setup("build_ext", *folders, CC="false")
    assert (done.stdout, done.stderr) == ("", NOT_BUILT)
    assert not [*tmp_path.rglob("_native*"), *tmp_path.rglob("_lemmas*")]


def test_links_of_the_package_page_lead_to_the_repository() -> None:
    page = runpy.run_path(str(ROOT / "setup.py"))["package_page"]()
    targets = re.findall(r"\]\(([^)]+)\)", page)
    assert len(targets) == len(re.findall(r"\]\(", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert all(target.startswith("https://") for target in targets)
    images = [target for target in targets if target.endswith(".svg")]
    assert images
    assert all("/raw/v" in image for image in images)


@pytest.mark.parametrize("branch", ["vectors", "plain"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_strict_compilers_have_nothing_to_say(compiler: str, branch: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    macros = [f"-D{name}={value}" for name, value in runpy.run_path(str(ROOT / "setup.py"))["MACROS"]]
    chosen = [PLAIN] if branch == "plain" else []
    command = [compiler, *STRICT, "-O1", *macros, *chosen, f"-I{sysconfig.get_path('include')}", "-c"]
    done = subprocess.run(
        [*command, *ROOT.glob("native/**/*.c")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="there CFLAGS reaches no compiler")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize(
    "tests",
    [
        ["tests/svm/test_solver.py", "-k", "karush or instruction or hold_out"],
        pytest.param(["tests/svm", "-m", "not slow"], marks=pytest.mark.slow),
    ],
    ids=["quick", "all"],
)
def test_the_branch_without_vectors_passes_the_tests_of_the_solver(tests: list[str], tmp_path: Path) -> None:
    package = tmp_path / "lib" / "funnelling"
    unwanted = shutil.ignore_patterns("_native*", "__pycache__")
    shutil.copytree(ROOT / "src" / "funnelling", package, ignore=unwanted)
    run_setup("build_ext", "--build-lib", package.parent, "--build-temp", tmp_path / "temp", CFLAGS=PLAIN)
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    asked = "from funnelling.svm import _native; print(_native.instructions())"
    assert run("-c", asked) == "plain\n"
    run("-m", "pytest", "-q", *tests)
