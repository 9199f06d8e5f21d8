"""Look for wrong and missing labels: in a file of documents, or in those that a model learned from."""

import os
from pathlib import Path

from funnelling.errors import InputError, counted
from funnelling.formats.document import given_id, join_labels
from funnelling.formats.files import STANDARD, writing
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.parquet import Kind
from funnelling.formats.tables import JSON_LINES, PARQUET, check_writable, to_json, write_table
from funnelling.matrices import MANY
from funnelling.methods.registry import make_method
from funnelling.review.auditing import METHOD, Row, audit_corpus, audit_model
from funnelling.review.held_out import check_judges
from funnelling.runtime.messages import MODEL, Reporter, silent
from funnelling.tasks.outputs import check_new_file
from funnelling.tasks.sources import FilePath, load_text_model, naming_file, read_labelled

LISTS = ("words_for", "words_against", "others_against", "peers")


def audit_file(
    source: FilePath,
    number: int | None = None,
    output: FilePath | None = None,
    *,
    method: str | None = None,
    seed: int = 0,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> list[Row]:
    """The documents of a file or of a model whose labels look most wrong; see `audit`.

    Parameters
    ----------
    source : file of labelled documents, or folder of a model
    number : how many documents are told, the most suspicious first; None for all
    output : file whose ending says what it is (.csv, .tsv, .xlsx, .parquet or .jsonl), or - for JSON Lines
        on standard output; with labels corrected, `update` takes it
    method : that judges the documents of a file, or None for the usual one
    seed : of folds, for a file
    layout : where the fields of documents are in the file, as far as that is not to be found
    strict : whether a document with a language that is none is refused, or else left out
    jobs : threads, or None for one
    force : whether an output that exists is replaced
    verbose : above 0 for progress bars
    report : what gets a line on each step
    """
    target = None if output is None or os.fspath(output) == STANDARD else os.fspath(output)
    ending = JSON_LINES if target is None else check_writable(target)
    if target is not None:
        check_new_file(Path(target), force, source)
    is_model = _is_model(source)
    if not (is_model or os.fspath(source) == STANDARD or os.path.exists(source)):
        raise InputError(f"{source}: there is no such file, and no such model.")
    if is_model:
        if method is not None or strict or layout != AS_FOUND:
            raise InputError(
                f"{source} is a model, whose own documents are looked at: options on how a file is read and "
                "judged do not apply. Leave them out, or give a file of documents."
            )
        rows = _of_model(source, number, jobs, verbose)
    else:
        check_judges(make_method(method or METHOD))
        corpus, notes = read_labelled(source, verbose=verbose, layout=layout, strict=strict)
        for line in notes:
            report(line)
        if (labels := len(corpus.label_set())) > MANY:
            report(f"{labels:,} labels: every one of them is judged apart, which takes long.")
        with naming_file(source):
            rows = audit_corpus(corpus, number, method or METHOD, seed, jobs, verbose)
    report(f"{counted(len(rows), 'document')}, the most suspicious first.")
    if target is not None:
        written = (_written(row, ending) for row in rows)
        write_table(target, written, _columns(ending), force, verbose=verbose)
    elif output is not None:
        with writing(STANDARD) as stream:
            stream.writelines(to_json(_written(row, ending)) + "\n" for row in rows)
    return rows


def _is_model(source: FilePath) -> bool:
    """Whether a name is that of a model, in a folder or on the Hub."""
    name = os.fspath(source)
    return name.startswith("hf://") or os.path.exists(os.path.join(name, MODEL))


def _of_model(source: FilePath, number: int | None, jobs: int | None, verbose: int) -> list[Row]:
    model = load_text_model(source)
    model.set_params(n_jobs=jobs)
    with naming_file(source):
        return audit_model(model, number, verbose)


def _columns(ending: str) -> dict[str, Kind]:
    lists: Kind = "list" if ending == PARQUET else "text"
    return {
        "kind": "text",
        "doubted": "text",
        "rather": "text",
        "probability": "number",
        **dict.fromkeys(LISTS, lists),
        "suspicion": "number",
    }


def _written(row: Row, ending: str) -> Row:
    """A row as it stands in a file: lists in one cell, unless the format has lists."""
    row = {**row, "id": given_id(row["id"])}
    if ending in (JSON_LINES, PARQUET):
        return row
    lists = {name: join_labels(row[name]) if row[name] else "" for name in LISTS}
    return {**row, "labels": join_labels(row["labels"]), **lists}
