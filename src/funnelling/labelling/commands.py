"""``funnelling audit``, ``suggest`` and ``label``: labels that look wrong, what to label next, and a page."""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.commands import printing
from funnelling.commands.declaring import Group, argument, flag, option
from funnelling.commands.options import (
    DATA_HELP,
    MODEL_HELP,
    FilePath,
    Jobs,
    LabelSetFile,
    Overwriting,
    Reading,
    Resources,
    Seed,
    output_option,
)
from funnelling.commands.values import count, journal, model_folder
from funnelling.methods.registry import METHODS
from funnelling.runtime.messages import Reporter, silent, style
from funnelling.serving.command import Service

DEFAULT_N_SHOWN = 20  # documents on a terminal, unless a number is given
UPDATES = Group("learning meanwhile")


class Audit(Seed, Jobs, Overwriting, Reading):
    """List labelled documents whose labels look wrong or missing,
    the most suspicious first: by models that did not learn from them, by labels that go together, by
    near-duplicates and by translations (documents of one group) that are labelled otherwise. Each has a kind,
    the label that is doubted, the one it should rather have, and the words, labels and documents that speak
    for and against. -o FILE has all documents unless -n says how many; correct its labels, and update takes
    it. For a model, its own training documents are looked at, as far as it keeps them.
    """

    examples = ("audit docs.jsonl -n 100 -o suspects.xlsx", "audit model")

    source: FilePath = argument("file of labelled documents, or folder of a trained model", "MODEL|DATA")
    number: int | None = option(
        f"how many documents ({DEFAULT_N_SHOWN}; with -o, all)", "N", "-n", default=None, type=count
    )
    output: FilePath | None = output_option(
        "output file: .csv, .tsv, .xlsx, .parquet or .jsonl, or - (JSON Lines on standard output)",
        "FILE",
        default=None,
        exclusive="output",
    )
    json: bool = flag("print JSON instead of a listing", exclusive="output")
    method: str | None = option(
        "method that judges the documents of a file (fun-views)",
        "M",
        default=None,
        complete=lambda: list(METHODS),
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> Sequence[Mapping[str, Any]]:
        from funnelling.labelling.auditing import audit_file

        return audit_file(
            self.source,
            self.number or (DEFAULT_N_SHOWN if self.output is None else None),
            self.output,
            method=self.method,
            seed=self.seed,
            layout=self.layout,
            strict=self.strict,
            jobs=self.jobs,
            force=self.force,
            verbose=verbose,
            report=report,
        )

    def show(self, result: Any) -> None:
        from funnelling.report.labels import audit_listing

        if self.json:
            printing.print_json(result)
        elif self.output is None:
            print(audit_listing(result, printing.text_width()))


class Suggest(Overwriting, Reading):
    """Name the documents without labels that a model would learn most from:
    those it is unsure of, that many others are like, and that are unlike what it has learned, no two of which
    say the same; across languages, with a reason for each. The output, a name that ends in .csv, .tsv, .xlsx,
    .parquet or .jsonl (.csv, .tsv and .jsonl also with .gz), has an empty field `labels`: fill it in, and
    give the file to `funnelling update`, which leaves out what is still empty. Standard output is JSON Lines.
    Documents with labels, documents for test and those that the model learned are left out.
    """

    examples = ("suggest model docs.jsonl -n 50 -o to-label.xlsx",)

    model: FilePath = argument(MODEL_HELP, "MODEL")
    data: FilePath = argument(DATA_HELP, "DATA")
    number: int = option("how many documents (100)", "N", "-n", default=100, type=count)
    output: FilePath = output_option("output file (standard output)", "FILE", default="-")
    balance: bool = flag(
        "aim at the same number of labelled documents in every language (more of languages with more)"
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> Sequence[Mapping[str, Any]]:
        from funnelling.labelling.suggesting import suggest

        return suggest(
            self.model,
            self.data,
            self.output,
            self.number,
            balance=self.balance,
            layout=self.layout,
            strict=self.strict,
            force=self.force,
            verbose=verbose,
        )


def _number(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


class Label(Service, LabelSetFile, Resources, Jobs, Reading):
    """Open a page on which one or several people label the documents of DATA, beside what the model suggests.

    Every decision is in the journal before the next document is shown; `funnelling update MODEL JOURNAL`
    learns from it.
    """

    examples = ("label model new.csv", "label model suspicious.csv --journal checked.jsonl")

    model: str = argument(MODEL_HELP, "MODEL")
    data: str = argument(DATA_HELP, "DATA")
    journal: str | None = option(
        "where decisions are kept, and gone on from (DATA with -journal.jsonl in place of its ending)",
        "FILE",
        default=None,
        type=journal,
    )
    max_journal: int = option("most bytes of the journal (1,073,741,824)", "N", default=2**30, type=count)
    who: str = option("who labels; else the page asks", "NAME", default="")
    all: bool = flag("show documents that have labels, too")
    as_they_are: bool = flag(
        "keep the order of DATA (those first that help most, unless DATA says why each is there)"
    )
    learn_after: int = option(
        "labels after which the model learns in the background; 0 for never (50)",
        "N",
        default=50,
        type=_number,
        group=UPDATES,
    )
    output: str | None = output_option(
        "folder of the model that has learned (MODEL-labelled); MODEL stays as it is",
        "MODEL",
        default=None,
        type=model_folder,
        group=UPDATES,
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> None:
        self.check_installed("label")
        from funnelling.labelling.bench import UpdateSettings
        from funnelling.labelling.page import LabellingSettings, label
        from funnelling.serving.settings import ServiceSettings, read_token

        service = ServiceSettings(
            self.model,
            self.host,
            self.port,
            token=read_token(self.token_file),
            allowed_hosts=tuple(self.allow_host),
            style=style(),
            label_set=self.label_set,
        )
        updates = UpdateSettings(
            self.model,
            self.journal or _journal_beside(self.data),
            self.output or f"{self.model.rstrip('/')}-labelled",
            self.learn_after,
            self.resources,
            self.jobs,
        )
        label(
            LabellingSettings(
                service,
                self.data,
                updates,
                self.layout,
                self.all,
                self.as_they_are,
                self.strict,
                self.who,
                self.max_journal,
            )
        )


def _journal_beside(data: str) -> str:
    """The journal of a file of documents, where none is named."""
    if data == "-":
        return "journal.jsonl"
    folder, name = os.path.split(os.path.normpath(data))
    return os.path.join(folder, f"{os.path.splitext(name.removesuffix('.gz'))[0]}-journal.jsonl")
