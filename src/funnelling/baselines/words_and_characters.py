"""Words and characters: the pipeline that users of scikit-learn would write, tuned as they would."""

from dataclasses import replace
from typing import Any

from funnelling.baselines.pooled import PooledClassifier
from funnelling.errors import InputError
from funnelling.method.parameters import check_flag, check_whole
from funnelling.method.training_set import TrainingSet
from funnelling.spaces.words import PooledSpace
from funnelling.svm import SVM, CSetting
from funnelling.text.words_and_characters import WordsAndCharactersVectorizer

C_GRID = (0.1, 1.0, 10.0)


class WordsAndCharactersClassifier(PooledClassifier):
    """Classify all languages by one set of linear SVMs over scikit-learn's tf-idf of words and of characters.

    Not in the paper: it is the twenty lines of scikit-learn that a funnel has to beat. A document is its
    words and its runs of two to five characters within words (``char_wb``), in one vocabulary for all
    languages. It needs texts.

    Parameters
    ----------
    C : float, "grid" or None
        None chooses it from 0.1, 1 and 10 by 5-fold cross-validation.
    sublinear_tf, min_df : bool, int
        Those of scikit-learn's `TfidfVectorizer`; the defaults were chosen by cross-validation.
    calibrated, memory_limit, n_jobs, random_state, verbose
        As in `funnelling.PooledClassifier`.
    """

    def __init__(
        self,
        C: CSetting = None,
        *,
        sublinear_tf: bool = True,
        min_df: int = 1,
        calibrated: bool = True,
        memory_limit: float = 8e9,
        compact: bool = False,
        keep_texts: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C,
            calibrated=calibrated,
            memory_limit=memory_limit,
            compact=compact,
            keep_texts=keep_texts,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.sublinear_tf = sublinear_tf
        self.min_df = min_df

    def _name(self) -> str:
        return "words-and-characters"

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_whole(self, "min_df")
        check_flag(self, "sublinear_tf")

    def _learnable_languages(self, languages: list[str]) -> list[str]:
        if not self.texts_:
            raise InputError(
                "words-and-characters needs texts, to see their characters: give texts, not vectors."
            )
        return super()._learnable_languages(languages)

    def _space(self, seed: int) -> PooledSpace:  # noqa: ARG002
        vectorizer = WordsAndCharactersVectorizer(bool(self.sublinear_tf), int(self.min_df))
        return PooledSpace(self._name(), vectorizer, self.verbose)

    def _learner(self, training: TrainingSet) -> SVM:
        return replace(super()._learner(training), grid=C_GRID)
