"""Who does the work: threads of this process, or the workers of a backend of joblib's, such as a cluster."""
