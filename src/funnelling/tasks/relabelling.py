"""Rename, merge and drop the labels of a model that is in use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.errors import InputError, counted
from funnelling.evaluation.registry import averaged
from funnelling.methods.learning import Relabelling
from funnelling.methods.merging import remember_step
from funnelling.runtime.messages import Reporter, silent
from funnelling.storage import check_writable, load_to_change, save_changes
from funnelling.storage.folders import REPORT
from funnelling.tasks.label_map import read_label_map
from funnelling.tasks.resources import NO_RESOURCES, ResourcePaths, give_resources
from funnelling.tasks.sources import FilePath, naming_file

if TYPE_CHECKING:
    from funnelling.methods.model import Method

PAIRS = ("confused", "missed_together")  # of what was measured: lists of two labels and a number
INNER_FOLDS = "Measured by inner folds over the training documents after labels were {}."
WITHOUT_ERRORS = (
    "The worst errors were those under the labels of before. `funnelling evaluate MODEL DATA --errors` shows "
    "those of now."
)
LABEL_BY_LABEL = "Labels by themselves as before: {}"


@dataclass(frozen=True)
class RelabelledModel:
    """A model with other labels that was saved, and what has become of them.

    After a merge ``before`` and ``after`` are the measures by language on training documents that were held
    out, under the new labels, where the model knows them.
    """

    model: "Method"
    renamed: dict[str, str]
    merged: dict[str, list[str]]
    dropped: list[str]
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


def relabel(
    model: FilePath,
    mapping: FilePath,
    output: FilePath | None = None,
    *,
    resources: ResourcePaths = NO_RESOURCES,
    jobs: int | None = None,
    force: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> RelabelledModel:
    """Give the labels of a model other names, one name to several, or none.

    Parameters
    ----------
    model : folder of the model
    mapping : file of labels and their new names, see `read_label_map`
    output : folder of the new model; None replaces the old one
    resources : where those resources are now that the model learns from beside documents, for a merge
    jobs : threads, or None for one
    force : whether another model in ``output`` is replaced
    verbose : above 0 for progress bars
    report : what gets a line on each step
    """
    classifier: Method
    classifier, document = load_to_change(model)
    names = read_label_map(mapping, classifier.classes_.tolist())
    with naming_file(mapping):
        plan = Relabelling.of(classifier.classes_.tolist(), names)
        if not (plan.renamed or plan.merged or plan.dropped):
            raise InputError("all labels are called that already. Give other names.")
    check_writable(Path(output or model), force or output is None)
    before: dict[str, Any] = {}
    if plan.merged:
        with naming_file(model):
            give_resources(classifier, resources)
            classifier.check_extensible()
        report(f"Learning anew, for {counted(len(plan.merged), 'label')} made of several.")
        before = _held_out(classifier, plan)
    classifier.set_params(n_jobs=jobs, verbose=verbose)
    with naming_file(model):
        classifier.relabel(names)
    remember_step(
        classifier,
        "relabel",
        renamed=len(plan.renamed),
        merged=sum(map(len, plan.merged.values())),
        dropped=len(plan.dropped),
    )
    after = _held_out(classifier)
    scores = _followed(document.get("scores"), plan, bool(classifier.exclusive_), after)
    details = _details(scores, len(plan.new)) if (Path(model) / REPORT).exists() else None
    save_changes(classifier, model, output, document=document, scores=scores, details=details, force=force)
    return RelabelledModel(
        classifier,
        {str(old): str(new) for old, new in plan.renamed.items()},
        {str(new): list(map(str, old)) for new, old in plan.merged.items()},
        list(map(str, plan.dropped)),
        before,
        after if plan.merged else {},
    )


def _details(scores: Mapping[str, Any] | None, labels: int) -> dict[str, Any]:
    """What the report of a relabelled model can show: a table of labels only where all of them are known."""
    if scores is None:
        return {"how": "It was not measured under these labels."}
    details = {key: scores[key] for key in PAIRS if key in scores}
    if len(scores.get("by_label", ())) == labels:
        details |= {"by_label": scores["by_label"], "without_errors": WITHOUT_ERRORS}
    return {"how": scores.get("how", "Measured on documents that it did not learn from."), **details}


def _held_out(model: Any, plan: Relabelling | None = None) -> dict[str, Any]:
    """Measures by language on training documents that were held out, where the model knows them.

    With a plan they are those of the labels that it will have, given where one of the old ones is.
    """
    if not getattr(model, "held_out_", None):
        return {}
    measures: dict[str, Any] = model.held_out_measures() if plan is None else model.measures_under(plan)
    return measures


def _followed(
    scores: Mapping[str, Any] | None, plan: Relabelling, exclusive: bool, held_out: dict[str, Any]
) -> dict[str, Any] | None:
    """What was measured of a model, as far as it holds under its new labels, and what is known instead.

    Names follow. Averages over labels are others where some are dropped, so those of training documents that
    were held out take their place; what was measured of each label by itself stays, unless documents get
    another label now that one is dropped.
    """
    if plan.merged:
        return {**averaged(held_out), "how": INNER_FOLDS.format("merged")} if held_out else None
    if scores is None:
        return None
    names = {str(old): str(plan.renamed.get(old, old)) for old in plan.old if old not in plan.dropped}
    rows = [row for row in scores.get("by_label", ()) if row["label"] in names]
    told: dict[str, Any] = {
        "by_label": [{**row, "label": names[row["label"]]} for row in rows],
        **{
            key: [[names[a], names[b], number] for a, b, number in scores[key] if a in names and b in names]
            for key in PAIRS
            if key in scores
        },
    }
    told = {key: value for key, value in told.items() if key in scores}
    if not plan.dropped:
        return {**scores, **told}
    if not held_out:
        return None
    how = INNER_FOLDS.format("dropped")
    if exclusive or not told:
        return {**averaged(held_out), "how": how}
    how += f" {LABEL_BY_LABEL.format(scores['how'])}" if "how" in scores else ""
    return {**averaged(held_out), **told, "how": how}
