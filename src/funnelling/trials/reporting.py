"""The lines that long work reports as it goes, which nobody reads unless a reporter is given."""

from collections.abc import Callable

Reporter = Callable[[str], object]  # takes one line


def silent(_line: str) -> None:
    """Say nothing."""
