"""MLE-LSTM: multilingual embeddings read word by word, the one method that sees the order of words."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt

from funnelling.corpus.by_language import ByLanguage
from funnelling.corpus.labels import LabelSpace
from funnelling.errors import InputError
from funnelling.matrices import Floats, Scored
from funnelling.methods.algorithm import Algorithm, Fitted, Run
from funnelling.methods.training_set import Calibrator, TrainingSet, calibrator_type
from funnelling.research.lstm_words import (
    FIRST_WORD,
    MLELSTMParameters,
    fit_vocabulary,
    number_words,
    read_words,
    to_table,
)
from funnelling.runtime.progress import progress_bar
from funnelling.runtime.threads import repeatable, require_device
from funnelling.spaces.word_vectors import find_vectors, read_vectors
from funnelling.state import (
    ANY_ARRAY,
    Between,
    Keys,
    expect,
    expect_by,
    numbers,
)
from funnelling.svm import Calibration, Temperature
from funnelling.svm.calibration import fit_calibration
from funnelling.svm.kernels import amount
from funnelling.svm.scorers import Selection
from funnelling.text.languages import is_served, served_by

NAME = "mle-lstm"
MAX_WORDS = 10**6  # of a document that are read
MAX_ABS_WEIGHT = 1e6  # in size, of a network that learned anything

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class WordTables:
    """The words of each language, and their vectors in a table, which has `FIRST_WORD` further rows."""

    words: Annotated[dict[str, list[str]], Keys("languages")]
    tables: Annotated[
        dict[str, Annotated[Floats, numbers(None, "dimensions", most=MAX_ABS_WEIGHT)]], Keys("languages")
    ]

    def numbers(self, language: str, documents: Any, length: int) -> Floats:
        """Documents as rows of word numbers, of their last words."""
        return number_words(read_words(language, documents), self.words[language], length)


@dataclass(frozen=True)
class FittedNetwork(Fitted):
    """A trained network; ``selection`` has the labels that are left where some were dropped.

    ``losses`` are those of validation, by epoch.
    """

    vocabulary: WordTables
    weights: dict[str, Annotated[Floats, ANY_ARRAY]]
    calibration: Calibrator
    length: Annotated[int, Between(1, MAX_WORDS)]
    losses: list[float]
    selection: Selection | None = None

    def scores(self, language: str, documents: Any, run: Run) -> Scored:
        device = require_device(run.device, NAME)
        import torch

        from funnelling.research.lstm_network import predicted_scores, to_tensors

        language = served_by(language, self.vocabulary.words)
        table = self.vocabulary.tables[language]
        words = self.vocabulary.numbers(language, documents, self.length)
        with repeatable(device):
            scores = predicted_scores(
                to_tensors(self.weights, device),
                lambda words: torch.from_numpy(table[words]).to(device),
                words.astype(np.int64),
                run.n_jobs if device == "cpu" else 1,
            )
        if self.selection is not None:
            scores = self.selection.of(scores)
        if isinstance(self.calibration, Calibration):
            trivial = self.calibration.trivial
            scores[:, trivial] = np.where(self.calibration.constant[trivial] > 0, 1, -1)
        return Scored(scores, np.count_nonzero(words >= FIRST_WORD, axis=1) > 0)

    def calibrator(self, language: str) -> Calibrator:
        return self.calibration

    def serves(self, language: str) -> bool:
        return is_served(language, self.vocabulary.words)

    def selecting(self, selection: Selection, labels: LabelSpace, archive: ByLanguage | None) -> Self:
        left = selection if self.selection is None else self.selection.then(selection)
        return replace(self, selection=left, calibration=self.calibration.of_labels(selection.columns))

    def check(
        self, documents: Mapping[str, int], features: Mapping[str, int] | None, labels: LabelSpace
    ) -> None:
        expect(features is None, "a network")
        words = self.vocabulary.words
        expect(all(is_served(language, words) for language in documents), "the words of a network")
        dimensions, outputs = self._check_weights()
        for tag, table in self.vocabulary.tables.items():
            rows = FIRST_WORD + len(words[tag])
            expect(table.shape == (rows, dimensions), "the word vectors of a network")
        if self.selection is not None:
            outputs = self.selection.check_columns(outputs)
        expect(outputs == labels.columns, "the labels of a network")
        expect(isinstance(self.calibration, calibrator_type(labels)), "the probabilities")
        self.calibration.check_labels(labels.columns)

    def _check_weights(self) -> tuple[int, int]:
        """Refuse weights that do not fit together; of how many dimensions to how many labels they lead."""
        weights = self.weights
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
            bounds = numbers(*shape, least=-MAX_ABS_WEIGHT, most=MAX_ABS_WEIGHT, dtype=np.float32)
            bounds.check(weights[name], {}, "the weights of a network")
        return dimensions, labels


class NetworkTraining(Algorithm[MLELSTMParameters]):
    """One network for all languages."""

    fitted = FittedNetwork

    def learnable(
        self, parameters: MLELSTMParameters, languages: Sequence[str], texts: bool, chosen: Any = None
    ) -> list[str]:
        usable = super().learnable(parameters, languages, texts, chosen)
        require_device(parameters.device, self.name)
        return usable

    def usable(
        self, parameters: MLELSTMParameters, languages: Sequence[str], chosen: Any = None
    ) -> list[str]:
        known = _files(parameters)
        return [language for language in languages if is_served(language, known)]

    def serves_unseen(self, parameters: MLELSTMParameters, language: str) -> bool:
        return is_served(language, _files(parameters))

    def reads_in_order(self, parameters: MLELSTMParameters, chosen: Any = None) -> str | None:
        return "The network"

    def vectors(
        self, parameters: MLELSTMParameters, training: TrainingSet
    ) -> tuple[WordTables, dict[str, Any]]:
        """Documents as rows of word numbers."""
        documents = training.documents
        files = _files(parameters)
        known = WordTables({}, {})
        coverage, vectors = {}, {}
        with progress_bar("words", sum(map(len, documents.values())), bool(parameters.verbose)) as advance:
            for language, texts in documents.items():
                words = read_words(language, texts)
                vocabulary = fit_vocabulary(words, files[served_by(language, files)])
                known.words[language], known.tables[language], coverage[language] = vocabulary
                vectors[language] = number_words(words, known.words[language], parameters.length)
                advance(len(texts))
        shares = ", ".join(f"{language} {100 * share:.0f} %" for language, share in coverage.items())
        logger.info("mle-lstm: words of the training documents that have a vector: %s.", shares)
        for language in sorted(files.keys() - documents.keys()):
            unseen = read_vectors(files[language], limit=parameters.unseen_words)
            known.words[language], known.tables[language] = unseen.words, to_table(unseen.matrix)
        return known, vectors

    def fit(self, parameters: MLELSTMParameters, training: TrainingSet) -> FittedNetwork:
        from funnelling.research.lstm_training import TokenizedExamples, draw_validation, learn

        device = require_device(parameters.device, self.name)
        known: WordTables = training.made_by
        words, table = _stacked(parameters, known, training)
        examples = TokenizedExamples(words, training.stacked_targets())
        groups = [name or None for block in training.blocks.values() for name in block.groups]
        held_out = draw_validation(groups, parameters.validation, training.seed, "validation")
        with repeatable(device):
            network = learn(
                examples.of(~held_out),
                examples.of(held_out) if held_out.any() else examples,
                table,
                parameters,
                training.labels,
                training.seed,
                device,
            )
        tables, end = dict(known.tables), FIRST_WORD
        for language in training.vectors:
            start, end = end, end + len(known.words[language])
            tables[language] = to_table(network.table[start:end])
        vocabulary = replace(known, tables=tables)
        head: Calibrator  # the probabilities that the network was trained to give
        if calibrator_type(training.labels) is Temperature:
            head = Temperature(1.0)
        else:
            head = fit_calibration("fixed", np.empty(0), examples.targets)
        return FittedNetwork(vocabulary, network.weights, head, parameters.length, network.losses)


def _files(parameters: MLELSTMParameters) -> dict[str, Path]:
    if parameters.embeddings is None:
        raise InputError("mle-lstm needs word vectors: give embeddings, or --embeddings DIR.")
    return find_vectors(parameters.embeddings)


def _stacked(
    parameters: MLELSTMParameters, known: WordTables, training: TrainingSet
) -> tuple[npt.NDArray[np.int64], Floats]:
    """The documents of all languages, and their one table; a word of two languages has two rows in it."""
    words = []
    before = 0
    for language, rows in training.vectors.items():
        numbers = rows.astype(np.int64)
        words.append(np.where(numbers >= FIRST_WORD, numbers + before, numbers))
        before += len(known.words[language])
    tables = [known.tables[language][FIRST_WORD:] for language in training.vectors]
    # Beside the vectors, the means of squared gradients and the vectors of the best epoch.
    needed = 3 * sum(table.nbytes for table in tables)
    if needed > parameters.memory_limit:
        raise InputError(
            f"mle-lstm: the vectors of {before:,} words need {amount(needed)} in training, over the "
            f"memory_limit of {amount(parameters.memory_limit)}. Raise memory_limit or train on fewer "
            "documents."
        )
    return np.vstack(words), to_table(np.vstack(tables))


MLE_LSTM = NetworkTraining(
    name=NAME,
    parameters=MLELSTMParameters,
    needs_texts="to read their words in order",
)
