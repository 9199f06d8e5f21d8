"""The paper's experiments, each a function of what it is run on."""
