"""What serves only to reproduce the paper: builders of its corpora, and its experiments."""
