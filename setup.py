"""What pyproject.toml cannot say: the code in C, built where there is a compiler, and the package's page.

Without a compiler the install goes on: `funnelling.svm.solver` uses scikit-learn, `funnelling.text.words`
simplemma. The page is the README, whose links would lead nowhere outside of the repository.
"""

import os
import re
import shutil
import sys
import tomllib
from glob import glob
from pathlib import Path
from sysconfig import get_config_var

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

STABLE_ABI = not get_config_var("Py_GIL_DISABLED")  # free-threaded Python has none so far
GNU_FLAGS = [
    "-std=c11",
    "-ffp-contract=fast",  # -std=c11 turns it off in gcc, and the RBF kernel takes a third longer
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fvisibility=hidden",
]
MSVC_FLAGS = ["/std:c11", "/O2"]
CLANG_CL_FLAGS = [f"/clang:{flag}" for flag in GNU_FLAGS]
CLANG_CL_TARGETS = {"win-amd64": "x86_64-pc-windows-msvc", "win-arm64": "aarch64-pc-windows-msvc"}
HERE = Path(__file__).parent
IMAGE, LINK = (re.compile(rf"({start}\[[^]]*\]\()(?!https:|#)") for start in ("!", "(?<!!)"))
EXTENSIONS = {"funnelling.svm._native": "native", "funnelling.text._lemmas": "native/text"}
MACROS = [("Py_LIMITED_API", "0x030B0000")] if STABLE_ABI else []


class BuildIfPossible(build_ext):
    """Flags for the compiler at hand; one that is missing or fails costs speed, not the install."""

    flags: list[str] | None = None  # chosen once for all extensions
    warned = False

    def build_extension(self, ext: Extension) -> None:
        try:
            if self.flags is None:
                self.flags = self.choose_compiler()
            ext.extra_compile_args = self.flags
            super().build_extension(ext)
        except (BaseError, CCompilerError):
            # Caught here, because the warning of setuptools would not say what follows from it. A plain
            # reinstall would take the wheel of this build from pip's cache.
            if not self.warned:
                print(
                    "funnelling: no working C compiler found, so training and lemma lookup will be slower; "
                    "install one and reinstall with pip's --no-cache-dir to be fast.",
                    file=sys.stderr,
                )
            self.warned = True

    def choose_compiler(self) -> list[str]:
        """Replace MSVC by clang-cl where it is found, and return the compiler's flags.

        MSVC has no vector types, so it builds the plain loops; the environment variable CC=cl selects it.
        setuptools has no setting for clang-cl, but calls whatever program stands in the compiler's `cc`.
        """
        compiler = self.compiler
        if compiler.compiler_type != "msvc":
            return GNU_FLAGS
        name, target = os.environ.get("CC", "clang-cl"), CLANG_CL_TARGETS.get(self.plat_name)
        found = shutil.which(name) if Path(name).stem == "clang-cl" else None
        if not found or not target:
            return MSVC_FLAGS
        if not compiler.initialized:
            compiler.initialize(self.plat_name)
        compiler.cc = found
        compiler.compile_options = [flag for flag in compiler.compile_options if flag != "/GL"]
        # setuptools passes Microsoft's headers by -I, ahead of clang's own; their immintrin.h is for MSVC.
        system = [f"-imsvc{folder}" for folder in type(compiler).include_dirs]
        type(compiler).include_dirs = []
        # The target is explicit because on ARM a clang-cl for x86 may run emulated.
        return [f"--target={target}", *system, *CLANG_CL_FLAGS]


def package_page() -> str:
    """The README, its relative links led to the files of this version."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = f"{project['urls']['Source']}/%s/v{project['version']}/"
    text = (HERE / "README.md").read_text(encoding="utf-8")
    return LINK.sub(rf"\1{source % 'blob'}", IMAGE.sub(rf"\1{source % 'raw'}", text))


if __name__ == "__main__":
    setup(
        long_description=package_page(),
        long_description_content_type="text/markdown",
        ext_modules=[
            Extension(
                name,
                sources=sorted(glob(f"{folder}/*.c")),
                depends=sorted(glob(f"{folder}/*.h")),
                define_macros=MACROS,
                py_limited_api=STABLE_ABI,
                optional=True,  # where it was not built, an editable install finds nothing to copy
            )
            for name, folder in EXTENSIONS.items()
        ],
        cmdclass={"build_ext": BuildIfPossible},
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {},
    )
