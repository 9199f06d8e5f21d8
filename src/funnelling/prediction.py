"""Labels and probabilities of documents, in the form that the command line and the service answer."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from funnelling.errors import InputError
from funnelling.formats import Document
from funnelling.formats.document import quoted
from funnelling.formats.files import shown_name
from funnelling.inputs import served_by
from funnelling.method import Method
from funnelling.text.languages import normalise_tag

HALF = 0.5


class Predictor:
    """A fitted model that answers documents with plain rows.

    A row has the document's ``id``, its ``language`` (detected among the model's where it was missing),
    its ``labels``, and ``scores``: the probability of each label. ``thresholds`` tells above which
    probability a label is assigned, for the labels shown where that is not .5. ``top`` shows only the
    most probable labels; ``threshold`` assigns labels above that probability instead. A document
    in a language that the model does not know is refused, or gets null labels with ``skip_unknown``.
    """

    def __init__(
        self,
        model: Method,
        top: int | None = None,
        threshold: float | None = None,
        skip_unknown: bool = False,
    ) -> None:
        self.model = model
        self.labels = [label if isinstance(label, str) else label.item() for label in model.classes_]
        self.top = top
        self.threshold = threshold
        self.skip_unknown = skip_unknown

    def __call__(self, documents: Sequence[Document], source: str = "documents") -> Iterator[dict[str, Any]]:
        """The rows of documents, in their order; ``source`` names them in a refusal."""
        languages = self._languages(documents, source)
        known = [i for i, language in enumerate(languages) if self._serves(language)]
        rows = iter(self._rows([documents[i] for i in known], [languages[i] for i in known]))
        for document, language in zip(documents, languages, strict=True):
            if self._serves(language):
                yield next(rows)
            else:
                yield {"id": document.id, "language": language, "labels": None, "scores": None}

    def _languages(self, documents: Sequence[Document], source: str) -> list[str]:
        from funnelling.text.detection import detect_languages

        missing = [document.text for document in documents if document.language is None]
        detected = iter(detect_languages(missing, self.model.languages_) if missing else [])
        languages = []
        for document in documents:
            try:
                given = document.language
                language = next(detected) if given is None else normalise_tag(given)
                if not self._serves(language) and not self.skip_unknown:
                    raise InputError(
                        f"the model does not know the language {quoted(language)}, only "
                        f"{', '.join(self.model.languages_)}. Add --skip-unknown to leave such "
                        "documents unlabelled."
                    )
            except InputError as error:
                if self.skip_unknown:
                    language = str(document.language)
                else:
                    where = "" if document.line is None else f":{document.line}"
                    raise InputError(
                        f"{shown_name(source)}{where}: document {quoted(document.id)}: {error}"
                    ) from None
            languages.append(language)
        return languages

    def _serves(self, language: str) -> bool:
        return served_by(language, self.model.languages_) in self.model.languages_

    def _rows(self, documents: Sequence[Document], languages: Sequence[str]) -> Iterator[dict[str, Any]]:
        if not documents:
            return
        texts = [document.text for document in documents]
        decided, probabilities = self.model.classify(texts, languages=languages)
        thresholds = {language: self._thresholds(language) for language in set(languages)}
        for document, language, answer, scores in zip(
            documents, languages, decided, probabilities, strict=True
        ):
            yield self._row(document.id, language, answer, scores, thresholds[language])

    def _row(self, name: str, language: str, answer: Any, scores: Any, thresholds: Any) -> dict[str, Any]:
        shown = range(len(self.labels))
        if self.top is not None:
            shown = np.argsort(-scores, kind="stable")[: self.top].tolist()
        if self.threshold is not None:
            assigned = [self.labels[j] for j in np.flatnonzero(scores > self.threshold)]
        elif self.model.exclusive_:
            assigned = [answer if isinstance(answer, str) else answer.item()]
        else:
            assigned = [self.labels[j] for j in np.flatnonzero(answer)]
        row: dict[str, Any] = {
            "id": name,
            "language": language,
            "labels": assigned,
            "scores": {self.labels[j]: float(scores[j]) for j in shown},
        }
        moved = {self.labels[j]: float(thresholds[j]) for j in shown if thresholds[j] != HALF}
        if moved:
            row["thresholds"] = moved
        return row

    def _thresholds(self, language: str) -> Any:
        """Above which probability each label is assigned; nothing to tell where the user chose it."""
        if self.threshold is not None or self.model.exclusive_:
            return np.full(len(self.labels), HALF)
        return self.model.thresholds(str(served_by(language, self.model.languages_)))
