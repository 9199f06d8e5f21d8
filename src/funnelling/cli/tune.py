"""``funnelling tune``: thresholds for another goal, without training anew."""

import argparse

from funnelling.cli import options, printing


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "tune",
        help="set a model's thresholds for another goal",
        description="Set the thresholds above which a model assigns labels, without training it anew: for "
        "the best micro-f1, macro-f1, micro-k or macro-k, for the best F1 with recall=R, or for the best "
        "recall with precision=P. Precision, recall and labels per document are shown before and after, on "
        "training documents that were held out.",
        epilog=options.examples("tune model --optimise recall=0.9 --per-label -o cautious-model"),
    )
    options.add_changed_model(parser)
    parser.add_argument(
        "--optimise",
        required=True,
        metavar="GOAL",
        help="micro-f1, macro-f1, micro-k, macro-k, recall=R or precision=P",
    )
    parser.add_argument("--optimize", dest="optimise", help=argparse.SUPPRESS)
    parser.add_argument(
        "--labels",
        metavar="LABELS",
        help="tune only these: labels between commas, or a file with one per line; others stay as they are",
    )
    parser.add_argument(
        "--per-label",
        action="store_true",
        help="every label is to reach the goal on its own (all together, rare ones leaning on the others)",
    )
    options.add_json(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.report.measures import MAX_LABELS_SHOWN, label_changes, language_changes
    from funnelling.report.tables import plain
    from funnelling.tasks.tuning import named_labels, tune

    labels = None if arguments.labels is None else named_labels(arguments.labels)
    tuned = tune(
        arguments.model,
        arguments.optimise,
        arguments.output,
        labels=labels,
        per_label=arguments.per_label,
        force=arguments.force,
    )
    folder, record = arguments.output or arguments.model, tuned.change.record()
    if arguments.json:
        printing.print_json({**record, "how": tuned.measurement.how, "model": str(folder)})
        return
    print(plain(language_changes(record)))
    print(tuned.measurement.how)
    changed = [row for row in record["by_label"] if row["before"] != row["after"]]
    if changed:
        print(f"\nThe labels that changed most ({min(len(changed), MAX_LABELS_SHOWN)} of {len(changed)}):")
        print(plain(label_changes(changed)))
    print("\n".join(record["missed"]), end="\n" if record["missed"] else "")
    if labels is not None:
        print("Other labels keep their thresholds. When the model learns on, all are tuned as before this.")
    print(f"Model: {folder}")
