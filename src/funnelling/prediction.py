"""Labels and probabilities of documents, as rows of plain values for the command line and the service."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from funnelling.errors import InputError, naming
from funnelling.formats import Document
from funnelling.formats.document import quoted
from funnelling.formats.files import shown_name
from funnelling.method.base import Method
from funnelling.text.detection import detect_languages
from funnelling.text.languages import is_served, normalise_tag, served_by

HALF = 0.5
ROUNDING = 1e-12
BATCH_DOCUMENTS = 1_000
BATCH_CHARACTERS = 4_000_000


def batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents in lists that are bounded in number and in characters."""
    batch: list[Any] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if len(batch) == BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class Predictor:
    """A fitted model that answers documents with plain rows.

    A row has the document's ``id``, its ``language`` (detected among the model's where it was missing),
    its ``labels``, and ``scores``: the probability of each label. ``thresholds`` holds the probability
    above which a label is assigned, for the labels shown where that is not .5. ``top`` shows only the
    most probable labels; ``threshold`` assigns labels above that probability instead, which a model that
    gives one label per document refuses. ``zero_shot`` marks a language that training had no documents in. A
    document in which the model knows nothing has no labels, and ``evidence``: False, which other rows lack. A
    document in a language that the model cannot label is refused, or gets null labels with ``skip_unknown``.
    """

    def __init__(
        self,
        model: Method,
        top: int | None = None,
        threshold: float | None = None,
        skip_unknown: bool = False,
    ) -> None:
        if threshold is not None and model.exclusive_:
            raise InputError(
                "The model gives each document one label, the most probable: a threshold does not apply. "
                "Leave it out."
            )
        self.model = model
        self.labels = model.classes_.tolist()
        self.top = top
        self.threshold = threshold
        self.skip_unknown = skip_unknown

    def __call__(self, documents: Sequence[Document], source: str = "documents") -> Iterator[dict[str, Any]]:
        """The rows of documents, in their order; ``source`` names them in a refusal."""
        return self._answer(documents, source, self._rows, {"language": None, "labels": None, "scores": None})

    def explain(
        self,
        documents: Sequence[Document],
        labels: Sequence[str] | None = None,
        top: int = 10,
        source: str = "documents",
    ) -> Iterator[dict[str, Any]]:
        """Why documents get their labels: rows with ``id``, ``language`` and what `Method.explain` gives."""

        def rows(known: Sequence[Document], languages: Sequence[str]) -> Iterator[dict[str, Any]]:
            return iter(self.model.explain([document.text for document in known], languages, labels, top))

        return self._answer(documents, source, rows, {"labels": None})

    def _answer(
        self,
        documents: Sequence[Document],
        source: str,
        rows: Callable[[Sequence[Document], Sequence[str]], Iterator[dict[str, Any]]],
        unknown: dict[str, Any],
    ) -> Iterator[dict[str, Any]]:
        """A row per document: what ``rows`` gives where the model can label it, else ``unknown``."""
        languages = self._languages(documents, shown_name(source))
        servable = [i for i, (_, known) in enumerate(languages) if known]
        tags = [languages[i][0] for i in servable]
        unseen = {tag for tag in set(tags) if not is_served(tag, self.model.languages_)}
        answers = rows([documents[i] for i in servable], tags) if servable else iter(())
        for document, (language, known) in zip(documents, languages, strict=True):
            yield {
                "id": document.id,
                **(next(answers) if known else unknown),
                "language": language,
                **({"zero_shot": True} if known and language in unseen else {}),
            }

    def _languages(self, documents: Sequence[Document], source: str) -> list[tuple[str, bool]]:
        """The language of each document, and whether the model knows it."""
        missing = [document.text for document in documents if document.language is None]
        with naming(source):
            detected = iter(detect_languages(missing, self.model.languages_) if missing else [])
        languages = []
        for document in documents:
            language, problem = self._judge(document.language or next(detected))
            if problem and not self.skip_unknown:
                line = "" if document.line is None else f":{document.line}"
                raise InputError(f"{source}{line}: document {quoted(document.id)}: {problem}")
            languages.append((language, not problem))
        return languages

    def _judge(self, tag: str) -> tuple[str, str]:
        """A tag in its normal form, and what is wrong with it, if anything."""
        try:
            language = normalise_tag(tag)
        except InputError as error:
            return tag, str(error)
        if self.model.serves(language):
            return language, ""
        return language, (
            f"the model does not know the language {quoted(language)}, only "
            f"{', '.join(self.model.languages_)}. Add --skip-unknown to leave such documents unlabelled."
        )

    def _rows(self, documents: Sequence[Document], languages: Sequence[str]) -> Iterator[dict[str, Any]]:
        texts = [document.text for document in documents]
        answers, scores, evident = self.model.classify_with_evidence(texts, languages=languages)
        thresholds = {language: self._thresholds(language) for language in set(languages)}
        for language, answer, row, known in zip(languages, answers, scores, evident, strict=True):
            yield {
                "language": language,  # to keep its place in the row
                "labels": self._labels(answer, row) if known else [],
                **self._scores(row, thresholds[language]),
                **({} if known else {"evidence": False}),
            }

    def _labels(self, answer: Any, scores: Any) -> list[Any]:
        if self.threshold is not None:
            return [self.labels[j] for j in np.flatnonzero(scores > self.threshold)]
        if self.model.exclusive_:
            return [answer if isinstance(answer, str) else answer.item()]
        return [self.labels[j] for j in np.flatnonzero(answer)]

    def _scores(self, scores: Any, thresholds: Any) -> dict[str, Any]:
        columns = range(len(self.labels))
        if self.top is not None:
            columns = np.argsort(-scores, kind="stable")[: self.top].tolist()
        fields: dict[str, Any] = {"scores": {self.labels[j]: float(scores[j]) for j in columns}}
        unusual = {self.labels[j]: float(thresholds[j]) for j in columns if thresholds[j] != HALF}
        return {**fields, "thresholds": unusual} if unusual else fields

    def _thresholds(self, language: str) -> Any:
        """The probability above which each label is assigned: .5 where the user chose it, to show none."""
        if self.threshold is not None or self.model.exclusive_:
            return np.full(len(self.labels), HALF)
        thresholds = self.model.thresholds(served_by(language, self.model.languages_))
        # A method that decides at .5 says so up to the last bit.
        return np.where(np.abs(thresholds - HALF) < ROUNDING, HALF, thresholds)
