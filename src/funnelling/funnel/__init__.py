"""The funnel: tier 1, tier 2, the two variants."""

from funnelling.funnel.classifier import FunnellingClassifier

__all__ = ["FunnellingClassifier"]
