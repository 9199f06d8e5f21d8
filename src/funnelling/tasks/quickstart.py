"""See it work on the embedded corpus: Naive and Fun(TAT) side by side, a model, a report."""

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from funnelling.corpus import Corpus
from funnelling.corpus.reference import read_sample
from funnelling.errors import counted
from funnelling.evaluation.comparison import summarise_methods
from funnelling.evaluation.fitting import fit_and_measure
from funnelling.evaluation.measuring import evaluate_dummies, model_scores
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.splits import Trial, sides_of
from funnelling.formats import write_documents
from funnelling.methods.merging import remember_step
from funnelling.methods.model import FIRST_STEP
from funnelling.methods.registry import make_method
from funnelling.report.comparison import comparison_blocks, comparison_summary, facts
from funnelling.report.content import Report, Section
from funnelling.report.rendering import write_report
from funnelling.runtime.messages import Reporter, silent
from funnelling.storage import save
from funnelling.tasks.measurement import check_new_files

BASELINE, METHOD = "naive", "fun-tat"
EXPLANATION = (
    "Naive is one classifier per language. Fun(TAT) is funnelling: such classifiers, and a second tier that "
    "learns from the documents of all languages."
)


@dataclass
class Quickstart:
    """The first steps, all in one folder.

    Parameters
    ----------
    folder : what the model, the report and the documents are written to
    force : whether those that exist are replaced
    """

    folder: Path
    force: bool = False

    @property
    def model_folder(self) -> Path:
        """The folder of the model."""
        return self.folder / "model"

    @property
    def page(self) -> Path:
        """The page that shows the comparison."""
        return self.folder / "report.html"

    @property
    def documents_file(self) -> Path:
        """The embedded corpus as a file."""
        return self.folder / "documents.jsonl"

    @cached_property
    def corpus(self) -> Corpus:
        """The embedded corpus."""
        return read_sample()

    def check(self) -> None:
        """Refuse outputs that exist or cannot be written, before the work that leads to them."""
        files = [self.model_folder, self.page, self.folder / "report.md", self.documents_file]
        check_new_files(self.folder, files, self.force)

    def run(
        self, seed: int = 0, jobs: int | None = None, verbose: int = 0, report: Reporter = silent
    ) -> Result:
        """Train both methods, compare them, and write the model, the documents and the report."""
        self.check()
        started = time.monotonic()
        trial = sides_of(self.corpus)
        results: dict[str, Result] = {}
        for name in (BASELINE, METHOD):
            report(f"Training {name} …")
            method = make_method(name, seed=seed, jobs=jobs, verbose=verbose)
            model, results[name] = fit_and_measure(method, trial, trial.test)
        comparison = summarise_methods(
            {name: [result] for name, result in results.items()},
            [evaluate_dummies(trial.train, trial.test)],
            [trial.test],
            seed,
        )
        model = remember_step(model, FIRST_STEP, file=self.documents_file, documents=model.documents)
        self.folder.mkdir(parents=True, exist_ok=True)
        how = f"Measured on {counted(len(trial.test), 'test document')}."
        scores = {**model_scores(results[METHOD]), "how": how}
        save(model, self.model_folder, scores=scores, force=self.force)
        write_documents(self.documents_file, self.corpus, force=self.force)
        write_report(self._report(comparison, trial, seed, time.monotonic() - started), self.folder)
        return comparison

    def _report(self, comparison: Result, trial: Trial, seed: int, seconds: float) -> Report:
        return Report(
            "Quickstart",
            [EXPLANATION],
            [Section("methods", "Does it help?", blocks=comparison_blocks(comparison))],
            facts("the embedded corpus", [trial], seed, seconds),
            comparison_summary(comparison),
        )
