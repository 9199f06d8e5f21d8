"""``funnelling quickstart``: see it work on the embedded corpus: Naive and Fun(TAT), a model, a report."""

import shlex
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.commands import printing
from funnelling.commands.options import FilePath, Jobs, Overwriting, Seed, output_option
from funnelling.errors import counted
from funnelling.methods.registry import make_method
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.evaluation.pieces import Result

BASELINE, METHOD = "naive", "fun-tat"
EXPLANATION = (
    "Naive is one classifier per language. Fun(TAT) is funnelling: such classifiers, and a second tier that "
    "learns from the documents of all languages."
)


class Quickstart(Seed, Jobs, Overwriting):
    """Train on the embedded corpus, compare with one classifier per language, save a model."""

    examples = ("quickstart",)

    output: FilePath = output_option("folder of all that is made (quickstart)", "DIR", default="quickstart")

    @property
    def _files(self) -> tuple[Path, Path, Path]:
        """The folder of the model, the page that compares, and the embedded corpus as a file."""
        folder = Path(self.output)
        return folder / "model", folder / "report.html", folder / "documents.jsonl"

    def run(self, report: Reporter = silent, verbose: int = 0) -> "Result":
        """Train both methods, compare them, and write the model, the documents and the report."""
        from funnelling.commands.measurement import check_new_files
        from funnelling.corpus.reference import read_sample
        from funnelling.evaluation.comparison import summarise_methods
        from funnelling.evaluation.fitting import fit_and_measure
        from funnelling.evaluation.measuring import evaluate_dummies, model_scores
        from funnelling.evaluation.splits import sides_of
        from funnelling.formats import write_documents
        from funnelling.methods.merging import remember_step
        from funnelling.methods.model import FIRST_STEP
        from funnelling.report.comparison import comparison_blocks, comparison_summary, facts
        from funnelling.report.content import Report, Section
        from funnelling.report.rendering import write_report
        from funnelling.storage import save

        folder, (model_folder, page, file) = Path(self.output), self._files
        check_new_files(folder, [model_folder, page, folder / "report.md", file], self.force)
        corpus = read_sample()
        if verbose:
            _print_corpus(corpus)  # before the work that it explains
        started = time.monotonic()
        trial = sides_of(corpus)
        results: dict[str, Result] = {}
        for name in (BASELINE, METHOD):
            report(f"Training {name} …")
            method = make_method(name, seed=self.seed, jobs=self.jobs, verbose=verbose)
            model, results[name] = fit_and_measure(method, trial, trial.test)
        comparison = summarise_methods(
            {name: [result] for name, result in results.items()},
            [evaluate_dummies(trial.train, trial.test)],
            [trial.test],
            self.seed,
        )
        model = remember_step(model, FIRST_STEP, file=file, documents=model.documents)
        folder.mkdir(parents=True, exist_ok=True)
        how = f"Measured on {counted(len(trial.test), 'test document')}."
        scores = {**model_scores(results[METHOD]), "evaluated_on": how}
        save(model, model_folder, scores=scores, force=self.force)
        write_documents(file, corpus, force=self.force)
        report_page = Report(
            "Quickstart",
            [EXPLANATION],
            [Section("methods", "Does it help?", blocks=comparison_blocks(comparison))],
            facts("the embedded corpus", [trial], self.seed, time.monotonic() - started),
            comparison_summary(comparison),
        )
        write_report(report_page, folder)
        return comparison

    def show(self, result: "Result") -> None:
        from funnelling.report.measures import side_by_side
        from funnelling.report.tables import plain

        model, page, file = (shlex.quote(str(path)) for path in self._files)
        program = shlex.quote(printing.program())
        print(plain(side_by_side(result["methods"])))
        print(f"\n{textwrap.fill(EXPLANATION, 80)}")
        print(f"\nModel:  {model}\nReport: {page}")
        print(
            f"Next:   {program} predict {model} {file} --top 3\n"
            f"        {program} inspect {model}\n"
            f"        {program} train YOUR_DOCUMENTS.jsonl -o my-model"
        )


def _print_corpus(corpus: "Corpus") -> None:
    train, test = corpus.split("train"), corpus.split("test")
    print(
        f"The embedded corpus: descriptions of software in {len(train.by_language())} languages under "
        f"{len(train.label_set())} labels,\n{len(train):,} to learn from and {len(test):,} to measure on.\n",
        flush=True,
    )
