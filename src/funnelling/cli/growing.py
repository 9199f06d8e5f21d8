"""``funnelling add-language`` and ``update``: a model learns on, without starting over."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from funnelling.cli import options
from funnelling.errors import InputError

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.funnel import FunnellingClassifier


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
        description=f"{description} Rows with split test are measured on, before and after.",
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

    def check(known: list[str], given: list[str]) -> None:
        for language in given:
            if language in known:
                raise InputError(
                    f"{arguments.data}: the model knows {language} already. Use `funnelling update` for it."
                )

    _grow(arguments, check)


def update(arguments: argparse.Namespace) -> None:
    """Grow by documents in languages that the model knows."""

    def check(known: list[str], given: list[str]) -> None:
        for language in given:
            if language not in known:
                raise InputError(
                    f"{arguments.data}: the model does not know {language}, only {', '.join(known)}. "
                    "Use `funnelling add-language` for it."
                )

    _grow(arguments, check)


def _grow(arguments: argparse.Namespace, check: Any) -> None:
    from pathlib import Path

    from funnelling.evaluation.splits import sides_of
    from funnelling.funnel import FunnellingClassifier
    from funnelling.funnel.growing import check_growable
    from funnelling.report.tables import languages_table, notes, plain
    from funnelling.storage import check_writable, save_model
    from funnelling.wording import counted

    target = arguments.output or arguments.model
    model: Any = options.load_text_model(arguments.model)
    if not isinstance(model, FunnellingClassifier):
        raise InputError(f"{arguments.model}: only funnels learn on. Train the model anew.")
    with options.naming(arguments.model):
        check_growable(model)
    check_writable(Path(target), arguments.force or arguments.output is None)
    corpus, note = options.read_labelled(arguments.data)
    train, test, _ = sides_of(corpus)
    if not len(train):
        raise InputError(f'{arguments.data}: no document to learn from. Mark some with "split": "train".')
    check(model.languages_, list(train.by_language()))
    options.tell(note)
    before = _measured(model, test)
    labels = len(model.classes_)
    model.set_params(n_jobs=arguments.jobs, verbose=1)
    options.tell(f"Learning from {counted(len(train), 'document')} in {', '.join(train.by_language())}.")
    groups = train.groups if any(train.groups) or any(map(any, model.training_.groups.values())) else None
    model.extend(train.texts, train.labels, languages=train.languages, groups=groups, ids=train.ids)
    after = _measured(model, test)
    save_model(model, target, scores=after, force=True)
    if after is None:
        print('Not measured: no document has "split": "test".')
    else:
        print(plain(languages_table(after)))
        print("\n".join(notes(after)))
        print(_change(before, after))
    if len(model.classes_) > labels:
        print(f"New labels: {len(model.classes_) - labels}")
    print(f"Model: {target}")


def _measured(model: "FunnellingClassifier", test: "Corpus") -> Any:
    """The measures before, on those test documents that the model can label."""
    from funnelling.evaluation.comparison import measure_method, served

    if not len(test):
        return None
    known = test.select(served(test, model))
    return measure_method(model, known) if len(known) else None


def _change(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> str:
    """What changed in the languages that could be labelled before."""
    from funnelling.evaluation.measures import MEASURES
    from funnelling.report.tables import MEASURE_TITLES, number

    if before is None:
        return "None of these languages could be labelled before."
    lines = []
    for language, old in before["languages"].items():
        new = after["languages"][language]
        told = [f"{MEASURE_TITLES[m]} {number(old[m])} → {number(new[m])}" for m in MEASURES]
        lines.append(f"{language} before and after: {', '.join(told)}")
    return "\n".join(lines)
