"""What a funnel that learns on takes over from what it was: base classifiers, and starts for solvers.

A language whose documents are all as they were keeps the base classifiers of its own words, and a view that
sees no other languages all of its own, to the bit. All other problems are solved anew, for further documents
change the weights of old ones' words; solvers begin with the old solutions, as far as documents are the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from funnelling.funnel.archive import TIER_TWO, FunnelArchive
from funnelling.funnel.tier_one import Posteriors, TierOne
from funnelling.method.learning_on import NEW, Earlier
from funnelling.method.training_set import TrainingSet
from funnelling.spaces.registry import OWN
from funnelling.svm.path import Coefficients


@dataclass(frozen=True)
class Inheritance:
    """What a fit may take over from an earlier one: nothing, in a first fit.

    ``own`` and ``shared`` are its base classifiers, of languages and of views. See `Earlier` for the rest.
    """

    archive: FunnelArchive | None = None
    own: Mapping[str, TierOne] = field(default_factory=dict)
    shared: Mapping[str, Any] = field(default_factory=dict)
    earlier: Earlier | None = None

    @classmethod
    def of(cls, earlier: Earlier | None) -> "Inheritance":
        """That of a model which learns on; one of whose documents a sample taught tier 2 leaves nothing."""
        archive = None if earlier is None else earlier.model.training_
        if earlier is None or not isinstance(archive, FunnelArchive) or not archive.training:
            return NOTHING
        model: Any = earlier.model
        return cls(archive, model.base_, model.shared_views_, earlier)

    def own_words(self, language: str) -> tuple[TierOne, Posteriors] | None:
        """The base classifiers of a language that is untouched, and what they say of its documents."""
        if self.archive is None or language not in self.own or not self._are_untouched([language]):
            return None
        posteriors = self.archive.posteriors(OWN, language)
        return None if posteriors is None else (self.own[language], posteriors)

    def shared_view(self, name: str, languages: Sequence[str]) -> tuple[Any, dict[str, Posteriors]] | None:
        """A view of languages that are all untouched, and what it says of their documents."""
        view = self.shared.get(name)
        if self.archive is None or view is None or view.languages != list(languages):
            return None
        posteriors = {tag: self.archive.posteriors(name, tag) for tag in languages}
        if not self._are_untouched(languages):
            return None
        return view, {tag: each for tag, each in posteriors.items() if each is not None}

    def start(self, view: str, languages: Sequence[str], labels: int) -> Coefficients | None:
        """What a view's documents added to its old classifiers: (documents, labels); new ones nothing."""
        if self.archive is None or self.earlier is None or self.earlier.exact or self.earlier.columns is None:
            return None
        known = self.archive.coefficients.get(view, {})
        blocks = []
        for language in languages:
            places = self.earlier.places[language]
            if language not in known:
                blocks.append(sparse.csr_array((len(places), labels), dtype=np.float32))
                continue
            of_language = known[language]
            nothing = sparse.csr_array((1, of_language.shape[1]), dtype=np.float32)
            rows = np.where(places == NEW, of_language.shape[0], places)
            block = sparse.vstack([of_language, nothing], format="csr")[rows]
            columns = self.earlier.columns[block.indices]
            blocks.append(sparse.csr_array((block.data, columns, block.indptr), (len(places), labels)))
        together = sparse.vstack(blocks, format="csr")
        return together if together.nnz else None

    def start_of_tier_two(self, training: TrainingSet) -> Coefficients | None:
        """What the documents added to the old meta-classifier."""
        return self.start(TIER_TWO, list(training.targets), training.labels)

    def _are_untouched(self, languages: Sequence[str]) -> bool:
        return self.earlier is not None and self.earlier.untouched.issuperset(languages)


NOTHING = Inheritance()
