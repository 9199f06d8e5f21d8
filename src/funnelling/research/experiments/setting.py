"""What an experiment is run on, and where its results are kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from funnelling.evaluation.comparison import Comparison
from funnelling.evaluation.pieces import Result, ResultCache, trial_digest
from funnelling.evaluation.registry import ONE_LABEL_MEASURES, PAPER_MEASURES
from funnelling.evaluation.splits import Trial
from funnelling.funnel.design import FunnelConfig
from funnelling.methods.learning import Method
from funnelling.methods.registry import Settings, make_method
from funnelling.research.experiments.funnels import Funnels
from funnelling.runtime.messages import Reporter, silent

FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)


@dataclass
class ExperimentContext:
    """Trials, methods and their settings; ``pieces`` keep every result as it comes.

    ``marks`` say for each method what its results depend on beside the documents and the seed.
    """

    trials: Sequence[Trial]
    methods: Sequence[str]
    fractions: Sequence[float] = FRACTIONS
    seed: int = 0
    jobs: int | None = None
    pieces: ResultCache = field(default_factory=ResultCache)
    settings: Settings = field(default_factory=dict)
    resources: Mapping[str, Any] = field(default_factory=dict)
    marks: Mapping[str, Any] = field(default_factory=dict)
    report: Reporter = silent
    verbose: int = 0
    _funnels: dict[int, Funnels] = field(default_factory=dict, init=False)
    _results: dict[str, list[Result]] = field(default_factory=dict, init=False)
    _reported: set[str] = field(default_factory=set, init=False)

    def make(self, name: str, seed: int, **parameters: Any) -> Method:
        """An unfitted method by name, with parameters that the experiment is about."""
        method = make_method(
            name,
            seed=seed,
            jobs=self.jobs,
            verbose=self.verbose,
            settings=self.settings,
            resources=self.resources,
        )
        return method.under(**parameters)

    def compare(self, names: Sequence[str], **variants: Mapping[str, Any]) -> Comparison:
        """Methods, and variants of Fun(TAT) by a name of their own, on every trial."""
        makers = {name: partial(self.make, name) for name in names}
        makers |= {name: partial(self.make, "fun-tat", **parameters) for name, parameters in variants.items()}
        marks = {
            name: [self.marks.get(name if name in names else "fun-tat"), variants.get(name)]
            for name in makers
        }
        return Comparison(self.trials, makers, self.seed, self.pieces, marks, self._report_once)

    def _report_once(self, line: str, more: str = "") -> None:
        """Report a line, unless it was before: several experiments read the same results."""
        if line not in self._reported:
            self._reported.add(line)
            self.report(line + more)

    def piece(self, name: str, number: int, key: Any, make: Callable[..., Result], *arguments: Any) -> Result:
        """A result of an experiment on a trial: the one that is kept, or else ``make(*arguments)``."""
        is_kept = True

        def make_and_note() -> Result:
            nonlocal is_kept
            is_kept = False
            return make(*arguments)

        depends_on = [self._digests[number], self.seed + number, self.marks.get("fun-tat"), name, key]
        result = self.pieces.get(f"{name}-{number}", depends_on, make_and_note)
        self._report_once(f"trial {number + 1}/{len(self.trials)} {name}", " (kept)" if is_kept else "")
        return result

    @property
    def one_label(self) -> bool:
        """Whether each document has exactly one label and is given one."""
        return self.trials[0].train.one_label

    @property
    def measures(self) -> Sequence[str]:
        """The measures of figures and tables."""
        return (*ONE_LABEL_MEASURES, *PAPER_MEASURES) if self.one_label else PAPER_MEASURES

    @cached_property
    def languages(self) -> list[str]:
        """The languages that every trial has documents in, to learn from and for test."""
        sides = [set(side.by_language()) for trial in self.trials for side in (trial.train, trial.test)]
        return sorted(set.intersection(*sides))

    def funnels(self, number: int) -> Funnels:
        """A trial's funnels, with the C that it chose; only those of one trial are held."""
        if number not in self._funnels:
            self._funnels.clear()
            design: Any = self.make("fun-tat", self.seed + number).parameters
            self._funnels[number] = Funnels(
                self.trials[number], FunnelConfig.of(design), self.meta_cs()[number], self.seed + number
            )
        return self._funnels[number]

    def results(self, name: str) -> list[Result]:
        """What a method by itself scored, trial by trial."""
        if name not in self._results:
            self._results[name] = self.compare([name]).results()[0][name]
        return self._results[name]

    def meta_cs(self) -> list[float]:
        """Tier 2's C of each trial, chosen once, by Fun(TAT) on all training documents."""
        return [float(result["C"]) for result in self.results("fun-tat")]

    @cached_property
    def _digests(self) -> list[str]:
        return [trial_digest(trial) for trial in self.trials]
