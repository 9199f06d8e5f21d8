"""Corpora that come with the package or can be built."""
