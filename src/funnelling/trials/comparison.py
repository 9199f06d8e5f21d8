"""Methods against each other, over trials, every result kept as it is found."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.counts import Counts
from funnelling.evaluation.language_averages import measure_languages
from funnelling.evaluation.measures.f1 import f1
from funnelling.evaluation.registry import PAPER_MEASURES
from funnelling.evaluation.reliability import calibration_error, reliability
from funnelling.evaluation.significance import significance
from funnelling.text.languages import is_served
from funnelling.text.words import analyser
from funnelling.trials.pieces import Pieces, Result, corpus_digest
from funnelling.trials.splits import Trial, learnable, outer_folds

if TYPE_CHECKING:
    import numpy.typing as npt

    from funnelling.method import Method

EXAMPLES = (1, 3, 10, 30, 100, 300, 1_000)  # where the ranges of numbers of training documents begin


def fit_method(method: "Method", train: Corpus) -> "Method":
    """Fit a method on the documents of a corpus, groups kept together."""
    groups = train.groups if any(train.groups) else None
    return method.fit(train.texts, train.labels, languages=train.languages, groups=groups, ids=train.ids)


def learned_from(method: "Method", trial: Trial) -> Corpus:
    """A trial's training documents, with their further versions where a method may read those."""
    if not method.reads_parallel:
        return trial.train
    return Corpus.from_documents([*trial.train, *trial.parallel])


def served(corpus: Corpus, method: "Method") -> "npt.NDArray[np.bool_]":
    """Which documents are in a language that a fitted method can label."""
    serves = {language: method.serves(language) for language in corpus.by_language()}
    return np.array([serves[str(language)] for language in corpus.languages], dtype=bool)


def measure_method(method: "Method", test: Corpus, classes: Sequence[str] | None = None) -> Result:
    """The measures of a fitted method on labelled documents, by language and averaged.

    Macro averages run over ``classes``, or the labels the method was trained on; what test documents have
    beside them is dropped, and counted as ``unknown_labels``.
    """
    predicted = _indicators(method, method.predict(test.texts, languages=test.languages))
    known = [str(label) for label in method.classes_]
    if classes is None:
        return measure_labels(test, predicted, known)
    return measure_labels(test, predicted[:, [known.index(label) for label in classes]], classes)


def measure_in_full(method: "Method", test: Corpus) -> Result:
    """The same, with what diagrams show: probabilities against frequencies, and each label's counts."""
    predicted, probabilities = method.classify(test.texts, languages=test.languages)
    classes = [str(label) for label in method.classes_]
    return _in_full(test, _indicators(method, predicted), probabilities, classes)


def _in_full(test: Corpus, decided: Any, probabilities: Any, classes: Sequence[str]) -> Result:
    truth = test.label_matrix(classes)
    counts = Counts.of(truth, decided)
    return {
        **measure_labels(test, decided, classes),
        "reliability": reliability(truth, probabilities).tolist(),
        "counts": [column.tolist() for column in (counts.tp, counts.fp, counts.fn)],
    }


def _indicators(method: "Method", predicted: Any) -> Any:
    return predicted[:, None] == method.classes_ if method.exclusive_ else predicted


def measure_labels(test: Corpus, predicted: Any, classes: Sequence[str]) -> Result:
    """The measures of decisions on labelled documents, a column a class."""
    result: Result = dict(measure_languages(test.label_matrix(classes), predicted, test.languages))
    result["unknown_labels"] = len(set(test.label_set()) - set(classes))
    return result


def measure_rejector(train: Corpus, test: Corpus) -> Result:
    """What a classifier scores that never assigns a label: the floor of macro averages."""
    classes = train.label_set()
    return measure_labels(test, np.zeros((len(test), len(classes)), dtype=bool), classes)


def cross_validate(
    make: Callable[[], "Method"], corpus: Corpus, folds: int = 5, seed: int = 0
) -> Result | None:
    """Honest measures without test documents: each fold is predicted by a method that never saw it.

    Everything is refitted on the other folds: vocabulary, base classifiers, calibration, tier 2. Documents
    whose language that method cannot label are left out. None where there are too few documents for any fold.
    """
    classes = corpus.label_set()
    assigned = outer_folds(corpus, folds, seed)
    predicted = np.zeros((len(corpus), len(classes)), dtype=bool)
    probabilities = np.zeros((len(corpus), len(classes)))
    measured = np.zeros(len(corpus), dtype=bool)
    for fold in np.unique(assigned):
        train, rows = corpus.select(assigned != fold), np.flatnonzero(assigned == fold)
        if not learnable(train):
            continue
        method = fit_method(make(), train)
        rows = rows[served(corpus.select(rows), method)]
        if not len(rows):
            continue
        test = corpus.select(rows)
        columns = np.array([classes.index(label) for label in method.classes_])
        found = method.classify(test.texts, languages=test.languages)
        predicted[np.ix_(rows, columns)], probabilities[np.ix_(rows, columns)] = found
        measured[rows] = True
    if not measured.any():
        return None
    return measures_of(
        _in_full(corpus.select(measured), predicted[measured], probabilities[measured], classes)
    )


@dataclass
class Comparison:
    """Several methods on the same trials.

    ``makers`` build an unfitted method of a name from the ``seed`` of a trial. ``pieces``
    keep each result as it is found: a comparison that was interrupted goes on where it stopped, and
    one with other documents, seed or ``settings`` of a method finds nothing there to reuse.

    A method leaves out of training the languages it has no resources for, and all are measured on the
    languages that all of them can label; UpperBound, which is no rival, on English.
    """

    trials: Sequence[Trial]
    makers: Mapping[str, Callable[..., "Method"]]
    seed: int = 0
    pieces: Pieces = field(default_factory=Pieces)
    settings: Mapping[str, Any] = field(default_factory=dict)
    tell: Callable[[str], object] = lambda _line: None

    def run(self) -> Result:
        """Fit and measure whatever is not kept, and sum it up."""
        return compared(*self.results())

    def results(self) -> tuple[dict[str, list[Result]], list[Result]]:
        """The results of each method and of the rejector, trial by trial."""
        names = self._able()
        found: dict[str, list[Result]] = {name: [] for name in names}
        rejector: list[Result] = []
        for number, trial in enumerate(self.trials):
            tests = self._tests(names, trial)
            rejector.append(measure_rejector(trial.train, next(iter(tests.values()))))
            train, parallel = corpus_digest(trial.train), corpus_digest(trial.parallel)
            digests = {id(test): [train, corpus_digest(test), parallel] for test in tests.values()}
            for name in names:
                digest = digests[id(tests[name])]
                found[name].append(self._piece(name, number, trial, tests[name], digest))
                self.tell(_told(name, number, len(self.trials), found[name][-1]))
        return found, rejector

    def _able(self) -> list[str]:
        """The methods that can label any language of every trial's test documents."""
        unable = [name for name in self.makers if not all(self._labels(name, trial) for trial in self.trials)]
        if len(unable) == len(self.makers):
            raise InputError(
                f"{', '.join(unable)}: cannot label any language of the test documents. Add training "
                "documents in them, or try pooled or fun-zero-shot."
            )
        if unable:
            self.tell(f"Left out, for they cannot label the languages of the test: {', '.join(unable)}.")
        return [name for name in self.makers if name not in unable]

    def _labels(self, name: str, trial: Trial) -> list[str]:
        """The languages of a trial's test documents that a method can label."""
        method = self.makers[name](seed=self.seed)
        learned = method.usable(list(learned_from(method, trial).by_language()))
        return [
            language
            for language in trial.test.by_language()
            if is_served(language, learned) or method.serves_unseen(language)
        ]

    def _tests(self, names: Sequence[str], trial: Trial) -> dict[str, Corpus]:
        """The test documents of each method: rivals are measured on the same ones."""
        labelled = {name: self._labels(name, trial) for name in names}
        rivals = [name for name in names if not self.makers[name](seed=self.seed).reads_parallel] or names
        common = [tag for tag in labelled[rivals[0]] if all(tag in labelled[name] for name in rivals)]
        if not common:
            raise InputError(f"{', '.join(rivals)}: there is no language that all of them can label.")
        trained = trial.train.by_language()
        for tag in trial.test.by_language():
            unable = ", ".join(name for name in rivals if tag not in labelled[name])
            if unable and is_served(tag, trained):
                self.tell(f"Not measured: {tag}, which {unable} cannot label, for want of resources.")
            elif unable:
                self.tell(f"Not measured: {tag}, which {unable} cannot label without training documents.")
        shared = _in_languages(trial.test, common)
        others = [name for name in names if name not in rivals]
        return dict.fromkeys(rivals, shared) | {
            name: _in_languages(trial.test, labelled[name]) for name in others
        }

    def _piece(self, name: str, number: int, trial: Trial, test: Corpus, sides: list[str]) -> Result:
        return self.pieces.get(
            f"{name}-{number}",
            [name, number, self.seed, self.settings.get(name), sides],
            lambda: fit_and_measure(self.makers[name](seed=self.seed + number), trial, test),
        )


def _in_languages(corpus: Corpus, languages: Sequence[str]) -> Corpus:
    return corpus.select([tag in languages for tag in corpus.languages])


def fit_and_measure(method: "Method", trial: Trial, test: Corpus) -> Result:
    """Fit a method on a trial's training documents, measure it on test documents, and clock both."""
    train = learned_from(method, trial)
    # Words are reduced to lemmas once a process: the first method must not be clocked for all.
    for corpus in (train, test):
        for text, language in zip(corpus.texts, corpus.languages, strict=True):
            analyser(language)(text)
    start = time.perf_counter()
    fit_method(method, train)
    fitted = time.perf_counter()
    result = measure_in_full(method, test)
    predicted = time.perf_counter()
    classes = [str(label) for label in method.classes_]
    result["examples"] = [int(count) for count in trial.train.label_matrix(classes).sum(axis=0)]
    result["C"] = method.final_c()
    return {**result, "fit_seconds": fitted - start, "predict_seconds": predicted - fitted}


def measures_of(result: Result) -> Result:
    """What a model's card tells of a full result: the measures, the calibration error and the recall."""
    right, _, missed = (sum(column) for column in result["counts"])
    return {
        **{key: result[key] for key in ("average", "languages", "unknown_labels")},
        "calibration_error": calibration_error(result["reliability"]),
        "recall": right / max(1, right + missed),
    }


def compared(found: Mapping[str, Sequence[Result]], rejector: Sequence[Result]) -> Result:
    """The results of several methods over the same trials, summed up."""
    return {
        "methods": {name: summarise(results) for name, results in found.items()},
        "significance": {
            measure: significance({name: _pairs(results, measure) for name, results in found.items()})
            for measure in PAPER_MEASURES
        },
        "rejector": {"average": summarise(rejector)["average"]},
        "unknown_labels": rejector[0]["unknown_labels"],
    }


def summarise(results: Sequence[Result]) -> Result:
    """Means over trials; ``deviation`` over trials of the means, ``language_deviation`` over languages."""
    averages = {m: np.array([result["average"][m] for result in results]) for m in results[0]["average"]}
    by_language: dict[str, list[dict[str, float]]] = {}
    for result in results:
        for language, values in result["languages"].items():
            by_language.setdefault(language, []).append(values)
    languages: dict[str, dict[str, float]] = {
        language: {key: float(np.mean([values[key] for values in trials])) for key in trials[0]}
        for language, trials in sorted(by_language.items())
    }
    for values in languages.values():
        values["documents"] = round(values["documents"])
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
    if "counts" in results[0]:
        summary["reliability"] = _mean_reliability([result["reliability"] for result in results])
        summary["f1_by_examples"] = _f1_by_examples(results)
    return summary


def _mean_reliability(trials: Sequence[Sequence[Sequence[float]]]) -> list[list[float]]:
    """The bins of all trials: pairs, mean probability and share of positives of those that have any."""
    pairs, expected, found = np.array(trials, dtype=float).sum(axis=0).T
    filled = pairs > 0
    table: list[list[float]] = np.column_stack([pairs, expected / pairs.clip(1), found / pairs.clip(1)])[
        filled
    ].tolist()
    return table


def _f1_by_examples(results: Sequence[Result]) -> list[list[float]]:
    """Mean F1 of the labels by their number of training documents: from, labels, mean number, mean F1."""
    examples = np.concatenate([result["examples"] for result in results])
    counts = np.concatenate([np.array(result["counts"]).T for result in results])
    tested = counts[:, 0] + counts[:, 2] > 0
    scores = f1(*counts.T)
    rows = []
    for start, end in pairwise((*EXAMPLES, np.inf)):
        inside = tested & (examples >= start) & (examples < end)
        if inside.any():
            rows.append(
                [start, int(inside.sum()), float(examples[inside].mean()), float(scores[inside].mean())]
            )
    return rows


def _pairs(results: Sequence[Result], measure: str) -> list[float]:
    return [values[measure] for result in results for _, values in sorted(result["languages"].items())]


def _told(name: str, trial: int, trials: int, result: Result) -> str:
    scores = " ".join(f"{result['average'][measure]:.3f}" for measure in PAPER_MEASURES)
    return f"trial {trial + 1}/{trials} {name}: {scores} (fit {result['fit_seconds']:.1f} s)"
