"""Corpora that can be built, each from a source that is free to use."""
