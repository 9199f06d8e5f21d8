"""The paper's experiments, one per file: what is run, what comes out, and what a report says of it."""
