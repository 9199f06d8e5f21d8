"""What a method is: an algorithm from documents and parameters to a fitted tree, which answers by itself."""

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.evaluation.measures import ALL_LABELS, Columns
from funnelling.matrices import Scored, Scores, length
from funnelling.methods.explanation import Attribution, Explainer
from funnelling.methods.parameters import check_parameters, choice, in_bytes, jobs, seed
from funnelling.methods.training_set import Calibrator, ScoreThresholds, TrainingSet
from funnelling.plain import Estimator
from funnelling.spaces import Space
from funnelling.svm import Calibration, Temperature
from funnelling.svm.scorers import Selection
from funnelling.text.tfidf import TfidfVectorizer

logger = logging.getLogger(__name__)

NOTHING, TEXTS = "nothing", "texts"
KEPT = ("words", TEXTS, NOTHING)  # what a model may keep of its training documents


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters(Estimator):
    """The parameters that all methods have; see `funnelling.FunnellingClassifier`."""

    memory_limit: float = in_bytes(8e9)
    keep: str = choice("words", KEPT)
    n_jobs: int | None = jobs()
    random_state: Annotated[Any, int | None] = seed()
    verbose: int = 0

    def check(self) -> None:
        """Refuse invalid parameters. Subclasses add rules about several of them."""
        check_parameters(self)

    @property
    def run(self) -> "Run":
        """The runtime options among them."""
        return Run(self.n_jobs)

    def copied(self, **changes: Any) -> Self:
        """A copy with some values changed."""
        return type(self)(**self.get_params(deep=False) | changes)


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
        self, language: str, documents: Any, run: Run, archive: ByLanguage | None = None
    ) -> Attribution:
        """The scores of one language's documents, and what they are made of where that is known.

        Documents of the ``archive`` may be named as neighbours.
        """
        return Attribution(*self.scores(language, documents, run))

    def explained(
        self, language: str, documents: Any, run: Run, archive: ByLanguage | None, explainer: Explainer
    ) -> Iterator[dict[str, Any]]:
        """Why one language's documents get their labels: a row for each."""
        return explainer.explain(language, self.evidence(language, documents, run, archive))

    def held_out_measures(
        self, labels: LabelSpace, columns: Columns = ALL_LABELS
    ) -> dict[str, dict[str, float]]:
        """How good it is on training documents that it did not learn from, by language, where that is known.

        Measures by name, of the labels of some ``columns``, and the number of ``documents``.
        """
        return {}

    def held_out_posteriors(self, labels: LabelSpace) -> dict[str, npt.NDArray[np.float64]]:
        """Posteriors of training documents that it did not learn from, by language, where those are kept."""
        return {}

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
    def selecting(self, selection: Selection, labels: LabelSpace, archive: ByLanguage | None) -> Self:
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


SMALLEST_SHARE = 1e-6  # of documents that have a label
MAX_LIKELY_LABELS = 40  # of many labels, those that are given a probability where nothing else is known


@dataclass(frozen=True)
class Prior(Fitted):
    """What is said of documents in a language that a model does not know: how frequent labels are.

    ``counts`` are the training documents that have each label.
    """

    labels: LabelSpace
    counts: npt.NDArray[np.int64]
    documents: int

    def scores(self, language: str, documents: Any, run: Run) -> Scored:
        number = length(documents)
        shares = np.clip(self.counts / self.documents, SMALLEST_SHARE, 1 - SMALLEST_SHARE)
        evident = np.ones(number, dtype=bool)
        if self.labels.sparse:
            likely = np.sort(np.argsort(-shares, kind="stable")[:MAX_LIKELY_LABELS])
            values, columns = np.tile(shares[likely], number), np.tile(likely, number)
            starts = np.arange(number + 1) * len(likely)
            cells: Any = sparse.csr_array((values, columns, starts), shape=(number, len(shares)))
            return Scored(cells, evident)
        row = np.log(shares) if self.labels.single_label else np.log(shares / (1 - shares))
        if self.labels.has_one_column:
            row = row[1:] - row[:1]
        return Scored(np.tile(row, (number, 1)), evident)

    def calibrator(self, language: str) -> Calibrator:
        if self.labels.single_label:
            return Temperature(1.0)
        labels = len(self.counts)
        return Calibration("fixed", np.ones(labels), np.zeros(labels), np.full(labels, np.nan))

    def score_thresholds(self, language: str) -> float:
        return 0.5 if self.labels.sparse else 0.0

    def selecting(self, selection: Selection, labels: LabelSpace, archive: ByLanguage | None) -> Self:
        raise NotImplementedError  # it is made of a model's counts whenever it is asked

    def check(
        self, documents: Mapping[str, int], features: Mapping[str, int] | None, labels: LabelSpace
    ) -> None:
        raise NotImplementedError  # it is not saved


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC, Generic[P]):
    """How a method learns: documents and parameters in, a fitted tree out.

    ``name`` appears in messages. ``needs_texts`` is the reason why vectors are refused, "" if they are not.
    """

    name: str
    parameters: type[P]
    needs_texts: str = ""

    fitted: ClassVar[type[Fitted]]  # what a fit gives
    learns_names: ClassVar[bool] = False  # whether labels without documents are learned from their names
    sparse_labels: ClassVar[bool] = False  # whether labels, and answers, are sparse matrices
    reads_parallel: ClassVar[bool] = False  # whether it learns from ``parallel`` rows too
    built_of: ClassVar[tuple[str, ...]] = ()  # parameters that shape the tree: changes wait for the next fit
    tuned_by: ClassVar[tuple[str, ...]] = ()  # parameters that say what thresholds were tuned for

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

    def check_built(self, parameters: P) -> None:
        """Refuse values that no fit takes, of the parameters that shape its tree."""

    def languages_at_once(self, parameters: P, chosen: Any = None) -> int | None:
        """How many languages can be scored at a time, by threads; None and -1 as in ``n_jobs``."""
        return 1

    def counting(self, parameters: P, training: TrainingSet) -> AbstractContextManager[None]:
        """A context for a first fit, which may keep the counts of words that it needs again and again."""
        return nullcontext()

    def reads_in_order(self, parameters: P, chosen: Any = None) -> str | None:
        """What looks at more of a text than how often it has which words, None where nothing does."""
        template = getattr(parameters, "vectorizer", None)
        given = template.values() if isinstance(template, Mapping) else [template]
        counts = all(each is None or isinstance(each, TfidfVectorizer) for each in given)
        return None if counts else "A vectorizer of your own"
