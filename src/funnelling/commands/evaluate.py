"""``funnelling evaluate``: how good a model is on labelled documents, by language."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing, values
from funnelling.commands.declaring import NegativeResultError, argument, flag, option
from funnelling.commands.options import (
    DATA_HELP,
    MODEL_HELP,
    AsJson,
    Exclude,
    FilePath,
    LabelSetFile,
    Overwriting,
    Reading,
    output_option,
)
from funnelling.errors import InputError, counted, did_you_mean
from funnelling.methods.registry import title
from funnelling.runtime.messages import Reporter, say, silent

if TYPE_CHECKING:
    from funnelling.corpus import Corpus
    from funnelling.evaluation.pieces import Result
    from funnelling.methods.model import Model

NO_LIMIT = 0  # labels or pairs, where no number is given
DEFAULT_PAIRS, DEFAULT_ERRORS = 10, 20


def _count(text: str) -> int:
    try:
        return values.count(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}. Options come after MODEL and DATA") from None


def _amount(meaning: str, const: int) -> Any:
    """An option that takes a number, or has one of its own."""
    return option(meaning, "N", default=None, nargs="?", type=_count, const=const, common=True)


class Evaluate(LabelSetFile, Exclude, Overwriting, AsJson, Reading):
    """Evaluate a model on labelled documents.

    These are the rows with split test; without splits, all rows that have labels.
    """

    examples = (
        "evaluate model test.jsonl --by-label 10 --errors",
        "evaluate model test.jsonl --require micro-f1=.6 --json",
        "evaluate model test.jsonl -o report",
    )

    model: FilePath = argument(MODEL_HELP, "MODEL")
    data: FilePath = argument(DATA_HELP, "DATA")
    by_label: int | None = _amount(
        "list labels from the worst to the best, or the N worst; and the languages where they fail", NO_LIMIT
    )
    confused: int | None = _amount(
        f"list the N pairs of labels confused most often ({DEFAULT_PAIRS})",
        DEFAULT_PAIRS,
    )
    confusion_matrix: bool = flag("show which labels the documents of each label got (single-label)")
    errors: int | None = _amount(
        f"list the N errors that the model was most sure of ({DEFAULT_ERRORS}); and why it made them",
        DEFAULT_ERRORS,
    )
    calibration: bool = flag(
        "list how many labels are correct at each probability; of all labels, assigned or not", common=True
    )
    require: Sequence[str] = option(
        "exit with status 3 below, such as micro-f1=.6; may be repeated",
        "MEASURE=V",
        default=(),
        action="append",
        complete=lambda: [f"{name.replace('_', '-')}=" for name in _measures()],
        common=True,
    )
    paper: bool = flag("show the paper's measures, too", common=True)
    output: FilePath | None = output_option(
        "folder for a report of all this; or a file for one table, .csv, .tsv, .xlsx, .parquet or .jsonl",
        "DIR|FILE",
        default=None,
        common=True,
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> "Result":
        """The measures of a model on the test documents of a file, or on all where none has a split.

        A document in which the model knows nothing counts as one without labels, or as its most probable
        class where the model gives each document one label.
        """
        from funnelling.commands.sources import layout_for, load_text_model, read_labelled, rolled_up
        from funnelling.evaluation.change import TEST
        from funnelling.evaluation.errors import MAX_ERRORS, measure_with_errors
        from funnelling.evaluation.measuring import MAX_CONFUSED_PAIRS, MAX_WORST_LABELS, model_scores
        from funnelling.evaluation.splits import measurable
        from funnelling.formats.files import shown_name
        from funnelling.formats.tables import write_table
        from funnelling.report.measures import evaluation_rows

        required = dict(map(_required, self.require))
        asked = {"by-label": self.by_label, "confused": self.confused, "errors": self.errors}
        tables = [name for name, amount in asked.items() if amount is not None]
        tables += ["calibration"] if self.calibration else []
        file, folder = _check_output(self.output, tables, self.force)
        model = load_text_model(self.model).following(self.label_set, self.exclude).running(verbose=verbose)
        if self.confusion_matrix:
            _check_matrix(model, shown_name(self.model))
        name, layout = shown_name(self.data), layout_for(model, self.layout)
        corpus, notes = read_labelled(self.data, verbose=verbose, layout=layout, strict=self.strict)
        test, left_out = _measurable(rolled_up(corpus, model.label_set), model, name, self.strict)
        if model.labels.single_label:
            test, lacking = measurable(test)
            left_out += lacking
            if not len(test):
                raise InputError(
                    f"{name}: the model gives each document one label, and no document has exactly one. "
                    "Choose another file."
                )
        _check_labels(model, test, name)
        left_out += _learned_from(model, test)
        errors = self.errors or 0
        result = measure_with_errors(model, test, errors if folder is None else errors or MAX_ERRORS)
        labels = MAX_WORST_LABELS if self.by_label is None else self.by_label or None
        pairs = MAX_CONFUSED_PAIRS if self.confused is None else self.confused or None
        scores = {**model_scores(result, labels, pairs), "single_label": model.labels.single_label}
        scores["evaluated_on"] = TEST if any(corpus.splits) else "all"
        if self.confusion_matrix:
            scores["confusion"] = result["confusion"]
        if errors:
            scores["errors"] = result["errors"]
        if self.calibration:
            scores["reliability"] = result["reliability"]
        if folder is not None:
            self._write_report(folder, test, scores, result)
        if file is not None:
            rows = evaluation_rows(scores)
            first, *others = tables or ("languages",)
            attached = {name: rows[name] for name in others}
            write_table(file, rows[first], None, self.force, title=first, attached=attached)
        for line in (*notes, *left_out):
            report(line)
        _check_required(required, scores, name)
        return scores

    def _write_report(self, folder: Path, test: "Corpus", scores: "Result", result: "Result") -> None:
        """Write all that was measured into a folder, for people and for programs."""
        from funnelling.evaluation.pieces import write_json
        from funnelling.formats.files import shown_name
        from funnelling.report.comparison import run_facts
        from funnelling.report.content import Report
        from funnelling.report.model import model_sections, model_summary
        from funnelling.report.rendering import write_report
        from funnelling.storage import describe_model

        description = {**describe_model(self.model), "scores": scores}
        name, documents = shown_name(self.data), counted(len(test), "document")
        languages = counted(len(test.by_language()), "language")
        page = Report(
            f"How good a {title(description['method'])} model is",
            [f"Measured on {documents} of {name}."],
            model_sections(description, result),
            run_facts({"Model": str(self.model), "Data": f"{name}: {documents} measured on, {languages}"}),
            model_summary(scores, result),
        )
        write_report(page, folder)
        write_json(folder / "evaluation.json", self._record({**scores, "errors": result["errors"]}))

    def show(self, result: "Result") -> None:
        if self.output is not None:
            page = Path(self.output) / "report.html"
            say(f"Report: {page}" if page.exists() else f"Table: {self.output}")
        if self.json:
            printing.print_json(self._record(result))
            return
        from funnelling.report.labels import calibration_lines

        printing.print_scores(result, self.paper)
        for line in calibration_lines(result):
            print(line)
        self._print_mistakes(result)

    def _record(self, result: "Result") -> dict[str, Any]:
        """What ``--json`` prints."""
        scores = {key: result[key] for key in ("average", "languages")}
        return {
            **printing.origin("evaluate"),
            "model": str(self.model),
            "documents": {tag: values["documents"] for tag, values in scores["languages"].items()},
            **{key: result[key] for key in ("single_label", "evaluated_on")},
            "scores": scores,
            **{key: value for key, value in result.items() if key not in scores},
        }

    def _print_mistakes(self, scores: "Result") -> None:
        """Print the tables of labels that were asked for."""
        from funnelling.report import labels
        from funnelling.report.tables import plain

        tables = dict(labels.mistakes(scores))
        headings = [] if self.by_label is None else [labels.BY_LABEL]
        if self.confused is not None:
            headings += [labels.CONFUSED, *([labels.MISSED_TOGETHER] if "co_missed" in scores else [])]
        if self.confusion_matrix:
            headings.append("Which labels the documents of each label got")
            tables[headings[-1]] = labels.confusion_matrix(scores["confusion"])
        if self.calibration:
            headings.append("Labels by their probability, assigned or not")
            tables[headings[-1]] = labels.reliability_table(scores["reliability"])
        for heading in headings:
            print(f"\n{heading}:\n{plain(tables[heading]) if heading in tables else 'none'}")
        if self.errors is not None:
            listed = labels.errors_listing(scores["errors"], printing.text_width()) or "nowhere"
            print(f"\nWhere the model was most sure, and wrong:\n{listed}")


def _measures() -> Iterable[str]:
    """The measures by name."""
    from funnelling.evaluation.registry import MEASURE_TITLES

    return MEASURE_TITLES


def _required(text: str) -> tuple[str, float]:
    """A measure and the least value it is to have, from ``micro-f1=.6``.

    >>> _required("micro-f1=.6")
    ('micro_f1', 0.6)
    >>> _required("micro-f2=.6")
    Traceback (most recent call last):
    funnelling.errors.InputError: --require micro-f2=.6: no measure 'micro-f2'. Did you mean micro-f1?
    """
    typed, _, value = text.partition("=")
    known = [name.replace("_", "-") for name in _measures()]
    if typed not in known:
        meant = did_you_mean(typed, known) or ". Choose one such as micro-f1, macro-f1 or accuracy."
        raise InputError(f"--require {text}: no measure {typed!r}{meant}")
    try:
        return typed.replace("-", "_"), float(value)
    except ValueError:
        raise InputError(f"--require {text}: {value!r} is no number. Write {typed}=.6.") from None


def _check_required(required: Mapping[str, float], scores: "Result", name: str) -> None:
    """Refuse scores below those that are required; they are shown all the same."""
    average, lower = scores["average"], []
    for measure, least in required.items():
        typed = measure.replace("_", "-")
        if measure not in average:
            known = ", ".join(each.replace("_", "-") for each in average)
            raise InputError(f"--require {typed}: this model has no {typed}. It has {known}.")
        if average[measure] < least:
            lower.append(f"{typed} is {average[measure]:.3f}, below {least:g}")
    if lower:
        raise NegativeResultError(f"{name}: {'; '.join(lower)}.", scores)


def _check_matrix(model: "Model", name: str) -> None:
    """Refuse a confusion matrix that the model has none of, or that nobody could read."""
    from funnelling.matrices import XMC_MIN_LABELS

    if not model.labels.single_label:
        raise InputError(
            f"{name}: a confusion matrix is of models that give each document one label. Use --confused."
        )
    if len(model.labels.classes) > XMC_MIN_LABELS:
        raise InputError(
            f"{name}: a confusion matrix of {len(model.labels.classes):,} labels is too large to read. Use "
            "--confused."
        )


def _check_labels(model: "Model", test: "Corpus", name: str) -> None:
    """Refuse documents of which no label is one of the model's: that is another column, or task."""
    from funnelling.formats.document import quoted

    known, present = [str(label) for label in model.labels.classes], test.label_set()
    if present and not set(known) & set(present):
        raise InputError(
            f"{name}: no label of it is one of the model's: {quoted(present[0])} and others here, "
            f"{quoted(known[0])} and others there. Name the column of the labels with --labels-column."
        )


def _learned_from(model: "Model", test: "Corpus") -> list[str]:
    """A line on training documents among those for test, as far as the model stores how they begin."""
    from funnelling.text.excerpts import beginning

    blocks = {} if model.archive is None else model.archive.blocks
    known = {(tag, text) for tag, block in blocks.items() for text in block.beginnings or ()}
    learned = sum(
        (tag, beginning(text)) in known for tag, text in zip(test.languages, test.texts, strict=True)
    )
    line = (
        f"{learned:,} of {counted(len(test), 'document')} begin like training documents: these metrics do "
        "not hold for new documents."
    )
    return [line] if learned else []


def _check_output(
    output: FilePath | None, tables: Sequence[str], force: bool
) -> tuple[Path | None, Path | None]:
    """The file or the folder that results go to, checked before the work for them begins."""
    from funnelling.evaluation.pieces import check_new_files, check_report_folder
    from funnelling.formats.tables import XLSX, check_writable

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


def _measurable(corpus: "Corpus", model: "Model", name: str, strict: bool) -> "tuple[Corpus, list[str]]":
    """The documents to measure on, and a line to report on the others."""
    from funnelling.evaluation.measuring import supported_documents
    from funnelling.formats.document import quoted

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
