"""``funnelling data describe``: what is in a file of documents, before anything is learned from it."""

from typing import Any

from funnelling.commands import printing
from funnelling.commands.declaring import argument, flag
from funnelling.commands.options import DATA_HELP, AsJson, FilePath, Reading
from funnelling.errors import counted
from funnelling.runtime.messages import Reporter, silent

MAX_LABELS_SHOWN = 30  # in a table, unless all are asked for


class Describe(AsJson, Reading):
    """Describe a file of documents: odd rows, documents and words by language, documents by label, words in
    common.
    """

    examples = ("data describe docs.csv --labels-column topics --label-separator ';'",)

    data: FilePath = argument(DATA_HELP, "DATA")
    all: bool = flag(f"list all labels, not only the {MAX_LABELS_SHOWN} most frequent ones")

    def run(self, report: Reporter = silent, verbose: int = 0) -> dict[str, Any]:
        from funnelling.corpus import read_corpus
        from funnelling.corpus.findings import describe

        corpus = read_corpus(self.data, verbose=verbose, layout=self.layout, strict=self.strict)
        return describe(corpus, verbose=verbose)

    def show(self, result: dict[str, Any]) -> None:
        if self.json:
            printing.print_json(result)
        else:
            _print(result, len(result["labels"]) if self.all else MAX_LABELS_SHOWN)


def _print(description: dict[str, Any], most_labels: int) -> None:
    """What to look at comes first, tables that grow with the file last."""
    languages = description["languages"]
    print(
        f"{counted(description['documents'], 'document')}, {counted(len(languages), 'language')}, "
        f"{counted(len(description['labels']), 'label')}, "
        f"{description['labels_per_document']:.1f} labels per document"
    )
    splits = ", ".join(f"{split} {count:,}" for split, count in description["splits"].items())
    print(f"splits: {splits or 'none; compare will draw 30 % for test'}")
    if description["odd"]:
        print("\nodd rows")
        for line in description["odd"]:
            print(f"- {line}")
    print()
    _print_languages(languages)
    if description["labels"]:
        _print_labels(description["labels"], list(languages), most_labels)
    if len(languages) > 1:
        _print_shared_words(description["shared_words"])


def _print_languages(languages: dict[str, dict[str, Any]]) -> None:
    from funnelling.report.tables import Table, plain

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
    print(plain(Table(header, rows)))


def _print_shared_words(shared: dict[str, dict[str, float]]) -> None:
    from funnelling.report.tables import Table, plain

    print("\nwords that two languages share, in % of the smaller vocabulary")
    rows = [[a, *("" if a == b else f"{100 * shared[a][b]:.0f}" for b in shared)] for a in shared]
    print(plain(Table(["", *shared], rows)))


def _print_labels(labels: dict[str, dict[str, int]], languages: list[str], most: int) -> None:
    from funnelling.report.tables import Table, plain

    print("\npositives by label and language, most frequent first")
    rows = [
        [label, str(sum(counts.values())), *(str(counts.get(language, 0)) for language in languages)]
        for label, counts in list(labels.items())[:most]
    ]
    print(plain(Table(["label", "all", *languages], rows)))
    if len(labels) > most:
        print(f"… and {len(labels) - most:,} more: add --all to see them")
