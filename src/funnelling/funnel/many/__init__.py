"""The funnel for label sets that are long: thousands of labels, of which a document has a few."""

from funnelling.funnel.many.estimator import ManyLabelsClassifier

__all__ = ["ManyLabelsClassifier"]
