"""``funnelling quickstart``: the best methods on the embedded corpus, a model and a report."""

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.commands import printing
from funnelling.commands.options import AsJson, FilePath, Jobs, Overwriting, Seed, output_option
from funnelling.errors import counted
from funnelling.methods.registry import DEFAULT_COMPARISON, DEFAULT_METHOD, make_method
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.evaluation.pieces import Result

MEASURE = "macro_f1"
TEXT = "Un lecteur de musique pour le bureau GNOME"


class Quickstart(Seed, Jobs, Overwriting, AsJson):
    """Train on the built-in corpus, compare with simpler methods, save the model."""

    examples = ("quickstart",)

    output: FilePath = output_option(
        "folder of the model, the report and the documents (quickstart)",
        "DIR",
        default="quickstart",
        common=True,
    )

    @property
    def _files(self) -> tuple[Path, Path, Path]:
        """The folder of the model, the page that compares, and the embedded corpus as a file."""
        folder = Path(self.output)
        return folder / "model", folder / "report.html", folder / "documents.jsonl"

    def run(self, report: Reporter = silent, verbose: int = 0) -> "Result":
        """Train the methods, compare them, and write the model, the documents and the report."""
        from funnelling.corpus.reference import read_sample
        from funnelling.evaluation.comparison import summarise_methods
        from funnelling.evaluation.fitting import fit_and_measure
        from funnelling.evaluation.measuring import evaluate_dummies, model_scores
        from funnelling.evaluation.pieces import check_new_files
        from funnelling.evaluation.splits import sides_of
        from funnelling.formats import write_documents
        from funnelling.methods.merging import remember_step
        from funnelling.methods.model import FIRST_STEP
        from funnelling.report.comparison import comparison_blocks, comparison_summary, described, facts
        from funnelling.report.content import Report, Section
        from funnelling.report.rendering import write_report
        from funnelling.storage import save

        folder, (model_folder, page, file) = Path(self.output), self._files
        check_new_files(folder, [model_folder, page, folder / "report.md", file], self.force)
        corpus = read_sample()
        started = time.monotonic()
        trial = sides_of(corpus)
        report(f"Built-in corpus, descriptions of software: {described(trial)}.")
        results: dict[str, Result] = {}
        models = {}
        for number, name in enumerate(DEFAULT_COMPARISON, start=1):
            report(f"Training {name} ({number} of {len(DEFAULT_COMPARISON)}) …")
            method = make_method(name, seed=self.seed, jobs=self.jobs, verbose=verbose)
            models[name], results[name] = fit_and_measure(method, trial, trial.test)
        comparison = summarise_methods(
            {name: [result] for name, result in results.items()},
            [evaluate_dummies(trial.train, trial.test)],
            [trial.test],
            self.seed,
        )
        model = models[DEFAULT_METHOD]
        model = remember_step(model, FIRST_STEP, file=file, documents=model.documents)
        folder.mkdir(parents=True, exist_ok=True)
        how = f"Measured on {counted(len(trial.test), 'test document')}."
        scores = {**model_scores(results[DEFAULT_METHOD]), "evaluated_on": how}
        save(model, model_folder, scores=scores, force=self.force)
        write_documents(file, corpus, force=self.force)
        report_page = Report(
            "Quickstart",
            [],
            [Section("methods", "Does it help?", blocks=comparison_blocks(comparison))],
            facts("the built-in corpus", [trial], self.seed, time.monotonic() - started),
            comparison_summary(comparison),
        )
        write_report(report_page, folder)
        return {"command": "quickstart", **comparison}

    def show(self, result: "Result") -> None:
        from funnelling.report.comparison import by_language_table
        from funnelling.report.tables import number, plain

        if self.json:
            printing.print_json(result)
            return
        model, page, file = (shlex.quote(str(path)) for path in self._files)
        program = shlex.quote(printing.program())
        print(f"\n{plain(by_language_table(result['methods'], MEASURE))}\n")
        averages = {name: method["average"][MEASURE] for name, method in result["methods"].items()}
        best = max(averages, key=lambda name: averages[name])
        if best != DEFAULT_METHOD:
            ours = number(averages[DEFAULT_METHOD])
            print(f"{best} is the best here: {number(averages[best])}, {DEFAULT_METHOD} {ours}.\n")
        print(f"Model:  {model}\nReport: {page}")
        print(
            f"Next:   {program} predict {model} {file} -o labels.csv\n"
            f"        {program} explain {model} {shlex.quote(TEXT)}\n"
            f"        {program} train YOUR_FILE -o model"
        )
