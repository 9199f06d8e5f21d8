"""What the update of a funnel takes over from the fit before.

A language whose documents are all as they were keeps the base classifiers of its own words, and a view that
sees no other languages keeps all of its own: to the bit what a fit on everything would give. All else is
fitted again, since further documents change the weights of words in all others.

Where that is much work, a funnel that need not be exact does with less, for scores within a hair of those of
a fit on everything. Classifiers that are held out from a fold serve sigmoids and thresholds alone, and are
found roughly; those of rare labels, whose scores differ less, the least so. Few changes (`MAX_CHANGED_SHARE`)
need no folds at all: what a document scored when it was held out stays, a new document was held out from the
funnel as it was, and the classifiers, which start from their old solutions, keep their sigmoids. Such changes
add up until everything is fitted again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from funnelling.funnel.tier_one import Posteriors, TierOne
from funnelling.funnel.tier_two import KeptPosteriors
from funnelling.matrices import Floats, take_rows
from funnelling.methods.algorithm import Run
from funnelling.methods.training_set import NEW_DOCUMENT, PreviousFit, TrainingSet
from funnelling.spaces import OWN
from funnelling.svm.solver import TOLERANCE, Coefficients

MAX_CHANGED_SHARE = 0.05  # of all documents: so many may have changed since the last fit of everything
WARM_START_MIN_DOCUMENTS = 2_000  # documents; a model of fewer is fitted again in seconds
WARM_START_TOL = 2 * TOLERANCE  # how well classifiers are found that start from their old solutions
# Of a label's standard deviation: how far classifiers that are held out from a fold may be
HELD_OUT_TOL = 0.15


@dataclass(frozen=True)
class WarmStart:
    """What a fit may take over from a previous one.

    ``kept`` is what it made of its documents, ``own`` and ``shared`` are its base classifiers, of languages
    and of views.
    """

    kept: KeptPosteriors
    own: Mapping[str, TierOne]
    shared: Mapping[str, Any]
    previous: PreviousFit

    @classmethod
    def of(cls, previous: PreviousFit | None) -> "WarmStart | None":
        """That of an update; None in a first fit, and where tier 2 learned from a sample."""
        if previous is None or previous.model.fitted.kept is None:
            return None
        fitted: Any = previous.model.fitted
        return cls(fitted.kept, fitted.learned.views.own, fitted.learned.views.shared, previous)

    @property
    def changed(self) -> int:
        """How many documents are new or other ones since the last fit of everything."""
        return self.kept.changed + self.previous.changed

    @property
    def is_small(self) -> bool:
        """Whether few documents have changed, in languages and under labels that were known."""
        known = (
            self.previous.model.documents.keys() >= self.previous.places.keys() and self.previous.same_labels
        )
        return self._takes_short_cuts and known and self.changed <= MAX_CHANGED_SHARE * self._documents

    @property
    def roughness(self) -> float:
        """How roughly classifiers that are held out from a fold may be found."""
        return HELD_OUT_TOL if self._takes_short_cuts else 0.0

    @property
    def _takes_short_cuts(self) -> bool:
        """Whether bits matter less than time.

        Without a view that all languages share most is taken over as it is, and the rest is soon fitted.
        """
        large = self._documents >= WARM_START_MIN_DOCUMENTS
        return not self.previous.exact and bool(self.shared) and large

    @property
    def _documents(self) -> int:
        return sum(map(len, self.previous.places.values()))

    def own_words(self, languages: Sequence[str]) -> dict[str, tuple[TierOne, Posteriors]]:
        """The base classifiers of languages that are untouched, and their posteriors of the documents."""
        return {
            tag: (self.own[tag], posteriors)
            for tag in languages
            if tag in self.own and tag in self.previous.untouched
            if (posteriors := self.kept.posteriors(OWN, tag)) is not None
        }

    def shared_view(self, name: str, languages: Sequence[str]) -> tuple[Any, dict[str, Posteriors]] | None:
        """A view of languages that are all untouched, and its posteriors of their documents."""
        view = self.shared.get(name)
        if view is None or view.languages != list(languages):
            return None
        if not self.previous.untouched.issuperset(languages):
            return None
        posteriors = {tag: self.kept.posteriors(name, tag) for tag in languages}
        return view, {tag: each for tag, each in posteriors.items() if each is not None}

    def start(self, view: str, languages: Sequence[str]) -> Coefficients | None:
        """What documents added to a view's old classifiers: (documents, labels); new ones nothing."""
        known = self.kept.coefficients.get(view, {})
        if not known.keys() >= set(languages):
            return None
        blocks = []
        for language in languages:
            places, old = self.previous.places[language], known[language]
            nothing = sparse.csr_array((1, old.shape[1]), dtype=old.dtype)
            rows = np.where(places == NEW_DOCUMENT, old.shape[0], places)
            blocks.append(sparse.vstack([old, nothing], format="csr")[rows])
        return sparse.vstack(blocks, format="csr")

    def held_out_posteriors(self, name: str, training: TrainingSet) -> Floats:
        """A view's out-of-fold posteriors of documents, those of languages below each other."""
        view = self.shared[name]
        return self._held_out(
            training,
            self.kept.held_out[name],
            lambda tag, new: view.tier.posteriors(view.space.vectors(tag, new)),
        )

    def held_out_scores(self, training: TrainingSet, run: Run) -> Floats:
        """Tier 2's out-of-fold scores of documents, those of languages below each other."""
        fitted: Any = self.previous.model.fitted
        return self._held_out(
            training, self.kept.scores, lambda tag, new: fitted.scores(tag, new, run).scores
        )

    def _held_out(self, training: TrainingSet, kept: Mapping[str, Floats], of_new: Any) -> Floats:
        """What is kept of documents, and what the previous model makes of new ones, which it did not see."""
        blocks = []
        for language in training.targets:
            places = self.previous.places[language]
            block = kept[language][np.where(places == NEW_DOCUMENT, 0, places)]
            new = np.flatnonzero(places == NEW_DOCUMENT)
            if len(new):
                block[new] = of_new(language, take_rows(training.documents[language], new))
            blocks.append(block)
        return np.vstack(blocks)
