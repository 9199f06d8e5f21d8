"""Measure a model on labelled documents."""

from collections.abc import Sequence
from pathlib import Path

from funnelling.corpus import Corpus
from funnelling.errors import InputError, counted
from funnelling.evaluation.errors import MAX_ERRORS, measure_with_errors
from funnelling.evaluation.measuring import (
    MAX_CONFUSED_PAIRS,
    MAX_WORST_LABELS,
    model_scores,
    supported_documents,
)
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.splits import measurable
from funnelling.formats.document import quoted
from funnelling.formats.files import shown_name
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.formats.tables import XLSX, check_writable, write_table
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.model import Model
from funnelling.methods.registry import title
from funnelling.report.comparison import run_facts
from funnelling.report.content import Report
from funnelling.report.measures import evaluation_rows
from funnelling.report.model import model_sections, model_summary
from funnelling.report.rendering import write_report
from funnelling.runtime.messages import Reporter, silent
from funnelling.storage import describe_model
from funnelling.tasks.measurement import check_new_files, check_report_folder, write_json
from funnelling.tasks.resources import rolled_up
from funnelling.tasks.sources import FilePath, layout_for, load_text_model, read_labelled
from funnelling.text.excerpts import beginning


def evaluate(
    model: FilePath,
    data: FilePath,
    *,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    labels: int | None = MAX_WORST_LABELS,
    pairs: int | None = MAX_CONFUSED_PAIRS,
    confusion: bool = False,
    errors: int = 0,
    output: FilePath | None = None,
    tables: Sequence[str] = (),
    label_set: FilePath | None = None,
    exclude: Sequence[str] = (),
    force: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> Result:
    """The measures of a model on the test documents of a file, or on all where none has a split.

    A document in which the model knows nothing counts as one without labels, or as its most probable class
    where the model gives each document one label.

    Parameters
    ----------
    model : folder of the model
    data : file of labelled documents
    layout : where the fields of documents are in the file, as far as that is not to be found
    strict : whether documents in languages the model does not know are refused, or else left out
    labels : of how many labels, from the worst on, ``by_label`` tells; None for all
    pairs : how many pairs of labels ``confused`` and ``missed_together`` have at most; None for all
    confusion : whether all labels given to documents of each label are told, by a model that gives one each
    errors : how many of the worst errors are told, with their texts and why they were made
    output : folder of a report, in which the worst errors are always told; or a file whose ending says what
        it is, .csv, .tsv, .xlsx, .parquet or .jsonl, for one of the ``tables``, of which .xlsx holds several
    tables : those for a file: "by-label", "confused", "errors"; by default the measures of each language
    label_set : file of labels (see `read_label_set`) in place of what the model keeps of them
    exclude : labels that are not to be assigned; documents that have them count as having an unknown one
    force : whether an output that exists is replaced, or a folder that holds something written to
    verbose : above 0 for progress bars
    report : what gets a line on documents that are left out
    """
    file, folder = _check_output(output, tables, force)
    classifier = load_text_model(model).following(label_set, exclude).running(verbose=verbose)
    single_label = classifier.labels.single_label
    if confusion and not single_label:
        raise InputError(
            f"{shown_name(model)}: a confusion matrix is of models that give each document one label. "
            "Use --confused."
        )
    if confusion and len(classifier.labels.classes) > XMC_MIN_LABELS:
        raise InputError(
            f"{shown_name(model)}: a confusion matrix of {len(classifier.labels.classes):,} labels is too "
            "large to read. Use --confused."
        )
    layout = layout_for(classifier, layout)
    corpus, notes = read_labelled(data, verbose=verbose, layout=layout, strict=strict)
    corpus = rolled_up(corpus, classifier.label_set)
    test, left_out = _measurable(corpus, classifier, shown_name(data), strict)
    if single_label:
        test, lacking = measurable(test)
        left_out += lacking
        if not len(test):
            raise InputError(
                f"{shown_name(data)}: the model gives each document one label, and no document has exactly "
                "one. Choose another file."
            )
    _check_labels(classifier, test, shown_name(data))
    left_out += _learned_from(classifier, test)
    result = measure_with_errors(classifier, test, errors if folder is None else errors or MAX_ERRORS)
    scores = model_scores(result, labels, pairs)
    if confusion:
        scores["confusion"] = result["confusion"]
    if errors:
        scores["errors"] = result["errors"]
    if folder is not None:
        _write_report(folder, model, data, test, scores, result)
    if file is not None:
        rows = evaluation_rows(scores)
        first, *others = tables or ("languages",)
        write_table(
            file, rows[first], None, force, title=first, attached={name: rows[name] for name in others}
        )
    for line in (*notes, *left_out):
        report(line)
    return scores


def _check_labels(model: Model, test: Corpus, name: str) -> None:
    """Refuse documents of which no label is one of the model's: that is another column, or task."""
    known, present = [str(label) for label in model.labels.classes], test.label_set()
    if present and not set(known) & set(present):
        raise InputError(
            f"{name}: no label of it is one of the model's: {quoted(present[0])} and others here, "
            f"{quoted(known[0])} and others there. Name the column of the labels with --labels-column."
        )


def _learned_from(model: Model, test: Corpus) -> list[str]:
    """A line on documents that the model has learned from, as far as it knows how those begin."""
    archive = model.archive
    known = {(tag, text) for tag, texts in getattr(archive, "beginnings", {}).items() for text in texts}
    learned = sum(
        (tag, beginning(text)) in known for tag, text in zip(test.languages, test.texts, strict=True)
    )
    if not learned:
        return []
    return [
        f"{learned:,} of {counted(len(test), 'document')} begin like ones that the model learned from: the "
        "figures say nothing of those that are new."
    ]


def _check_output(
    output: FilePath | None, tables: Sequence[str], force: bool
) -> tuple[Path | None, Path | None]:
    """The file or the folder that results go to, checked before the work for them begins."""
    if output is None:
        return None, None
    path = Path(output)
    if not path.suffix or path.is_dir():
        check_report_folder(path, force)
        return None, path
    ending = check_writable(path)
    if len(tables) > 1 and ending != XLSX:
        raise InputError(
            f"{path}: holds one table, and {', '.join(f'--{table}' for table in tables)} ask for more. Ask "
            "for one, or choose a folder or a name that ends in .xlsx."
        )
    check_new_files(path.parent, [path], force)
    return path, None


def _write_report(
    folder: Path, model: FilePath, data: FilePath, test: Corpus, scores: Result, result: Result
) -> None:
    """Write all that was measured into a folder, for people and for programs."""
    description = {**describe_model(model), "scores": scores}
    page = Report(
        f"How good a {title(description['method'])} model is",
        [f"Measured on {counted(len(test), 'document')} of {shown_name(data)}."],
        model_sections(description, result),
        run_facts(
            {
                "Model": str(model),
                "Data": f"{shown_name(data)}: {counted(len(test), 'document')} measured on, "
                f"{counted(len(test.by_language()), 'language')}",
            }
        ),
        model_summary(scores, result),
    )
    write_report(page, folder)
    write_json(folder / "evaluation.json", {**scores, "errors": result["errors"]})


def _measurable(corpus: Corpus, model: Model, name: str, strict: bool) -> tuple[Corpus, list[str]]:
    """The documents to measure on, and a line to report on the others."""
    if any(corpus.splits):
        corpus = corpus.split("test")
        if not len(corpus):
            raise InputError(f'{name}: no labelled document with split "test". Mark what to measure on.')
    rows = supported_documents(corpus, model)
    if rows.all():
        return corpus, []
    unknown = list(corpus.select(~rows).by_language())
    if strict or not rows.any():
        cure = "Leave --strict out to leave such documents out."
        if not rows.any():
            cure = "Choose another file, or add --language-column none to detect languages."
        raise InputError(
            f"{name}: the model does not know the language {quoted(unknown[0])}, only "
            f"{', '.join(model.languages)}. {cure}"
        )
    left_out = f"{counted(int((~rows).sum()), 'document')} in {', '.join(unknown)}"
    return corpus.select(rows), [f"{name}: left out {left_out}, which the model does not know."]
