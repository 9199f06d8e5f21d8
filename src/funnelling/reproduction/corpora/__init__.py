"""Builders of corpora, one per file: from apt, or from archives in the layout of their publishers."""
