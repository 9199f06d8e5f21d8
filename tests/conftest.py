"""What all tests share."""

import os
from pathlib import Path

from funnelling.work.cache import CACHE

# What is cached is made once for all tests, and not in the cache of whoever runs them.
os.environ.setdefault(CACHE, str(Path(__file__).parents[1] / "build" / "cache"))
