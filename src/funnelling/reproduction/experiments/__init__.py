"""The paper's experiments, one a file: what is run, what comes out, and how a report tells it."""
