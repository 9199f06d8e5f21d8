"""A method for thousands of labels that gives sparse answers, and documents for it."""

from typing import Any

from scipy import sparse

from funnelling import Corpus, Document
from funnelling.matrices import XMC_MIN_LABELS
from tests.evaluation.oracle import Oracle

LABELS = XMC_MIN_LABELS + 200


class SparseReader(Oracle):
    """Takes the words of a text that are labels for its labels, the earlier ones for the more probable."""

    sparse_labels = True

    def fit(self, documents: Corpus, label_set: Any = None) -> Any:
        fitted = super().fit(documents, label_set)
        fitted.sizes = {tag: len(rows) for tag, rows in documents.by_language().items()}
        return fitted

    @property
    def documents(self) -> dict[str, int]:
        return self.sizes

    def classify(self, texts: list[str], languages: Any) -> Any:
        place = {label: column for column, label in enumerate(self.classes)}
        rows, columns, chances = [], [], []
        for row, text in enumerate(texts):
            for rank, label in enumerate(word for word in text.split() if word in place):
                rows.append(row)
                columns.append(place[label])
                chances.append(0.9 - 0.25 * rank)
        found = sparse.csr_array((chances, (rows, columns)), shape=(len(texts), len(place)))
        return (found > 0.5).astype(int), found

    def predict(self, texts: list[str], languages: Any) -> Any:
        return self.classify(texts, languages)[0]

    def explain(self, texts: list[str], languages: Any, labels: list[str]) -> Any:
        return [{"labels": {label: {} for label in labels}, "abstained": None} for _ in texts]


def many_labels(count: int = LABELS, wrong: int = 10, one_label: bool = False) -> Corpus:
    """Documents of every label in two languages, with one label or two; every so many-th text is wrong."""
    documents = []
    for number in range(count):
        own = [f"l{number:05}", *([] if one_label or number % 2 else [f"l{(number + 1) % count:05}"])]
        said = ["l00000"] if number % wrong == 1 else own
        documents += [
            Document(f"{tag} {number}", " ".join([*said, tag]), language=tag, labels=tuple(own))
            for tag in ("en", "it")
        ]
    return Corpus.from_documents(documents)
