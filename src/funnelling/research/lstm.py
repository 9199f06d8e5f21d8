"""MLE-LSTM: multilingual embeddings read word by word, the one method that sees the order of words."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.matrices import Floats, Matrix, Scored, Targets
from funnelling.methods.model import Method
from funnelling.methods.parameters import positive, share, whole
from funnelling.methods.training_set import Calibrator, TrainingSet, calibrator_type
from funnelling.research.lstm_words import FIRST_WORD, fit_vocabulary, number_words, read_words, to_table
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import repeatable, require_device
from funnelling.spaces.word_vectors import find_vectors, read_vectors
from funnelling.state import expect, expect_by, expect_numbers, expect_strings, expect_whole
from funnelling.svm import Calibration, Temperature
from funnelling.svm.calibration import fit_calibration
from funnelling.svm.path import amount
from funnelling.svm.scorers import Selection
from funnelling.text.languages import is_served, served_by

MAX_WORDS = 10**6  # of a document that are read
MAX_ABS_WEIGHT = 1e6  # in size, of a network that learned anything

logger = logging.getLogger(__name__)


@dataclass(kw_only=True, eq=False, repr=False)
class MLELSTMClassifier(Method):
    """Classify all languages by one network: aligned word vectors, an LSTM, a dense layer.

    The word vectors are fine-tuned, each language's by themselves. Words of the training documents without a
    vector start from zeros; all other unknown words are zeros. It also labels documents in languages that
    have vectors and no training documents, by the vectors as the files have them.

    The same seed gives the same bits on a CPU, with any number of threads, and the same bits on one kind of
    GPU; a GPU's bits differ from a CPU's.

    Parameters
    ----------
    embeddings : path
        A folder of vectors in MUSE's text format, one file per language.
    units, dense_units : int
        Units of the LSTM and of the layer after it.
    dropout : float
        The share of units dropped in training: of the word vectors, of the LSTM's recurrent connection and
        of both layers' outputs.
    length : int
        The number of words that are read of a document, its last ones.
    epochs, patience : int
        Training ends after so many epochs, or after so many without a lower validation loss; the best
        epoch is kept. The paper had 200 and 20 for RCV1/RCV2, 2,000 and 200 for JRC-Acquis; the defaults
        here are for a CPU.
    batch_size : int
        Documents between two steps of RMSprop.
    learning_rate : float
        Of RMSprop.
    validation : float
        The share of training documents that are held out to decide when to end.
    unseen_words : int
        The number of words of a language without training documents, the most frequent ones.
    device : "auto", "cpu" or "cuda"
        Where the network runs; auto is a GPU where there is one.
    memory_limit : float
        Bytes that the word vectors may take in training.
    n_jobs, random_state, verbose
        As in `funnelling.FunnellingClassifier`.
    """

    embeddings: str | os.PathLike[str] | None = None
    units: int = whole(512)
    dense_units: int = whole(2_048)
    dropout: float = share(0.5, may_be_none_of_it=True)
    length: int = whole(200)
    epochs: int = whole(10)
    patience: int = whole(2)
    batch_size: int = whole(32)
    learning_rate: float = positive(0.001)
    validation: float = share(0.2)
    unseen_words: int = whole(50_000)
    device: str = "auto"

    def _name(self) -> str:
        return "mle-lstm"

    def _learnable_languages(self, languages: list[str]) -> list[str]:
        if not self.texts_:
            raise InputError("mle-lstm needs texts, to read their words in order: give texts, not vectors.")
        require_device(self.device, self._name())
        return super()._learnable_languages(languages)

    # --- words ------------------------------------------------------------------------------------

    def usable(self, languages: Sequence[str]) -> list[str]:
        known = self._files()
        return [language for language in languages if is_served(language, known)]

    def serves_unseen(self, language: str) -> bool:
        known = getattr(self, "words_", None) or self._files()
        return is_served(language, known)

    def _files(self) -> dict[str, Path]:
        if self.embeddings is None:
            raise InputError("mle-lstm needs word vectors: give embeddings, or --embeddings DIR.")
        return find_vectors(self.embeddings)

    def _fit_vectors(
        self,
        documents: dict[str, Any],
        targets: dict[str, Targets],  # noqa: ARG002
        seed: int,  # noqa: ARG002
    ) -> dict[str, Matrix]:
        """Documents as rows of word numbers."""
        files = self._files()
        self.words_: dict[str, list[str]] = {}
        self.tables_: dict[str, Floats] = {}
        coverage = {}
        vectors: dict[str, Matrix] = {}
        with progress_bar("words", sum(map(len, documents.values())), bool(self.verbose)) as advance:
            for language, texts in documents.items():
                words = read_words(language, texts)
                vocabulary = fit_vocabulary(words, files[served_by(language, files)])
                self.words_[language], self.tables_[language], coverage[language] = vocabulary
                vectors[language] = number_words(words, self.words_[language], self.length)
                advance(len(texts))
        shares = ", ".join(f"{language} {100 * share:.0f} %" for language, share in coverage.items())
        logger.info("mle-lstm: words of the training documents that have a vector: %s.", shares)
        for language in sorted(files.keys() - documents.keys()):
            unseen = read_vectors(files[language], limit=self.unseen_words)
            self.words_[language], self.tables_[language] = unseen.words, to_table(unseen.matrix)
        return vectors

    def _vectors(self, language: str, documents: Any) -> Floats:
        language = served_by(language, self.words_)
        return number_words(read_words(language, documents), self.words_[language], self.length)

    # --- the network ------------------------------------------------------------------------------

    def _reads_in_order(self) -> str | None:
        return "The network"

    def _fit(self, training: TrainingSet) -> None:
        from funnelling.research.lstm_training import Course, TokenizedExamples, draw_validation, learn

        device = require_device(self.device, self._name())
        words, table = self._stacked(training)
        examples = TokenizedExamples(words, training.stacked_targets())
        held_out = draw_validation(_stacked_groups(training), self.validation, training.seed, "validation")
        course = Course(
            units=self.units,
            dense_units=self.dense_units,
            dropout=self.dropout,
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            labels=training.labels,
            seed=training.seed,
        )
        with repeatable(device):
            network = learn(
                examples.of(~held_out),
                examples.of(held_out) if held_out.any() else examples,
                table,
                course,
                device=device,
                n_jobs=self.n_jobs,
                shown=bool(self.verbose),
            )
        self.losses_ = network.losses
        self.network_ = network.weights
        end = FIRST_WORD
        for language in training.vectors:
            start, end = end, end + len(self.words_[language])
            self.tables_[language] = to_table(network.table[start:end])
        self.head_ = _own_calibrator(examples.targets, training.labels)

    def _stacked(self, training: TrainingSet) -> tuple[npt.NDArray[np.int64], Floats]:
        """The documents of all languages, and their one table; a word of two languages has two rows in it."""
        words = []
        before = 0
        for language, rows in training.vectors.items():
            numbers = rows.astype(np.int64)
            words.append(np.where(numbers >= FIRST_WORD, numbers + before, numbers))
            before += len(self.words_[language])
        tables = [self.tables_[language][FIRST_WORD:] for language in training.vectors]
        # Beside the vectors, the means of squared gradients and the vectors of the best epoch.
        needed = 3 * sum(table.nbytes for table in tables)
        if needed > self.memory_limit:
            raise InputError(
                f"mle-lstm: the vectors of {before:,} words need {amount(needed)} in training, over the "
                f"memory_limit of {amount(self.memory_limit)}. Raise memory_limit or train on fewer "
                "documents."
            )
        return np.vstack(words), to_table(np.vstack(tables))

    def _scores(self, language: str, documents: Any) -> Scored:
        device = require_device(self.device, self._name())
        import torch

        from funnelling.research.lstm_network import predicted_scores, to_tensors

        table = self.tables_[served_by(language, self.words_)]
        words = self._vectors(language, documents)
        with repeatable(device):
            scores = predicted_scores(
                to_tensors(self.network_, device),
                lambda words: torch.from_numpy(table[words]).to(device),
                words.astype(np.int64),
                self.n_jobs if device == "cpu" else 1,
            )
        selection: Selection | None = getattr(self, "selection_", None)
        if selection is not None:
            scores = selection.of(scores)
        if isinstance(self.head_, Calibration):
            trivial = self.head_.trivial
            scores[:, trivial] = np.where(self.head_.constant[trivial] > 0, 1, -1)
        return Scored(scores, np.count_nonzero(words >= FIRST_WORD, axis=1) > 0)

    def _check_fitted(self, columns: int) -> None:
        expect(self.texts_, "a network")
        expect_whole(self.length, "the length of documents", 1, MAX_WORDS)
        words = expect_by(self.words_, None, "the words of a network")
        expect(all(is_served(language, words) for language in self.languages_), "the words of a network")
        dimensions, labels = self._check_network()
        for tag, table in expect_by(self.tables_, words, "the word vectors of a network").items():
            expect_strings(words[tag], "the words of a network")
            rows = FIRST_WORD + len(words[tag])
            expect_numbers(table, (rows, dimensions), "the word vectors of a network", most=MAX_ABS_WEIGHT)
        selection: Selection | None = getattr(self, "selection_", None)
        expect(
            (labels if selection is None else selection.check_columns(labels)) == columns,
            "the labels of a network",
        )
        expect(isinstance(self.head_, calibrator_type(self.label_space)), "the probabilities")
        self.head_.check_labels(columns)

    def _check_network(self) -> tuple[int, int]:
        """Refuse weights that do not fit together; of how many dimensions to how many labels they lead."""
        weights = self.network_
        units, dense = len(weights["dense_weights"]), len(weights["dense_biases"])
        dimensions, labels = len(weights["input_weights"]), len(weights["output_biases"])
        shapes = {
            "input_weights": (dimensions, 4 * units),
            "recurrent_weights": (units, 4 * units),
            "gate_biases": (4 * units,),
            "dense_weights": (units, dense),
            "dense_biases": (dense,),
            "output_weights": (dense, labels),
            "output_biases": (labels,),
        }
        expect_by(weights, shapes, "the weights of a network")
        for name, shape in shapes.items():
            expect_numbers(
                weights[name], shape, "the weights of a network", least=-MAX_ABS_WEIGHT, most=MAX_ABS_WEIGHT
            )
            expect(weights[name].dtype == np.float32, "the weights of a network")
        return dimensions, labels

    def _select_labels(self, selection: Selection) -> None:
        before: Selection | None = getattr(self, "selection_", None)
        self.selection_ = selection if before is None else before.then(selection)
        self.head_ = self.head_.of_labels(selection.columns)

    def _calibrator(self, language: str) -> Calibrator:  # noqa: ARG002
        return self.head_


def _stacked_groups(training: TrainingSet) -> list[Any]:
    groups: list[Any] = []
    for language, of_language in training.groups.items():
        groups += [None] * len(training.targets[language]) if of_language is None else list(of_language)
    return groups


def _own_calibrator(targets: Targets, labels: LabelSpace) -> Calibrator:
    """The probabilities that the network was trained to give."""
    if calibrator_type(labels) is Temperature:
        return Temperature(1.0)
    return fit_calibration("fixed", np.empty(0), targets)
