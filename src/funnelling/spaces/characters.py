"""The view of characters: runs of them, which related words of many languages share."""

from collections.abc import Mapping
from typing import Self

from funnelling.matrices import Matrix, Targets
from funnelling.spaces.base import Documents, Resources, check_texts
from funnelling.spaces.pooled import PooledSpace
from funnelling.text.characters import CharacterVectorizer

SHORTEST, LONGEST = 3, 6  # characters of a run; see the ablation in benchmarks/README.md


class CharacterSpace(PooledSpace):
    """Documents as tf-idf vectors over runs of characters, one vocabulary for all languages.

    For the parameters see `funnelling.text.characters.CharacterVectorizer`.
    """

    def __init__(
        self, length: int = 4, verbose: int = 0, longest: int | None = None, latin: bool = False
    ) -> None:
        super().__init__("characters", CharacterVectorizer(length, longest=longest, latin=latin), verbose)
        self.length = length
        self.longest = longest
        self.latin = latin

    @classmethod
    def as_view(cls, resources: Resources, seed: int) -> Self:  # noqa: ARG003
        return cls(SHORTEST, resources.verbose, LONGEST, latin=True)

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        check_texts(documents, self.name, "runs of characters")
        return super().fit(documents, targets)
