"""What a shared space is: a map from each language's documents into one feature space."""

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from funnelling.errors import InputError
from funnelling.matrices import Matrix, Targets
from funnelling.text.vocabularies import fit_own

Documents = list[str] | Matrix  # texts, or vectors where the user gave those


class Space(BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """A feature space that the documents of all languages share.

    ``dense`` says which kernel suits it: RBF in a dense space, linear in a sparse one.
    """

    dense: ClassVar[bool] = True

    @property
    def supervised(self) -> bool:
        """Whether the space learns from labels: its vectors of training documents then tell their labels."""
        return False

    @abstractmethod
    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> dict[str, Matrix]:
        """Learn the space from training documents, and return their vectors in it."""

    @abstractmethod
    def vectors(self, language: str, documents: Documents) -> Matrix:
        """One language's documents in the space; a row's bits do not depend on its neighbours."""

    def usable(self, languages: Sequence[str]) -> list[str]:
        """Which of the languages of training documents can be brought into the space."""
        return list(languages)

    def feature_names(self) -> Sequence[str] | None:
        """What the columns of the space stand for, None where they have no names."""
        return None

    def serves(self, language: str) -> bool:  # noqa: ARG002
        """Whether documents in a language without training documents can be brought into the space."""
        return False

    def takes(self, language: str) -> bool:
        """Whether a further language with labelled documents can be brought into the space as it is."""
        return self.serves(language)


class OwnWordsSpace(Space):
    """A space whose documents start from the words of their own language."""

    vectorizer: Any
    verbose: int

    def _fit_words(self, documents: Mapping[str, Documents]) -> dict[str, Matrix]:
        if not all(isinstance(part, list) for part in documents.values()):
            self.vectorizers_: dict[str, Any] = {}  # the user gave vectors
            return dict(documents)
        self.vectorizers_, vectors = fit_own(documents, self.vectorizer, bool(self.verbose))
        return vectors

    def _words(self, language: str, documents: Documents) -> Matrix:
        return self.vectorizers_[language].transform(documents) if self.vectorizers_ else documents


def check_texts(documents: Mapping[str, Documents], name: str, resource: str) -> None:
    """Refuse vectors where a method must see the words."""
    if not all(isinstance(part, list) for part in documents.values()):
        raise InputError(f"{name} needs texts, to find their words in {resource}: give texts, not vectors.")


def check_one_width(documents: Mapping[str, Matrix], name: str) -> None:
    """Refuse vectors of languages that share no vocabulary."""
    if len({X.shape[1] for X in documents.values()}) > 1:
        raise InputError(f"{name} needs one feature space: the languages' matrices differ in columns.")
