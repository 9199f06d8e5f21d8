"""The paper: its algorithm in plain scikit-learn, its baselines, its corpora and its experiments.

>>> from funnelling.research import NaiveClassifier, PaperFunnelClassifier
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from funnelling.corpus.reference import Reference, read_reference
    from funnelling.funnel.estimator import PaperFunnelClassifier
    from funnelling.methods.classifiers import NaiveClassifier, PooledClassifier, WordsAndCharactersClassifier
    from funnelling.research.classifiers import (
        CLESAClassifier,
        DCIClassifier,
        KCCAClassifier,
        LRIClassifier,
        MLEClassifier,
        MLELSTMClassifier,
        UpperBoundClassifier,
    )

__all__ = [
    "CLESAClassifier",
    "DCIClassifier",
    "KCCAClassifier",
    "LRIClassifier",
    "MLEClassifier",
    "MLELSTMClassifier",
    "NaiveClassifier",
    "PaperFunnelClassifier",
    "PooledClassifier",
    "Reference",
    "UpperBoundClassifier",
    "WordsAndCharactersClassifier",
    "read_reference",
]

if not TYPE_CHECKING:  # which would take any name for one of ours

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used: commands of this folder start at once."""
        for module in ("methods.classifiers", "funnel.estimator", "research.classifiers", "corpus.reference"):
            owner = import_module(f"funnelling.{module}") if name in __all__ else None
            if hasattr(owner, name):
                return getattr(owner, name)
        raise AttributeError(f"module 'funnelling.research' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
