"""``funnelling predict``: labels and probabilities for each document, as the documents come."""

import argparse

from funnelling.cli import options


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "predict",
        help="label documents with a model",
        description="Label documents: one JSON object per line, with id, language, labels and scores (the "
        "probability of each label). Where a label's threshold is not .5, it stands in thresholds. A text in "
        "which the model knows nothing gets no label, and evidence, which is false. For a folder of "
        "documents, -o may be a folder, too: it gets one Parquet file of predictions per file of documents, "
        "and a run that was cut short goes on where it stopped.",
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (standard output)")
    parser.add_argument("--top", type=options.count, metavar="N", help="show only the N most probable labels")
    parser.add_argument(
        "--threshold",
        type=options.probability,
        metavar="P",
        help="assign labels above this probability, where documents may have several",
    )
    options.add_skip_unknown(parser)
    options.add_jobs(parser)
    options.add_cluster(parser)
    options.add_device(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.parts.predicting import PredictionOptions
    from funnelling.tasks.predicting import predict

    predict(
        arguments.model,
        arguments.data,
        arguments.output,
        PredictionOptions(arguments.top, arguments.threshold, arguments.skip_unknown),
        device=arguments.device,
        jobs=arguments.jobs,
        force=arguments.force,
        verbose=1,
    )
