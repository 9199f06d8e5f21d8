"""Where work runs: in threads, or on the workers of a joblib backend such as a cluster."""
