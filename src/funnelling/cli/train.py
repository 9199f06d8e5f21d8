"""``funnelling train``: documents in, a model folder and an honest table out."""

import argparse
import os
import shlex
from typing import TYPE_CHECKING, Any

from funnelling.cli import options
from funnelling.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from funnelling.corpus import Corpus
    from funnelling.method import Method
    from funnelling.trials.splits import Trial

DEFAULT_METHOD = "fun-auto"


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "train",
        help="train a model on a file of documents",
        description="Train a model. Rows with split train are learned from and rows with split test are "
        "measured on; a file without splits is learned from whole and measured by five outer folds.",
    )
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="folder of the model")
    parser.add_argument("--method", default=DEFAULT_METHOD, metavar="M", help=f"method ({DEFAULT_METHOD})")
    parser.add_argument("--no-table", action="store_true", help="skip the outer folds and their table")
    parser.add_argument(
        "--compact",
        action="store_true",
        help="keep nothing of the training documents: smaller, but the model cannot learn on",
    )
    parser.add_argument(
        "--optimise",
        metavar="MEASURE",
        help="tune each label's threshold for micro-f1, macro-f1, micro-k, macro-k or recall=R (funnels)",
    )
    options.add_resources(parser)
    options.add_settings(parser)
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_cluster(parser)
    options.add_device(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from pathlib import Path

    from funnelling.method.registry import check_method, make_method, parse_settings
    from funnelling.parts.learning import learns_by_parts
    from funnelling.storage import check_writable, save_model

    check_method(arguments.method)
    settings = parse_settings(arguments.set, [arguments.method])
    settings = _with_options(settings, arguments)
    check_writable(Path(arguments.output), arguments.force)
    resources = options.read_resources(arguments)
    options.check_resources(arguments.method, [*resources, "parallel"])  # upper-bound looks for those itself

    def make() -> "Method":
        method: Method = make_method(
            arguments.method,
            seed=arguments.seed,
            jobs=arguments.jobs,
            verbose=1,
            settings=settings,
            resources=resources,
        )
        return method.on_device(arguments.device)

    model = make()
    learn = _learn_parts if learns_by_parts(model, arguments.data) else _learn_corpus
    scores, how = learn(model, arguments, make)
    scores = None if scores is None else {**scores, "how": how}
    save_model(model, arguments.output, scores=scores, force=arguments.force)
    _print(scores, how)
    print(f"Model: {arguments.output}")
    print(f"Next:  {shlex.join([options.program(), 'predict', arguments.output, 'NEW_DOCUMENTS.jsonl'])}")


def _learn_corpus(
    model: "Method", arguments: argparse.Namespace, make: "Callable[[], Method]"
) -> tuple[Any, str]:
    """Fit on the documents of a file, read into memory; its scores, and how they were found."""
    from funnelling.trials.comparison import fit_method, learned_from
    from funnelling.wording import counted

    corpus, note = options.read_labelled(arguments.data)
    trial = _sides(corpus, arguments.data)
    train = trial.train
    options.tell(note)
    options.tell(
        f"Training {arguments.method} on {counted(len(train), 'document')} in "
        f"{counted(len(train.by_language()), 'language')} with {counted(len(train.label_set()), 'label')}."
    )
    fit_method(model, learned_from(model, trial))
    if hasattr(model, "choice_"):
        options.tell(model.choice_.summary())
    if len(trial.test):
        return _measure_on(trial.test, model)
    if arguments.no_table:
        return None, "Not measured."
    return _measure_by_folds(train, make, arguments.seed)


def _learn_parts(
    model: "Method", arguments: argparse.Namespace, _make: "Callable[[], Method]"
) -> tuple[Any, str]:
    """The same for a folder of parts, counted one by one and never read into memory as a whole."""
    import shutil
    from pathlib import Path

    from funnelling.parts.learning import documents_for_test, fit_parts

    work = Path(f"{os.path.abspath(arguments.output)}.work")
    options.tell(f"Counting words part by part in {work}. A run that is cut short goes on from there.")
    fit_parts(model, arguments.data, work, arguments.jobs, verbose=1)
    if hasattr(model, "choice_"):
        options.tell(model.choice_.summary())
    test = documents_for_test(arguments.data, model.languages_)
    scores = _measure_on(test, model) if len(test) else _measured_held_out(model)
    shutil.rmtree(work)
    return scores


def _measured_held_out(model: "Method") -> tuple[Any, str]:
    """What a funnel says of documents that were held out from both of its tiers."""
    from funnelling.evaluation.language_averages import averaged

    if not hasattr(model, "held_out_measures"):
        return None, "Not measured: no document has split test."
    return averaged(model.held_out_measures()), "Measured on training documents held out from both tiers."


def _with_options(settings: dict[str, dict[str, Any]], arguments: argparse.Namespace) -> Any:
    """Settings that have an option of their own; other methods keep no documents, and tune no threshold."""
    from funnelling.funnel.thresholds import parse_goal

    funnel = arguments.method.startswith("fun-")
    own = dict(settings.get(arguments.method, {}))
    if arguments.device != "cpu" and not funnel:
        raise InputError(f"--device is for funnels, and {arguments.method} is none. Leave it out.")
    if arguments.compact and funnel:
        own["compact"] = True
    if arguments.optimise is not None:
        parse_goal(arguments.optimise)
        if not funnel:
            raise InputError(f"--optimise is for funnels, and {arguments.method} is none. Leave it out.")
        own["optimise"] = arguments.optimise
    return {**settings, arguments.method: own}


def _sides(corpus: "Corpus", path: str) -> "Trial":
    """What is learned from, and what is measured on, nothing where the file does not say."""
    from funnelling.formats.files import shown_name
    from funnelling.trials.splits import check_learnable, sides_of

    trial = sides_of(corpus)
    if not len(trial.train):
        raise InputError(
            f'{shown_name(path)}: no labelled document with split "train". Mark what to learn from.'
        )
    with options.naming(path):
        check_learnable(trial.train)
    return trial


def _measure_on(test: "Corpus", model: "Method") -> tuple[Any, str]:
    """The scores of a model on test documents, and how they were found."""
    from funnelling.trials.comparison import measure_in_full, measures_of, served
    from funnelling.wording import counted

    known = served(test, model)
    unknown = ", ".join(test.select(~known).by_language())
    if not known.any():
        return None, f"Not measured: training has no documents in the languages of test, {unknown}."
    scores = measures_of(measure_in_full(model, test.select(known)))
    left_out = f" (left out, for the model cannot label them: {unknown})" if unknown else ""
    return scores, f"Measured on {counted(int(known.sum()), 'test document')}{left_out}."


def _measure_by_folds(train: "Corpus", make: "Callable[[], Method]", seed: int) -> tuple[Any, str]:
    """The scores of a method without test documents, and how they were found."""
    from funnelling.trials.comparison import cross_validate

    options.tell("Measuring by five outer folds.")
    scores = cross_validate(make, train, seed=seed)
    if scores is None:
        return None, "Not measured: too few documents or groups for five outer folds."
    return scores, "Measured by five outer folds over the training documents."


def _print(scores: Any, how: str) -> None:
    from funnelling.report.measure_tables import languages_table, notes, rates
    from funnelling.report.tables import plain

    if scores is None:
        print(how)
    else:
        print(plain(languages_table(scores)))
        print(how)
        print("\n".join(notes(scores)))
        if "recall" in scores:
            print(rates(scores))
