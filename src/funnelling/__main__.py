"""``python -m funnelling``, the same as ``funnelling``."""

import sys

from funnelling.commands import main

sys.exit(main())
