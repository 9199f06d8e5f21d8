"""What all methods share: the estimator's contract, its input, its labels, and the registry of methods."""
