"""``python -m funnelling``, the same as ``funnelling``."""

import sys

from funnelling.cli import main

sys.exit(main())
