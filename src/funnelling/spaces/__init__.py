"""Views, and the feature spaces that the documents of all languages share.

A view is one representation of documents. ``own`` is the paper's: each language has a feature space and base
classifiers of its own. All other views are spaces that the languages share, with one set of base classifiers
for all of them, which is why most can serve languages without training documents. A new one is a `Space`, and
a line of `VIEWS`.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from pkgutil import resolve_name
from typing import Annotated, Any

from funnelling.errors import InputError, did_you_mean
from funnelling.plain import clone
from funnelling.spaces.base import Embeddings, Encoder, Resources, Space
from funnelling.state import OneOf
from funnelling.text.characters import Vectorizer
from funnelling.text.tfidf import TfidfVectorizer

__all__ = ["OWN", "SHARED", "VIEWS", "AnySpace", "Space", "View", "check_views", "make_space", "named_views"]

OWN = "own"
SHARED = "shared"  # what the space of ``zero_shot`` is called among views
VIEWS = {  # where each is defined: what a model does not need is not loaded
    "pooled": "funnelling.spaces.words.PooledSpace",
    "lri": "funnelling.spaces.labels.LRISpace",
    "characters": "funnelling.spaces.words.CharacterSpace",
    "mixed": "funnelling.spaces.words.MixedSpace",
    "own-mixed": "funnelling.spaces.words.OwnMixedSpace",
    "wce": "funnelling.spaces.labels.WCESpace",
    "embeddings": "funnelling.spaces.embedded.EmbeddedSpace",
    "encoder": "funnelling.spaces.outside.EncoderSpace",
}
USERS_VIEW = "funnelling.spaces.outside.TransformedSpace"
VIEW_NAMES = (OWN, *VIEWS)
FURTHER_SPACES = (  # those of methods
    "funnelling.spaces.labels.DCISpace",
    "funnelling.spaces.reference.CLESASpace",
    "funnelling.spaces.reference.KCCASpace",
)

AnySpace = Annotated[Space, OneOf((*VIEWS.values(), USERS_VIEW, *FURTHER_SPACES))]
# A name, a resource, a space, a scikit-learn transformer of texts or a function of texts
View = Annotated[Any, str | Encoder | Embeddings | AnySpace | Vectorizer]


def check_views(views: Any) -> None:
    """Refuse what is no list of views.

    >>> check_views(["words"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    funnelling.errors.InputError: no view 'words'. Choose from own, pooled, ...
    """
    if isinstance(views, str | Mapping) or not isinstance(views, Sequence) or not views:
        raise InputError(f"views must be a list of views, not {views!r}.")
    names: set[str] = set()
    for each in views:
        view = plain_view(each)
        if not isinstance(view, str):
            _check_custom(view)
            continue
        if view not in VIEW_NAMES:
            raise InputError(f"no view {view!r}{did_you_mean(view, VIEW_NAMES, choose=True)}")
        if view in names:
            raise InputError(f"The view {view!r} is there twice. Leave one out.")
        names.add(view)


def plain_view(view: View) -> View:
    """The name of a view that is a resource; any other as it is."""
    return view.view if isinstance(view, Encoder | Embeddings) else view


def _check_custom(view: View) -> None:
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


def named_views(views: Sequence[View]) -> dict[str, View]:
    """Views, which have been checked, by name.

    >>> list(named_views(["own", "pooled"]))
    ['own', 'pooled']
    """
    named: dict[str, View] = {}
    for view in map(plain_view, views):
        if isinstance(view, str):
            named[view] = view
        else:
            named[_free_name(getattr(view, "__name__", type(view).__name__), named)] = view
    return named


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name of a view of the user's, numbered where another has it.

    >>> _free_name("lengths", []), _free_name("lengths", ["lengths"]), _free_name("own", [])
    ('lengths', 'lengths-2', 'own-2')
    """
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(free for free in names if free not in taken and free not in (*VIEW_NAMES, SHARED))


def make_space(view: View, resources: Resources, seed: int = 0, name: str = "") -> Space:
    """The space of a shared view, not yet fitted; messages about a view of the user's call it ``name``."""
    space: Space
    if isinstance(view, str):
        space = resolve_name(VIEWS[view]).as_view(resources, seed)
        return space
    if isinstance(view, Space):
        return clone(view)  # type: ignore[no-any-return]
    if isinstance(view, TfidfVectorizer):  # it asks for the language of each text
        space = resolve_name(VIEWS["pooled"])(name, view, resources.verbose)
    else:
        space = resolve_name(USERS_VIEW)(view, name, seed)
    return space
