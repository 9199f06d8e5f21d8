"""The fitted model: what predictions and updates need."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.labels import LabelSpace
from funnelling.formats.layout import Layout
from funnelling.matrices import Scored, length
from funnelling.methods.algorithm import Fitted, Parameters, Run
from funnelling.methods.archive import Archive
from funnelling.methods.training_set import Calibrator, calibrator_type
from funnelling.state import expect, expect_by, expect_flag, expect_strings, expect_whole
from funnelling.svm import Calibration, Temperature
from funnelling.svm.scorers import Selection

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
        if calibrator_type(self.labels) is Temperature:
            return Temperature(1.0)
        labels = len(self.counts)
        return Calibration("fixed", np.ones(labels), np.zeros(labels), np.full(labels, np.nan))

    def score_thresholds(self, language: str) -> float:
        return 0.5 if self.labels.sparse else 0.0

    def selecting(self, selection: Selection, labels: LabelSpace, archive: Archive | None) -> Self:
        raise NotImplementedError  # it is made of a model's counts whenever it is asked

    def check(
        self, documents: Mapping[str, int], features: Mapping[str, int] | None, labels: LabelSpace
    ) -> None:
        raise NotImplementedError  # it is not saved


@dataclass(frozen=True, kw_only=True)
class Model:
    """A fitted model. It is never changed: an update makes another one.

    ``parameters`` are those of the fit, whatever its estimator is set to since. ``label_documents`` are the
    training documents that each label has, ``documents`` their numbers by language, ``features`` the columns
    of each language's vectors where it was fitted on such and not on ``texts``. It keeps its documents in an
    ``archive`` unless it is compact. It knows labels that are ``named`` by their names alone, and learned
    labels that are ``dropped`` and gives them no more. ``reading`` is what was said of how to read its
    documents, ``history`` what it learned from, step by step; see `funnelling.methods.merging`.
    """

    parameters: Parameters = field(default_factory=Parameters, metadata={"saved": False})
    labels: LabelSpace
    label_documents: list[int]
    documents: dict[str, int]
    features: dict[str, int]
    texts: bool
    fitted: Fitted
    archive: Archive | None = None
    label_set: LabelSet | None = None
    named: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    reading: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def languages(self) -> list[str]:
        """The languages of its training documents."""
        return list(self.documents)

    @property
    def prior(self) -> Prior:
        """What it says of documents in a language that it does not know."""
        return Prior(self.labels, np.array(self.label_documents), sum(self.documents.values()))

    def compact(self) -> "Model":
        """The model that labels alike, and keeps nothing of its documents."""
        return replace(self, archive=None, fitted=self.fitted.compact())

    def check(self) -> None:
        """Refuse a state that was read from a file and could not label documents, or learn on."""
        expect(isinstance(self.labels, LabelSpace), "the labels")
        classes = self.labels.classes
        expect(isinstance(classes, np.ndarray) and classes.ndim == 1, "the list of labels")
        expect(len(set(classes.tolist())) == len(classes) > 0, "the list of labels")
        expect_flag(self.labels.single_label, "whether documents have one label")
        expect_flag(self.labels.sparse, "whether there are many labels")
        expect(isinstance(self.label_documents, list), "the numbers of labels")
        expect(len(self.label_documents) == len(classes), "the numbers of labels")
        for number in self.label_documents:
            expect_whole(number, "the numbers of labels")
        expect_flag(self.texts, "whether documents are texts")
        for number in expect_by(self.documents, None, "the numbers of documents").values():
            expect_whole(number, "the number of documents", 1)
        expect(bool(self.documents), "the numbers of documents")
        expect_by(self.features, () if self.texts else self.documents, "the numbers of features")
        for number in self.features.values():
            expect_whole(number, "the number of features")
        expect_strings(self.dropped, "the labels that were dropped")
        expect_strings(self.named, "the labels that are known by name")
        check_history(self.history)
        Layout(**self.reading)
        if self.label_set is not None:
            expect(isinstance(self.label_set, LabelSet), "the label set")
            self.label_set.check_state()
            self.label_set.rules(classes).check()
        features = None if self.texts else self.features
        if self.archive is not None:
            expect(isinstance(self.archive, Archive), "what is kept of documents")
            self.archive.check_documents(self.labels.columns, features, self.labels.sparse)
            expect(self.archive.sizes == self.documents, "what is kept of documents")
        expect(isinstance(self.fitted, Fitted), "what was fitted")
        self.fitted.check(self.documents, features, self.labels)


FIRST_STEP = "train"  # the step that a whole history begins with
STEPS = (FIRST_STEP, "update", "add-language", "forget", "relabel", "tune")


def check_history(history: Any) -> None:
    """Refuse what is no history of a model."""
    expect(isinstance(history, list), "the history")
    for step in history:
        done: Mapping[str, Any] = expect_by(step, None, "a step of the history")
        expect(done["step"] in STEPS, "a step of the history")
        for number in expect_by(done["after"], ("documents", "labels"), "a step of the history").values():
            expect_whole(number, "a step of the history")
