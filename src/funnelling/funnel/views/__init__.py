"""Views: ways to see a document. Each has base classifiers of its own, whose posteriors tier 2 combines.

``own`` is the paper's: each language has a feature space and base classifiers of its own. All other views
are spaces that the languages share, with one set of base classifiers for all of them, which is why they can
serve languages without training documents.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from sklearn.base import clone

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.matrices import Floats
from funnelling.spaces import Space
from funnelling.spaces.pooled import PooledSpace
from funnelling.text.tfidf import TfidfVectorizer

OWN = "own"
SHARED = "shared"  # what the space of ``zero_shot`` is called among views
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
    encoded: dict[str, Floats] | None = None  # texts that an encoder has seen, where several fits share them


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
        if isinstance(view, str):
            if view in named:
                raise InputError(f"The view {view!r} is there twice. Leave one out.")
            named[view] = view
        else:
            _check_foreign(view)
            named[_free_name(getattr(view, "__name__", type(view).__name__), named)] = view
    return named


def _check_foreign(view: View) -> None:
    """Refuse what is neither a space nor a transformer nor a function."""
    if isinstance(view, type):
        raise InputError(f"{view.__name__} is a class. Give an object of it: {view.__name__}().")
    if isinstance(view, Space):
        return
    if not callable(view) and not hasattr(view, "transform"):
        raise InputError(f"{view!r} is no view. Give a name, a transformer of texts or a function.")
    if hasattr(view, "transform") and not hasattr(view, "get_params"):
        raise InputError(
            f"{type(view).__name__} cannot be cloned: derive it from scikit-learn's BaseEstimator, or give a "
            "function."
        )


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name of a view of the user's, numbered where another has it.

    >>> _free_name("lengths", []), _free_name("lengths", ["lengths"]), _free_name("own", [])
    ('lengths', 'lengths-2', 'own-2')
    """
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(free for free in names if free not in taken and free not in (*NAMES, SHARED))


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


def make_space(view: View, given: Given, name: str = "") -> Space:
    """The space of a shared view, not yet fitted; messages about a view of the user's call it ``name``."""
    if isinstance(view, Space):
        return clone(view)  # type: ignore[no-any-return]
    if isinstance(view, TfidfVectorizer):  # it asks for the language of each text
        return PooledSpace(name, view, given.verbose)
    if not isinstance(view, str):
        from funnelling.spaces.transformed import TransformedSpace

        return TransformedSpace(view, name, given.seed)
    if view == "pooled":
        return PooledSpace(verbose=given.verbose)
    if view == "lri":
        from funnelling.spaces.lri import LRISpace

        return LRISpace(random_state=given.seed, verbose=given.verbose)
    if view == "characters":
        from funnelling.spaces.characters import CharacterSpace

        return CharacterSpace(verbose=given.verbose)
    if view == "wce":
        from funnelling.spaces.wce import WCESpace

        return WCESpace(verbose=given.verbose)
    if view == "embeddings":
        from funnelling.spaces.embedded import EmbeddedSpace

        return EmbeddedSpace(given.embeddings, given.reference, alike=True, verbose=given.verbose)
    from funnelling.spaces.encoder import EncoderSpace

    folder = None if given.encoder is None else str(given.encoder)
    space = EncoderSpace(folder, given.encoder_epochs, random_state=given.seed, verbose=given.verbose)
    return space if given.encoded is None else space.knowing(given.encoded)
