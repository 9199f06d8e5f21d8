"""Naive, Pooled and Words-and-characters: what a user would write without a funnel."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from funnelling.methods.parameters import flag, whole
from funnelling.methods.svms import SVMParameters, SVMsInSpace, SVMsPerLanguage
from funnelling.methods.training_set import TrainingSet
from funnelling.spaces.words import PooledSpace
from funnelling.svm import SVM
from funnelling.text.characters import WordsAndCharactersVectorizer

NAIVE = SVMsPerLanguage(name="naive", parameters=SVMParameters)


@dataclass(kw_only=True, eq=False, repr=False)
class PooledParameters(SVMParameters):
    """The parameters of a method that may decide by calibrated probabilities."""

    calibrated: bool = flag(True)

    def learner(self, training: TrainingSet) -> SVM:
        return replace(super().learner(training), calibrated=self.calibrated)

    @property
    def yes_above(self) -> Literal["zero", "half"]:
        return "half" if self.calibrated else "zero"


def pooled_space(parameters: PooledParameters, seed: int) -> PooledSpace:  # noqa: ARG001
    """The vocabulary of all languages."""
    return PooledSpace(vectorizer=parameters.vectorizer, verbose=parameters.verbose)


POOLED = SVMsInSpace(name="pooled", parameters=PooledParameters, space=pooled_space)


C_GRID = (0.1, 1.0, 10.0)


@dataclass(kw_only=True, eq=False, repr=False)
class WordsAndCharactersParameters(PooledParameters):
    """The parameters of words-and-characters."""

    sublinear_tf: bool = flag(True)
    min_df: int = whole(1)
    vectorizer: Any = field(default=None, init=False)  # it has its own

    def learner(self, training: TrainingSet) -> SVM:
        return replace(super().learner(training), grid=C_GRID)


def words_and_characters(parameters: WordsAndCharactersParameters, seed: int) -> PooledSpace:  # noqa: ARG001
    """The words of all languages, and their characters."""
    vectorizer = WordsAndCharactersVectorizer(bool(parameters.sublinear_tf), int(parameters.min_df))
    return PooledSpace("words-and-characters", vectorizer, parameters.verbose)


WORDS_AND_CHARACTERS = SVMsInSpace(
    name="words-and-characters",
    parameters=WordsAndCharactersParameters,
    space=words_and_characters,
    needs_texts="to see their characters",
)
