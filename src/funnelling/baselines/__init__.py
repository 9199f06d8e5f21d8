"""The methods that funnelling is measured against, one a file."""

from funnelling.baselines.naive import NaiveClassifier
from funnelling.baselines.pooled import PooledClassifier

__all__ = ["NaiveClassifier", "PooledClassifier"]
