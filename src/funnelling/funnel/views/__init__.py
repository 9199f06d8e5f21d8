"""Views: ways to see a document. Each has base classifiers of its own, whose posteriors tier 2 combines.

``own`` is the paper's: each language has a feature space and base classifiers of its own. All other views
are spaces that the languages share, with one set of base classifiers for all of them, which is why they can
serve languages without training documents.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from funnelling.errors import InputError
from funnelling.reference import Reference
from funnelling.spaces import Space
from funnelling.spaces.pooled import PooledSpace

OWN = "own"
NAMES = (OWN, "pooled", "lri", "characters", "wce", "embeddings", "encoder")

View = Any  # a name, a space, a scikit-learn transformer of texts or a function of texts


class Given(NamedTuple):
    """What views may need beside the documents."""

    embeddings: str | os.PathLike[str] | None = None
    reference: Reference | None = None
    encoder: str | os.PathLike[str] | None = None
    encoder_epochs: int = 0
    seed: int = 0
    verbose: int = 0


def view_names(views: Sequence[View]) -> dict[str, View]:
    """The views by name; refused where they are none.

    >>> list(view_names(["own", "pooled"]))
    ['own', 'pooled']
    >>> view_names(["words"])
    Traceback (most recent call last):
    funnelling.errors.InputError: There is no view 'words'. Choose from own, pooled, lri, characters, wce, \
embeddings, encoder.
    """
    if isinstance(views, str | Mapping) or not isinstance(views, Sequence) or not views:
        raise InputError(f"views must be a list of views, not {views!r}.")
    named: dict[str, View] = {}
    for view in views:
        if isinstance(view, str) and view not in NAMES:
            raise InputError(f"There is no view {view!r}. Choose from {', '.join(NAMES)}.")
        if not isinstance(view, str | Space) and not callable(view) and not hasattr(view, "transform"):
            raise InputError(f"{view!r} is no view. Give a name, a transformer of texts or a function.")
        name = view if isinstance(view, str) else getattr(view, "__name__", type(view).__name__)
        if name in named:
            raise InputError(f"The view {name!r} is there twice. Leave one out.")
        named[name] = view
    return named


def seen_by_views(
    views: Mapping[str, View], given: Given, combine: str, languages: Sequence[str]
) -> list[str]:
    """Those of the languages of training documents that a view sees, or all views, if side by side."""
    seen = [
        languages if name == OWN else make_space(view, given).usable(languages)
        for name, view in views.items()
    ]
    enough = all if combine == "concat" else any
    return [language for language in languages if enough(language in part for part in seen)]


def make_space(view: View, given: Given) -> Space:
    """The space of a shared view, not yet fitted."""
    if isinstance(view, Space):
        return clone(view)  # type: ignore[no-any-return]
    if not isinstance(view, str):
        transformer = view if hasattr(view, "transform") else FunctionTransformer(view)
        return PooledSpace("a view", transformer, given.verbose)
    if view == "pooled":
        return PooledSpace(verbose=given.verbose)
    if view == "lri":
        from funnelling.spaces.lri import LRISpace

        return LRISpace(random_state=given.seed, verbose=given.verbose)
    if view == "characters":
        from funnelling.funnel.views.characters import CharacterSpace

        return CharacterSpace(verbose=given.verbose)
    if view == "wce":
        from funnelling.funnel.views.wce import WCESpace

        return WCESpace(verbose=given.verbose)
    if view == "embeddings":
        from funnelling.spaces.embedded import EmbeddedSpace

        return EmbeddedSpace(given.embeddings, given.reference, alike=True, verbose=given.verbose)
    from funnelling.funnel.views.encoder import EncoderSpace

    folder = None if given.encoder is None else str(given.encoder)
    return EncoderSpace(folder, given.encoder_epochs, random_state=given.seed, verbose=given.verbose)
