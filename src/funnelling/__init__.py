"""Classify documents in many languages under one set of labels, every language helping every other.

>>> from funnelling import FunnellingClassifier, read_corpus, load_model
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from funnelling.corpus import Corpus, read_corpus
    from funnelling.corpus.label_files import read_label_set
    from funnelling.corpus.label_set import LabelSet
    from funnelling.corpus.reference import read_sample
    from funnelling.errors import InputError
    from funnelling.evaluation.scores import make_scorer, measure
    from funnelling.formats import Document, read_documents, write_documents
    from funnelling.funnel.estimator import FunnellingClassifier, ManyLabelsClassifier
    from funnelling.funnel.thresholds import ThresholdTuning
    from funnelling.labelling.auditing import audit
    from funnelling.methods.comparing import compare
    from funnelling.spaces.base import Embeddings, Encoder
    from funnelling.storage import load_model

    __version__: str

__all__ = [
    "Corpus",
    "Document",
    "Embeddings",
    "Encoder",
    "FunnellingClassifier",
    "InputError",
    "LabelSet",
    "ManyLabelsClassifier",
    "ThresholdTuning",
    "__version__",
    "audit",
    "compare",
    "load_model",
    "make_scorer",
    "measure",
    "read_corpus",
    "read_documents",
    "read_label_set",
    "read_sample",
    "write_documents",
]

_MODULES = {
    "Corpus": "funnelling.corpus",
    "Document": "funnelling.formats",
    "Embeddings": "funnelling.spaces.base",
    "Encoder": "funnelling.spaces.base",
    "FunnellingClassifier": "funnelling.funnel.estimator",
    "InputError": "funnelling.errors",
    "LabelSet": "funnelling.corpus.label_set",
    "ManyLabelsClassifier": "funnelling.funnel.estimator",
    "ThresholdTuning": "funnelling.funnel.thresholds",
    "audit": "funnelling.labelling.auditing",
    "compare": "funnelling.methods.comparing",
    "load_model": "funnelling.storage",
    "make_scorer": "funnelling.evaluation.scores",
    "measure": "funnelling.evaluation.scores",
    "read_corpus": "funnelling.corpus",
    "read_documents": "funnelling.formats",
    "read_label_set": "funnelling.corpus.label_files",
    "read_sample": "funnelling.corpus.reference",
    "write_documents": "funnelling.formats",
}


if not TYPE_CHECKING:  # which would take any name for one of ours

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used, so that the command line starts at once."""
        if name == "__version__":
            return import_module("importlib.metadata").version("funnelling")
        if name not in _MODULES:
            raise AttributeError(f"module 'funnelling' has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
