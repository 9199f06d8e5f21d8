"""``funnelling train``: documents in, a model folder and an honest table out."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import options, printing
from funnelling.errors import InputError
from funnelling.methods.registry import DEFAULT_METHOD, DEFAULT_XMC_METHOD, METHODS
from funnelling.runtime.messages import say

if TYPE_CHECKING:
    from funnelling.methods.estimator import MethodEstimator


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "train",
        help="train a model on a file of documents",
        description="Train a model. It learns from rows with split train and is measured on rows with split "
        "test; without splits it learns from all rows and is measured by five outer folds.",
        epilog=options.examples(
            "train docs.csv -o model",
            "train docs.jsonl -o model --optimise recall=0.9",
            "train docs.jsonl -o model --method fun-tat --set fun-tat.meta_C=1",
        ),
    )
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    options.add_new_model(parser)
    parser.add_argument(
        "--method",
        metavar="M",
        help=f"one of {', '.join(METHODS)} ({DEFAULT_METHOD}, and {DEFAULT_XMC_METHOD} where there are more "
        "than 1,000 labels)",
    )
    parser.add_argument(
        "--no-table", action="store_true", help="skip the outer folds and their table, which takes less time"
    )
    parser.add_argument(
        "--compact",
        action="store_true",
        help="keep nothing of the documents, not even ids or how they begin: the model is smaller, but "
        "cannot learn on, nor forget, and its report shows no texts",
    )
    parser.add_argument(
        "--keep-texts",
        action="store_true",
        help="keep texts as they were written, not only their words: to learn on, an encoder needs them",
    )
    parser.add_argument(
        "--optimise",
        metavar="GOAL",
        help="tune each label's threshold for micro-f1, macro-f1, micro-k, macro-k, recall=R or precision=P "
        "(funnels; `tune` does so later)",
    )
    parser.add_argument("--optimize", dest="optimise", help=argparse.SUPPRESS)
    options.add_labelling(parser)
    labels = parser.add_argument_group("labels as people have them")
    labels.add_argument("--label-set", metavar="FILE", help=f"{options.LABEL_SET_HELP}; the model keeps it")
    labels.add_argument(
        "--roll-up",
        action="store_true",
        help="give documents the parents of their labels, whenever the model learns or is measured",
    )
    options.add_resources(parser)
    options.add_settings(parser)
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_cluster(parser)
    options.add_force(parser)
    options.add_reading(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from funnelling.commands.training import train

    if arguments.roll_up and arguments.label_set is None:
        raise InputError("--roll-up needs the parents of labels. Add --label-set FILE.")
    measurement = train(
        _method(arguments, _named(arguments) or DEFAULT_METHOD),
        arguments.data,
        arguments.output,
        if_many=None if _asks_for_method(arguments) else _method(arguments, DEFAULT_XMC_METHOD),
        seed=arguments.seed,
        one_label=arguments.one_label,
        layout=options.layout(arguments),
        strict=arguments.strict,
        outer_folds=not arguments.no_table,
        texts=not arguments.compact,
        label_set=arguments.label_set,
        roll_up=arguments.roll_up,
        force=arguments.force,
        report=say,
    ).measurement
    if measurement.scores is None:
        print(measurement.how)
    else:
        printing.print_scores(measurement.scores, measurement.how)
    describe = ["data", "describe", arguments.data, *options.reading_flags(arguments)]
    print(f"Model:  {arguments.output}")
    print(f"Report: {Path(arguments.output) / 'report.html'}")
    print(f"Data:   {shlex.join([printing.program(), *describe])}")
    packed = 1 + arguments.data.lower().endswith(".gz")
    new = f"NEW_DOCUMENTS{''.join(Path(arguments.data).suffixes[-packed:]) or '.jsonl'}"
    print(f"Next:   {shlex.join([printing.program(), 'predict', arguments.output, new])}")


def _named(arguments: argparse.Namespace) -> str | None:
    """The method that is named; its settings name that for many labels, too, if there are no others."""
    for_many = [each.startswith(f"{DEFAULT_XMC_METHOD}.") for each in arguments.set]
    return arguments.method or (DEFAULT_XMC_METHOD if for_many and all(for_many) else None)


def _asks_for_method(arguments: argparse.Namespace) -> bool:
    """Whether a method is named, or something is asked for that not all methods have."""
    options_of_some = (arguments.method, arguments.optimise, *arguments.set)
    resources = (arguments.reference, arguments.embeddings, arguments.encoder)
    return any((*options_of_some, *resources))


def _method(arguments: argparse.Namespace, name: str) -> "MethodEstimator":
    """The method of a name, as the options describe it."""
    from funnelling.commands.sources import check_resources
    from funnelling.methods.registry import make_method, method_of, parse_settings
    from funnelling.storage import check_writable

    if method_of(name) != name:
        raise InputError(f"{name} is a variant, for comparisons. Train {method_of(name)} with --set.")
    settings = {
        name: {**parse_settings(arguments.set, [name]).get(name, {}), **_own_settings(arguments, name)}
    }
    check_writable(Path(arguments.output), arguments.force)  # before resources, which may take a while
    resources = options.resources(arguments).read_resources()
    check_resources(name, [*resources, "parallel"])  # upper-bound looks for those itself
    method: MethodEstimator = make_method(
        name, seed=arguments.seed, jobs=arguments.jobs, verbose=1, settings=settings, resources=resources
    )
    return method


def _own_settings(arguments: argparse.Namespace, name: str) -> dict[str, Any]:
    """Settings that have an option of their own; baselines tune no threshold."""
    from funnelling.funnel.thresholds import parse_goal

    settings: dict[str, Any] = {}
    is_funnel = name.startswith("fun-")
    if name == DEFAULT_XMC_METHOD and arguments.optimise is not None:
        raise InputError(f"{name} does not know --optimise yet. Leave it out.")
    if arguments.compact and arguments.keep_texts:
        raise InputError("--compact keeps nothing of the documents, and --keep-texts all. Leave one out.")
    settings |= {name: True for name in ("compact", "keep_texts") if getattr(arguments, name)}
    if arguments.optimise is not None:
        parse_goal(arguments.optimise)
        if not is_funnel:
            raise InputError(f"--optimise is for funnels, and {name} is none. Leave it out.")
        settings["optimise"] = arguments.optimise
    return settings
