"""The methods by the names users type.

``pooled:at-0`` names a variant of pooled: the same method under settings of its own, beside it in a table.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from importlib.util import find_spec
from inspect import signature
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from funnelling.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from funnelling.methods.algorithm import Algorithm
    from funnelling.methods.estimator import MethodEstimator
    from funnelling.methods.learning import Method


class _MethodSpec(NamedTuple):
    title: str  # as the paper writes it
    summary: str
    algorithm: str  # where that is defined
    estimator: str  # where that is defined
    fixed: Mapping[str, Any] = MappingProxyType({})  # the parameters that make it this method
    defaults: Mapping[str, Any] = MappingProxyType({})  # where its defaults differ from the class's
    needs: tuple[str, ...] = ()  # of METHOD_RESOURCES


_BASELINES, _CLASSIFIERS = "funnelling.methods.baselines", "funnelling.methods.classifiers"
_RIVALS, _RESEARCH = "funnelling.research.baselines", "funnelling.research.classifiers"
_FUNNEL = "funnelling.funnel.learning.FUNNEL", "funnelling.funnel.estimator.FunnellingClassifier"
_MANY = "funnelling.funnel.many.learning.MANY_LABELS", "funnelling.funnel.estimator.ManyLabelsClassifier"
_PAPER_FUNNEL = _FUNNEL[0], "funnelling.funnel.estimator.PaperFunnelClassifier"
_TAT = {"variant": "tat", "zero_shot": None, "zero_shot_joint": False, "views": None}
_KFCV = {**_TAT, "variant": "kfcv"}
_AT_ZERO = {"thresholds": None}

METHODS = {
    "naive": _MethodSpec(
        "Naive", "one classifier per language", f"{_BASELINES}.NAIVE", f"{_CLASSIFIERS}.NaiveClassifier"
    ),
    "pooled": _MethodSpec(
        "Pooled",
        "one classifier over the words of all languages",
        f"{_BASELINES}.POOLED",
        f"{_CLASSIFIERS}.PooledClassifier",
    ),
    "fun-tat": _MethodSpec("Fun(TAT)", "the paper's funnel", *_PAPER_FUNNEL, _TAT, _AT_ZERO),
    "fun-kfcv": _MethodSpec("Fun(KFCV)", "the paper's other funnel", *_PAPER_FUNNEL, _KFCV, _AT_ZERO),
    "fun-zero-shot": _MethodSpec(
        "Fun(zero-shot)",
        "the paper's funnel, for further languages too",
        *_PAPER_FUNNEL,
        {"views": None},
        {"zero_shot": "auto", **_AT_ZERO},
    ),
    "fun-auto": _MethodSpec("Fun(auto)", "funnelling", *_FUNNEL, {"views": "auto"}),
    "fun-views": _MethodSpec(
        "Fun(views)", "a funnel over named views", *_FUNNEL, defaults={"views": ["pooled", "characters"]}
    ),
    "fun-many": _MethodSpec("Fun(many)", "funnelling for thousands of labels", *_MANY),
    "words-and-characters": _MethodSpec(
        "Words + characters",
        "twenty lines of scikit-learn",
        f"{_BASELINES}.WORDS_AND_CHARACTERS",
        f"{_CLASSIFIERS}.WordsAndCharactersClassifier",
    ),
    "lri": _MethodSpec("LRI", "random indexing of all words", f"{_RIVALS}.LRI", f"{_RESEARCH}.LRIClassifier"),
    "clesa": _MethodSpec(
        "CLESA",
        "similarity to reference documents",
        f"{_RIVALS}.CLESA",
        f"{_RESEARCH}.CLESAClassifier",
        needs=("reference",),
    ),
    "kcca": _MethodSpec(
        "KCCA",
        "kernel canonical correlations",
        f"{_RIVALS}.KCCA",
        f"{_RESEARCH}.KCCAClassifier",
        needs=("reference",),
    ),
    "dci": _MethodSpec(
        "DCI", "distributional correspondence", f"{_RIVALS}.DCI", f"{_RESEARCH}.DCIClassifier"
    ),
    "mle": _MethodSpec(
        "MLE", "word vectors", f"{_RIVALS}.MLE", f"{_RESEARCH}.MLEClassifier", needs=("embeddings",)
    ),
    "mle-lstm": _MethodSpec(
        "MLE-LSTM",
        "a neural network over word vectors",
        "funnelling.research.lstm.MLE_LSTM",
        f"{_RESEARCH}.MLELSTMClassifier",
        needs=("embeddings", "torch"),
    ),
    "upper-bound": _MethodSpec(
        "UpperBound",
        "all documents in English",
        f"{_RIVALS}.UPPER_BOUND",
        f"{_RESEARCH}.UpperBoundClassifier",
        needs=("parallel",),
    ),
}
# What help lists; the others are the paper's.
SHOWN_METHODS = ("fun-auto", "fun-views", "fun-many", "fun-tat", "naive", "pooled", "words-and-characters")
DEFAULT_METHOD = "fun-auto"  # what is trained where no method is named
DEFAULT_COMPARISON = ("naive", "words-and-characters", "fun-tat", "fun-auto")  # what is compared then
DEFAULT_XMC_METHOD = "fun-many"  # instead of both where there are more labels than `matrices.XMC_MIN_LABELS`
# What some methods cannot do without, and how to get it.
METHOD_RESOURCES = {
    "reference": "a reference corpus, --reference FILE",
    "embeddings": "word vectors, --embeddings DIR",
    "parallel": 'English versions of the training documents, "split": "parallel"',
    "torch": "PyTorch, pip install 'funnelling[neural]'",
}
# Parameters that are no settings: commands have options for some or choose themselves, others take objects of
# Python.
RESERVED_PARAMETERS = {
    *("random_state", "n_jobs", "device", "verbose", "reference", "embeddings", "encoder"),
    *("vectorizer", "base_estimator", "detect_among", "unknown_language"),
}

Settings = Mapping[str, Mapping[str, Any]]


def make_method(
    name: str,
    *,
    seed: int = 0,
    jobs: int | None = None,
    verbose: int = 0,
    settings: Settings | None = None,
    resources: Mapping[str, Any] | None = None,
) -> "Method":
    """An unfitted method by name; ``resources`` are its ``reference`` and ``embeddings``.

    >>> make_method("fun-tat", seed=1).parameters
    FunnelParameters(random_state=1, thresholds=None, views=None)
    >>> make_method("fun-tap")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    funnelling.errors.InputError: no method 'fun-tap'. Did you mean fun-tat?
    """
    from funnelling.methods.learning import Method  # a help text that names methods need not wait for it

    entry, algorithm, known = METHODS[method_of(name)], _algorithm(name), settings_of(name)
    chosen = dict((settings or {}).get(name, {}))
    for parameter in chosen:
        if parameter not in known:
            raise InputError(f"{name} has no setting {parameter!r}. It has {', '.join(known)}.")
    kind = algorithm.parameters
    usable = {key: value for key, value in (resources or {}).items() if key in signature(kind).parameters}
    run = {"random_state": seed, "n_jobs": jobs, "verbose": verbose}
    return Method(algorithm, kind(**{**entry.fixed, **entry.defaults, **run, **chosen, **usable}))


def settings_of(name: str) -> list[str]:
    """The parameters of a method that can be set by name.

    >>> settings_of("pooled")[:2]
    ['C', 'calibrated']
    """
    known = _algorithm(name).parameters().get_params(deep=False)
    return sorted(set(known) - set(METHODS[method_of(name)].fixed) - RESERVED_PARAMETERS)


def estimator_type(algorithm: "Algorithm[Any]", parameters: Any) -> "type[MethodEstimator]":
    """The class of estimators that have this algorithm under such parameters."""
    name = name_of(algorithm, parameters)
    entry = METHODS[name] if name in METHODS else _entry_of(algorithm)
    kind: type[MethodEstimator] = resolve_name(entry.estimator)
    return kind


def _entry_of(algorithm: "Algorithm[Any]") -> _MethodSpec:
    """An entry of an algorithm; one that is none of ours is refused."""
    for entry in METHODS.values():
        if resolve_name(entry.algorithm) == algorithm:
            return entry
    raise InputError(f"{algorithm.name} is none of funnelling's methods, and its models are not saved.")


def _algorithm(name: str) -> "Algorithm[Any]":
    algorithm: Algorithm[Any] = resolve_name(METHODS[method_of(name)].algorithm)
    return algorithm


def lacking(name: str, at_hand: Collection[str]) -> list[str]:
    """What a method needs and does not have, of `METHOD_RESOURCES`; PyTorch is looked for.

    >>> lacking("clesa", {"embeddings"}), lacking("clesa", {"reference"})
    (['reference'], [])
    """
    have = {*at_hand, *(["torch"] if find_spec("torch") else [])}
    return [need for need in METHODS[method_of(name)].needs if need not in have]


def method_of(name: str) -> str:
    """The method that a name stands for, its own or that of a variant; others are refused.

    >>> method_of("pooled"), method_of("pooled:at-0")
    ('pooled', 'pooled')
    """
    method, colon, variant = name.partition(":")
    if method not in METHODS:
        raise InputError(f"no method {method!r}{did_you_mean(method, METHODS, choose=True)}")
    if colon and method == "upper-bound":
        raise InputError("upper-bound has no variants: it is no rival, and shown once.")
    if colon and not re.fullmatch(r"[A-Za-z0-9-]+", variant):
        raise InputError(f"{name!r} is no variant. Write {method}:NAME, a name of letters, digits and -.")
    return method


def name_of(algorithm: "Algorithm[Any]", parameters: Any) -> str:
    """The name of the method that an algorithm is under some parameters.

    >>> method = make_method("fun-kfcv")
    >>> name_of(method.algorithm, method.parameters)
    'fun-kfcv'
    """
    for name, entry in METHODS.items():
        fixed = entry.fixed.items()
        if _algorithm(name) == algorithm and all(
            _is(getattr(parameters, key), value) for key, value in fixed
        ):
            return name
    return algorithm.name


def _is(given: Any, fixed: Any) -> bool:
    """Whether a parameter is what makes a method; a list of views may hold "auto", and what else to try."""
    if isinstance(given, list) and isinstance(fixed, str):
        return any(_is(each, fixed) for each in given)
    return isinstance(given, type(fixed)) and bool(given == fixed)


def stored_algorithm(algorithm: "Algorithm[Any]") -> str:
    """What model folders call an algorithm."""
    return _entry_of(algorithm).algorithm.rpartition(".")[2]


def algorithm_named(stored: str) -> "Algorithm[Any]":
    """The algorithm that model folders call by this name."""
    by_name = {entry.algorithm.rpartition(".")[2]: entry.algorithm for entry in METHODS.values()}
    algorithm: Algorithm[Any] = resolve_name(by_name[stored])
    return algorithm


def title(name: str) -> str:
    """A method's name as the paper writes it.

    >>> title("fun-kfcv"), title("pooled:at-0")
    ('Fun(KFCV)', 'Pooled, at 0')
    """
    method, colon, variant = name.partition(":")
    if method not in METHODS:
        return name
    return METHODS[method].title + (f", {variant.replace('-', ' ')}" if colon else "")


def summary(name: str) -> str:
    """What a method is, in a few words.

    >>> summary("naive"), summary("naive:at-0")
    ('one classifier per language', 'one classifier per language')
    """
    method = METHODS.get(name.partition(":")[0])
    return "" if method is None else method.summary


def parse_methods(text: str) -> list[str]:
    """Names of methods, and of variants, from ``naive,fun-tat`` or ``all``.

    >>> parse_methods("naive, fun-tat")
    ['naive', 'fun-tat']
    """
    names = list(METHODS) if text.strip() == "all" else [name.strip() for name in text.split(",")]
    for name in names:
        method_of(name)
    return list(dict.fromkeys(names))


def parse_settings(items: Iterable[str], methods: Collection[str]) -> dict[str, dict[str, Any]]:
    """Settings of some methods from ``METHOD.PARAM=VALUE``; a value is JSON, or a word.

    Where there is one method, ``PARAM=VALUE`` will do.

    A variant must have some: it would be the method itself.

    >>> parse_settings(["fun-tat.meta_C=100", "fun-tat.calibration=fixed"], ["naive", "fun-tat"])
    {'fun-tat': {'meta_C': 100, 'calibration': 'fixed'}}
    >>> parse_settings(["meta_C=100"], ["fun-tat"])
    {'fun-tat': {'meta_C': 100}}
    >>> parse_settings(["meta_C"], ["fun-tat"])
    Traceback (most recent call last):
    funnelling.errors.InputError: --set meta_C is no setting. Write METHOD.PARAM=VALUE, like fun-tat.meta_C=1.
    """
    settings: dict[str, dict[str, Any]] = {}
    for item in items:
        target, equals, text = item.partition("=")
        if "." not in target and len(methods) == 1:
            target = f"{next(iter(methods))}.{target}"
        name, dot, parameter = target.partition(".")
        if not (equals and dot and parameter):
            raise InputError(f"--set {item} is no setting. Write METHOD.PARAM=VALUE, like fun-tat.meta_C=1.")
        method_of(name)
        if name not in methods:
            others = ", ".join(methods)
            raise InputError(f"--set {item}: {name} takes no part, only {others}. Name it too, or drop this.")
        try:
            value = json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
        except ValueError:
            value = text
        settings.setdefault(name, {})[parameter] = value
    for name in methods:
        if ":" in name and name not in settings:
            raise InputError(f"{name} is {method_of(name)} itself. Add --set {name}.PARAM=VALUE, or drop it.")
    return settings
