"""What a shared space is: a map from each language's documents into one feature space."""

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar, Self

from funnelling.corpus.reference import Reference
from funnelling.errors import InputError
from funnelling.matrices import Floats, Matrix, Targets
from funnelling.plain import Estimator, without_caches
from funnelling.state import Count, expect, expect_by
from funnelling.text.characters import Vectorizer
from funnelling.text.languages import is_served, served_by
from funnelling.text.tfidf import FeatureSpans, check_vectorizer, fit_own

Documents = Any  # of one language: a list of texts, or a matrix where the user gave vectors


@dataclass(repr=False)
class Encoder(Estimator):
    """A sentence encoder, as a view that all languages share.

    Parameters
    ----------
    model : folder of a model of sentence-transformers
    epochs : for how many epochs the encoder learns the labels; 0 leaves it as it is

    Examples
    --------
    >>> Encoder("my-encoder")
    Encoder(model='my-encoder')
    """

    view: ClassVar[str] = "encoder"

    model: Annotated[Any, str | None]  # None where a model from the Hub was trained with one
    _: KW_ONLY
    epochs: Count = 0


@dataclass(repr=False)
class Embeddings(Estimator):
    """Aligned word vectors, as a view that all languages share.

    Parameters
    ----------
    model : folder of word vectors in MUSE's text format
    reference : `funnelling.research.Reference` or None, the source of idf; a saved model has none of it
    """

    view: ClassVar[str] = "embeddings"

    model: Annotated[Any, str | None]
    _: KW_ONLY
    reference: Reference | None = None


@dataclass(frozen=True)
class Resources:
    """What spaces may need beside the documents.

    ``encodings`` keeps the vectors of texts that an encoder has read, where several fits share them, and
    ``begun`` what a space has learned from documents that another one would learn as well.
    """

    embeddings: str | os.PathLike[str] | None = None
    reference: Reference | None = None
    encoder: str | os.PathLike[str] | None = None
    encoder_epochs: int = 0
    encodings: dict[str, Floats] | None = None
    verbose: int = 0
    n_jobs: int | None = None
    begun: dict[str, Any] = field(default_factory=dict)


class Space(Estimator, metaclass=ABCMeta):
    """A feature space that the documents of all languages share.

    ``dense`` says which kernel suits it: RBF in a dense space, linear in a sparse one.
    """

    dense: ClassVar[bool] = True
    __getstate__ = without_caches

    @classmethod
    def as_view(cls, resources: Resources, seed: int) -> Self:  # noqa: ARG003
        """The space as a view of a funnel, not yet fitted; one that needs resources takes them here."""
        space = cls()
        if "verbose" in space.get_params(deep=False):
            space.set_params(verbose=resources.verbose)
        return space

    @property
    def supervised(self) -> bool:
        """Whether the space learns from labels: its vectors of training documents then betray them."""
        return False

    @abstractmethod
    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        """Learn the space from training documents, and return their vectors in it."""

    @abstractmethod
    def vectors(self, language: str, documents: Documents) -> Matrix:
        """One language's documents in the space; a row's bits do not depend on its neighbours."""

    def all_vectors(self, documents: Mapping[str, Documents]) -> Mapping[str, Matrix]:
        """Documents of several languages in the space, with the bits of `vectors`."""
        return {language: self.vectors(language, each) for language, each in documents.items()}

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix | None:
        """Refuse a fitted state that could not bring documents in these languages into the space.

        ``features`` are the columns of the user's vectors, None where documents are texts. Gives the vector
        of a document in which nothing is known, None where only the documents tell how long it is. A space
        that is saved has to say it.
        """
        raise NotImplementedError

    def usable(self, languages: Sequence[str]) -> list[str]:
        """Which of the languages of training documents can be brought into the space."""
        return list(languages)

    def feature_names(self) -> Sequence[str] | None:
        """What the columns of the space stand for, None where they have no names."""
        return None

    def places(self, language: str, text: str) -> FeatureSpans | None:
        """Where a text has the features of its vector, None where they stand nowhere in particular."""
        return None

    def serves(self, language: str) -> bool:
        """Whether documents in a language without training documents can be brought into the space."""
        return False


class MonolingualBowSpace(Space):
    """A space whose documents start from the words of their own language."""

    vectorizer: Any
    verbose: int
    vectorizers_: dict[str, Vectorizer]

    def _fit_words(self, documents: Mapping[str, Documents]) -> dict[str, Any]:
        if not are_texts(documents):
            self.vectorizers_ = {}  # the user gave vectors
            return dict(documents)
        self.vectorizers_, vectors = fit_own(documents, self.vectorizer, bool(self.verbose))
        return vectors

    def _check_words(self, languages: Sequence[str], features: int | None) -> dict[str, int]:
        """Refuse words that are not those of the languages; how many columns each has."""
        if features is not None:
            expect_by(self.vectorizers_, (), "the vocabularies of a space")
            return dict.fromkeys(languages, features)
        known = self.vectorizers_
        expect(
            known and all(is_served(language, known) for language in languages), "the languages of a space"
        )
        return {tag: check_vectorizer(vectorizer).shape[1] for tag, vectorizer in known.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:
        language = served_by(language, self.vectorizers_)
        words = self.vectorizers_[language].transform(documents) if self.vectorizers_ else documents
        return self._projected(language, words)

    @abstractmethod
    def _projected(self, language: str, words: Any) -> Floats:
        """Vectors of a language's own words in the space."""


def width_of(tables: Mapping[str, Any], words: Mapping[str, int]) -> int:
    """How wide the tables of languages are, which have a row for each word; all are as wide."""
    expect_by(tables, words, "the words of a space")
    expect(all(table.shape[0] == words[tag] for tag, table in tables.items()), "the words of a space")
    return int(next(iter(tables.values())).shape[1])


def are_texts(documents: Mapping[str, Documents]) -> bool:
    """Whether documents are texts, in one list per language, not vectors."""
    return all(isinstance(each, list) for each in documents.values())


def check_texts(documents: Mapping[str, Documents], name: str, resource: str) -> None:
    """Refuse vectors where a method must see the words."""
    if not are_texts(documents):
        raise InputError(f"{name} needs texts, to find their words in {resource}: give texts, not vectors.")


def check_one_width(matrices: Mapping[str, Matrix], name: str) -> None:
    """Refuse vectors of languages that share no vocabulary."""
    if len({X.shape[1] for X in matrices.values()}) > 1:
        raise InputError(f"{name} needs one feature space: the languages' matrices differ in columns.")
