"""What a search over views found: candidates, their measures, and which was taken."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from funnelling.evaluation.registry import MEASURES, shown_measures
from funnelling.funnel.design import Combine, FunnelConfig
from funnelling.spaces import check_views, named_views
from funnelling.state import Between, expect


@dataclass(frozen=True)
class CandidateConfig:
    """Views and a way to combine them; own words that are not normalised are the paper's funnel."""

    views: tuple[str, ...]
    normalise: bool = True
    combine: str = "mean"
    variant: str = "tat"

    def __str__(self) -> str:
        if not self.normalise:
            return f"fun-{self.variant}"
        alone = self.combine == "mean" or (len(self.views) == 1 and self.combine != "odds")
        return " + ".join(self.views) + ("" if alone else f", {self.combine}")

    def applied_to(self, design: FunnelConfig) -> FunnelConfig:
        """The design with this candidate's views and their combination."""
        return replace(design, views=named_views(self.views), combine=self.combine, normalise=self.normalise)


@dataclass(frozen=True)
class Choice:
    """What was chosen, and the measures of all that was tried, the best C of each candidate.

    ``C`` is None for odds, which have none, and where nothing could be tried; the usual search finds it then.
    """

    views: list[str]
    normalise: bool
    C: Annotated[float, Between(0)] | None
    tried: list[dict[str, Any]] = field(default_factory=list)
    combine: Annotated[str, Combine] = "mean"
    variant: str = "tat"

    def check_choice(self) -> None:
        """Refuse an impossible choice, or one whose summary cannot be printed."""
        check_views(self.views)
        expect("\n" not in self.summary() and str(self), "what was tried")

    @property
    def candidate(self) -> CandidateConfig:
        return CandidateConfig(tuple(self.views), self.normalise, self.combine, self.variant)

    def applied_to(self, design: FunnelConfig) -> FunnelConfig:
        """The design with what was chosen; a C that the user gave stays."""
        return replace(self.candidate.applied_to(design), meta_C=design.meta_C if self.C is None else self.C)

    def candidates(self) -> list[dict[str, Any]]:
        """All that was tried, in the order in which ties are decided, and whether it was ``chosen``."""
        name = str(self.candidate)
        return [{**row, "chosen": row["name"] == name} for row in self.tried]

    def __str__(self) -> str:
        """The choice and its reason, and below it all candidates with their measures, one per line."""
        lines = [
            f"{'*' if row['chosen'] else ' '} {row['name']}: "
            + ", ".join(f"{MEASURES[name].title} {row[name]:.3f}" for name in shown_measures(row))
            + ("" if row["C"] is None else f" (C = {row['C']:g})")
            for row in self.candidates()
        ]
        return "\n".join([self.summary(), *lines])

    def summary(self) -> str:
        """The choice and its reason, in one line."""
        name = str(self.candidate)
        if not self.tried:
            return f"Chose {name}: there are too few documents or groups to try others."
        by_name = {row["name"]: row for row in self.tried}
        paper = next(each for each in by_name if each.startswith("fun-"))
        measures = shown_measures(by_name[name])
        scores = {
            key: " ".join(f"{by_name[key][measure]:.3f}" for measure in measures) for key in (name, paper)
        }
        against = "" if name == paper else f"; {paper}: {scores[paper]}"
        C = "" if self.C is None else f", C = {self.C:g}"
        by = "the likelihood of labels on outer folds" if "accuracy" in measures else "outer folds"
        return (
            f"Chose {name}{C}, of {len(self.tried)} candidates by {by} over the training documents "
            f"({', '.join(MEASURES[measure].title for measure in measures)}: {scores[name]}{against})."
        )
