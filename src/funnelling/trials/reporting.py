"""Where long work says what it is doing: nowhere, unless it is given something to say it to."""

from collections.abc import Callable

Reporter = Callable[[str], object]  # takes one line


def silent(_line: str) -> None:
    """Say nothing."""
