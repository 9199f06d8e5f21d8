"""Commands that are not in `commands` yet."""

from funnelling.commands import main

__all__ = ["main"]
