"""What all tests share."""

import os
from pathlib import Path

# The workers of a run share the cores already. NumPy reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from funnelling.text.lemmas import CACHE

# Lemmas are prepared once for all tests, and not in the cache of whoever runs them.
os.environ.setdefault(CACHE, str(Path(__file__).parents[1] / "build" / "cache"))
