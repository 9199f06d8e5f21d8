"""``funnelling label``: a page to label documents on, or a file of those to label next."""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import Group, argument, flag, option
from funnelling.commands.options import (
    DATA_HELP,
    MODEL_HELP,
    AsJson,
    FilePath,
    Jobs,
    OneLabel,
    Overwriting,
    Reading,
    Resources,
)
from funnelling.commands.values import count, journal, model_folder
from funnelling.errors import InputError, counted
from funnelling.labelling.audit import takes_lists, with_given_id
from funnelling.runtime.messages import MODEL, Reporter, silent
from funnelling.serving.command import Service

if TYPE_CHECKING:
    from funnelling.formats.parquet import Kind
    from funnelling.labelling.labels import ColdStart
    from funnelling.methods.model import Model

DEFAULT_N_CHOSEN = 100
UPDATES = Group("background updates")
CHOOSING = Group("documents to label next")


def _number(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


class Label(OneLabel, Service, Resources, Jobs, Overwriting, AsJson, Reading):
    """Label the documents of DATA in the browser, alone or with others.

    A model suggests labels and orders the documents. Without one, --labels names the labels, and a first
    model is trained after 20 labelled documents. Every decision is saved at once in a journal, which train
    and update read. --to FILE writes the documents to label next into a file instead: fill in its column
    `labels`, and give it to update.
    """

    examples = (
        "label new.csv --labels sport,politics,culture",
        "label model new.csv",
        "label model new.csv --to to-label.xlsx -n 50",
    )

    data: str = argument(DATA_HELP, "DATA")
    model: str | None = argument(MODEL_HELP, "MODEL", default=None, first=True)
    labels: str | None = option(
        "file with one name per line, label set, or names with commas between them (those of the model)",
        "FILE|a,b,c",
        default=None,
        complete="FILE",
        common=True,
    )
    journal: str | None = option(
        "file where decisions are saved (texts-journal.jsonl)",
        "FILE",
        default=None,
        type=journal,
        common=True,
    )
    max_journal: int = option("most bytes of the journal (1,073,741,824)", "N", default=2**30, type=count)
    who: str = option("name of the annotator; else the page asks", "NAME", default="", common=True)
    all: bool = flag("show documents that have labels, too")
    as_they_are: bool = flag("keep the order of DATA (what helps the model most, unless DATA gives reasons)")
    to: FilePath | None = option(
        "write the documents to label next into FILE; .csv, .tsv, .xlsx, .parquet or .jsonl, or - for "
        "standard output",
        "FILE",
        default=None,
        group=CHOOSING,
        common=True,
    )
    number: int | None = option(
        f"how many documents ({DEFAULT_N_CHOSEN})",
        "N",
        "-n",
        default=None,
        type=count,
        group=CHOOSING,
        common=True,
    )
    balance: bool = flag(
        "aim at the same number of labelled documents in every language (more of languages with more)",
        group=CHOOSING,
    )
    learn_after: int = option(
        "labels after which the model is updated; 0 for never (50; the first model after 20)",
        "N",
        default=50,
        type=_number,
        group=UPDATES,
        common=True,
    )
    save: str | None = option(
        "folder of the new model (MODEL-updated or DATA-model); MODEL stays as it is",
        "MODEL",
        default=None,
        type=model_folder,
        group=UPDATES,
        common=True,
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> Any:
        if self.model is None and os.path.exists(os.path.join(self.data, MODEL)):
            raise InputError(f"{self.data} is a model. Name the documents, too: label {self.data} DATA.")
        if self.to is not None:
            return self._write_next(verbose)
        if self.number is not None or self.balance:
            raise InputError("-n and --balance choose the documents of a file. Add --to FILE.")
        return self._open_page(report, verbose)

    def _write_next(self, verbose: int) -> Sequence[Mapping[str, Any]]:
        """Write the documents to label next into a file."""
        from funnelling.commands.sources import load_text_model
        from funnelling.formats.document import join_labels
        from funnelling.formats.files import STANDARD
        from funnelling.formats.tables import write_table
        from funnelling.labelling.queue import choose_next, logger
        from funnelling.methods.active_learning import check_names_next

        assert self.to is not None
        nested, target = takes_lists(self.to, self.data, self.force), os.fspath(self.to)
        model = cold = None
        if self.model is not None:
            model = load_text_model(self.model).running(verbose=verbose)
            check_names_next(model)
        elif self.labels is not None:
            cold = self._cold_start()
        rows = choose_next(
            model,
            self.data,
            self.number or DEFAULT_N_CHOSEN,
            cold=cold,
            layout=self.layout,
            strict=self.strict,
            balance=self.balance,
            verbose=verbose,
        )
        kind: Kind = "list" if nested else "text"
        columns: dict[str, Kind] = {
            "labels": kind,
            "suggested": kind,
            "probabilities": "map" if nested else "text",
            "reason": "text",
            "score": "number",
        }
        written = (
            with_given_id(row, {} if nested else {"suggested": join_labels(row["suggested"])}) for row in rows
        )
        write_table(target, written, columns, self.force, title="documents to label", verbose=verbose)
        if target != STANDARD:
            logger.info("%s: %s to label.", target, counted(len(rows), "document"))
        return rows

    def _open_page(self, report: Reporter, verbose: int) -> Mapping[str, Any]:
        """Let people label until they stop it."""
        self.check_installed("label")
        from funnelling.formats.journal import Journal
        from funnelling.labelling.learning import UpdateSettings, learned_before, learned_of
        from funnelling.labelling.page import label
        from funnelling.labelling.queue import read_queue
        from funnelling.serving.settings import ServiceSettings, read_token

        service = ServiceSettings(
            self.model or self.data,
            self.host,
            self.port,
            token=read_token(self.token_file),
            allowed_hosts=tuple(self.allow_host),
        )
        journal = self.journal or beside(self.data, "-journal.jsonl")
        output = self.save or (
            beside(self.data, "-model") if self.model is None else f"{self.model.rstrip('/')}-updated"
        )
        cold = self._cold_start() if self.model is None else None
        learned = learned_before(output, journal) if self.learn_after else None
        model = self._model(output, learned is not None)
        if learned is None and model is not None:
            learned = learned_of(model.history, journal)
        label_set = None if cold is None else cold.label_set
        if self.labels is not None and model is not None:
            from funnelling.labelling.labels import read_labels

            known = [str(each) for each in model.labels.classes.tolist()]
            model = model.following(label_set or read_labels(self.labels, known))
            label_set = model.label_set
        if os.path.exists(journal):  # what is wrong with it is reported before documents are read
            Journal(journal).close()
        queue = read_queue(
            model,
            self.data,
            layout=self.layout,
            everything=self.all,
            as_they_are=self.as_they_are,
            strict=self.strict,
            detect=cold is not None,
            verbose=verbose,
            report=report,
        )
        if cold is not None and model is None:
            report(
                f"{counted(len(cold.label_set.ids), 'label')} from {self.labels}. No model yet: documents "
                "are ordered to cover all languages; labels whose names occur in a document are suggested."
            )
        learning = UpdateSettings(
            *(self.model, journal, output, self.learn_after, self.resources, self.jobs, label_set),
            single_label=cold is not None and cold.single_label,
        )
        return label(queue, model, cold, learned or 0, learning, service, self.who, self.max_journal)

    def _cold_start(self) -> "ColdStart":
        """What there is without a model."""
        from funnelling.labelling.labels import ColdStart, read_labels

        if self.labels is None:
            raise InputError(
                f"{self.data}: without a model, the labels are needed. Add --labels FILE or --labels a,b,c."
            )
        if any((self.reference, self.embeddings, self.encoder)):
            raise InputError("A first model reads no resources. Name them to train, with the journal.")
        return ColdStart(read_labels(self.labels), self.one_label is not False)

    def _model(self, output: str, resumed: bool) -> "Model | None":
        """The model that suggests: one that learned in an earlier run, or else the one that is named."""
        from funnelling.commands.sources import load_text_model
        from funnelling.methods.learning import check_extensible

        if self.model is None:
            return load_text_model(output) if resumed else None
        model = load_text_model(self.model)
        if self.learn_after:
            try:
                check_extensible(model)
            except InputError as error:
                raise InputError(f"{self.model}: {error} Or add --learn-after 0.") from None
        if resumed:
            model = load_text_model(output)
        if self.one_label not in (None, model.labels.single_label):
            raise InputError(f"{self.model}: the model decides how many labels a document has. Leave it out.")
        if model.algorithm.sparse_labels and not self.as_they_are:
            raise InputError(f"{model.algorithm.name} cannot order documents. Add --as-they-are.")
        return model

    def show(self, result: Any) -> None:
        if self.json:
            key = {"documents": result} if self.to is not None else result
            printing.print_json({"command": "label", **key})


def beside(data: str, ending: str) -> str:
    """The name of a file or folder beside a file of documents.

    >>> beside("some/texts.csv.gz", "-journal.jsonl"), beside("-", "-model")
    ('some/texts-journal.jsonl', 'labels-model')
    """
    if data == "-":
        return f"labels{ending}"
    folder, name = os.path.split(os.path.normpath(data))
    return os.path.join(folder, f"{os.path.splitext(name.removesuffix('.gz'))[0]}{ending}")
