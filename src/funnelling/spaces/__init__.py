"""Feature spaces that the documents of all languages share, and the registry of views."""

from funnelling.spaces.base import Space

__all__ = ["Space"]
