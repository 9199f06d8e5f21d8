"""Feature spaces that the documents of all languages share, one a file."""

from funnelling.spaces.base import Space

__all__ = ["Space"]
