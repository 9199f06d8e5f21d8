"""How good one model is, and how that was evaluated."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from funnelling.corpus import Corpus
from funnelling.errors import counted
from funnelling.evaluation.change import HELD_OUT, TEST
from funnelling.evaluation.errors import MAX_ERRORS, measure_with_errors
from funnelling.evaluation.fitting import cross_validate
from funnelling.evaluation.measuring import (
    evaluate_majority,
    model_scores,
    supported_documents,
    thresholds_of,
)
from funnelling.evaluation.pieces import Result
from funnelling.evaluation.registry import averaged
from funnelling.runtime.messages import Reporter

if TYPE_CHECKING:
    from funnelling.methods.algorithm import Parameters
    from funnelling.methods.learning import Method
    from funnelling.methods.model import Model


FOLDS = "outer folds"  # what a model is evaluated on, for want of test documents


@dataclass(frozen=True)
class Measurement:
    """What a model scored, by language and averaged, and how; or None, and why it was not measured.

    ``on`` is one of `TEST`, `FOLDS` and `HELD_OUT`. ``full`` is the whole result, of which the scores are the
    sum, where there is more of it. ``baseline`` has what the majority baseline scores on the same documents.
    """

    scores: Result | None
    how: str
    full: Result = field(default_factory=dict)
    on: str | None = None
    baseline: dict[str, float] = field(default_factory=dict)

    def record(self) -> Result | None:
        """What a model's folder keeps, for `save_model`."""
        return None if self.scores is None else {**self.scores, "evaluated_on": self.how}

    def details(self) -> Result:
        """What the report in a model's folder shows, for `save_model`."""
        return {**self.full, "evaluated_on": self.how}


def shown_errors(method: "Parameters") -> int:
    """How many errors the report in a model's folder shows: none where it is to keep nothing of documents."""
    return 0 if method.keep == "nothing" else MAX_ERRORS


def report_choice(model: "Model", report: Reporter) -> None:
    """Say which views a funnel chose, where it had the choice."""
    if model.fitted.chosen is not None:
        report(model.fitted.chosen.summary())


def measure_on_test(
    model: "Model", test: Corpus, when: str = "", errors: int = 0, answers: tuple[Any, Any] | None = None
) -> Measurement:
    """Measure a model on the test documents whose languages it can label, and explain its worst errors.

    ``answers`` are the model's to all of them, where they are known.
    """
    rows = supported_documents(test, model)
    unknown = ", ".join(test.select(~rows).by_language())
    if not rows.any():
        return Measurement(
            None, f"Not measured: training has no documents in the languages of test, {unknown}."
        )
    left_out = f" (left out, for the model cannot label them: {unknown})" if unknown else ""
    full = measure_with_errors(model, test.select(rows), errors, answers)
    how = f"Measured on {counted(int(rows.sum()), 'test document')}{left_out}{when}."
    return Measurement(model_scores(full), how, full, TEST)


def measure_held_out(model: "Model", how: str) -> Measurement:
    """Measure a funnel on training documents that were held out from both of its tiers."""
    return Measurement(dict(averaged(model.held_out_measures())), how, on=HELD_OUT)


def measure_by_folds(
    method: "Method", model: "Model", train: Corpus, seed: int, errors: int = 0
) -> Measurement:
    """Measure a fitted model by outer folds over its training documents, for want of test documents.

    What is measured are models like it, trained without a fold each. Thresholds are told of the model itself.
    """
    full = cross_validate(
        method,
        train,
        seed=seed,
        errors=errors,
        verbose=method.parameters.verbose,
        label_set=model.label_set,
    )
    if full is None:
        return Measurement(None, "Not measured: too few documents or groups for five outer folds.")
    if model.labels.has_thresholds:
        columns = thresholds_of(model, train).T
        limits = dict(zip(map(str, model.labels.classes), columns, strict=True))
        full["by_label"] = [
            {**row, "threshold": [float(limits[row["label"]].min()), float(limits[row["label"]].max())]}
            for row in full["by_label"]
        ]
    how = "Measured by five outer folds over the training documents."
    return Measurement(model_scores(full), how, full, FOLDS)


def with_baseline(measurement: Measurement, model: "Model", documents: Corpus) -> Measurement:
    """A measurement beside the majority baseline of the documents that it was made on."""
    if measurement.scores is None:
        return measurement
    return replace(measurement, baseline=evaluate_majority(model, documents))
