"""The view of characters: runs of four, which related words of many languages share."""

from collections.abc import Mapping

from funnelling.matrices import Matrix, Targets
from funnelling.spaces.base import Documents, check_texts
from funnelling.spaces.pooled import PooledSpace
from funnelling.text.characters import CharacterVectorizer


class CharacterSpace(PooledSpace):
    """Documents as tf-idf vectors over runs of characters, one vocabulary for all languages."""

    def __init__(self, length: int = 4, verbose: int = 0) -> None:
        super().__init__("characters", CharacterVectorizer(length), verbose)
        self.length = length

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        check_texts(documents, self.name, "runs of characters")
        return super().fit(documents, targets)
