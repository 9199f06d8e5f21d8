"""The methods by the names users type."""

import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from funnelling.errors import InputError

# name: (where, class, the parameters that make it this method)
METHODS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "naive": ("funnelling.baselines", "NaiveClassifier", {}),
    "pooled": ("funnelling.baselines", "PooledClassifier", {}),
    "fun-tat": ("funnelling.funnel", "FunnellingClassifier", {"variant": "tat"}),
    "fun-kfcv": ("funnelling.funnel", "FunnellingClassifier", {"variant": "kfcv"}),
}
TITLES = {"naive": "Naive", "pooled": "Pooled", "fun-tat": "Fun(TAT)", "fun-kfcv": "Fun(KFCV)"}

Settings = Mapping[str, Mapping[str, Any]]


def make_method(
    name: str, *, seed: int = 0, jobs: int | None = None, verbose: int = 0, settings: Settings | None = None
) -> Any:
    """An unfitted method by name.

    >>> make_method("fun-tat", seed=1)
    FunnellingClassifier(random_state=1)
    >>> make_method("fun-tap")
    Traceback (most recent call last):
    funnelling.errors.InputError: There is no method 'fun-tap'. Choose from naive, pooled, fun-tat, fun-kfcv.
    """
    check_method(name)
    module, kind, fixed = METHODS[name]
    method = getattr(import_module(module), kind)(**fixed, random_state=seed, n_jobs=jobs, verbose=verbose)
    chosen = dict((settings or {}).get(name, {}))
    known = set(method.get_params(deep=False)) - set(fixed) - {"random_state", "n_jobs", "verbose"}
    for parameter in chosen:
        if parameter not in known:
            raise InputError(f"{name} has no setting {parameter!r}. It has {', '.join(sorted(known))}.")
    return method.set_params(**chosen)


def check_method(name: str) -> None:
    """Refuse a name that is no method's."""
    if name not in METHODS:
        raise InputError(f"There is no method {name!r}. Choose from {', '.join(METHODS)}.")


def name_of(method: Any) -> str:
    """The name of a fitted or unfitted method.

    >>> name_of(make_method("fun-kfcv"))
    'fun-kfcv'
    """
    for name, (_, kind, fixed) in METHODS.items():
        if type(method).__name__ == kind and all(getattr(method, k) == v for k, v in fixed.items()):
            return name
    return type(method).__name__


def parse_methods(text: str) -> list[str]:
    """Method names from ``naive,fun-tat`` or ``all``.

    >>> parse_methods("naive, fun-tat")
    ['naive', 'fun-tat']
    """
    names = list(METHODS) if text.strip() == "all" else [name.strip() for name in text.split(",")]
    for name in names:
        check_method(name)
    return list(dict.fromkeys(names))


def parse_settings(items: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Settings from ``METHOD.PARAM=VALUE``; a value is JSON, or else a plain word.

    >>> parse_settings(["fun-tat.meta_C=100", "fun-tat.calibration=fixed"])
    {'fun-tat': {'meta_C': 100, 'calibration': 'fixed'}}
    >>> parse_settings(["meta_C"])
    Traceback (most recent call last):
    funnelling.errors.InputError: 'meta_C' is no setting. Write METHOD.PARAM=VALUE, as in fun-tat.meta_C=100.
    """
    settings: dict[str, dict[str, Any]] = {}
    for item in items:
        target, equals, text = item.partition("=")
        name, dot, parameter = target.partition(".")
        if not (equals and dot and parameter):
            raise InputError(f"{item!r} is no setting. Write METHOD.PARAM=VALUE, as in fun-tat.meta_C=100.")
        check_method(name)
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        settings.setdefault(name, {})[parameter] = value
    return settings
