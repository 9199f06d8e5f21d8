"""Methods against each other, over trials, every result kept as it is found."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from funnelling.corpus import Corpus
from funnelling.evaluation.measures import measure_languages
from funnelling.evaluation.significance import significance
from funnelling.evaluation.splits import known_languages, outer_folds, trial_split
from funnelling.formats.files import writing
from funnelling.method import Method

MEASURES = ("micro_f1", "macro_f1", "micro_k", "macro_k")

Result = dict[str, Any]


def fit_method(method: Method, train: Corpus) -> Method:
    """Fit a method on the documents of a corpus, groups kept together."""
    groups = train.groups if any(train.groups) else None
    return method.fit(train.texts, train.labels, languages=train.languages, groups=groups)


def measure_method(method: Method, test: Corpus) -> Result:
    """The measures of a fitted method on labelled documents, by language and averaged.

    Macro averages run over the labels the method was trained on; what test documents have beside them
    is dropped, and counted as ``unknown_labels``.
    """
    predicted = method.predict(test.texts, languages=test.languages)
    return _measured(test, predicted, [str(label) for label in method.classes_])


def _measured(test: Corpus, predicted: Any, classes: Sequence[str]) -> Result:
    result: Result = dict(measure_languages(test.label_matrix(classes), predicted, _languages(test)))
    result["unknown_labels"] = len(set(test.label_set()) - set(classes))
    return result


def measure_rejector(train: Corpus, test: Corpus) -> Result:
    """What a classifier scores that never assigns a label: the floor of macro averages."""
    classes = train.label_set()
    return _measured(test, np.zeros((len(test), len(classes)), dtype=bool), classes)


def cross_validate(make: Callable[[], Method], corpus: Corpus, folds: int = 5, seed: int = 0) -> Result:
    """Honest measures without test documents: each fold is predicted by a method that never saw it.

    Everything is refitted on the other folds: vocabulary, base classifiers, calibration, tier 2.
    """
    classes = corpus.label_set()
    assigned = outer_folds(corpus, folds, seed)
    predicted = np.zeros((len(corpus), len(classes)), dtype=bool)
    measured = np.zeros(len(corpus), dtype=bool)
    for fold in np.unique(assigned):
        train, test = corpus.select(assigned != fold), np.flatnonzero(assigned == fold)
        test = test[known_languages(corpus.select(test), sorted(set(_languages(train))))]
        held_out = corpus.select(test)
        method = fit_method(make(), train)
        columns = np.array([classes.index(label) for label in method.classes_])
        predicted[np.ix_(test, columns)] = method.predict(held_out.texts, languages=held_out.languages)
        measured[test] = True
    return _measured(corpus.select(measured), predicted[measured], classes)


def _languages(corpus: Corpus) -> list[str]:
    return [str(language) for language in corpus.languages]


@dataclass
class Comparison:
    """Several methods on several trials of one or more corpora.

    ``makers`` build an unfitted method from its name and the trial's seed. ``store`` is a folder that
    keeps each result as it is found: a comparison that was interrupted goes on where it stopped, and
    one with other data, settings or seed finds nothing there to reuse. ``settings`` is whatever else
    a result depends on.
    """

    corpora: Sequence[Corpus]
    makers: Mapping[str, Callable[[int], Method]]
    runs: int = 1
    seed: int = 0
    store: Path | None = None
    settings: Mapping[str, Any] | None = None
    tell: Callable[[str], object] = lambda _line: None

    def run(self) -> Result:
        """Fit and measure whatever the store does not have, and sum it up."""
        trials = [(corpus, run) for corpus in self.corpora for run in range(self.runs)]
        found: dict[str, list[Result]] = {name: [] for name in self.makers}
        rejector: list[Result] = []
        for number, (corpus, run) in enumerate(trials):
            train, test = trial_split(corpus, run, self.seed)
            test = self._covered(train, test)
            rejector.append(measure_rejector(train, test))
            for name in self.makers:
                found[name].append(self._piece(name, number, train, test))
                self.tell(_told(name, number, len(trials), found[name][-1]))
        return {
            "methods": {name: summarise(results) for name, results in found.items()},
            "significance": {
                measure: significance({name: _pairs(results, measure) for name, results in found.items()})
                for measure in MEASURES
            },
            "rejector": {"average": summarise(rejector)["average"]},
            "unknown_labels": rejector[0]["unknown_labels"],
        }

    def _covered(self, train: Corpus, test: Corpus) -> Corpus:
        known = known_languages(test, sorted(set(_languages(train))))
        if not known.all():
            without = sorted({_languages(test)[row] for row in np.flatnonzero(~known)})
            self.tell(f"left out, for training has no documents in them: {', '.join(without)}")
        return test.select(known)

    def _piece(self, name: str, trial: int, train: Corpus, test: Corpus) -> Result:
        if self.store is None:
            return self._fit_and_measure(name, trial, train, test)
        key = _digest([train, test], [name, trial, self.seed, self.settings, version("funnelling")])
        path = self.store / "trials" / f"{name}-{trial}-{key[:16]}.json"
        if path.is_file():
            kept: Result = json.loads(path.read_text(encoding="utf-8"))
            return kept
        result = self._fit_and_measure(name, trial, train, test)
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path, force=True) as stream:
            json.dump(result, stream)
        return result

    def _fit_and_measure(self, name: str, trial: int, train: Corpus, test: Corpus) -> Result:
        method = self.makers[name](self.seed + trial)
        start = time.perf_counter()
        fit_method(method, train)
        fitted = time.perf_counter()
        result = measure_method(method, test)
        return {**result, "fit_seconds": fitted - start, "predict_seconds": time.perf_counter() - fitted}


def summarise(results: Sequence[Result]) -> Result:
    """Means over trials; ``deviation`` over trials of the means, ``language_deviation`` over languages."""
    averages = {m: np.array([result["average"][m] for result in results]) for m in results[0]["average"]}
    by_language: dict[str, list[dict[str, float]]] = {}
    for result in results:
        for language, values in result["languages"].items():
            by_language.setdefault(language, []).append(values)
    languages = {
        language: {key: float(np.mean([values[key] for values in trials])) for key in trials[0]}
        for language, trials in sorted(by_language.items())
    }
    summary: Result = {
        "average": {measure: float(values.mean()) for measure, values in averages.items()},
        "deviation": {m: float(v.std(ddof=1)) for m, v in averages.items()} if len(results) > 1 else None,
        "language_deviation": {
            measure: float(np.std([values[measure] for values in languages.values()], ddof=1))
            if len(languages) > 1
            else None
            for measure in averages
        },
        "languages": languages,
        "runs": len(results),
    }
    for seconds in ("fit_seconds", "predict_seconds"):
        if seconds in results[0]:
            summary[seconds] = float(np.mean([result[seconds] for result in results]))
    return summary


def _pairs(results: Sequence[Result], measure: str) -> list[float]:
    return [values[measure] for result in results for _, values in sorted(result["languages"].items())]


def _told(name: str, trial: int, trials: int, result: Result) -> str:
    scores = " ".join(f"{result['average'][measure]:.3f}" for measure in MEASURES)
    return f"trial {trial + 1}/{trials} {name}: {scores} (fit {result['fit_seconds']:.1f} s)"


def _digest(corpora: Sequence[Corpus], settings: Any) -> str:
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for corpus in corpora:
        for document in corpus:
            digest.update(repr(document).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
