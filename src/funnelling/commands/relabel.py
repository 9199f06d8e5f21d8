"""``funnelling relabel``: labels of a model are renamed, merged or removed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import option
from funnelling.commands.options import FilePath, Learning
from funnelling.errors import InputError, counted
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.commands.change import Change
    from funnelling.corpus.labels import LabelSpace
    from funnelling.methods.learning import Relabelling
    from funnelling.methods.model import Model


PAIR_KEYS = ("confused", "co_missed")  # of what was measured: lists of two labels and a number
INNER_FOLDS = "Measured by inner folds over the training documents after labels were {}."
WITHOUT_ERRORS = (
    "The worst errors were those under the labels of before. `funnelling evaluate MODEL DATA --errors` shows "
    "those of now."
)
LABEL_BY_LABEL = "Labels by themselves as before: {}"


@dataclass(frozen=True)
class MapLabelsResult:
    """A model with other labels that was saved, and what has become of them.

    After a merge ``before`` and ``after`` are the metrics by language on training documents, out of fold,
    under the new labels, where the model has them.
    """

    model: "Model"
    renamed: dict[str, str]
    merged: dict[str, list[str]]
    dropped: list[str]
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


class Relabel(Learning):
    """Rename, merge or remove labels of a model.

    Labels that get the same name are merged, and the model is trained again on its stored documents. A label
    with an empty name is removed. Renaming and removing change no prediction of other labels.
    """

    examples = ("relabel model --map names.csv -o renamed-model",)

    map: FilePath = option(
        'table of labels and new names in two columns (.csv, .tsv, .xlsx, …), or JSON: {"old": "new"}',
        "FILE",
        common=True,
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> MapLabelsResult:
        from funnelling.commands.change import change_model

        return change_model(
            self, "relabel", lambda model, document: self._relabel(model, document, report, verbose)
        )

    def _relabel(
        self, model: "Model", document: Mapping[str, Any], report: Reporter, verbose: int
    ) -> "Change[MapLabelsResult]":
        from funnelling.commands.change import Change
        from funnelling.commands.sources import give_resources, prefix_errors_with_file
        from funnelling.corpus.label_maps import read_label_map
        from funnelling.funnel.fitted import FittedFunnel
        from funnelling.methods import learning
        from funnelling.storage.folders import REPORT

        old = model.labels.classes.tolist()
        names = read_label_map(self.map, old)
        with prefix_errors_with_file(self.map):
            plan = learning.Relabelling.of(old, names)
            if not (plan.renamed or plan.merged or plan.dropped):
                raise InputError("all labels have these names already. Give other names.")
        before: dict[str, Any] = {}
        if plan.merged:
            with prefix_errors_with_file(self.model):
                model = give_resources(model, self)
                learning.check_extensible(model)
            report(f"Training again: {counted(len(plan.merged), 'label')} made of several.")
            if isinstance(model.fitted, FittedFunnel):
                before = model.fitted.measures_under(plan, model.labels, model.archive)
        with prefix_errors_with_file(self.model):
            model = learning.relabel(model.running(n_jobs=self.jobs, verbose=verbose), names)
        after = model.held_out_measures()
        scores = _followed(document.get("scores"), plan, model.labels, after)
        return Change(
            MapLabelsResult(
                model,
                {str(old): str(new) for old, new in plan.renamed.items()},
                {str(new): list(map(str, old)) for new, old in plan.merged.items()},
                list(map(str, plan.dropped)),
                before,
                after if plan.merged else {},
            ),
            {
                "renamed": len(plan.renamed),
                "merged": sum(map(len, plan.merged.values())),
                "dropped": len(plan.dropped),
            },
            scores,
            _details(scores, len(plan.new)) if (Path(self.model) / REPORT).exists() else None,
        )

    def show(self, result: MapLabelsResult) -> None:
        from funnelling.evaluation.registry import plain_mean
        from funnelling.report.measures import change_table
        from funnelling.report.tables import plain

        labels = result.model.labels.classes.tolist()
        if self.json:
            changes = {name: getattr(result, name) for name in ("renamed", "merged", "dropped")}
            both = {"before": result.before, "after": result.after}
            scores = {
                when: {"average": plain_mean(by), "languages": by} if by else {} for when, by in both.items()
            }
            model = {**printing.origin("relabel"), "model": self.target, "labels": labels}
            printing.print_json({**model, **changes, **scores})
            return
        for old, new in result.renamed.items():
            print(f"Renamed   {old} → {new}")
        for new, several in result.merged.items():
            print(f"Merged    {', '.join(several)} → {new}")
        for label in result.dropped:
            print(f"Dropped   {label}")
        if result.after:
            print("Before and after, out of fold on training documents, under the new labels:")
            print(plain(change_table(result.before, result.after)))
        print(f"Labels    {len(labels)}")
        print(f"Model: {self.target}")


def _details(scores: Mapping[str, Any] | None, labels: int) -> dict[str, Any]:
    """What the report of a relabelled model can show: a table of labels only where all of them are known."""
    if scores is None:
        return {"evaluated_on": "It was not measured under these labels."}
    details = {key: scores[key] for key in PAIR_KEYS if key in scores}
    if len(scores.get("by_label", ())) == labels:
        details |= {"by_label": scores["by_label"], "without_errors": WITHOUT_ERRORS}
    return {
        "evaluated_on": scores.get("evaluated_on", "Measured on documents that it did not learn from."),
        **details,
    }


def _followed(
    scores: Mapping[str, Any] | None, plan: "Relabelling", labels: "LabelSpace", held_out: dict[str, Any]
) -> dict[str, Any] | None:
    """What was measured of a model, as far as it holds under its new labels, and what is known instead.

    Names follow. Averages over labels are others where some are dropped, so those of training documents that
    were held out take their place; what was measured of each label by itself stays, unless documents get
    another label now that one is dropped.
    """
    from funnelling.evaluation.registry import averaged

    if plan.merged:
        return {**averaged(held_out), "evaluated_on": INNER_FOLDS.format("merged")} if held_out else None
    if scores is None:
        return None
    names = {str(old): str(plan.renamed.get(old, old)) for old in plan.old if old not in plan.dropped}
    rows = [row for row in scores.get("by_label", ()) if row["label"] in names]
    told: dict[str, Any] = {
        "by_label": [{**row, "label": names[row["label"]]} for row in rows],
        **{
            key: [[names[a], names[b], number] for a, b, number in scores[key] if a in names and b in names]
            for key in PAIR_KEYS
            if key in scores
        },
    }
    told = {key: value for key, value in told.items() if key in scores}
    if not plan.dropped:
        return {**scores, **told}
    if not held_out:
        return None
    how = INNER_FOLDS.format("dropped")
    if labels.single_label or not told:
        return {**averaged(held_out), "evaluated_on": how}
    how += f" {LABEL_BY_LABEL.format(scores['evaluated_on'])}" if "evaluated_on" in scores else ""
    return {**averaged(held_out), **told, "evaluated_on": how}
