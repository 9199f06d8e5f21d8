"""Attacks on models, files, commands and the service, drawn at random within a time: ``python -m attack``.

Campaigns live one in a file, and are listed in `attack.campaigns`. None of this is in the package.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is loaded: processes here are copied
