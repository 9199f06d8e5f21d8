"""How good one model is, and how that was measured."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from funnelling.corpus import Corpus
from funnelling.evaluation.language_averages import averaged
from funnelling.trials.fitting import cross_validate
from funnelling.trials.measuring import measure_in_full, model_scores, servable
from funnelling.trials.pieces import Result
from funnelling.wording import counted

if TYPE_CHECKING:
    from funnelling.method.base import Method


@dataclass(frozen=True)
class Measurement:
    """What a model scored, by language and averaged, and how; or None, and why it was not measured."""

    scores: Result | None
    how: str

    def record(self) -> Result | None:
        """What a model's folder keeps, for `save_model`."""
        return None if self.scores is None else {**self.scores, "how": self.how}


def measure_on_test(model: "Method", test: Corpus, when: str = "") -> Measurement:
    """Measure a model on the test documents whose languages it can label."""
    rows = servable(test, model)
    unknown = ", ".join(test.select(~rows).by_language())
    if not rows.any():
        return Measurement(
            None, f"Not measured: training has no documents in the languages of test, {unknown}."
        )
    left_out = f" (left out, for the model cannot label them: {unknown})" if unknown else ""
    scores = model_scores(measure_in_full(model, test.select(rows)))
    return Measurement(scores, f"Measured on {counted(int(rows.sum()), 'test document')}{left_out}{when}.")


def measure_held_out(model: Any, how: str) -> Measurement:
    """Measure a funnel on training documents that were held out from both of its tiers."""
    return Measurement(dict(averaged(model.held_out_measures())), how)


def measure_by_folds(make: Callable[[], "Method"], train: Corpus, seed: int, verbose: int = 0) -> Measurement:
    """Measure a method by outer folds over its training documents, for want of test documents."""
    scores = cross_validate(make, train, seed=seed, verbose=verbose)
    if scores is None:
        return Measurement(None, "Not measured: too few documents or groups for five outer folds.")
    return Measurement(scores, "Measured by five outer folds over the training documents.")
