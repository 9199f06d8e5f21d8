"""Methods on trials: which documents are learned from and measured on, fits, comparisons, kept results."""
