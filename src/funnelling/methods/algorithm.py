"""What a method is: an algorithm from documents and parameters to a fitted tree, which answers by itself."""

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.matrices import Scored, Scores
from funnelling.methods.archive import Archive
from funnelling.methods.explanation import Attribution
from funnelling.methods.parameters import check_parameters, flag, in_bytes, jobs, seed
from funnelling.methods.training_set import Calibrator, ScoreThresholds, TrainingSet
from funnelling.plain import Estimator
from funnelling.spaces import Space
from funnelling.svm.scorers import Selection
from funnelling.text.tfidf import TfidfVectorizer

logger = logging.getLogger(__name__)


# Runtime options and resources: models do not store them.
RUNTIME_PARAMETERS = ("n_jobs", "verbose", "device", "reference", "embeddings", "encoder")


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters(Estimator):
    """The parameters that all methods have; see `funnelling.FunnellingClassifier`."""

    memory_limit: float = in_bytes(8e9)
    compact: bool = flag(False)
    keep_texts: bool = flag(False)
    n_jobs: int | None = jobs()
    random_state: Any = seed()
    verbose: int = 0

    def check(self) -> None:
        """Refuse invalid parameters. Subclasses add rules about several of them."""
        check_parameters(self)

    def copied(self, **changes: Any) -> "Parameters":
        """A copy with some values changed, which is no estimator."""
        kind = next(kind for kind in type(self).__mro__ if "__dataclass_fields__" in vars(kind))
        given = {each.name: getattr(self, each.name) for each in fields(kind) if each.init}
        parameters: Parameters = kind(**given | changes)
        return parameters


@dataclass(frozen=True)
class Run:
    """Runtime options that change no prediction: threads, the folder of an encoder, a device."""

    n_jobs: int | None = None
    encoder: str | os.PathLike[str] | None = None
    device: str = "auto"


class Fitted(ABC):
    """The result of a fit, in frozen dataclasses: all that scoring needs, without parameters."""

    @abstractmethod
    def scores(self, language: str, documents: Any, run: Run) -> Scored:
        """Scores of one language's documents, texts or vectors: (documents, columns); which are evident."""

    @abstractmethod
    def calibrator(self, language: str) -> Calibrator:
        """What turns that language's scores into probabilities."""

    def score_thresholds(self, language: str) -> ScoreThresholds:
        """The scores above which the answer is yes; the paper's methods say yes above 0."""
        return 0.0

    def evidence(
        self, language: str, documents: Any, run: Run, archive: Archive | None = None
    ) -> Attribution:
        """The scores of one language's documents, and what they are made of where that is known.

        Documents of the ``archive`` may be named as neighbours.
        """
        return Attribution(*self.scores(language, documents, run))

    def scores_and_posteriors(
        self, language: str, documents: Any, run: Run
    ) -> tuple[Scored, Mapping[str, Scores]]:
        """The scores of one language's documents, and where there are two tiers each view's posteriors."""
        return self.scores(language, documents, run), {}

    def serves(self, language: str) -> bool:
        """Whether documents in a language without training documents can be labelled."""
        return False

    @property
    def chosen(self) -> Any:
        """What the fit chose, to be given to a further one; None where it chose nothing."""
        return None

    @abstractmethod
    def selecting(self, selection: Selection, labels: LabelSpace, archive: Archive | None) -> Self:
        """What answers for some of the labels only, with the same bits."""

    def compact(self) -> Self:
        """The same without what is kept of training documents."""
        return self

    @property
    def spaces(self) -> list[Space]:
        """The spaces that languages share."""
        return []

    @property
    def final_c(self) -> float | dict[str, float] | None:
        """The C of the final classifiers, by language where each has its own; None where there is none."""
        return None

    @abstractmethod
    def check(
        self, documents: Mapping[str, int], features: Mapping[str, int] | None, labels: LabelSpace
    ) -> None:
        """Refuse what was read from a file and could not score documents like those it learned from.

        ``documents`` are their numbers by language, ``features`` the columns of each language's vectors, None
        where documents are texts.
        """


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC, Generic[P]):
    """How a method learns: documents and parameters in, a fitted tree out.

    ``name`` appears in messages. ``needs_texts`` is the reason why vectors are refused, "" if they are not.
    """

    name: str
    needs_texts: str = ""

    fitted: ClassVar[type[Fitted]]  # what a fit gives
    learns_names: ClassVar[bool] = False  # whether labels without documents are learned from their names
    sparse_labels: ClassVar[bool] = False  # whether labels, and answers, are sparse matrices
    reads_parallel: ClassVar[bool] = False  # whether it learns from ``parallel`` rows too
    built_of: ClassVar[tuple[str, ...]] = ()  # parameters whose changes after a fit wait for the next fit

    @abstractmethod
    def vectors(self, parameters: P, training: TrainingSet) -> tuple[Any, dict[str, Any]]:
        """The fitted vectorizers or space, and the documents' vectors: None where `fit` makes them."""

    @abstractmethod
    def fit(self, parameters: P, training: TrainingSet) -> Fitted:
        """Learn from checked input."""

    def usable(self, parameters: P, languages: Sequence[str], chosen: Any = None) -> list[str]:
        """Which languages can be learned from, with the resources that were given."""
        return list(languages)

    def learnable(
        self, parameters: P, languages: Sequence[str], texts: bool, chosen: Any = None
    ) -> list[str]:
        """The languages of documents that are learned from; the others are named."""
        if self.needs_texts and not texts:
            raise InputError(f"{self.name} needs texts, {self.needs_texts}: give texts, not vectors.")
        usable = self.usable(parameters, languages, chosen)
        without = ", ".join(sorted(set(languages) - set(usable)))
        if not usable:
            raise InputError(
                f"{self.name} has no resources for any language of the training documents: {without}."
            )
        if without:
            logger.warning("%s leaves out languages it has no resources for: %s.", self.name, without)
        return usable

    def serves_unseen(self, parameters: P, language: str) -> bool:
        """Whether a fit would label documents in a language that it had no training documents of."""
        return False

    def learns_own_words(self, parameters: P) -> bool:
        """Whether vectors of each language's own words are all that is learned from."""
        return False

    def counting(self, parameters: P, training: TrainingSet) -> AbstractContextManager[None]:
        """A context for a first fit, which may keep the counts of words that it needs again and again."""
        return nullcontext()

    def reads_in_order(self, parameters: P, chosen: Any = None) -> str | None:
        """What looks at more of a text than how often it has which words, None where nothing does."""
        template = getattr(parameters, "vectorizer", None)
        given = template.values() if isinstance(template, Mapping) else [template]
        counts = all(each is None or isinstance(each, TfidfVectorizer) for each in given)
        return None if counts else "A vectorizer of your own"
