"""The methods that funnelling is measured against, one per file."""

from funnelling.baselines.clesa import CLESAClassifier
from funnelling.baselines.dci import DCIClassifier
from funnelling.baselines.kcca import KCCAClassifier
from funnelling.baselines.lri import LRIClassifier
from funnelling.baselines.mle import MLEClassifier
from funnelling.baselines.upper_bound import UpperBoundClassifier
from funnelling.methods.baselines import NaiveClassifier, PooledClassifier, WordsAndCharactersClassifier

__all__ = [
    "CLESAClassifier",
    "DCIClassifier",
    "KCCAClassifier",
    "LRIClassifier",
    "MLEClassifier",
    "NaiveClassifier",
    "PooledClassifier",
    "UpperBoundClassifier",
    "WordsAndCharactersClassifier",
]
