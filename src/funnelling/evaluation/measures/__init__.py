"""Measures, one per file: each a function of `Counts`, with a line in `evaluation.registry`."""
