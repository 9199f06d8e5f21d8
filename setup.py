"""What pyproject.toml cannot say: the solver in C, built where there is a compiler, and the package's page.

Without a compiler the install goes on, and `funnelling.svm.solver` uses scikit-learn. The page is the README,
whose links would lead nowhere outside of the repository.
"""

import re
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
HERE = Path(__file__).parent
IMAGE, LINK = (re.compile(rf"({start}\[[^]]*\]\()(?!https:|#)") for start in ("!", "(?<!!)"))
MACROS = [("Py_LIMITED_API", "0x030B0000")] if STABLE_ABI else []


class BuildIfPossible(build_ext):
    """Flags for the compiler at hand; one that is missing or fails costs speed, not the install."""

    def build_extension(self, ext: Extension) -> None:
        ext.extra_compile_args = MSVC_FLAGS if self.compiler.compiler_type == "msvc" else GNU_FLAGS
        try:
            super().build_extension(ext)
        except (BaseError, CCompilerError):
            # Caught here, because the warning of setuptools would not say what follows from it. A plain
            # reinstall would take the wheel of this build from pip's cache.
            print(
                "funnelling: no working C compiler found, so scikit-learn's slower solver will be used; "
                "install one and reinstall with pip's --no-cache-dir to be fast.",
                file=sys.stderr,
            )


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
                "funnelling.svm._native",
                sources=sorted(glob("native/*.c")),
                depends=sorted(glob("native/*.h")),
                define_macros=MACROS,
                py_limited_api=STABLE_ABI,
                optional=True,  # where it was not built, an editable install finds nothing to copy
            )
        ],
        cmdclass={"build_ext": BuildIfPossible},
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {},
    )
