"""The paper: its algorithm in plain scikit-learn, its baselines, its corpora and its experiments."""
