"""``funnelling add-language`` and ``update``: a model learns on, without starting over."""

import argparse
from typing import TYPE_CHECKING, Any

from funnelling.cli import options
from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.funnel import FunnellingClassifier
    from funnelling.trials.splits import Trial


def add_to(commands: options.Commands) -> None:
    _add(
        commands,
        "add-language",
        "teach a model a further language",
        "Fit the base classifiers of languages that the model does not know, and tier 2 anew. All other base "
        "classifiers stay untouched.",
        add_language,
    )
    _add(
        commands,
        "update",
        "teach a model further documents",
        "Add labelled documents to languages that the model knows. Vocabularies stay as they were.",
        update,
    )


def _add(commands: options.Commands, name: str, summary: str, description: str, run: Any) -> None:
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{description} What changed is told, on rows with split test and on training documents "
        "that were held out.",
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    parser.add_argument("data", metavar="DATA", help=options.DATA_HELP)
    parser.add_argument(
        "-o", "--output", metavar="MODEL", help="folder of the new model (the old one is replaced)"
    )
    options.add_jobs(parser)
    options.add_force(parser)
    parser.set_defaults(run=run)


def add_language(arguments: argparse.Namespace) -> None:
    """Grow by languages that the model does not know."""
    model = _load(arguments)
    corpus, note = options.read_labelled(arguments.data)
    trial = _sides(corpus, arguments.data)
    for language in trial.train.by_language():
        if language in model.languages_:
            raise InputError(
                f"{arguments.data}: the model knows {language} already. Use `funnelling update` for it."
            )
    _grow(arguments, model, trial, note)


def update(arguments: argparse.Namespace) -> None:
    """Grow by documents in languages that the model knows."""
    from funnelling.text.languages import served_by

    model = _load(arguments)
    known = model.languages_
    corpus, note = options.read_labelled(arguments.data, among=known)
    corpus.languages = [served_by(str(language), known) for language in corpus.languages]
    trial = _sides(corpus, arguments.data)
    for language in trial.train.by_language():
        if language not in known:
            raise InputError(
                f"{arguments.data}: the model does not know {language}, only {', '.join(known)}. "
                "Use `funnelling add-language` for it."
            )
    _grow(arguments, model, trial, note)


def _load(arguments: argparse.Namespace) -> "FunnellingClassifier":
    from pathlib import Path

    from funnelling.funnel import FunnellingClassifier
    from funnelling.funnel.growing import check_growable
    from funnelling.storage import check_writable

    model = options.load_text_model(arguments.model)
    if not isinstance(model, FunnellingClassifier):
        raise InputError(f"{arguments.model}: only funnels learn on. Train the model anew.")
    with options.naming(arguments.model):
        check_growable(model.classes_, model.exclusive_, getattr(model, "training_", None))
    check_writable(Path(_target(arguments)), arguments.force or arguments.output is None)
    return model


def _sides(corpus: "Corpus", path: str) -> "Trial":
    """What is learned from, at least one document, and what is measured on."""
    from funnelling.trials.splits import sides_of

    trial = sides_of(corpus)
    if not len(trial.train):
        raise InputError(f'{path}: no document to learn from. Mark some with "split": "train".')
    return trial


def _target(arguments: argparse.Namespace) -> str:
    return str(arguments.output or arguments.model)


def _grow(arguments: argparse.Namespace, model: "FunnellingClassifier", trial: "Trial", note: str) -> None:
    from copy import copy

    from funnelling.funnel.growing import are_learned
    from funnelling.storage import save_model
    from funnelling.wording import counted

    train, test, _ = trial
    options.tell(note)
    options.tell(f"Learning from {counted(len(train), 'document')} in {', '.join(train.by_language())}.")
    before = copy(model)
    model.set_params(n_jobs=arguments.jobs, verbose=1)
    groups = train.groups if any(train.groups) or any(map(any, before.training_.groups.values())) else None
    model.extend(train.texts, train.labels, languages=train.languages, groups=groups, ids=train.ids)
    learned = are_learned(model.training_, model.funnel(model.languages_[0]).views, test)
    if learned.any():
        options.tell(
            f"{counted(int(learned.sum()), 'test document')} left out, which the model learned from."
        )
    _tell_change(before, model, test.select(~learned))
    save_model(model, _target(arguments), scores=_scores(model, test.select(~learned)), force=True)
    corrected = sum(before.documents_.values()) + len(train) - sum(model.documents_.values())
    if corrected:
        print(f"Known already, with the labels given now: {counted(corrected, 'document')}")
    if len(model.classes_) > len(before.classes_):
        print(f"New labels: {len(model.classes_) - len(before.classes_)}")
    if model.shared_views_:
        print(f"Views that all languages share stay as they were: {', '.join(model.shared_views_)}")
    if model.zero_shot is not None:
        print("Languages without training documents are labelled as before.")
    print(f"Model: {_target(arguments)}")


def _tell_change(before: "FunnellingClassifier", after: "FunnellingClassifier", test: "Corpus") -> None:
    """Both on test documents and on held-out training documents, over the labels known before."""
    from funnelling.report.measure_tables import change_table
    from funnelling.report.tables import plain
    from funnelling.trials.comparison import measure_method, served
    from funnelling.wording import counted

    classes = [str(label) for label in before.classes_]
    measurable = test.select(served(test, after)) if len(test) else test
    if len(measurable):
        labelled = measurable.select(served(measurable, before))
        old = measure_method(before, labelled)["languages"] if len(labelled) else {}
        new = measure_method(after, measurable, classes)["languages"]
        print(f"On {counted(len(measurable), 'test document')}, before and after:")
        print(plain(change_table(old, new)))
    print("On training documents that were held out, before and after:")
    old = before.held_out_measures() if hasattr(before, "held_out_") else {}  # models of earlier versions
    print(plain(change_table(old, after.held_out_measures(classes))))


def _scores(model: "FunnellingClassifier", test: "Corpus") -> Any:
    """What the model's card tells: of all languages alike, so on test documents where all have some."""
    from funnelling.evaluation.language_averages import averaged
    from funnelling.trials.comparison import measure_in_full, measures_of
    from funnelling.wording import counted

    if set(test.by_language()) == set(model.languages_):
        how = f"Measured on {counted(len(test), 'test document')} after it learned on."
        return {**measures_of(measure_in_full(model, test)), "how": how}
    how = "Measured by inner folds over the training documents after it learned on."
    return {**averaged(model.held_out_measures()), "how": how}
