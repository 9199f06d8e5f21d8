"""``funnelling quickstart``: see it work on the embedded corpus."""

import argparse

from funnelling.cli import options


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
    from pathlib import Path

    from funnelling.datasets.sample import read_sample
    from funnelling.evaluation.comparison import fit_method, measure_method
    from funnelling.formats import write_documents
    from funnelling.formats.files import writing
    from funnelling.methods import make_method
    from funnelling.report.tables import markdown, plain, side_by_side
    from funnelling.storage import check_writable, save_model

    folder = Path(arguments.output)
    model_path, report_path, data_path = folder / "model", folder / "report.md", folder / "test.jsonl"
    if not folder.exists():
        options.make_folder(folder)
    check_writable(model_path, arguments.force)
    corpus = read_sample()
    train, test = corpus.split("train"), corpus.split("test")
    languages = train.by_language()
    print(
        f"The embedded corpus: descriptions of software in {len(languages)} languages under "
        f"{len(train.label_set())} labels,\n{len(train):,} to learn from and {len(test):,} to measure on.\n"
    )
    results = {}
    for name in ("naive", "fun-tat"):
        options.tell(f"Training {name} …")
        model = make_method(name, seed=arguments.seed, jobs=arguments.jobs, verbose=1)
        results[name] = measure_method(fit_method(model, train), test)
    table = side_by_side(results)
    print(plain(*table))
    print(
        "\nNaive is one classifier a language. Fun(TAT) is funnelling: such classifiers,"
        "\nand a second tier that learns from the documents of all languages."
    )
    save_model(model, model_path, scores=results["fun-tat"], force=arguments.force)
    write_documents(data_path, test, force=True)
    with writing(report_path, force=True) as stream:
        stream.write(f"# Quickstart\n\n{markdown(*table)}\n")
    print(f"\nModel:  {model_path}\nReport: {report_path}")
    print(
        f"Next:   funnelling predict {model_path} {data_path} --top 3\n"
        f"        funnelling inspect {model_path}\n"
        "        funnelling train YOUR_DOCUMENTS.jsonl -o my-model"
    )
