"""``funnelling inspect``: what a model is, how it was made, how good it was."""

import argparse
from typing import Any

from funnelling.commands import options, printing
from funnelling.commands.declaring import refuse_retired


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "inspect",
        help="show what a model is",
        description="Show what a model is, what it learned from and keeps, and how good it was.",
        epilog=options.examples("inspect model"),
    )
    parser.add_argument("model", metavar="MODEL", help=options.MODEL_HELP)
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)  # retired
    options.add_names(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    if arguments.more:
        refuse_retired("inspect", "MODEL MODEL")
    from funnelling.commands.inspecting import inspect_model

    description = inspect_model(arguments.model, arguments.names)
    printing.print_json(description) if arguments.json else _print_model(description)


def _print_model(description: dict[str, Any]) -> None:
    import textwrap

    from funnelling.report.card import (
        MAX_MISTAKES_SHOWN,
        history_note,
        history_table,
        kept_sentence,
        kept_table,
        limits,
        made_with,
        probabilities,
        tried_table,
        what_follows,
    )
    from funnelling.report.labels import mistakes
    from funnelling.report.measures import languages_table, notes
    from funnelling.report.tables import plain

    print(f"Method      {description['method']}")
    print(f"Languages   {_list(description['languages'])} (training documents)")
    kind = ", one per document" if description["exclusive"] else ""
    print(f"Labels      {len(description['labels'])}{kind}: {_shorten(_called(description))}")
    if "label_set" in description:
        print(f"Label set   {_told(description['label_set'])}")
    _print_thresholds(description["thresholds"])
    if description["scores"] is None:
        print("It was not measured.")
    else:
        print()
        print(plain(languages_table(description["scores"])))
        print(description["scores"].get("how", "Measured on documents that it did not learn from."))
        print("\n".join(notes(description["scores"])))
        for heading, table in mistakes(description["scores"], MAX_MISTAKES_SHOWN).items():
            print(f"\n{heading}:\n{plain(table)}")
    print()
    print(textwrap.fill(probabilities(description), 100))
    print("\nWhat it learned from")
    if description["history"]:
        print(plain(history_table(description["history"])))
    if history_note(description):
        print(history_note(description))
    print("\nWhat it keeps")
    print(plain(kept_table(description)) if description["keeps"]["documents"] else kept_sentence(description))
    print("\n".join(what_follows(description)))
    print("\n".join(["", "Limits", *(f"- {limit}" for limit in limits(description)), ""]))
    if description["choice"]:
        print(f"Choice      {description['choice']}")
    print(f"Parameters  {_list(made_with(description))}")
    print(f"Made with   funnelling {description['funnelling']}, {_list(description['versions'])}")
    if description["choice_tried"]:
        print(f"\nCandidates that were tried:\n{plain(tried_table(description['choice_tried']))}")


def _print_thresholds(thresholds: dict[str, dict[Any, float]] | None, most: int = 6) -> None:
    """A line for all languages that share their thresholds, with the first labels."""
    from funnelling.errors import printable

    shared: dict[tuple[tuple[Any, float], ...], list[str]] = {}
    for language, values in (thresholds or {}).items():
        shared.setdefault(tuple(values.items()), []).append(language)
    for i, (pairs, languages) in enumerate(shared.items()):
        shown = ", ".join(
            f"{printable(str(label))} {f'{value:.2f}'.removeprefix('0')}" for label, value in pairs[:most]
        )
        more = f", … ({len(pairs)} labels are not at .5; --json has all)" if len(pairs) > most else ""
        print(f"{'' if i else 'Thresholds':<12}{', '.join(languages)}: {shown}{more}")


def _called(description: dict[str, Any]) -> list[str]:
    """The labels, with what they are called where that is asked for."""
    from funnelling.errors import printable

    names = description.get("label_names", {})
    labels = map(str, description["labels"])
    return [
        printable(f"{label} ({names[label]})" if names.get(label, label) != label else label)
        for label in labels
    ]


def _told(label_set: dict[str, Any]) -> str:
    from funnelling.errors import counted

    parents, excluded = label_set["with_parents"], label_set["excluded"]
    facts = [
        counted(label_set["labels"], "label"),
        *([f"names in {', '.join(label_set['names'])}"] if label_set["names"] else []),
        *([f"{parents:,} with parents"] if parents else []),
        *(["documents get the parents of their labels"] if label_set["roll_up"] else []),
        *([f"not assigned: {_shorten(excluded)}"] if excluded else []),
    ]
    return "; ".join(facts)


def _list(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _shorten(labels: list[Any], most: int = 12) -> str:
    text = ", ".join(map(str, labels[:most]))
    return text if len(labels) <= most else f"{text}, …"
