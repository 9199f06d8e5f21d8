"""What `inspect` shows, as lines: a model on one screen or in full, and what is in a file of documents."""

import textwrap
from collections.abc import Iterator
from typing import Any

from funnelling.errors import counted, printable
from funnelling.report import card
from funnelling.report.labels import mistakes
from funnelling.report.measures import languages_table, notes
from funnelling.report.tables import Table, plain

MAX_LABELS_SHOWN = 30  # of a file, in a table
MAX_ROWS_SHOWN = 13  # languages of a model, and their average


def model_summary(model: str, description: dict[str, Any]) -> list[str]:
    """What a model is, on one screen."""
    scores, stored = description["scores"], description["stored"]
    lines = [*_facts(description), ""]
    if scores is None:
        lines.append("It was not evaluated.")
    else:
        table = plain(languages_table(scores)).splitlines()
        more = len(table) - 1 - MAX_ROWS_SHOWN
        lines += table[: 1 + MAX_ROWS_SHOWN] + ([f"… and {more} more languages"] if more > 0 else [])
        lines += [
            scores.get("evaluated_on", card.MEASURED),
            *notes(scores)[:2],
        ]
    documents = sum(stored["documents"].values())
    kept = f"data of {counted(documents, 'training document')}" if documents else card.NOTHING_STORED
    lines += ["", f"Stored      {kept}; {card.shown_bytes(stored['total_bytes'])} in all"]
    if stored.get("supported_changes"):
        lines.append(f"Changes     {', '.join(stored['supported_changes'])}")
    data = "NEW_DOCUMENTS.jsonl"
    return [
        *lines,
        f"Next:       funnelling predict {model} {data} -o labelled.csv",
        f"            funnelling explain {model} 'a few words'",
        f"            funnelling inspect {model} --full",
    ]


def _facts(description: dict[str, Any]) -> list[str]:
    kind = "single-label" if description["single_label"] else "multilabel"
    tags = description["languages"]
    shown = _list(dict(list(tags.items())[:MAX_ROWS_SHOWN])) + (", …" if len(tags) > MAX_ROWS_SHOWN else "")
    others = ", others by shared views" if description["serves_unseen"] else ""
    return [
        f"Method      {description['method']}",
        f"Languages   {shown}{others} (training documents)",
        f"Labels      {len(description['labels'])} ({kind}): {_shorten(_called(description))}",
        *([f"Label set   {_told(description['label_set'])}"] if "label_set" in description else []),
    ]


def model_details(description: dict[str, Any]) -> Iterator[str]:
    """All that is known of a model."""
    yield from _facts(description)
    yield from _thresholds(description["thresholds"])
    if description["scores"] is None:
        yield "It was not evaluated."
    else:
        yield ""
        yield plain(languages_table(description["scores"]))
        yield description["scores"].get("evaluated_on", card.MEASURED)
        yield from notes(description["scores"])
        for heading, table in mistakes(description["scores"], card.MAX_MISTAKES_SHOWN).items():
            yield f"\n{heading}:\n{plain(table)}"
    yield ""
    yield textwrap.fill(card.probabilities(description), 100)
    yield "\nHistory"
    if description["history"]:
        yield plain(card.history_table(description["history"]))
    if card.history_note(description):
        yield card.history_note(description)
    yield "\nStored training data"
    yield (
        plain(card.kept_table(description))
        if description["stored"]["documents"]
        else card.kept_sentence(description)
    )
    yield from card.what_follows(description)
    yield from ["", "Limits", *(f"- {limit}" for limit in card.limits(description)), ""]
    if description["choice"]:
        yield f"Choice      {description['choice']}"
    yield f"Parameters  {_list(card.made_with(description))}"
    yield f"Made with   funnelling {description['funnelling']}, {_list(description['versions'])}"
    if description["candidates"]:
        yield f"\nCandidates that were tried:\n{plain(card.tried_table(description['candidates']))}"


def _thresholds(thresholds: dict[str, dict[Any, float]] | None, most: int = 6) -> Iterator[str]:
    """A line for all languages that share their thresholds, with the first labels."""
    shared: dict[tuple[tuple[Any, float], ...], list[str]] = {}
    for language, values in (thresholds or {}).items():
        shared.setdefault(tuple(values.items()), []).append(language)
    for i, (pairs, languages) in enumerate(shared.items()):
        shown = ", ".join(
            f"{printable(str(label))} {f'{value:.2f}'.removeprefix('0')}" for label, value in pairs[:most]
        )
        more = f", … ({len(pairs)} labels are not at .5; --json has all)" if len(pairs) > most else ""
        yield f"{'' if i else 'Thresholds':<12}{', '.join(languages)}: {shown}{more}"


def _called(description: dict[str, Any]) -> list[str]:
    """The labels, with what they are called where that is asked for."""
    names = description.get("label_names", {})
    labels = map(str, description["labels"])
    return [
        printable(f"{label} ({names[label]})" if names.get(label, label) != label else label)
        for label in labels
    ]


def _told(label_set: dict[str, Any]) -> str:
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


def data_lines(description: dict[str, Any], full: bool) -> Iterator[str]:
    """What is in a file: what to look at comes first, tables that grow with the file last."""
    most_labels = len(description["labels"]) if full else MAX_LABELS_SHOWN
    languages, labels, shared = (description[key] for key in ("languages", "labels", "shared_words"))
    yield (
        f"{counted(description['documents'], 'document')}, {counted(len(languages), 'language')}, "
        f"{counted(len(labels), 'label')}, {description['labels_per_document']:.1f} labels per document"
    )
    splits = ", ".join(f"{split} {count:,}" for split, count in description["splits"].items())
    yield f"splits: {splits or 'none; compare will draw 30 % for test'}"
    if description["odd"]:
        yield "\nodd rows"
        for line in description["odd"]:
            yield f"- {line}"
    header = ["language", "documents", "labelled", "words", "distinct", "labels", "reduced to", "stop words"]
    rows = [
        [
            language,
            *(f"{values[key]:,}" for key in ("documents", "labelled", "words", "distinct_words", "labels")),
            values["reduced_to"] or "plain words",
            "yes" if values["stop_words"] else "no",
        ]
        for language, values in languages.items()
    ]
    yield f"\n{plain(Table(header, rows))}"
    if labels:
        yield "\npositives by label and language, most frequent first"
        rows = [
            [label, str(sum(counts.values())), *(str(counts.get(language, 0)) for language in languages)]
            for label, counts in list(labels.items())[:most_labels]
        ]
        yield plain(Table(["label", "all", *languages], rows))
    if len(labels) > most_labels:
        yield f"… and {len(labels) - most_labels:,} more: add --full to see them"
    if len(languages) > 1:
        yield "\nwords that two languages share, in % of the smaller vocabulary"
        rows = [[a, *("" if a == b else f"{100 * shared[a][b]:.0f}" for b in shared)] for a in shared]
        yield plain(Table(["", *shared], rows))
