"""What a funnel keeps beside its documents: what both tiers made of them, to go on from and to show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from funnelling.funnel.tier_one import Posteriors, ViewPosteriors
from funnelling.funnel.tier_two import TierTwo
from funnelling.matrices import Floats
from funnelling.methods.archive import Archive
from funnelling.methods.training_set import TrainingSet
from funnelling.state import Size, expect, expect_by, expect_matrix, expect_numbers, expect_whole
from funnelling.svm.path import Coefficients

NEIGHBOURS = 5
TIER_TWO = ""  # in place of a view's name: no view has it


@dataclass(frozen=True, kw_only=True)
class FunnelArchive(Archive):
    """An archive with what the tiers make of each document; nothing of it where a sample taught tier 2.

    ``training`` and ``held_out`` are posteriors, by view and language. ``scores`` are tier 2's, by language,
    of documents that neither tier had seen. ``coefficients`` are the solutions of the SVMs, by view, or
    `TIER_TWO`, and language: (documents, labels). So many documents have ``changed`` since all of this was
    fitted at once.
    """

    training: dict[str, dict[str, Floats]] = field(default_factory=dict)
    held_out: dict[str, dict[str, Floats]] = field(default_factory=dict)
    scores: dict[str, Floats] = field(default_factory=dict)
    coefficients: dict[str, dict[str, Coefficients]] = field(default_factory=dict)
    changed: int = 0

    @classmethod
    def of_fit(
        cls,
        training: TrainingSet,
        keep_texts: bool,
        posteriors: ViewPosteriors,
        tier_two: TierTwo,
        changed: int = 0,
    ) -> "FunnelArchive":
        """What is worth keeping of a fit."""
        coefficients = {
            view: {tag: each.coefficients for tag, each in by_tag.items() if each.coefficients is not None}
            for view, by_tag in posteriors.items()
        }
        coefficients[TIER_TWO] = dict(tier_two.coefficients)
        views = posteriors.items()
        return cls.of(
            training,
            keep_texts,
            training={view: {tag: p.training for tag, p in each.items()} for view, each in views},
            held_out={view: {tag: p.held_out for tag, p in each.items()} for view, each in views},
            scores=dict(tier_two.scores),
            coefficients=coefficients,
            changed=changed,
        )

    def check_documents(
        self, columns: int, features: Mapping[str, int] | None, sparse_labels: bool = False
    ) -> None:
        super().check_documents(columns, features, sparse_labels)
        expect_whole(self.changed, "how many documents have changed")
        if self.scores:
            for tag, rows in expect_by(self.scores, self.targets, "the scores of documents").items():
                # Of two labels that are left of several, the targets have a column each.
                expect_numbers(rows, (len(self.targets[tag]), columns), "the scores of documents")

    def check_posteriors(self, views: Sequence[str], labels: int) -> None:
        """Refuse what are no posteriors of the documents, by views for so many labels."""
        held_out = expect_by(self.held_out, views, "the posteriors of documents")
        for view, by_tag in expect_by(self.training, views, "the posteriors of documents").items():
            others = expect_by(held_out[view], by_tag, "the posteriors of documents")
            for tag, rows in by_tag.items():
                for each in (rows, others[tag]):
                    expect_numbers(each, (len(self.targets[tag]), labels), "the posteriors of documents")
        seen = {tag for by_tag in self.training.values() for tag in by_tag}
        expect(seen == self.targets.keys(), "the posteriors of documents")
        expect(self.coefficients.keys() <= {*views, TIER_TWO}, "the solutions of classifiers")
        for view, solutions in self.coefficients.items():
            width: Size = labels if view else None
            for tag, solution in expect_by(solutions, None, "the solutions of classifiers").items():
                expect_matrix(solution, (len(self.targets[tag]), width), "the solutions of classifiers")

    def posteriors(self, view: str, language: str) -> Posteriors | None:
        """What a view's base classifiers say of a language's documents."""
        if language not in self.training.get(view, {}):
            return None
        return Posteriors(
            self.training[view][language],
            self.held_out[view][language],
            self.coefficients.get(view, {}).get(language),
        )

    def nearest(
        self, point: Floats, points: Mapping[str, Floats], names: Sequence[str], number: int = NEIGHBOURS
    ) -> list[dict[str, Any]]:
        """The training documents nearest to a point of tier 2's space, from any language.

        ``points`` are the training documents there, ``names`` those of the columns of labels.
        """
        neighbours = []
        for language, rows in points.items():
            distances = np.sqrt(((rows.astype(np.float64) - point) ** 2).sum(axis=1))
            for row in np.argsort(distances, kind="stable")[:number]:
                labels = [names[column] for column in np.flatnonzero(self.targets[language][row]).tolist()]
                neighbours.append(
                    {
                        "id": self.ids[language][row],
                        "language": language,
                        "labels": labels,
                        "distance": float(distances[row]),
                        **self._text(language, int(row)),
                    }
                )
        return sorted(neighbours, key=lambda neighbour: neighbour["distance"])[:number]

    def _text(self, language: str, row: int) -> dict[str, str]:
        """The beginning of a document's text, where it is known."""
        text = self.beginnings[language][row] if language in self.beginnings else ""
        return {"text": text} if text else {}
