"""The methods by the names users type."""

import json
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from funnelling.errors import InputError


class _Entry(NamedTuple):
    title: str  # as the paper writes it
    module: str
    kind: str
    fixed: dict[str, Any]  # the parameters that make it this method


METHODS = {
    "naive": _Entry("Naive", "funnelling.baselines", "NaiveClassifier", {}),
    "pooled": _Entry("Pooled", "funnelling.baselines", "PooledClassifier", {}),
    "fun-tat": _Entry("Fun(TAT)", "funnelling.funnel", "FunnellingClassifier", {"variant": "tat"}),
    "fun-kfcv": _Entry("Fun(KFCV)", "funnelling.funnel", "FunnellingClassifier", {"variant": "kfcv"}),
}
# Parameters that are no settings: commands have options for some, others take objects of Python.
NO_SETTINGS = {"random_state", "n_jobs", "verbose", "vectorizer", "base_estimator", "meta_estimator"}

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
    _, module, kind, fixed = METHODS[name]
    method = getattr(import_module(module), kind)(**fixed, random_state=seed, n_jobs=jobs, verbose=verbose)
    chosen = dict((settings or {}).get(name, {}))
    known = set(method.get_params(deep=False)) - set(fixed) - NO_SETTINGS
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
    for name, entry in METHODS.items():
        fixed = entry.fixed.items()
        if type(method).__name__ == entry.kind and all(getattr(method, k) == v for k, v in fixed):
            return name
    return type(method).__name__


def title(name: str) -> str:
    """A method's name as the paper writes it.

    >>> title("fun-kfcv")
    'Fun(KFCV)'
    """
    return METHODS[name].title if name in METHODS else name


def parse_methods(text: str) -> list[str]:
    """Method names from ``naive,fun-tat`` or ``all``.

    >>> parse_methods("naive, fun-tat")
    ['naive', 'fun-tat']
    """
    names = list(METHODS) if text.strip() == "all" else [name.strip() for name in text.split(",")]
    for name in names:
        check_method(name)
    return list(dict.fromkeys(names))


def parse_settings(items: Iterable[str], methods: Collection[str]) -> dict[str, dict[str, Any]]:
    """Settings of some methods from ``METHOD.PARAM=VALUE``; a value is JSON, or else a plain word.

    >>> parse_settings(["fun-tat.meta_C=100", "fun-tat.calibration=fixed"], ["naive", "fun-tat"])
    {'fun-tat': {'meta_C': 100, 'calibration': 'fixed'}}
    >>> parse_settings(["meta_C"], ["fun-tat"])
    Traceback (most recent call last):
    funnelling.errors.InputError: --set meta_C is no setting. Write METHOD.PARAM=VALUE, like fun-tat.meta_C=1.
    """
    settings: dict[str, dict[str, Any]] = {}
    for item in items:
        target, equals, text = item.partition("=")
        name, dot, parameter = target.partition(".")
        if not (equals and dot and parameter):
            raise InputError(f"--set {item} is no setting. Write METHOD.PARAM=VALUE, like fun-tat.meta_C=1.")
        check_method(name)
        if name not in methods:
            raise InputError(f"--set {item}: {name} takes no part, only {', '.join(methods)}. Drop it.")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        settings.setdefault(name, {})[parameter] = value
    return settings
