"""What every layer uses at run time: threads, clusters, locks, whole files, messages, progress."""
