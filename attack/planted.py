"""``funnelling`` with the bug that is planted: python -m attack.planted ARGUMENTS."""

import sys

from attack.plants import plant
from funnelling.commands import main

plant()  # at import: the workers of a service import this module again

if __name__ == "__main__":
    sys.exit(main())
