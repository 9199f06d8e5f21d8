"""``funnelling train``: documents in, a model folder and an honest table out."""

import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import argument, flag, option
from funnelling.commands.options import (
    DATA_HELP,
    LABEL_SET_HELP,
    LABELS,
    AsJson,
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
    from funnelling.evaluation.measurement import Measurement
    from funnelling.methods.estimator import MethodEstimator
    from funnelling.methods.learning import Method
    from funnelling.methods.model import Model

AUTO = "auto"  # fun-auto, or fun-many above 1,000 labels
COMMON_METHODS = f"{AUTO}, fun-auto, fun-views, fun-many, fun-tat, naive, pooled, words-and-characters"


@dataclass(frozen=True)
class TrainResult:
    """A model that was trained and saved, how good it is, and how many seconds the fit took."""

    model: "Model"
    measurement: "Measurement"
    seconds: float


class Train(OneLabel, Resources, Settings, Seed, Jobs, Cluster, Overwriting, AsJson, Reading):
    """Train a model on labelled documents, and evaluate it.

    It is evaluated on rows with split test; without splits, by five outer folds.
    """

    examples = (
        "train tickets.csv -o model",
        "train docs.jsonl -o model --goal recall=0.9",
        "train docs.jsonl -o model --method fun-tat --set meta_C=1",
    )

    data: FilePath = argument(DATA_HELP, "DATA")
    output: FilePath = output_option("folder of the model", "MODEL", type=model_folder, common=True)
    method: "str | Method | MethodEstimator" = option(
        f"one of {COMMON_METHODS} (auto: {DEFAULT_METHOD}, or {DEFAULT_XMC_METHOD} above 1,000 "
        "labels); or a method of the paper: see funnelling research",
        "M",
        default=AUTO,
        complete=lambda: [AUTO, *METHODS],
        common=True,
    )
    goal: str | None = option(
        "tune thresholds for macro-f1, micro-f1, macro-k, micro-k, recall=R or precision=P (fun-*)",
        "GOAL",
        default=None,
        complete="goals",
        common=True,
    )
    label_set: FilePath | None = option(
        f"what labels are called and belong to; the model keeps it: {LABEL_SET_HELP}",
        "FILE",
        default=None,
        group=LABELS,
        common=True,
    )
    roll_up: bool = flag(
        "give documents the parents of their labels, whenever the model learns or is measured", group=LABELS
    )
    keep: str | None = option(
        "what to store of training documents: words, texts or nothing (words)",
        "WHAT",
        default=None,
        choices=("words", "texts", "nothing"),
        common=True,
    )
    paper: bool = flag("show the paper's measures, too", common=True)
    no_measure: bool = flag("skip the outer folds, which takes less time", common=True)

    def run(self, report: Reporter = silent, verbose: int = 0) -> TrainResult:
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
        from funnelling.commands.parts import has_many_labels, learns_by_parts, train_on_parts
        from funnelling.commands.sources import label_set_to_learn, remember_layout
        from funnelling.evaluation.measurement import shown_errors
        from funnelling.formats import settle_labels
        from funnelling.methods.learning import Method
        from funnelling.methods.merging import remember_step
        from funnelling.storage import check_writable, save

        if self.roll_up and self.label_set is None:
            raise InputError("--roll-up needs the parents of labels. Add --label-set FILE.")
        # Settings name the method for many labels, too, if there are no others.
        for_many = bool(self.set) and all(each.startswith(f"{DEFAULT_XMC_METHOD}.") for each in self.set)
        if isinstance(self.method, str):
            usual = DEFAULT_XMC_METHOD if for_many else DEFAULT_METHOD
            method = self._named(usual if self.method == AUTO else self.method, verbose)
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
        errors = shown_errors(method.parameters)
        if learns_by_parts(method, data):
            if self.roll_up:
                raise InputError(f"{data}: --roll-up is for files, not for folders of parts. Leave it out.")
            layout = settle_labels(data, layout)
            label_set_to_learn(self.label_set, [], self.roll_up)  # refused before the work begins, if at all
            model, measurement, seconds = train_on_parts(
                method, data, self.output, self.one_label, layout, self.strict, errors, self.label_set, report
            )
        else:
            model, measurement, seconds = self._train_on_file(method, if_many, errors, report)
        model = remember_layout(model, layout)
        goal = getattr(method.parameters, "tuned_for", None)
        model = remember_step(model, "train", file=data, documents=model.documents, goal=goal)
        with timed("saving", model.shows_progress):
            scores, details = measurement.record(), measurement.details()
            save(model, self.output, scores=scores, details=details, force=self.force)
        return TrainResult(model, measurement, seconds)

    def _train_on_file(
        self, method: "Method", if_many: "Method | None", errors: int, report: Reporter
    ) -> "tuple[Model, Measurement, float]":
        """Fit on the documents of a file, read into memory; and the seconds of the fit."""
        from funnelling.commands import sources
        from funnelling.evaluation import measurement
        from funnelling.evaluation.fitting import training_documents
        from funnelling.evaluation.splits import check_labels_differ, settle
        from funnelling.formats.files import shown_name
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
                    "--goal tunes thresholds, and a single-label model has none. Remove the option, or add "
                    "--several-labels."
                )
        train = trial.train
        for line in (*notes, *sources.warnings(trial), *kind):
            report(line)
        labels_of_all = counted(len(train.label_set()), "label")
        sides = f"{counted(len(train), 'document')}"
        if len(trial.test):
            sides = f"{len(train):,} training and {counted(len(trial.test), 'test document')}"
        report(
            f"{shown_name(self.data)}: {sides}, {counted(len(train.by_language()), 'language')}, "
            f"{labels_of_all} ({'single-label' if train.one_label else 'multilabel'})."
        )
        start = time.perf_counter()
        model = method.fit(training_documents(method, trial), labels)
        seconds = time.perf_counter() - start
        report(f"Training {name} … {seconds:.1f} s")
        measurement.report_choice(model, report)
        if len(trial.test):
            measured = measurement.measure_on_test(model, trial.test, errors=errors)
            return model, measurement.with_baseline(measured, model, trial.test), seconds
        if self.no_measure:
            return model, measurement.Measurement(None, "Not measured."), seconds
        report("Measuring by five outer folds.")
        measured = measurement.measure_by_folds(method, model, train, self.seed, errors)
        return model, measurement.with_baseline(measured, model, train), seconds

    @property
    def _asks_for_method(self) -> bool:
        """Whether a method is named, or something is asked for that not all methods have."""
        resources = (self.reference, self.embeddings, self.encoder)
        return any((self.method != AUTO, self.goal, *self.set, *resources))

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

        settings: dict[str, Any] = {} if self.keep is None else {"keep": self.keep}
        if self.goal is not None:
            parse_goal(self.goal)
            if not name.startswith("fun-") or name == DEFAULT_XMC_METHOD:
                raise InputError(
                    f"{name} does not support --goal. Remove the option, or choose another fun-* method."
                )
            settings["thresholds"] = ThresholdTuning(self.goal, min_threshold=0.0)
        return settings

    def show(self, result: TrainResult) -> None:
        if self.json:
            printing.print_json(self._record(result))
            return
        from funnelling.evaluation.change import TEST

        measurement, output = result.measurement, str(self.output)
        if measurement.scores is None:
            print(measurement.how)
        else:
            baseline, warning = _beside_baseline(measurement)
            print()
            printing.print_scores(measurement.scores, self.paper, baseline)
            usual = measurement.on == TEST and "left out" not in measurement.how
            how = "" if usual else measurement.how
            print("".join(f"{line}\n" for line in (how, warning) if line), end="")
        print(f"Model: {output} (report: {Path(output) / 'report.html'})")
        data = str(self.data)
        packed = 1 + data.lower().endswith(".gz")
        ending = "".join(Path(data).suffixes[-packed:]) or ".jsonl"
        predict = ["predict", output, f"NEW{ending}", "-o", f"labelled{ending.removesuffix('.gz')}"]
        compare = ["compare", data, *self.reading_flags()]
        print(f"Next:  {shlex.join([printing.program(), *predict])}")
        if data != "-":
            question = "is it better than a simple method?"
            print(f"       {shlex.join([printing.program(), *compare])}    {question}")

    def _record(self, result: TrainResult) -> dict[str, Any]:
        """What ``--json`` prints."""
        from funnelling.methods.registry import name_of

        model, measurement = result.model, result.measurement
        scores = measurement.scores or {}
        return {
            **printing.origin("train"),
            "model": str(self.output),
            "method": name_of(model.algorithm, model.parameters),
            "documents": model.documents,
            "labels": len(model.labels.classes),
            "single_label": model.labels.single_label,
            "evaluated_on": measurement.on,
            "seconds": round(result.seconds, 3),
            "baseline": {"majority": measurement.baseline},
            "calibration_error": scores.get("calibration_error"),
            "scores": {key: scores[key] for key in ("average", "languages") if key in scores},
        }


def _beside_baseline(measurement: "Measurement") -> tuple[str, str]:
    """What the majority baseline scores, and a warning where the model is not better."""
    from funnelling.evaluation.registry import MEASURE_TITLES
    from funnelling.report.tables import number

    if not measurement.baseline or measurement.scores is None:
        return "", ""
    ((name, baseline),) = measurement.baseline.items()
    ours, measure = measurement.scores["average"][name], MEASURE_TITLES[name]
    sentence = f"Majority baseline: {measure} {number(baseline)}."
    if ours > baseline:
        return sentence, ""
    place = "below" if ours < baseline else "not above"
    return sentence, (
        f"Warning: {measure} {number(ours)} is {place} the majority baseline ({number(baseline)}). Add "
        "labels (funnelling label), or try --encoder."
    )
