"""``funnelling inspect``: what a model is, or what is in a file of documents."""

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import argument, flag
from funnelling.commands.options import DATA_HELP, AsJson, FilePath, Names, Reading
from funnelling.errors import InputError, counted, printable
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.corpus.label_set import LabelSet
    from funnelling.methods.model import Model

MAX_LABELS_SHOWN = 30  # of a file, in a table
MAX_ROWS_SHOWN = 13  # languages of a model, and their average
MERGE = "relabel to merge labels"
ON_TEXTS = ("update", "forget")
CHANGE_COMMANDS = ("update", "forget", "tune", "relabel", MERGE)
OF_VECTORS = "It was fitted on vectors, not on texts. Use extend and forget in Python."


class Inspect(Names, AsJson, Reading):
    """Show what a model is: languages, labels, metrics, what it stores and how it can be changed. Or show
    what is in a file of documents: odd rows, documents and words by language, documents by label, words that
    languages share.
    """

    examples = ("inspect model", "inspect docs.csv --labels-column topics --label-separator ';'")

    source: FilePath = argument(
        f"folder of a model, hf://owner/name, or file of documents; {DATA_HELP}", "MODEL|DATA"
    )
    full: bool = flag(
        "show all of a model (thresholds, errors, history, parameters), or all labels of a file", common=True
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> dict[str, Any]:
        from funnelling.commands.sources import is_model
        from funnelling.formats.layout import AS_FOUND

        if is_model(self.source):
            if self.strict or self.layout != AS_FOUND:
                raise InputError(
                    f"{self.source} is a model: options on how a file is read do not apply. Leave them out."
                )
            return inspect_model(self.source, self.names)
        from funnelling.corpus import read_corpus
        from funnelling.corpus.findings import describe

        if self.names is not None:
            raise InputError(f"{self.source} is no model: --names does not apply. Leave it out.")
        corpus = read_corpus(self.source, verbose=verbose, layout=self.layout, strict=self.strict)
        return describe(corpus, verbose=verbose)

    def show(self, result: dict[str, Any]) -> None:
        if self.json:
            printing.print_json(result)
        elif "method" not in result:
            _print_description(result, len(result["labels"]) if self.full else MAX_LABELS_SHOWN)
        elif self.full:
            _print_model(result)
        else:
            print("\n".join(_summary(str(self.source), result)))


def inspect_model(model: FilePath, names: str | None = None) -> dict[str, Any]:
    """What `describe_model` says of a model, and what is known once it is loaded.

    ``thresholds`` are those that are not .5, by language, and ``stored`` has what `possible_changes` gives,
    too. Where the model has a label set, ``label_set`` tells of it, and with the language of ``names``,
    ``label_names`` what each label is called. Of a model that cannot be loaded here, the thresholds are None
    and ``stored`` has no more.
    """
    from funnelling.methods.rows import names_of_labels, thresholds_of
    from funnelling.storage import describe_model, load

    description = describe_model(model)
    try:
        loaded = load(model, mapped=True)
    except InputError:
        return {**description, "thresholds": None}
    stored = {**description["stored"], **possible_changes(loaded)}
    told = {**description, "stored": stored, "thresholds": thresholds_of(loaded)}
    if loaded.label_set is not None:
        told["label_set"] = _describe_label_set(loaded.label_set)
    if names is not None:
        called = names_of_labels(loaded, names)
        told["label_names"] = {str(label): called.get(str(label), str(label)) for label in told["labels"]}
    return told


def _describe_label_set(label_set: "LabelSet") -> dict[str, Any]:
    """How many labels a set has, in which languages it names them, and what it says of them."""
    labels = list(label_set)
    return {
        "labels": len(labels),
        "names": sorted(label_set.names),
        "with_parents": sum(bool(label.parents) for label in labels),
        "excluded": [label.id for label in labels if label.exclude],
        "roll_up": bool(label_set.roll_up),
    }


def possible_changes(model: "Model") -> dict[str, Any]:
    """The ``supported_changes`` of a model by commands, and the ``unsupported_changes`` with their reasons.

    ``needs`` are resources that are not stored with a model, and that it needs again to be fitted.
    """
    cannot = _impossible(model)
    return {
        "supported_changes": [command for command in CHANGE_COMMANDS if command not in cannot],
        "unsupported_changes": cannot,
        "needs": _resources(model),
    }


def _impossible(model: "Model") -> dict[str, str]:
    from funnelling.funnel.tuning import check_tunable
    from funnelling.methods.learning import check_extensible

    again, tune = (_refusal(check, model) for check in (check_extensible, check_tunable))
    on_texts = again if again or model.texts else OF_VECTORS
    reasons = {**dict.fromkeys(ON_TEXTS, on_texts), MERGE: again, "tune": tune}
    archive = model.archive
    if archive is not None and not on_texts and not any(map(archive.given_ids, archive.blocks)):
        reasons["forget"] = "Its documents were given no ids. Give them some with update."
    return {command: reason for command, reason in reasons.items() if reason}


def _refusal(check: Callable[["Model"], object], model: "Model") -> str:
    """Why a model is refused; nothing where it is not."""
    try:
        check(model)
    except InputError as error:
        return str(error)
    return ""


def _resources(model: "Model") -> list[str]:
    from funnelling.spaces.embedded import EmbeddedSpace
    from funnelling.spaces.outside import EncoderSpace
    from funnelling.spaces.reference import ReferenceSpace

    kinds = {"embeddings": EmbeddedSpace, "encoder": EncoderSpace, "reference": ReferenceSpace}
    spaces = model.fitted.spaces
    return [name for name, kind in kinds.items() if any(isinstance(space, kind) for space in spaces)]


def _summary(model: str, description: dict[str, Any]) -> list[str]:
    """What a model is, on one screen."""
    from funnelling.report import card
    from funnelling.report.measures import languages_table, notes
    from funnelling.report.tables import plain

    scores, stored = description["scores"], description["stored"]
    lines = [*_facts(description), ""]
    if scores is None:
        lines.append("It was not evaluated.")
    else:
        table = plain(languages_table(scores)).splitlines()
        more = len(table) - 1 - MAX_ROWS_SHOWN
        lines += table[: 1 + MAX_ROWS_SHOWN] + ([f"… and {more} more languages"] if more > 0 else [])
        lines += [
            scores.get("evaluated_on", "Measured on documents that it did not learn from."),
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


def _print_model(description: dict[str, Any]) -> None:
    from funnelling.report import card
    from funnelling.report.labels import mistakes
    from funnelling.report.measures import languages_table, notes
    from funnelling.report.tables import plain

    print("\n".join(_facts(description)))
    _print_thresholds(description["thresholds"])
    if description["scores"] is None:
        print("It was not evaluated.")
    else:
        print()
        print(plain(languages_table(description["scores"])))
        print(description["scores"].get("evaluated_on", "Measured on documents that it did not learn from."))
        print("\n".join(notes(description["scores"])))
        for heading, table in mistakes(description["scores"], card.MAX_MISTAKES_SHOWN).items():
            print(f"\n{heading}:\n{plain(table)}")
    print()
    print(textwrap.fill(card.probabilities(description), 100))
    print("\nWhat it learned from")
    if description["history"]:
        print(plain(card.history_table(description["history"])))
    if card.history_note(description):
        print(card.history_note(description))
    print("\nWhat it keeps")
    print(
        plain(card.kept_table(description))
        if description["stored"]["documents"]
        else card.kept_sentence(description)
    )
    print("\n".join(card.what_follows(description)))
    print("\n".join(["", "Limits", *(f"- {limit}" for limit in card.limits(description)), ""]))
    if description["choice"]:
        print(f"Choice      {description['choice']}")
    print(f"Parameters  {_list(card.made_with(description))}")
    print(f"Made with   funnelling {description['funnelling']}, {_list(description['versions'])}")
    if description["candidates"]:
        print(f"\nCandidates that were tried:\n{plain(card.tried_table(description['candidates']))}")


def _print_thresholds(thresholds: dict[str, dict[Any, float]] | None, most: int = 6) -> None:
    """A line for all languages that share their thresholds, with the first labels."""
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


def _print_description(description: dict[str, Any], most_labels: int) -> None:
    """What to look at comes first, tables that grow with the file last."""
    from funnelling.report.tables import Table, plain

    languages, labels, shared = (description[key] for key in ("languages", "labels", "shared_words"))
    print(
        f"{counted(description['documents'], 'document')}, {counted(len(languages), 'language')}, "
        f"{counted(len(labels), 'label')}, {description['labels_per_document']:.1f} labels per document"
    )
    splits = ", ".join(f"{split} {count:,}" for split, count in description["splits"].items())
    print(f"splits: {splits or 'none; compare will draw 30 % for test'}")
    if description["odd"]:
        print("\nodd rows")
        for line in description["odd"]:
            print(f"- {line}")
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
    print(f"\n{plain(Table(header, rows))}")
    if labels:
        print("\npositives by label and language, most frequent first")
        rows = [
            [label, str(sum(counts.values())), *(str(counts.get(language, 0)) for language in languages)]
            for label, counts in list(labels.items())[:most_labels]
        ]
        print(plain(Table(["label", "all", *languages], rows)))
    if len(labels) > most_labels:
        print(f"… and {len(labels) - most_labels:,} more: add --full to see them")
    if len(languages) > 1:
        print("\nwords that two languages share, in % of the smaller vocabulary")
        rows = [[a, *("" if a == b else f"{100 * shared[a][b]:.0f}" for b in shared)] for a in shared]
        print(plain(Table(["", *shared], rows)))
