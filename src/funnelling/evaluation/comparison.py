"""Methods against each other, over trials: every result kept as it comes; means, deviations and tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.fitting import fit_and_measure, training_documents
from funnelling.evaluation.labels import added
from funnelling.evaluation.measures import f1
from funnelling.evaluation.measuring import StoredDecisions, evaluate_dummies, truth_of
from funnelling.evaluation.pieces import Result, ResultCache, corpus_digest
from funnelling.evaluation.ranking import Shares
from funnelling.evaluation.registry import (
    MEASURE_TITLES,
    RANKED_MEASURES,
    is_of_one_label,
    main_measures,
    measures_to_test_by,
    shown_measures,
    weighted_mean,
)
from funnelling.evaluation.significance import (
    ComparedDecisions,
    Pair,
    paired_p,
    randomisation,
    rivals_of,
    significance,
)
from funnelling.evaluation.splits import Trial
from funnelling.runtime.messages import Reporter, silent
from funnelling.text.languages import is_served

if TYPE_CHECKING:
    from funnelling.methods.learning import Method


EXAMPLE_RANGES = (1, 3, 10, 30, 100, 300, 1_000)  # where the ranges of numbers of training documents begin


def summarise_methods(
    methods: Mapping[str, Sequence[Result]],
    dummies: Sequence[Result],
    tests: Sequence[Corpus] = (),
    seed: int = 0,
) -> Result:
    """The results of several methods, and of `evaluate_dummies`, over the same trials: what `compare` prints.

    ``best`` names the method with the best average of each measure, and ``p_value`` of each other method is
    that of its difference from the best; None where it is not tested.

    ``tests`` are the documents that rivals were measured on, trial by trial. The ``p_groups`` of a pair,
    which ``seed`` draws for, is None without them, and where results hold no decisions, as older ones do not.
    """
    averages = [result["average"] for results in (dummies, *methods.values()) for result in results]
    measures = measures_to_test_by(set.intersection(*map(set, averages)))
    summaries = {name: summarise_trials(results) for name, results in methods.items()}
    scores = {
        measure: {name: _paired_scores(results, measure) for name, results in methods.items()}
        for measure in measures
    }
    rivals = rivals_of(methods)
    over_groups = p_over_groups({name: methods[name] for name in rivals}, tests, measures, seed)
    constant = "most_frequent" if is_of_one_label(measures) else "assigns_nothing"
    against_best = {measure: significance(scores[measure]) for measure in measures}
    for name, summary in summaries.items():
        summary["p_value"] = {measure: test["p"].get(name) for measure, test in against_best.items()}
    return {
        "methods": summaries,
        "best": {measure: test["best"] for measure, test in against_best.items()},
        "pairs": {
            measure: [
                {
                    "a": a,
                    "b": b,
                    "difference": summaries[a]["average"][measure] - summaries[b]["average"][measure],
                    "p": paired_p(scores[measure][a], scores[measure][b]),
                    "p_groups": over_groups[measure].get((a, b)),
                }
                for a, b in combinations(rivals, 2)
            ]
            for measure in measures
        },
        "dummy": {constant: {key: summarise_trials(dummies)[key] for key in ("average", "weighted")}},
        "unknown_labels": dummies[0]["unknown_labels"],
    }


def best_first(result: Result) -> Result:
    """A comparison whose methods are in the order of the first measure."""
    methods = result["methods"]
    measure = main_measures(set.intersection(*(set(method["average"]) for method in methods.values())))[0]
    order = sorted(methods, key=lambda name: -methods[name]["average"][measure])
    return {**result, "methods": {name: methods[name] for name in order}}


def summarise_trials(results: Sequence[Result]) -> Result:
    """The results of one method over trials: means, and two deviations, of the measures that all trials have.

    ``average`` is the plain mean over languages, ``weighted`` that by their numbers of documents.
    ``deviation`` is that of the mean over languages, from trial to trial, None for one trial;
    ``language_deviation`` is that of the mean over trials, from language to language.
    """
    measures = [m for m in results[0]["average"] if all(m in result["average"] for result in results)]
    averages = {m: np.array([result["average"][m] for result in results]) for m in measures}
    weighted = [weighted_mean(result["languages"]) for result in results]
    by_language: dict[str, list[dict[str, float]]] = {}
    for result in results:
        for language, values in result["languages"].items():
            by_language.setdefault(language, []).append(values)
    languages: dict[str, dict[str, float]] = {
        language: {
            key: float(np.mean([values[key] for values in trials])) for key in (*measures, "documents")
        }
        for language, trials in sorted(by_language.items())
    }
    for values in languages.values():
        values["documents"] = round(values["documents"])
    summary: Result = {
        "average": {measure: float(values.mean()) for measure, values in averages.items()},
        "weighted": {m: float(np.mean([values[m] for values in weighted])) for m in measures},
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
    if "confusion" in results[0]:
        summary["confusion"] = added(result["confusion"] for result in results)
    return summary


def _mean_reliability(trials: Sequence[Sequence[Sequence[float]]]) -> list[list[float]]:
    """The bins of all trials: pairs, mean probability and share of positives of those that have any."""
    pairs, expected, positives = np.array(trials, dtype=float).sum(axis=0).T
    bins = np.column_stack([pairs, expected / pairs.clip(1), positives / pairs.clip(1)])
    table: list[list[float]] = bins[pairs > 0].tolist()
    return table


def _f1_by_examples(results: Sequence[Result]) -> list[list[float]]:
    """Mean F1 of the labels by their number of training documents: from, labels, mean number, mean F1."""
    examples = np.concatenate([result["examples"] for result in results])
    counts = np.concatenate([np.array(result["counts"]).T for result in results])
    in_test = counts[:, 0] + counts[:, 2] > 0
    scores = f1(*counts.T)
    rows = []
    for start, end in pairwise((*EXAMPLE_RANGES, np.inf)):
        inside = in_test & (examples >= start) & (examples < end)
        if inside.any():
            rows.append(
                [start, int(inside.sum()), float(examples[inside].mean()), float(scores[inside].mean())]
            )
    return rows


def _paired_scores(results: Sequence[Result], measure: str) -> list[float]:
    """A measure of each language in each trial, in an order that methods share: the t-test pairs them."""
    return [values[measure] for result in results for _, values in sorted(result["languages"].items())]


def p_over_groups(
    methods: Mapping[str, Sequence[Result]], tests: Sequence[Corpus], measures: Sequence[str], seed: int
) -> dict[str, dict[Pair, float]]:
    """The p of `randomisation` for each pair of methods whose results hold decisions on these documents.

    Documents of a group are swapped together; one without a group by itself, wherever its id occurs.
    """
    ranked = {measure for measure in measures if measure in RANKED_MEASURES}
    kept = {
        name: results
        for name, results in methods.items()
        if all("decisions" in result and ranked <= set(result.get("ranked", ())) for result in results)
    }
    if len(kept) < 2:
        return {measure: {} for measure in measures}
    trials = (
        _decided(test, {name: kept[name][number] for name in kept}, is_of_one_label(measures))
        for number, test in enumerate(tests)
    )
    return randomisation(trials, measures, seed)


def _decided(test: Corpus, methods: Mapping[str, Result], one_label: bool) -> ComparedDecisions:
    """The decisions of several methods on the same documents, with columns for all labels any of them knows.

    With ``one_label`` there are columns for those that none knows too: a document of theirs is never right.
    """
    kept: dict[str, StoredDecisions] = {name: result["decisions"] for name, result in methods.items()}
    known = sorted({label for decisions in kept.values() for label in decisions["classes"]})
    unknown = sorted(set(test.label_set()) - set(known)) if one_label else []
    place = {label: column for column, label in enumerate(known)}
    columns = {
        name: np.array([place[label] for label in decisions["classes"]], dtype=np.intp)
        for name, decisions in kept.items()
    }
    labels = [*known, *unknown]
    return ComparedDecisions(
        truth=truth_of(test, labels),
        given={name: decision_matrix(decisions, labels) for name, decisions in kept.items()},
        known={
            # A slice copies nothing, and most methods know all labels.
            name: slice(len(known)) if len(own) == len(known) else own.tolist()
            for name, own in columns.items()
        },
        languages=[str(language) for language in test.languages],
        units=[
            ("document", name) if group is None else ("group", group)
            for name, group in zip(test.ids, test.groups, strict=True)
        ],
        ranked={
            name: {measure: Shares(*np.array(shares)) for measure, shares in result.get("ranked", {}).items()}
            for name, result in methods.items()
        },
    )


def decision_matrix(decisions: StoredDecisions, labels: Sequence[str]) -> sparse.csr_array:
    """Documents by ``labels``, which those that the method knows are among."""
    place = {label: column for column, label in enumerate(labels)}
    columns = np.array([place[label] for label in decisions["classes"]], dtype=np.intp)
    given, width = decisions["given"], len(labels)
    positions = np.fromiter(chain.from_iterable(given), dtype=np.intp)
    starts = np.cumsum([0, *map(len, given)])
    ones = np.ones(len(positions), dtype=bool)
    return sparse.csr_array((ones, columns[positions], starts), shape=(len(given), width))


@dataclass
class Comparison:
    """Several methods on the same trials.

    ``makers`` build an unfitted method of a name from the ``seed`` of a trial. ``pieces`` keep each
    result as it comes: a comparison that was interrupted goes on where it stopped, and one with other
    documents, another seed or other ``settings`` of a method finds nothing there to reuse. ``report``
    gets one line per result, and one for whatever is left out.

    A method leaves out of training the languages it has no resources for, and all are measured on the
    languages that all of them can label; UpperBound, which is no rival, on English.
    """

    trials: Sequence[Trial]
    makers: Mapping[str, Callable[..., "Method"]]
    seed: int = 0
    pieces: ResultCache = field(default_factory=ResultCache)
    settings: Mapping[str, Any] = field(default_factory=dict)
    report: Reporter = silent

    def run(self) -> Result:
        """Fit and measure whatever is not kept, and sum it up."""
        return summarise_methods(*self.results(), self.seed)

    def results(self) -> tuple[dict[str, list[Result]], list[Result], list[Corpus]]:
        """The results of each method and of the dummies, and the test documents of rivals, trial by trial."""
        names = self._able()
        results: dict[str, list[Result]] = {name: [] for name in names}
        dummies: list[Result] = []
        measured_on: list[Corpus] = []
        for number, trial in enumerate(self.trials):
            tests = self._tests(names, trial)
            measured_on.append(next(iter(tests.values())))
            dummies.append(evaluate_dummies(trial.train, measured_on[-1]))
            train, parallel = corpus_digest(trial.train), corpus_digest(trial.parallel)
            digests = {id(test): [train, corpus_digest(test), parallel] for test in tests.values()}
            for name in names:
                result = self._piece(name, number, trial, tests[name], digests[id(tests[name])])
                results[name].append(result)
                self.report(_result_line(name, number, len(self.trials), result))
        return results, dummies, measured_on

    def _able(self) -> list[str]:
        """The methods that can label any language of every trial's test documents."""
        unable = [
            name
            for name in self.makers
            if not all(self._servable_languages(name, trial) for trial in self.trials)
        ]
        if len(unable) == len(self.makers):
            raise InputError(
                f"{', '.join(unable)}: cannot label any language of the test documents. Add training "
                "documents in them, or try pooled or fun-zero-shot."
            )
        if unable:
            self.report(f"Left out, for they cannot label the languages of the test: {', '.join(unable)}.")
        return [name for name in self.makers if name not in unable]

    def _servable_languages(self, name: str, trial: Trial) -> list[str]:
        """The languages of a trial's test documents that a method can label."""
        method = self.makers[name](seed=self.seed)
        algorithm, parameters = method.algorithm, method.parameters
        usable = algorithm.usable(parameters, list(training_documents(method, trial).by_language()))
        return [
            language
            for language in trial.test.by_language()
            if is_served(language, usable) or algorithm.serves_unseen(parameters, language)
        ]

    def _tests(self, names: Sequence[str], trial: Trial) -> dict[str, Corpus]:
        """The test documents of each method: rivals are measured on the same ones."""
        servable = {name: self._servable_languages(name, trial) for name in names}
        rivals = [
            name for name in names if not self.makers[name](seed=self.seed).algorithm.reads_parallel
        ] or names
        common = [tag for tag in servable[rivals[0]] if all(tag in servable[name] for name in rivals)]
        if not common:
            raise InputError(f"{', '.join(rivals)}: there is no language that all of them can label.")
        training_languages = trial.train.by_language()
        for tag in trial.test.by_language():
            unable = ", ".join(name for name in rivals if tag not in servable[name])
            if unable and is_served(tag, training_languages):
                self.report(f"Not measured: {tag}, which {unable} cannot label, for want of resources.")
            elif unable:
                self.report(f"Not measured: {tag}, which {unable} cannot label without training documents.")
        shared = _in_languages(trial.test, common)
        others = [name for name in names if name not in rivals]
        return dict.fromkeys(rivals, shared) | {
            name: _in_languages(trial.test, servable[name]) for name in others
        }

    def _piece(self, name: str, number: int, trial: Trial, test: Corpus, digests: list[str]) -> Result:
        return self.pieces.get(
            f"{name}-{number}",
            [name, number, self.seed, self.settings.get(name), digests],
            lambda: fit_and_measure(self.makers[name](seed=self.seed + number), trial, test)[1],
        )


def _in_languages(corpus: Corpus, languages: Sequence[str]) -> Corpus:
    return corpus.select([tag in languages for tag in corpus.languages])


def _result_line(name: str, trial: int, trials: int, result: Result) -> str:
    average = result["average"]
    scores = ", ".join(f"{MEASURE_TITLES[name]} {average[name]:.3f}" for name in shown_measures(average))
    return f"trial {trial + 1}/{trials} {name}: {scores} (fit {result['fit_seconds']:.1f} s)"
