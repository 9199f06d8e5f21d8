"""The funnel: its design, tier 1 over views, tier 2, the search for a design, and learning on."""

from funnelling.funnel.estimator import FunnellingClassifier

__all__ = ["FunnellingClassifier"]
