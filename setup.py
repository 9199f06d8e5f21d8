"""The one thing pyproject.toml cannot say: the solver in C, built where there is a compiler.

``optional`` lets the install go on without one; `funnelling.svm.solver` then uses scikit-learn.
"""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "funnelling.svm._native",
            sources=["native/module.c", "native/pairs.c", "native/parts.c", "native/solver.c"],
            depends=["native/solver.h", "native/state.h"],
            extra_compile_args=["-O3", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
