"""Parameters, copies and checks of estimators, without loading scikit-learn.

Importing scikit-learn takes a second or two, too long for whoever labels one document. So vectorizers,
spaces and the parameters of methods do not derive from `sklearn.base.BaseEstimator`, and take its place in
pipelines and in `sklearn.base.clone` all the same. The estimators that users fit do derive from it.
"""

import inspect
from collections import defaultdict
from typing import Any, Self


class Estimator:
    """An object whose ``__init__`` does nothing but keep its parameters under their names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; ``deep`` adds those of parameters that are estimators."""
        parameters: dict[str, Any] = {}
        for name in _defaults(type(self)):
            value = parameters[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                parameters |= {f"{name}__{inner}": item for inner, item in value.get_params().items()}
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; ``name__inner`` is one of the estimator that is the parameter ``name``."""
        known = _defaults(type(self))
        nested: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in parameters.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. It has {', '.join(known)}."
                )
            if inner:
                nested[name][inner] = value
            else:
                setattr(self, name, value)
        for name, inner_parameters in nested.items():
            getattr(self, name).set_params(**inner_parameters)
        return self

    def __repr__(self) -> str:
        """The class, and the parameters that are not at their defaults."""
        defaults = _defaults(type(self))
        shown = {name: repr(value) for name, value in self.get_params(deep=False).items()}
        changed = [f"{name}={text}" for name, text in shown.items() if text != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


def _defaults(kind: type[Estimator]) -> dict[str, Any]:
    """The parameters of a class in the order of the alphabet, with their defaults."""
    parameters = sorted(inspect.signature(kind).parameters.items())
    return {name: each.default for name, each in parameters if each.kind is not each.VAR_KEYWORD}


def without_caches(node: object) -> dict[str, Any]:
    """Return what is pickled of an object; attributes that begin with ``_`` are made again."""
    return {name: value for name, value in vars(node).items() if not name.startswith("_")}


def check_fitted(estimator: object, attribute: str) -> None:
    """Refuse an estimator that lacks what a fit leaves, as scikit-learn does."""
    if not hasattr(estimator, attribute):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {type(estimator).__name__} is not fitted yet. Call fit first.")


def clone(estimator: Any) -> Any:
    """An unfitted copy with the same parameters; what has others than plain values scikit-learn copies."""
    if isinstance(estimator, Estimator) and not hasattr(estimator, "_metadata_request"):
        parameters = estimator.get_params(deep=False)
        if all(isinstance(value, str | int | float | None) for value in parameters.values()):
            return type(estimator)(**parameters)
    from sklearn.base import clone

    return clone(estimator)
