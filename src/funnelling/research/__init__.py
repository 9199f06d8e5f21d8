"""The paper: its algorithm in plain scikit-learn, its rivals, its corpora and its experiments."""
