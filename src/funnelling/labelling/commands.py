"""``funnelling audit``, ``suggest`` and ``label``: labels that look wrong, what to label next, and a page."""

import argparse
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from funnelling.errors import InputError, counted
from funnelling.methods.registry import METHODS
from funnelling.runtime.messages import MODEL, Reporter, silent
from funnelling.serving.command import Service

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.formats.parquet import Kind
    from funnelling.methods.model import Model

logger = logging.getLogger(__name__)

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
        from funnelling.commands.sources import load_text_model, prefix_errors_with_file, read_labelled
        from funnelling.formats.document import join_labels
        from funnelling.formats.files import STANDARD
        from funnelling.formats.layout import AS_FOUND
        from funnelling.formats.tables import write_table
        from funnelling.labelling.auditing import AUDIT_METHOD, audit_corpus, audit_model
        from funnelling.labelling.held_out import check_judges
        from funnelling.matrices import XMC_MIN_LABELS
        from funnelling.methods.registry import make_method

        nested = _takes_lists(self.output or STANDARD, self.source, self.force)
        number = self.number or (DEFAULT_N_SHOWN if self.output is None else None)
        name = os.fspath(self.source)
        is_model = name.startswith("hf://") or os.path.exists(os.path.join(name, MODEL))
        if not (is_model or name == STANDARD or os.path.exists(name)):
            raise InputError(f"{name}: there is no such file, and no such model.")
        if is_model:
            if self.method is not None or self.strict or self.layout != AS_FOUND:
                raise InputError(
                    f"{name} is a model, whose own documents are looked at: options on how a file is read "
                    "and judged do not apply. Leave them out, or give a file of documents."
                )
            model = load_text_model(name).running(n_jobs=self.jobs)
            with prefix_errors_with_file(name):
                rows = audit_model(model, number, verbose)
        else:
            method = self.method or AUDIT_METHOD
            check_judges(make_method(method).algorithm)
            corpus, notes = read_labelled(name, verbose=verbose, layout=self.layout, strict=self.strict)
            for line in notes:
                report(line)
            if (labels := len(corpus.label_set())) > XMC_MIN_LABELS:
                report(f"{labels:,} labels: every one of them is judged apart, which takes long.")
            with prefix_errors_with_file(name):
                rows = audit_corpus(corpus, number, method, self.seed, self.jobs, verbose)
        report(f"{counted(len(rows), 'document')}, the most suspicious first.")
        if self.output is not None:
            lists = ("words_for", "words_against", "others_against", "peers")
            kind: Kind = "list" if nested else "text"
            columns: dict[str, Kind] = {
                **dict.fromkeys(("kind", "doubted", "rather"), "text"),
                "probability": "number",
                **dict.fromkeys(lists, kind),
                "suspicion": "number",
            }

            def cells(row: Mapping[str, Any]) -> dict[str, Any]:
                joined = {each: join_labels(row[each]) if row[each] else "" for each in lists}
                return {"labels": join_labels(row["labels"]), **joined}

            written = (_with_given_id(row, {} if nested else cells(row)) for row in rows)
            write_table(self.output, written, columns, self.force, verbose=verbose)
        return rows

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
        from collections import Counter

        from funnelling.commands.sources import layout_for, load_text_model
        from funnelling.corpus import Corpus, name_languages
        from funnelling.formats import read_documents
        from funnelling.formats.document import join_labels
        from funnelling.formats.files import STANDARD, shown_name
        from funnelling.formats.tables import write_table
        from funnelling.methods.suggesting import MAX_COMPARED_DOCUMENTS, check_suggests, suggest_texts
        from funnelling.runtime.progress import timed

        nested = _takes_lists(self.output, self.data, self.force)
        name, target = shown_name(self.data), os.fspath(self.output)
        model = load_text_model(self.model).running(verbose=verbose)
        check_suggests(model)
        with timed(f"reading {name}", bool(verbose)):
            corpus = Corpus.from_documents(read_documents(self.data, layout_for(model, self.layout)))
        corpus, names = name_languages(
            corpus, name, among=self.languages or model.languages, verbose=verbose, strict=self.strict
        )
        for line in names.lines():
            logger.info("%s: %s", name, line)
        corpus = _unlabelled(model, corpus, name)
        for language, there in sorted(Counter(map(str, corpus.languages)).items()):
            if there > MAX_COMPARED_DOCUMENTS:
                logger.info(
                    "%s: of %d documents in %s, %d are looked at.",
                    name,
                    there,
                    language,
                    MAX_COMPARED_DOCUMENTS,
                )
        rows = suggest_texts(
            model,
            corpus.texts,
            corpus.languages,
            self.number,
            ids=corpus.ids,
            groups=corpus.groups if any(corpus.groups) else None,
            balance=self.balance,
        )
        if len(rows) < min(self.number, len(corpus)):
            logger.info(
                "%d of %s suggested: the others say the same as one that is suggested or learned, are of its "
                "group, or were not looked at.",
                len(rows),
                counted(len(corpus), "document"),
            )
        columns: dict[str, Kind] = {
            "labels": "list" if nested else "text",
            "suggested": "list" if nested else "text",
            "probabilities": "map" if nested else "text",
            "reason": "text",
            "score": "number",
        }
        written = (
            _with_given_id(row, {} if nested else {"suggested": join_labels(row["suggested"])})
            for row in rows
        )
        write_table(target, written, columns, self.force, title="suggestions", verbose=verbose)
        if target != STANDARD:
            logger.info("%s: %s to label.", target, counted(len(rows), "document"))
        return rows


def _takes_lists(output: FilePath, source: FilePath, force: bool) -> bool:
    """Whether a file takes lists; one that exists, cannot be written or is what is read is refused."""
    from funnelling.formats.files import STANDARD, check_output_folder
    from funnelling.formats.tables import JSON_LINES, PARQUET, check_writable

    ending, file = check_writable(output), Path(output)
    if os.fspath(output) != STANDARD:
        if file.exists() and os.path.exists(source) and file.samefile(source):
            raise InputError(f"{file} is what is read. Choose another file with -o.")
        if file.exists() and not force:
            raise InputError(f"{file} exists. Choose another file with -o or add --force.")
        check_output_folder(file.parent)
    return ending in (JSON_LINES, PARQUET)


def _with_given_id(row: Mapping[str, Any], cells: Mapping[str, Any]) -> dict[str, Any]:
    """A row as it stands in a file, where some lists are in one cell each."""
    from funnelling.formats.document import given_id

    return {**row, "id": given_id(row["id"]), **cells}


def _unlabelled(model: "Model", corpus: "Corpus", name: str) -> "Corpus":
    """The documents that could be labelled; how many others there are is said."""
    import numpy as np

    archive = model.archive
    learned = np.zeros(len(corpus), dtype=bool)
    if archive is not None and archive.texts:
        learned = archive.knows(corpus.languages, corpus.texts, corpus.ids, corpus.groups)
    left = np.ones(len(corpus), dtype=bool)
    lines = []
    for which, why in (
        ([not text.strip() for text in corpus.texts], "without text"),
        ([labels is not None for labels in corpus.labels], "with labels"),
        ([split == "test" for split in corpus.splits], "for test"),
        (learned, "that the model has learned, or another version of"),
    ):
        found = np.asarray(which, dtype=bool)
        if number := int((found & left).sum()):
            lines.append(f"{counted(number, 'document')} {why}")
        left &= ~found
    if not left.any():
        raise InputError(f"{name}: no document to suggest: {', '.join(lines)}. Add some without labels.")
    if lines:
        logger.info("%s: left out: %s.", name, ", ".join(lines))
    return corpus.select(left)


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
        from funnelling.commands.sources import load_text_model
        from funnelling.formats.journal import Journal
        from funnelling.labelling.page import label
        from funnelling.labelling.queue import UpdateSettings, learned_before, read_queue
        from funnelling.methods.learning import check_extensible
        from funnelling.serving.settings import ServiceSettings, read_token

        service = ServiceSettings(
            self.model,
            self.host,
            self.port,
            token=read_token(self.token_file),
            allowed_hosts=tuple(self.allow_host),
        )
        journal = self.journal or _journal_beside(self.data)
        output = self.output or f"{self.model.rstrip('/')}-labelled"
        learned = learned_before(output, journal) if self.learn_after else None
        model = load_text_model(self.model)
        if self.learn_after:
            try:
                check_extensible(model)
            except InputError as error:
                raise InputError(
                    f"{self.model}: {error} Or label without learning: --learn-after 0."
                ) from None
        if learned is not None:  # an earlier run has made it of the model
            model = load_text_model(output)
        if model.algorithm.sparse_labels and not self.as_they_are:
            raise InputError(
                f"{model.algorithm.name} cannot put documents into order yet. Add --as-they-are."
            )
        label_set = None
        if self.label_set is not None:
            model = model.following(self.label_set)
            label_set = model.label_set
        if os.path.exists(journal):  # what is wrong with it is told before documents are read
            Journal(journal).close()
        queue = read_queue(
            model,
            self.data,
            layout=self.layout,
            everything=self.all,
            as_they_are=self.as_they_are,
            strict=self.strict,
            verbose=verbose,
            report=report,
        )
        learning = UpdateSettings(
            self.model, journal, output, self.learn_after, self.resources, self.jobs, label_set
        )
        label(queue, model, learned or 0, learning, service, self.who, self.max_journal)


def _journal_beside(data: str) -> str:
    """The journal of a file of documents, where none is named."""
    if data == "-":
        return "journal.jsonl"
    folder, name = os.path.split(os.path.normpath(data))
    return os.path.join(folder, f"{os.path.splitext(name.removesuffix('.gz'))[0]}-journal.jsonl")
