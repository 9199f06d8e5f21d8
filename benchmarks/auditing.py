"""How many labels that were changed on purpose an audit finds, beside cleanlab.

In a share of a file's training documents a label is dropped, added or swapped, and all documents are ranked:
``python benchmarks/auditing.py FILE … [--changes mixed swapped] [--shares .05 .1]``. Each line says which
part of the changed documents stands within the first 5, 10, 15 and 30 % of a ranking. Where documents have
one label each, cleanlab (if it is installed) ranks them by the same probabilities, and by its usual recipe:
tf-idf and logistic regression, five folds.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from funnelling import Corpus, read_corpus
from funnelling.evaluation.splits import have_one_label
from funnelling.labelling.auditing import AUDIT_METHOD, rank
from funnelling.labelling.held_out import held_out
from funnelling.methods.registry import make_method

CHANGES = ("dropped", "added", "swapped")
PARTS = (0.05, 0.1, 0.15, 0.3)


def change(given: Any, share: float, kind: str, seed: int) -> tuple[Any, Any]:
    """Labels of which some have been changed, and how: "" for a document that is as it was."""
    random = np.random.default_rng(seed)
    labels, changes = given.copy(), np.full(len(given), "", dtype="U8")
    for place, row in enumerate(random.permutation(len(given))[: round(share * len(given))]):
        what = CHANGES[place % 3] if kind == "mixed" else kind
        has, lacks = np.flatnonzero(given[row]), np.flatnonzero(~given[row])
        if (what != "added" and not len(has)) or (what != "dropped" and not len(lacks)):
            continue
        if what != "added":
            labels[row, random.choice(has)] = False
        if what != "dropped":
            labels[row, random.choice(lacks)] = True
        changes[row] = what
    return labels, changes


def found(order: Any, changes: Any) -> str:
    """The share of changed documents in the first parts of a ranking; at 15 %, by what was changed, too."""
    ranked = np.asarray(changes)[order]
    number = np.count_nonzero(ranked != "")
    parts = {part: ranked[: round(part * len(ranked))] for part in PARTS}
    line = " ".join(f"{np.count_nonzero(each != '') / number:.3f}" for each in parts.values())
    kinds = [kind for kind in CHANGES if (ranked == kind).any()]
    if len(kinds) > 1:
        shares = (
            (kind, np.mean(np.isin(np.flatnonzero(ranked == kind), range(len(parts[0.15])))))
            for kind in kinds
        )
        line += f" ({', '.join(f'{kind} {value:.3f}' for kind, value in shares)})"
    return line


def rankings(corpus: Corpus, method: str, seed: int, jobs: int) -> Iterator[tuple[str, Any]]:
    """Orders of the documents, ours first."""
    documents = held_out(make_method(method, seed=seed, jobs=jobs), corpus, seed)
    yield "audit", rank(documents, seed).order
    if not corpus.one_label:
        return
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return
    classes = corpus.label_set()
    labels = corpus.label_matrix(classes).argmax(axis=1)
    yield (
        "cleanlab, same probabilities",
        np.argsort(get_label_quality_scores(labels, documents.probabilities)),
    )
    yield "cleanlab, its recipe", np.argsort(get_label_quality_scores(labels, recipe(corpus.texts, labels)))


def recipe(texts: list[str], labels: Any) -> Any:
    """Probabilities as cleanlab's tutorials make them of texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))
    return cross_val_predict(pipeline, texts, labels, cv=5, method="predict_proba")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--changes", nargs="+", choices=("mixed", *CHANGES), default=("mixed",))
    parser.add_argument("--shares", nargs="+", type=float, default=(0.05, 0.1))
    parser.add_argument("--method", default=AUDIT_METHOD)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    print(f"file, change, share, ranking: found within the first {', '.join(f'{p:.0%}' for p in PARTS)}")
    for data in arguments.data:
        corpus = read_corpus(data).labelled()
        corpus = corpus.split("train") if any(corpus.splits) else corpus
        corpus = replace(corpus, one_label=have_one_label(corpus))
        classes = corpus.label_set()
        given = corpus.label_matrix(classes)
        for kind in ("swapped",) if corpus.one_label else arguments.changes:
            for share in arguments.shares:
                labels, changes = change(given, share, kind, arguments.seed)
                lists: list[tuple[str, ...] | None] = [
                    tuple(classes[column] for column in np.flatnonzero(row)) for row in labels
                ]
                planted = replace(corpus, labels=lists)
                for name, order in rankings(planted, arguments.method, arguments.seed, arguments.jobs):
                    line = f"{data.name.partition('.')[0]}, {kind}, {share:g}, {name}"
                    print(f"{line}: {found(order, changes)}", flush=True)


if __name__ == "__main__":
    main()
