"""``funnelling predict``: labels and probabilities for each document, as the documents come."""

import argparse

from funnelling.commands import options


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "predict",
        help="label documents with a model",
        description="Label documents. -o names a file whose ending says what it is: .csv, .tsv, .xlsx, "
        ".parquet or .jsonl (.csv, .tsv and .jsonl also with .gz). It has the columns of DATA, then labels, "
        "best_label, its probability, and a note where there is something to know. Standard output is JSON "
        "Lines: id, language, labels, best_label, probability and scores, the probability of each label. A "
        "text in which the model knows nothing gets no label. Thresholds that are not .5 are shown by "
        "funnelling inspect. For a folder of documents, -o may be a folder, too: it gets one Parquet file of "
        "predictions per file of documents, and a run that was cut short goes on where it stopped.",
        epilog=options.examples(
            "predict model docs.csv -o labels.xlsx", "predict model 'a few words' --top 3"
        ),
    )
    parser.add_argument("model", metavar="MODEL", help=options.MODEL_HELP)
    parser.add_argument("data", metavar="DATA", help=f"{options.DATA_HELP}; or a text of two words or more")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (standard output)")
    parser.add_argument(
        "--top",
        type=options.count,
        metavar="N",
        help="show only the N most probable labels (5 of a model with more than 1,000; else all)",
    )
    parser.add_argument(
        "--scores",
        choices=("none", "list", "wide"),
        help="probabilities of all labels: none, a list in one column, or wide, a column for each of at most "
        "1,000 (a list in .jsonl and .parquet, and with --top; else none)",
    )
    parser.add_argument(
        "--threshold",
        type=options.probability,
        metavar="P",
        help="assign labels above this probability, where documents may have several",
    )
    options.add_label_set(parser, names=True)
    options.add_jobs(parser)
    options.add_cluster(parser)
    options.add_force(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.commands.predicting import PredictionOptions, predict

    predict(
        arguments.model,
        arguments.data,
        arguments.output,
        PredictionOptions(
            arguments.top,
            arguments.threshold,
            arguments.strict,
            arguments.scores,
            arguments.names,
            arguments.label_set,
            tuple(arguments.exclude),
        ),
        layout=options.layout(arguments),
        jobs=arguments.jobs,
        force=arguments.force,
        verbose=1,
    )
