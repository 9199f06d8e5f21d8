"""What serves only to reproduce the paper: builders of its corpora, and its experiments.

No other folder but the commands that run them (``data build``, ``experiment``, ``compare`` on a corpus by
name) may import it: to label documents of your own, none of it is needed.
"""
