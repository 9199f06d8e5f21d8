"""The tests; a slow machine fails none of them, so Hypothesis sets no deadline."""

from hypothesis import settings

settings.register_profile("funnelling", deadline=None)
settings.load_profile("funnelling")
