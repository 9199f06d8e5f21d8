"""Methods against each other, over trials, every result kept as it comes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.registry import main_measures
from funnelling.runtime.messages import Reporter, silent
from funnelling.text.languages import is_served
from funnelling.trials.fitting import fit_and_measure, training_documents
from funnelling.trials.measuring import measure_floor
from funnelling.trials.pieces import Pieces, Result, corpus_digest
from funnelling.trials.splits import Trial
from funnelling.trials.summary import summarise_methods

if TYPE_CHECKING:
    from funnelling.method.base import Method


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
    pieces: Pieces = field(default_factory=Pieces)
    settings: Mapping[str, Any] = field(default_factory=dict)
    report: Reporter = silent

    def run(self) -> Result:
        """Fit and measure whatever is not kept, and sum it up."""
        return summarise_methods(*self.results(), self.seed)

    def results(self) -> tuple[dict[str, list[Result]], list[Result], list[Corpus]]:
        """The results of each method and of the floor, and the test documents of rivals, trial by trial."""
        names = self._able()
        results: dict[str, list[Result]] = {name: [] for name in names}
        floor: list[Result] = []
        measured_on: list[Corpus] = []
        for number, trial in enumerate(self.trials):
            tests = self._tests(names, trial)
            measured_on.append(next(iter(tests.values())))
            floor.append(measure_floor(trial.train, measured_on[-1]))
            train, parallel = corpus_digest(trial.train), corpus_digest(trial.parallel)
            digests = {id(test): [train, corpus_digest(test), parallel] for test in tests.values()}
            for name in names:
                result = self._piece(name, number, trial, tests[name], digests[id(tests[name])])
                results[name].append(result)
                self.report(_result_line(name, number, len(self.trials), result))
        return results, floor, measured_on

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
        usable = method.usable(list(training_documents(method, trial).by_language()))
        return [
            language
            for language in trial.test.by_language()
            if is_served(language, usable) or method.serves_unseen(language)
        ]

    def _tests(self, names: Sequence[str], trial: Trial) -> dict[str, Corpus]:
        """The test documents of each method: rivals are measured on the same ones."""
        servable = {name: self._servable_languages(name, trial) for name in names}
        rivals = [name for name in names if not self.makers[name](seed=self.seed).reads_parallel] or names
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
            lambda: fit_and_measure(self.makers[name](seed=self.seed + number), trial, test),
        )


def _in_languages(corpus: Corpus, languages: Sequence[str]) -> Corpus:
    return corpus.select([tag in languages for tag in corpus.languages])


def _result_line(name: str, trial: int, trials: int, result: Result) -> str:
    average = result["average"]
    scores = " ".join(f"{average[measure]:.3f}" for measure in main_measures(average))
    return f"trial {trial + 1}/{trials} {name}: {scores} (fit {result['fit_seconds']:.1f} s)"
