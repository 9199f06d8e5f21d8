"""``funnelling train``: documents in, a model folder and an honest table out."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import HIDDEN, argument, flag, option
from funnelling.commands.options import (
    DATA_HELP,
    LABEL_SET_HELP,
    LABELS,
    Cluster,
    FilePath,
    Jobs,
    OneLabel,
    Overwriting,
    Reading,
    Resources,
    Seed,
    Settings,
    output_option,
)
from funnelling.commands.values import model_folder
from funnelling.errors import InputError, counted
from funnelling.methods.registry import DEFAULT_METHOD, DEFAULT_XMC_METHOD, METHODS
from funnelling.runtime.messages import Reporter, silent
from funnelling.runtime.progress import timed

if TYPE_CHECKING:
    from funnelling.commands.measurement import Measurement
    from funnelling.methods.estimator import MethodEstimator
    from funnelling.methods.learning import Method
    from funnelling.methods.model import Model


@dataclass(frozen=True)
class TrainedModel:
    """A model that was trained and saved, and how good it is."""

    model: "Model"
    measurement: "Measurement"


class Train(OneLabel, Resources, Settings, Seed, Jobs, Cluster, Overwriting, Reading):
    """Train a model.

    It learns from rows with split train and is measured on rows with split test; without splits it learns
    from all rows and is measured by five outer folds.
    """

    examples = (
        "train docs.csv -o model",
        "train docs.jsonl -o model --optimise recall=0.9",
        "train docs.jsonl -o model --method fun-tat --set fun-tat.meta_C=1",
    )

    data: FilePath = argument(DATA_HELP, "DATA")
    output: FilePath = output_option("folder of the model", "MODEL", type=model_folder)
    method: "str | Method | MethodEstimator | None" = option(
        f"one of {', '.join(METHODS)} ({DEFAULT_METHOD}, and {DEFAULT_XMC_METHOD} where there are more than "
        "1,000 labels)",
        "M",
        default=None,
        complete=lambda: list(METHODS),
    )
    no_table: bool = flag("skip the outer folds and their table, which takes less time")
    compact: bool = flag(
        "keep nothing of the documents, not even ids or how they begin: the model is smaller, but cannot "
        "learn on, nor forget, and its report shows no texts"
    )
    keep_texts: bool = flag(
        "keep texts as they were written, not only their words: to learn on, an encoder needs them"
    )
    optimise: str | None = option(
        "tune each label's threshold for micro-f1, macro-f1, micro-k, macro-k, recall=R or precision=P "
        "(funnels; `tune` does so later)",
        "GOAL",
        default=None,
        complete="goals",
        also={"--optimize": {"help": HIDDEN}},
    )
    label_set: FilePath | None = option(
        f"{LABEL_SET_HELP}; the model keeps it", "FILE", default=None, group=LABELS
    )
    roll_up: bool = flag(
        "give documents the parents of their labels, whenever the model learns or is measured", group=LABELS
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> TrainedModel:
        """Fit a method, or an unfitted estimator, measure it, and save the model with a report on it.

        >>> import os, tempfile
        >>> from funnelling import Document, write_documents
        >>> texts = {"en": ["loan", "game", "loan game"], "it": ["prestito", "gioco", "prestito gioco"]}
        >>> labels = [("money",), ("sport",), ("money", "sport")]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = os.path.join(folder, "docs.jsonl")
        ...     write_documents(data, [
        ...         Document(f"{tag}{i}", texts[tag][i % 3], tag, labels[i % 3], "train" if i < 9 else "test")
        ...         for tag in texts for i in range(12)
        ...     ])
        ...     trained = Train(data, output=os.path.join(folder, "model"), method="fun-tat").run()
        >>> trained.model.languages, trained.measurement.how
        (['en', 'it'], 'Measured on 6 test documents.')
        """
        from funnelling.commands.measurement import shown_errors
        from funnelling.commands.parts import has_many_labels, learns_by_parts, train_on_parts
        from funnelling.commands.sources import label_set_to_learn, remember_layout
        from funnelling.formats import settle_labels
        from funnelling.methods.learning import Method
        from funnelling.methods.merging import remember_step
        from funnelling.storage import check_writable, save

        if self.roll_up and self.label_set is None:
            raise InputError("--roll-up needs the parents of labels. Add --label-set FILE.")
        # Settings name the method for many labels, too, if there are no others.
        for_many = bool(self.set) and all(each.startswith(f"{DEFAULT_XMC_METHOD}.") for each in self.set)
        if isinstance(self.method, str | None):
            usual = DEFAULT_XMC_METHOD if for_many else DEFAULT_METHOD
            method = self._named(self.method or usual, verbose)
        else:
            method = Method.of(self.method)
        if_many = None if self._asks_for_method else self._named(DEFAULT_XMC_METHOD, verbose)
        check_writable(Path(self.output), self.force)
        layout, data = self.layout, self.data
        if (
            learns_by_parts(method, data)
            and if_many is not None
            and has_many_labels(data, layout, method.parameters.verbose)
        ):
            method = if_many
        errors = 0 if self.compact else shown_errors(method.parameters)
        if learns_by_parts(method, data):
            if self.roll_up:
                raise InputError(f"{data}: --roll-up is for files, not for folders of parts. Leave it out.")
            layout = settle_labels(data, layout)
            label_set_to_learn(self.label_set, [], self.roll_up)  # refused before the work begins, if at all
            model, measurement = train_on_parts(
                method, data, self.output, self.one_label, layout, self.strict, errors, self.label_set, report
            )
        else:
            model, measurement = self._train_on_file(method, if_many, errors, report)
        model = remember_layout(model, layout)
        goal = getattr(method.parameters, "tuned_for", None)
        model = remember_step(model, "train", file=data, documents=model.documents, goal=goal)
        with timed("saving", model.shows_progress):
            scores, details = measurement.record(), measurement.details()
            save(model, self.output, scores=scores, details=details, force=self.force)
        return TrainedModel(model, measurement)

    def _train_on_file(
        self, method: "Method", if_many: "Method | None", errors: int, report: Reporter
    ) -> "tuple[Model, Measurement]":
        """Fit on the documents of a file, read into memory."""
        from funnelling.commands import measurement, sources
        from funnelling.evaluation.fitting import training_documents
        from funnelling.evaluation.splits import check_labels_differ, settle
        from funnelling.funnel.many.candidates import MAX_CANDIDATES
        from funnelling.matrices import XMC_MIN_LABELS
        from funnelling.methods.registry import name_of

        trial, notes = sources.read_sides(
            self.data, verbose=method.parameters.verbose, layout=self.layout, strict=self.strict
        )
        labels = sources.label_set_to_learn(self.label_set, trial.train.label_set(), self.roll_up)
        trial = sources.rolled_up_sides(trial, labels)
        if labels is not None:
            labels.rules(trial.train.label_set()).check()
        notes += sources.without_parents(trial.train, labels, self.label_set)
        number = len(trial.train.label_set())
        many = number > XMC_MIN_LABELS and (if_many is not None or not method.algorithm.sparse_labels)
        if many:
            method = if_many or method
        name = name_of(method.algorithm, method.parameters)
        if many and method.algorithm.sparse_labels:
            notes.append(f"{number:,} labels: {name} is trained, which is made for so many.")
        elif many:
            notes.append(
                f"{number:,} labels: {name} will take long. {DEFAULT_XMC_METHOD} is made for so many."
            )
        nameable = labels.assignable().difference(trial.train.label_set()) if labels is not None else ()
        if nameable and method.algorithm.learns_names:
            notes.append(f"{counted(len(nameable), 'label')} without training documents: learned by name.")
        crowded = (
            sum(len(own) > MAX_CANDIDATES for own in trial.train.label_lists())
            if method.algorithm.sparse_labels
            else 0
        )
        if crowded:
            notes.append(
                f"{counted(crowded, 'training document')} with more than {MAX_CANDIDATES} labels: "
                f"{method.algorithm.name} gives a document {MAX_CANDIDATES} at most."
            )
        with sources.prefix_errors_with_file(self.data):
            check_labels_differ(trial.train)
            (trial,), kind = settle([trial], self.one_label)
            if trial.train.one_label and getattr(method.parameters, "tuned_for", None) is not None:
                raise InputError(
                    "--optimise tunes thresholds, and one label per document has none. Leave it out, or add "
                    "--several-labels."
                )
        train = trial.train
        for line in (*notes, *sources.warnings(trial), *kind):
            report(line)
        report(
            f"Training {name} on {counted(len(train), 'document')} in "
            f"{counted(len(train.by_language()), 'language')} with "
            f"{counted(len(train.label_set()), 'label')}."
        )
        model = method.fit(training_documents(method, trial), labels)
        measurement.report_choice(model, report)
        if len(trial.test):
            return model, measurement.measure_on_test(model, trial.test, errors=errors)
        if self.no_table:
            return model, measurement.Measurement(None, "Not measured.")
        report("Measuring by five outer folds.")
        return model, measurement.measure_by_folds(method, model, train, self.seed, errors)

    @property
    def _asks_for_method(self) -> bool:
        """Whether a method is named, or something is asked for that not all methods have."""
        resources = (self.reference, self.embeddings, self.encoder)
        return any((self.method is not None, self.optimise, *self.set, *resources))

    def _named(self, name: str, verbose: int) -> "Method":
        """The method of a name, as the options describe it."""
        from funnelling.commands.sources import check_resources
        from funnelling.methods.registry import make_method, method_of, parse_settings
        from funnelling.storage import check_writable

        if method_of(name) != name:
            raise InputError(f"{name} is a variant, for comparisons. Train {method_of(name)} with --set.")
        settings = {name: parse_settings(self.set, [name]).get(name, {}) | self._own_settings(name)}
        check_writable(Path(self.output), self.force)  # before resources, which may take a while
        resources = self.read_resources()
        check_resources(name, [*resources, "parallel"])  # upper-bound looks for those itself
        return make_method(
            name, seed=self.seed, jobs=self.jobs, verbose=verbose, settings=settings, resources=resources
        )

    def _own_settings(self, name: str) -> dict[str, Any]:
        """Settings that have an option of their own; baselines tune no threshold."""
        from funnelling.funnel.thresholds import ThresholdTuning, parse_goal

        if name == DEFAULT_XMC_METHOD and self.optimise is not None:
            raise InputError(f"{name} does not know --optimise yet. Leave it out.")
        if self.compact and self.keep_texts:
            raise InputError("--compact keeps nothing of the documents, and --keep-texts all. Leave one out.")
        settings: dict[str, Any] = {}
        if self.compact or self.keep_texts:
            settings["keep"] = "nothing" if self.compact else "texts"
        if self.optimise is not None:
            parse_goal(self.optimise)
            if not name.startswith("fun-"):
                raise InputError(f"--optimise is for funnels, and {name} is none. Leave it out.")
            settings["thresholds"] = ThresholdTuning(self.optimise, min_threshold=0.0)
        return settings

    def show(self, result: TrainedModel) -> None:
        measurement, data = result.measurement, str(self.data)
        if measurement.scores is None:
            print(measurement.how)
        else:
            printing.print_scores(measurement.scores, measurement.how)
        describe = ["inspect", data, *self.reading_flags()]
        print(f"Model:  {self.output}")
        print(f"Report: {Path(self.output) / 'report.html'}")
        print(f"Data:   {shlex.join([printing.program(), *describe])}")
        packed = 1 + data.lower().endswith(".gz")
        new = f"NEW_DOCUMENTS{''.join(Path(data).suffixes[-packed:]) or '.jsonl'}"
        print(f"Next:   {shlex.join([printing.program(), 'predict', str(self.output), new])}")
