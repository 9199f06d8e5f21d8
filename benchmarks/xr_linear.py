"""PECOS' XR-Linear on a file of documents, one model per language; `many_labels.py` runs it.

``python benchmarks/xr_linear.py FILE OUT [--words]`` reads documents with split ``train`` and ``test``, fits
a model of each language with default settings over tf-idf of words and of three to five characters
(``--words``: of words alone), and writes the twenty best labels of each test document, and what it took, into
a folder. It knows nothing of `funnelling`: PECOS needs an older NumPy, and an environment of its own.
"""

import argparse
import gzip
import json
import resource
import time
from pathlib import Path

import numpy as np
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", action="store_true")
    given = parser.parse_args()
    opened = gzip.open if given.file.suffix == ".gz" else open
    with opened(given.file, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    took = {}
    for language in sorted({document["language"] for document in documents}):
        own = [document for document in documents if document["language"] == language]
        train, test = ([each for each in own if each["split"] == split] for split in ("train", "test"))
        took[language] = one_language(train, test, given.words, given.out / language)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (given.out / "took.json").write_text(json.dumps({"languages": took, "memory": memory}))


def one_language(train: list, test: list, words: bool, out: Path) -> dict:
    start = time.perf_counter()
    vectorizers = [TfidfVectorizer(dtype=np.float32, sublinear_tf=True)]
    if not words:
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
    vectors = time.perf_counter() - start
    model = XLinearModel.train(X, Y, Indexer.gen(LabelEmbeddingFactory.create(Y, X, method="pifa")))
    fit = time.perf_counter() - start
    start = time.perf_counter()
    found = [each.transform([document["text"] for document in test]) for each in vectorizers]
    vectors_of_test = sparse.hstack(found, format="csr")
    vectors_of_test.sort_indices()
    answers = model.predict(vectors_of_test, only_topk=20).tocsr()
    predict = time.perf_counter() - start
    out.mkdir(parents=True, exist_ok=True)
    sparse.save_npz(out / "answers.npz", answers)
    (out / "classes.json").write_text(json.dumps(classes))
    model.save(str(out / "model"))
    size = sum(each.stat().st_size for each in (out / "model").rglob("*") if each.is_file())
    return {"fit": fit, "vectors": vectors, "predict": predict, "size": size}


if __name__ == "__main__":
    main()
