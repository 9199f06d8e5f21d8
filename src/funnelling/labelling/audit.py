"""``funnelling audit``: labelled documents whose labels look wrong or missing."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import argument, flag, option
from funnelling.commands.options import FilePath, Jobs, Overwriting, Reading, Seed, output_option
from funnelling.commands.values import count
from funnelling.errors import InputError, counted
from funnelling.methods.registry import METHODS
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.formats.parquet import Kind

DEFAULT_N_SHOWN = 20  # documents on a terminal, unless a number is given


class Audit(Seed, Jobs, Overwriting, Reading):
    """Find wrong and missing labels, the most likely issues first.

    Each document is compared with out-of-fold predictions, with labels that go together, with near-duplicates
    and with translations (documents of one group). Correct the labels in the file of -o, and give it to
    update. Of a model, the stored training documents are audited.
    """

    examples = ("audit docs.jsonl -n 100 -o suspects.xlsx", "audit model")

    source: FilePath = argument("folder of a model, or file of labelled documents", "MODEL|DATA")
    number: int | None = option(
        f"how many documents ({DEFAULT_N_SHOWN}; with -o, all)",
        "N",
        "-n",
        default=None,
        type=count,
        common=True,
    )
    output: FilePath | None = output_option(
        "output file: .csv, .tsv, .xlsx, .parquet or .jsonl, or - (JSON Lines on standard output)",
        "FILE",
        default=None,
        exclusive="output",
        common=True,
    )
    json: bool = flag("print JSON instead of a listing", exclusive="output", common=True)
    method: str | None = option(
        "method of the out-of-fold predictions (fun-views)",
        "M",
        default=None,
        common=True,
        complete=lambda: list(METHODS),
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> Sequence[Mapping[str, Any]]:
        from funnelling.commands.sources import (
            is_model,
            load_text_model,
            prefix_errors_with_file,
            read_labelled,
        )
        from funnelling.formats.document import join_labels
        from funnelling.formats.files import STANDARD
        from funnelling.formats.layout import AS_FOUND
        from funnelling.formats.tables import write_table
        from funnelling.labelling.auditing import AUDIT_METHOD, audit_corpus, audit_model
        from funnelling.labelling.held_out import check_judges
        from funnelling.matrices import XMC_MIN_LABELS
        from funnelling.methods.registry import make_method

        nested = takes_lists(self.output or STANDARD, self.source, self.force)
        number = self.number or (DEFAULT_N_SHOWN if self.output is None else None)
        name = os.fspath(self.source)
        if is_model(name):
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
                report(f"{labels:,} labels: this takes long.")
            with prefix_errors_with_file(name):
                rows = audit_corpus(corpus, number, method, self.seed, self.jobs, verbose)
        report(f"{counted(len(rows), 'document')}, the most likely label issues first.")
        if self.output is not None:
            lists = ("words_for", "words_against", "labels_against", "duplicates")
            kind: Kind = "list" if nested else "text"
            columns: dict[str, Kind] = {
                **dict.fromkeys(("issue", "questioned_label", "suggested_label"), "text"),
                "probability": "number",
                **dict.fromkeys(lists, kind),
                "issue_score": "number",
            }

            def cells(row: Mapping[str, Any]) -> dict[str, Any]:
                joined = {each: join_labels(row[each]) if row[each] else "" for each in lists}
                return {"labels": join_labels(row["labels"]), **joined}

            written = (with_given_id(row, {} if nested else cells(row)) for row in rows)
            write_table(self.output, written, columns, self.force, verbose=verbose)
        return rows

    def show(self, result: Any) -> None:
        from funnelling.report.labels import audit_listing

        if self.json:
            printing.print_json({"command": "audit", "documents": result})
        elif self.output is None:
            print(audit_listing(result, printing.text_width()))


def takes_lists(output: FilePath, source: FilePath, force: bool) -> bool:
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


def with_given_id(row: Mapping[str, Any], cells: Mapping[str, Any]) -> dict[str, Any]:
    """A row as it stands in a file, where some lists are in one cell each."""
    from funnelling.formats.document import given_id

    return {**row, "id": given_id(row["id"]), **cells}
