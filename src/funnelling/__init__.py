"""Classify documents in many languages under one set of labels, every language helping every other.

>>> from funnelling import FunnellingClassifier, read_corpus, load_model
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from funnelling.corpus import Corpus, read_corpus
    from funnelling.corpus.label_files import read_label_set
    from funnelling.corpus.label_set import Label, LabelSet
    from funnelling.corpus.reference import Reference, read_reference, read_sample
    from funnelling.errors import InputError
    from funnelling.formats import Document, Layout, read_documents, write_documents
    from funnelling.funnel.estimator import FunnellingClassifier, ManyLabelsClassifier
    from funnelling.labelling.auditing import audit
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
    from funnelling.storage import Pushed, load_model, pull_model, push_model, save_model

__all__ = [
    "CLESAClassifier",
    "Corpus",
    "DCIClassifier",
    "Document",
    "FunnellingClassifier",
    "InputError",
    "KCCAClassifier",
    "LRIClassifier",
    "Label",
    "LabelSet",
    "Layout",
    "MLEClassifier",
    "MLELSTMClassifier",
    "ManyLabelsClassifier",
    "NaiveClassifier",
    "PooledClassifier",
    "Pushed",
    "Reference",
    "UpperBoundClassifier",
    "WordsAndCharactersClassifier",
    "audit",
    "load_model",
    "pull_model",
    "push_model",
    "read_corpus",
    "read_documents",
    "read_label_set",
    "read_reference",
    "read_sample",
    "save_model",
    "write_documents",
]

_MODULES = {
    "CLESAClassifier": "funnelling.research.classifiers",
    "Corpus": "funnelling.corpus",
    "DCIClassifier": "funnelling.research.classifiers",
    "Document": "funnelling.formats",
    "FunnellingClassifier": "funnelling.funnel.estimator",
    "InputError": "funnelling.errors",
    "KCCAClassifier": "funnelling.research.classifiers",
    "LRIClassifier": "funnelling.research.classifiers",
    "Label": "funnelling.corpus.label_set",
    "LabelSet": "funnelling.corpus.label_set",
    "Layout": "funnelling.formats",
    "MLEClassifier": "funnelling.research.classifiers",
    "MLELSTMClassifier": "funnelling.research.classifiers",
    "ManyLabelsClassifier": "funnelling.funnel.estimator",
    "NaiveClassifier": "funnelling.methods.classifiers",
    "PooledClassifier": "funnelling.methods.classifiers",
    "Pushed": "funnelling.storage",
    "Reference": "funnelling.corpus.reference",
    "UpperBoundClassifier": "funnelling.research.classifiers",
    "WordsAndCharactersClassifier": "funnelling.methods.classifiers",
    "audit": "funnelling.labelling.auditing",
    "load_model": "funnelling.storage",
    "pull_model": "funnelling.storage",
    "push_model": "funnelling.storage",
    "read_corpus": "funnelling.corpus",
    "read_documents": "funnelling.formats",
    "read_label_set": "funnelling.corpus.label_files",
    "read_reference": "funnelling.corpus.reference",
    "read_sample": "funnelling.corpus.reference",
    "save_model": "funnelling.storage",
    "write_documents": "funnelling.formats",
}


if not TYPE_CHECKING:  # which would take any name for one of ours

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used, so that the command line starts at once."""
        if name not in _MODULES:
            raise AttributeError(f"module 'funnelling' has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
