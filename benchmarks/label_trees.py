"""Trees of labels, one model per language: XR-Linear by PECOS, Parabel and Bonsai by Omikuji.

``python benchmarks/label_trees.py PEER FILE OUT [--words]`` reads documents with split ``train`` and
``test``, fits a model of each language with default settings over tf-idf of words and of three to five
characters (``--words``: of words alone), and writes the twenty best labels of each test document, and what it
took, into a folder. It knows nothing of `funnelling`, whose `many_labels.py` runs it: PECOS needs older
versions of NumPy and SciPy, and an environment of its own.
"""

import argparse
import gzip
import json
import resource
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

TOP = 20


class XRLinear:
    def __init__(self, X: Any, Y: Any, folder: Path, jobs: int) -> None:
        from pecos.xmc import Indexer, LabelEmbeddingFactory
        from pecos.xmc.xlinear.model import XLinearModel

        tree = Indexer.gen(LabelEmbeddingFactory.create(Y, X, method="pifa"))
        self.model = XLinearModel.train(X, Y, tree, threads=jobs)

    def predict(self, X: Any) -> Any:
        return self.model.predict(X, only_topk=TOP).tocsr()

    def save(self, folder: Path) -> None:
        self.model.save(str(folder))


class Parabel:
    settings: ClassVar[dict[str, Any]] = {}

    def __init__(self, X: Any, Y: Any, folder: Path, jobs: int) -> None:
        import omikuji

        given = omikuji.Model.default_hyper_param()
        for name, value in self.settings.items():
            setattr(given, name, value)
        file, self.labels = folder / "train.txt", Y.shape[1]
        with open(file, "w", encoding="utf-8") as lines:
            lines.write(f"{X.shape[0]} {X.shape[1]} {self.labels}\n")
            for row in range(X.shape[0]):
                labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
                lines.write(
                    " ".join([labels, *(f"{column}:{value:.6g}" for column, value in _pairs(X, row))]) + "\n"
                )
        self.model = omikuji.Model.train_on_data(str(file), given, jobs)
        file.unlink()

    def predict(self, X: Any) -> Any:
        found = [self.model.predict(_pairs(X, row), top_k=TOP) for row in range(X.shape[0])]
        starts = np.cumsum([0, *map(len, found)])
        columns = [label for each in found for label, _ in each]
        scores = [score for each in found for _, score in each]
        return sparse.csr_matrix((scores, columns, starts), (X.shape[0], self.labels))

    def save(self, folder: Path) -> None:
        self.model.save(str(folder))


class Bonsai(Parabel):
    settings: ClassVar[dict[str, Any]] = {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}


PEERS = {"XR-Linear": XRLinear, "Parabel": Parabel, "Bonsai": Bonsai}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    opened = gzip.open if given.file.suffix == ".gz" else open
    with opened(given.file, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    took = {}
    for language in sorted({document["language"] for document in documents}):
        own = [document for document in documents if document["language"] == language]
        train, test = ([each for each in own if each["split"] == split] for split in ("train", "test"))
        took[language] = one_language(train, test, given, given.out / language)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (given.out / "took.json").write_text(json.dumps({"languages": took, "memory": memory}))


def one_language(train: list, test: list, given: argparse.Namespace, out: Path) -> dict:
    out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    vectorizers = [TfidfVectorizer(dtype=np.float32, sublinear_tf=True)]
    if not given.words:
        runs = {"analyzer": "char_wb", "ngram_range": (3, 5)}
        vectorizers.append(TfidfVectorizer(dtype=np.float32, sublinear_tf=True, **runs))
    texts = [document["text"] for document in train]
    X = sparse.hstack([each.fit_transform(texts) for each in vectorizers], format="csr")
    classes = sorted({label for document in train for label in document["labels"]})
    place = {label: column for column, label in enumerate(classes)}
    rows = [sorted({place[label] for label in document["labels"]}) for document in train]
    starts = np.cumsum([0, *map(len, rows)])
    columns = np.fromiter((column for row in rows for column in row), np.int32, starts[-1])
    shape = (len(rows), len(classes))
    Y = sparse.csr_matrix((np.ones(len(columns), dtype=np.float32), columns, starts), shape)
    X.sort_indices()
    model = PEERS[given.peer](X, Y, out, given.jobs)
    fit = time.perf_counter() - start
    start = time.perf_counter()
    found = [each.transform([document["text"] for document in test]) for each in vectorizers]
    vectors_of_test = sparse.hstack(found, format="csr")
    vectors_of_test.sort_indices()
    answers = model.predict(vectors_of_test)
    predict = time.perf_counter() - start
    sparse.save_npz(out / "answers.npz", answers)
    (out / "classes.json").write_text(json.dumps(classes))
    model.save(out / "model")
    size = sum(each.stat().st_size for each in (out / "model").rglob("*") if each.is_file())
    return {"fit": fit, "predict": predict, "size": size}


def _pairs(X: Any, row: int) -> list[tuple[int, float]]:
    span = slice(X.indptr[row], X.indptr[row + 1])
    return list(zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True))


if __name__ == "__main__":
    main()
