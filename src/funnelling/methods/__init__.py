"""Methods: the contract that all share, their input and answers, the registry, and simple baselines."""
