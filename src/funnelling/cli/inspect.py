"""``funnelling inspect``: what a model is, how it was made, how good it was."""

import argparse
from typing import Any

from funnelling.cli import options, printing


def add_to(commands: options.Commands) -> None:
    parser = commands.add_parser(
        "inspect", help="show what a model is", description="Show what a model is and how good it was."
    )
    parser.add_argument("model", metavar="MODEL", help="folder of the model")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    import textwrap

    from funnelling.report.card import MISTAKES_SHOWN, limits, made_with, probabilities
    from funnelling.report.choice_table import tried_table
    from funnelling.report.label_tables import mistakes
    from funnelling.report.measure_tables import languages_table, notes
    from funnelling.report.tables import plain
    from funnelling.storage import describe_model

    description = describe_model(arguments.model)
    thresholds = _thresholds(arguments.model)
    if arguments.json:
        printing.print_json({**description, "thresholds": thresholds})
        return
    print(f"Method      {description['method']}")
    print(f"Languages   {_list(description['languages'])} (training documents)")
    kind = ", one per document" if description["exclusive"] else ""
    print(f"Labels      {len(description['labels'])}{kind}: {_shorten(description['labels'])}")
    _print_thresholds(thresholds)
    if description["scores"] is None:
        print("It was not measured.")
    else:
        print()
        print(plain(languages_table(description["scores"])))
        print(description["scores"].get("how", "Measured on documents that it did not learn from."))
        print("\n".join(notes(description["scores"])))
        for heading, table in mistakes(description["scores"], MISTAKES_SHOWN).items():
            print(f"\n{heading}:\n{plain(table)}")
    print()
    print(textwrap.fill(probabilities(description), 100))
    print("\n".join(["", "Limits", *(f"- {limit}" for limit in limits(description)), ""]))
    if description["choice"]:
        print(f"Choice      {description['choice']}")
    print(f"Parameters  {_list(made_with(description))}")
    print(f"Made with   funnelling {description['funnelling']}, {_list(description['versions'])}")
    if description["choice_tried"]:
        print(f"\nCandidates that were tried:\n{plain(tried_table(description['choice_tried']))}")


def _thresholds(model: str) -> dict[str, dict[Any, float]] | None:
    """Where they are not .5, by language; None of a model that cannot be loaded here."""
    from funnelling.errors import InputError
    from funnelling.prediction import thresholds_of
    from funnelling.storage import load_model

    try:
        return thresholds_of(load_model(model, mapped=True))
    except InputError:
        return None


def _print_thresholds(thresholds: dict[str, dict[Any, float]] | None, most: int = 6) -> None:
    """A line for all languages that share their thresholds, with the first labels."""
    shared: dict[tuple[tuple[Any, float], ...], list[str]] = {}
    for language, values in (thresholds or {}).items():
        shared.setdefault(tuple(values.items()), []).append(language)
    for i, (pairs, languages) in enumerate(shared.items()):
        shown = ", ".join(f"{label} {f'{value:.2f}'.removeprefix('0')}" for label, value in pairs[:most])
        more = f", … ({len(pairs)} labels are not at .5; --json has all)" if len(pairs) > most else ""
        print(f"{'' if i else 'Thresholds':<12}{', '.join(languages)}: {shown}{more}")


def _list(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _shorten(labels: list[Any], most: int = 12) -> str:
    text = ", ".join(map(str, labels[:most]))
    return text if len(labels) <= most else f"{text}, …"
