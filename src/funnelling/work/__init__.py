"""Where work runs: in threads, on the workers of a joblib backend such as a cluster, or on a GPU."""
