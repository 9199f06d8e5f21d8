"""Tier 1 over several views of a document: fitting each, and bringing their posteriors together."""
