"""``funnelling quickstart``: see it work on the embedded corpus."""

import argparse
import shlex
import time
from pathlib import Path

from funnelling.cli import options
from funnelling.errors import InputError


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "quickstart",
        help="see it work on the embedded corpus",
        description="Train on the embedded corpus, compare with one classifier a language, save a model.",
    )
    parser.add_argument("-o", "--output", default="quickstart", metavar="DIR", help="folder (quickstart)")
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.corpus.sample import read_sample
    from funnelling.formats import write_documents
    from funnelling.method.registry import make_method
    from funnelling.report.comparison_blocks import comparison_blocks
    from funnelling.report.content import Report, Section
    from funnelling.report.facts import facts
    from funnelling.report.measure_tables import side_by_side
    from funnelling.report.report_folder import write_report
    from funnelling.report.tables import plain
    from funnelling.storage import save_model
    from funnelling.trials.comparison import compared, fit_and_measure, measure_rejector, measures_of
    from funnelling.trials.splits import Trial

    folder = Path(arguments.output)
    model_path, report_path, data_path = folder / "model", folder / "report.html", folder / "documents.jsonl"
    _check(folder, [model_path, report_path, folder / "report.md", data_path], arguments.force)
    corpus = read_sample()
    train, test = corpus.split("train"), corpus.split("test")
    print(
        f"The embedded corpus: descriptions of software in {len(train.by_language())} languages under "
        f"{len(train.label_set())} labels,\n{len(train):,} to learn from and {len(test):,} to measure on.\n",
        flush=True,
    )

    started = time.monotonic()
    trial = Trial(train, test, corpus.split("parallel"))
    results = {}
    for name in ("naive", "fun-tat"):
        options.tell(f"Training {name} …")
        model = make_method(name, seed=arguments.seed, jobs=arguments.jobs, verbose=1)
        results[name] = fit_and_measure(model, trial, test)
    result = compared({name: [found] for name, found in results.items()}, [measure_rejector(train, test)])
    print(plain(side_by_side(result["methods"])))
    print(
        "\nNaive is one classifier a language. Fun(TAT) is funnelling: such classifiers,"
        "\nand a second tier that learns from the documents of all languages."
    )
    folder.mkdir(parents=True, exist_ok=True)
    scores = measures_of(results["fun-tat"])
    save_model(model, model_path, scores=scores, force=arguments.force)
    write_documents(data_path, corpus, force=arguments.force)
    report = Report(
        "Quickstart",
        [
            "Naive is one classifier a language. Fun(TAT) is funnelling: such classifiers, and a second tier "
            "that learns from the documents of all languages."
        ],
        [Section("methods", "Does it help?", blocks=comparison_blocks(result))],
        facts("the embedded corpus", [trial], arguments.seed, time.monotonic() - started),
    )
    write_report(report, folder)
    shown = {path: shlex.quote(str(path)) for path in (model_path, report_path, data_path)}
    print(f"\nModel:  {shown[model_path]}\nReport: {shown[report_path]}")
    program = shlex.quote(options.program())
    print(
        f"Next:   {program} predict {shown[model_path]} {shown[data_path]} --top 3\n"
        f"        {program} inspect {shown[model_path]}\n"
        f"        {program} train YOUR_DOCUMENTS.jsonl -o my-model"
    )


def _check(folder: Path, outputs: list[Path], force: bool) -> None:
    """Refuse outputs that exist or cannot be written, before the work that leads to them."""
    from funnelling.formats.files import check_output_folder

    for output in outputs:
        if output.exists() and not force:
            raise InputError(f"{output} exists. Choose another folder with -o or add --force.")
    check_output_folder(folder)
