"""The methods that are worth a comparison, and `compare` of Python."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from funnelling import matrices
from funnelling.corpus import Corpus, read_corpus
from funnelling.errors import InputError
from funnelling.evaluation.comparison import Comparison
from funnelling.evaluation.curves import run_comparison
from funnelling.evaluation.splits import Trial, settle, trial_split
from funnelling.evaluation.splits import hold_out as held_out
from funnelling.methods.learning import Method
from funnelling.methods.registry import (
    DEFAULT_COMPARISON,
    DEFAULT_XMC_METHOD,
    make_method,
    name_of,
    parse_methods,
)

if TYPE_CHECKING:
    from pandas import DataFrame

# Pairs of training document and label that the usual methods learn in minutes
MAX_AFFORDABLE_PAIRS = 20_000_000


def usual_methods(trials: Sequence[Trial]) -> tuple[list[str], list[str]]:
    """The methods that are worth a comparison, and a line on them where there are many labels.

    Beside the one that is made for many labels there is Naive, as long as its classifiers can be afforded.
    """
    labels = max(len(trial.train.label_set()) for trial in trials)
    if labels <= matrices.XMC_MIN_LABELS:
        return list(DEFAULT_COMPARISON), []
    cells = labels * max(len(trial.train) for trial in trials)
    names = (
        [DEFAULT_XMC_METHOD] if cells > MAX_AFFORDABLE_PAIRS else [DEFAULT_COMPARISON[0], DEFAULT_XMC_METHOD]
    )
    return names, [f"{labels:,} labels: comparing {' and '.join(names)}. --methods names others."]


class ComparisonResult(dict[str, Any]):
    """What `compare` returns: the object that ``compare --json`` prints."""

    def to_frame(self) -> "DataFrame":
        """A table of pandas with the averages over languages: a row per method, best first."""
        from funnelling.formats.frames import as_frame

        rows = [
            {"method": name, **method["average"], "fit_seconds": method["fit_seconds"]}
            for name, method in self["methods"].items()
        ]
        return as_frame(rows, ["method"])


def compare(
    data: Corpus | str | os.PathLike[str],
    methods: str | Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    fractions: Sequence[float] = (),
    hold_out: Sequence[str] = (),
    runs: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> ComparisonResult:
    """Compare methods on documents: on their test split, or on 30 % of each language drawn by seed.

    Parameters
    ----------
    data : a `Corpus`, or a file of documents
    methods : names such as "naive,fun-auto", a list of names and unfitted estimators, or a dict of them by
        names to show; None for naive, words-and-characters, fun-tat and fun-auto
    fractions : shares of the training documents to evaluate at, too
    hold_out : languages to train without, and to evaluate on alone
    runs : trials, each with other test documents
    random_state : seed of splits, and of methods that state none
    n_jobs : threads of methods given by name, as `FunnellingClassifier` has them

    Examples
    --------
    >>> from funnelling import read_sample
    >>> from funnelling.research import NaiveClassifier
    >>> result = compare(read_sample(), {"naive": NaiveClassifier(C=1), "fun-tat": "fun-tat"})
    >>> list(result["methods"]), round(result["methods"]["fun-tat"]["average"]["micro_f1"], 2)
    (['fun-tat', 'naive'], 0.63)
    """
    corpus = data if isinstance(data, Corpus) else read_corpus(data)
    trials = [trial_split(corpus, run, random_state) for run in range(runs)]
    if hold_out:
        trials = [held_out(trial, hold_out) for trial in trials]
    trials, _ = settle(trials)
    chosen = usual_methods(trials)[0] if methods is None else methods
    makers = _makers(chosen, n_jobs)
    return ComparisonResult(run_comparison(Comparison(trials, makers, random_state), fractions))


def _makers(methods: str | Sequence[Any] | Mapping[str, Any], jobs: int | None) -> dict[str, Any]:
    """What makes each method from a seed, by its name; names and estimators may stand for methods."""
    if isinstance(methods, str):
        methods = parse_methods(methods)
    if not isinstance(methods, Mapping):
        named = [
            (each if isinstance(each, str) else name_of(each.algorithm, each.parameters), each)
            for each in methods
        ]
        if len({name for name, _ in named}) < len(named):
            raise InputError("two methods have the same name. Give a dict from names to methods.")
        methods = dict(named)
    return {name: partial(_method, each, jobs) for name, each in methods.items()}


def _method(given: Any, jobs: int | None, seed: int) -> Method:
    if isinstance(given, str):
        return make_method(given, seed=seed, jobs=jobs)
    if not hasattr(given, "algorithm"):
        raise InputError(f"{given!r} is none of funnelling's estimators. compare takes these and names.")
    method = Method.of(given)
    return method if method.parameters.random_state is not None else method.under(random_state=seed)
