"""Thousands of labels: `fun-many` beside trees of labels, its views beside its tier 2, and how it grows.

``python benchmarks/many_labels.py FILE`` measures it on the test documents of a file; ``--pecos PYTHON``, an
interpreter that has libpecos, puts XR-Linear beside it, one model per language, in the same run, and
``--omikuji PYTHON``, one that has omikuji, Parabel, Bonsai, and the mean of both, which is what Annif's
ensemble of them gives.
``--labels N`` keeps the N most frequent labels, ``--documents N`` so many training documents of each
language, ``--share fi=.1`` a part of one language's, and ``--only fi`` trains on that language alone. Each
side runs in a process of its own, so that its memory is its own. ``--drawn 27000x60000`` takes, in place of
a file, that many labels and training documents of each of three languages, drawn at random: for figures of
time and memory, which say nothing of quality.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import measuring
from funnelling import Corpus, Document, read_corpus, read_documents, write_documents
from funnelling.evaluation.ranking import RankedHits, rank
from funnelling.evaluation.registry import RANKED_MEASURES, measure_ranked
from funnelling.evaluation.significance import paired_p
from funnelling.funnel.estimator import ManyLabelsClassifier
from funnelling.storage import save_model

MEASURES = ("p_at_1", "p_at_3", "p_at_5", "ndcg_at_5", "r_at_10")
FREQUENCIES = (-1, 0, 10, 30, 50, 70, 100, 300, 1_000, 10**9)  # training documents of a label, all languages


def main() -> None:
    given = _arguments()
    if given.side:
        print(json.dumps(_ours(given)))
        return
    with tempfile.TemporaryDirectory() as folder:
        if given.drawn:
            given.file = Path(folder) / "drawn.jsonl"
            write_documents(given.file, _drawn(*map(int, given.drawn.split("x"))))
        file = _chosen(given, Path(folder) / "documents.jsonl")
        results = {
            "fun-many": _run([sys.executable, __file__, str(file), "--side", "--jobs", str(given.jobs)])
        }
        if given.pecos:
            results["XR-Linear"], _ = _theirs("XR-Linear", given.pecos, given, file, Path(folder))
        if given.omikuji:
            both = [_theirs(peer, given.omikuji, given, file, Path(folder)) for peer in ("Parabel", "Bonsai")]
            results["Parabel"], results["Bonsai"] = (each for each, _ in both)
            results["Parabel + Bonsai"] = _ensemble(both, file)
    print(json.dumps(results, indent=1) if given.json else _shown(results))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--drawn", metavar="LABELSxDOCUMENTS")
    parser.add_argument("--pecos", metavar="PYTHON", help="an interpreter with libpecos")
    parser.add_argument("--omikuji", metavar="PYTHON", help="an interpreter with omikuji")
    parser.add_argument("--words", action="store_true", help="peers over words alone")
    parser.add_argument("--labels", type=int, help="the most frequent ones")
    parser.add_argument("--documents", type=int, help="for training, of each language")
    parser.add_argument("--share", action="append", default=[], metavar="LANG=SHARE")
    parser.add_argument("--only", metavar="LANG", help="the one language to learn from, and to measure")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--side", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _chosen(given: argparse.Namespace, file: Path) -> Path:
    """The documents that are asked for, as a file of their own."""
    documents = [each for each in read_documents(given.file) if given.only in (None, each.language)]
    counts = Counter(label for each in documents if each.split == "train" for label in each.labels or ())
    known = {label for label, _ in counts.most_common(given.labels)}
    shares = {tag: float(share) for tag, _, share in (each.partition("=") for each in given.share)}
    taken: Counter[str] = Counter()
    sizes = Counter(each.language for each in documents if each.split == "train")
    kept = []
    for each in documents:
        most = min(given.documents or 10**9, round(shares.get(each.language, 1) * sizes[each.language]))
        labels = tuple(label for label in each.labels or () if label in known)
        taken[each.language] += each.split == "train"
        if labels and (each.split != "train" or taken[each.language] <= most):
            kept.append(replace(each, labels=labels))
    write_documents(file, kept)
    return file


def _drawn(labels: int, documents: int) -> Iterator[Document]:
    """Titles of ten words, two of them of each label; labels and words are as unequal as real ones."""
    random = np.random.default_rng(0)
    vocabulary, tests = 4 * labels, documents // 6
    chances = 1 / np.arange(10, labels + 10)
    chances /= chances.sum()
    for language in ("xa", "xb", "xc"):
        own = (vocabulary * random.random((labels, 6)) ** 2).astype(int)
        has = random.choice(labels, (documents + tests, 3), p=chances)
        words = own[has[:, :, None], random.integers(0, 6, (documents + tests, 3, 2))].reshape(len(has), -1)
        others = (vocabulary * random.random((len(has), 4)) ** 4).astype(int)
        for number, (row, title) in enumerate(
            zip(has.tolist(), np.hstack([words, others]).tolist(), strict=True)
        ):
            yield Document(
                f"{language}{number}",
                " ".join(f"{language[1]}{word * 7919:x}" for word in title),
                language,
                tuple(sorted({f"label{label:05}" for label in row})),
                "train" if number < documents else "test",
            )


def _ours(given: argparse.Namespace) -> dict[str, Any]:
    corpus = read_corpus(given.file)
    train, test = corpus.split("train"), corpus.split("test")
    model = ManyLabelsClassifier(random_state=0, n_jobs=given.jobs)
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(train.texts, train.labels, train.languages)
    fit, fit_cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    start, cpu = time.perf_counter(), time.process_time()
    answers = model.predict_proba(test.texts, test.languages)
    predict, predict_cpu = time.perf_counter() - start, time.process_time() - cpu
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "model")
        size = sum(each.stat().st_size for each in Path(folder).rglob("*") if each.is_file())
    classes = model.classes_.tolist()
    quality = _measured(answers, classes, test)
    return {
        "fit": fit,
        "predict": predict,
        "cpu": {"fit": fit_cpu, "predict": predict_cpu},  # seconds of all threads, whatever ran beside them
        "memory": memory,
        "size": size,
        "documents": len(train),
        "labels": len(classes),
        "quality": {tag: each for tag, (each, _) in quality.items()},
        **_tiers(model, test, quality),
    }


Answers = dict[str, tuple[Any, list[str]]]  # by language: sparse scores, and what their columns stand for


def _theirs(
    peer: str, python: str, given: argparse.Namespace, file: Path, folder: Path
) -> tuple[dict[str, Any], Answers]:
    script, out = Path(__file__).with_name("label_trees.py"), folder / peer
    command = [python, str(script), peer, str(file), str(out), "--jobs", str(given.jobs)]
    subprocess.run([*command, *(["--words"] * given.words)], check=True, stdout=sys.stderr)
    took = json.loads((out / "took.json").read_text())
    answers = {
        language: (
            sparse.csr_array(sparse.load_npz(out / language / "answers.npz")),
            json.loads((out / language / "classes.json").read_text()),
        )
        for language in took["languages"]
    }
    sums = {key: sum(each[key] for each in took["languages"].values()) for key in ("fit", "predict", "size")}
    return {**sums, "memory": took["memory"], "quality": _quality(answers, file)}, answers


def _ensemble(both: list[tuple[dict[str, Any], Answers]], file: Path) -> dict[str, Any]:
    """The mean of what two models say, and what both took together."""
    (one, of_one), (other, of_other) = both
    mean = {tag: ((of_one[tag][0] + of_other[tag][0]) / 2, of_one[tag][1]) for tag in of_one}
    sums = {key: one[key] + other[key] for key in ("fit", "predict", "size")}
    return {**sums, "memory": max(one["memory"], other["memory"]), "quality": _quality(mean, file)}


def _quality(answers: Answers, file: Path) -> dict[str, dict[str, float]]:
    test, quality = read_corpus(file).split("test"), {}
    for language, (scores, classes) in answers.items():
        own = test.select(np.array([tag == language for tag in test.languages]))
        quality |= _measured(scores, classes, own)
    return {tag: each for tag, (each, _) in quality.items()}


Quality = dict[str, tuple[dict[str, float], dict[str, Any]]]


def _measured(answers: Any, classes: list[str], test: Corpus) -> Quality:
    """The measures of each language, and what each document adds to them. Unknown labels count as missed."""
    truth = _truth(test, classes)
    wider = sparse.csr_array(
        (answers.data, answers.indices, answers.indptr), (answers.shape[0], truth.shape[1])
    )
    measured = {}
    for language, rows in test.by_language().items():
        shares = measure_ranked(RankedHits.of(truth[rows], rank(wider[rows])))
        measured[language] = ({name: shares[name].of(slice(None)) for name in MEASURES}, shares)
    return measured


def _truth(test: Corpus, classes: list[str]) -> Any:
    """What labels documents have: columns of the classes, then of those that training had no documents of."""
    return test.sparse_label_matrix([*classes, *sorted(set(test.label_set()) - set(classes))])


def _tiers(model: ManyLabelsClassifier, test: Corpus, quality: Quality) -> dict[str, Any]:
    """Each view alone, and what tier 2 gains on the better one: by language, and by frequency of labels."""
    views, gains, by_frequency = {}, {}, {}
    funnel, truth = model.model_.fitted, _truth(test, model.classes_.tolist())
    for language, rows in test.by_language().items():
        texts = [test.texts[row] for row in rows]
        ranked = funnel.tier_one.rank(language, funnel.vectors_of(language, texts), model.n_jobs)
        found = {}
        for name, view in zip(("own", "shared"), ranked, strict=False):
            columns = np.where(view.labels[:, :10] < 0, -1, view.labels[:, :10]).astype(np.intp)
            shares = measure_ranked(RankedHits.of(truth[rows], columns))
            views[f"{language} {name}"] = {measure: shares[measure].of(slice(None)) for measure in MEASURES}
            found[name] = (shares, columns)
        best = max(found, key=lambda name: views[f"{language} {name}"]["ndcg_at_5"])
        gains[language] = {
            "best view": best,
            "p": {
                name: paired_p(quality[language][1][name].values, found[best][0][name].values)
                for name in MEASURES
            },
        }
        seen = np.append(funnel.seen.documents, np.zeros(truth.shape[1] - len(model.classes_), dtype=int))
        judged = rank(model.predict_proba(texts, [language] * len(texts)))
        by_frequency[language] = [
            {"labels of at least": low, "best view": recall(found[best][1]), "tier 2": recall(judged)}
            for low, recall in _recalls(truth[rows], seen)
        ]
    return {"views": views, "gains": gains, "recall at 5 by frequency": by_frequency}


def _recalls(truth: Any, documents: Any) -> Any:
    """For each class of frequency: how many of the true labels in it are among the first five."""
    rows, columns = truth.nonzero()
    true = rows * truth.shape[1] + columns
    for low, high in pairwise(FREQUENCIES):
        wanted = true[(documents[columns] > low) & (documents[columns] <= high)]
        if not len(wanted):
            continue

        def recall(ranked: Any, wanted: Any = wanted) -> float:
            first = ranked[:, :5]
            keys = np.arange(len(first))[:, None] * truth.shape[1] + first
            return float(np.isin(wanted, keys[first >= 0]).mean())

        yield low + 1, recall


def _run(command: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def _shown(results: dict[str, Any]) -> str:
    titles = [RANKED_MEASURES[name].title for name in MEASURES]
    lines = [f"{'':24}" + "".join(f"{title:>9}" for title in titles)]
    for side, result in results.items():
        languages = result["quality"]
        mean = {name: np.mean([each[name] for each in languages.values()]) for name in MEASURES}
        for tag, each in {**languages, "mean": mean}.items():
            lines.append(f"{side + ' ' + tag:24}" + "".join(f"{each[name]:9.4f}" for name in MEASURES))
    for tag, each in results["fun-many"]["views"].items():
        lines.append(f"{'view ' + tag:24}" + "".join(f"{each[name]:9.4f}" for name in MEASURES))
    for tag, each in results["fun-many"]["gains"].items():
        p = "".join(f"{each['p'][name]:9.0e}" for name in MEASURES)
        lines.append(f"{'p, ' + tag + ' over ' + each['best view']:24}" + p)
    for tag, rows in results["fun-many"]["recall at 5 by frequency"].items():
        for row in rows:
            low, view, tier = row["labels of at least"], row["best view"], row["tier 2"]
            lines.append(
                f"{tag}, labels of {low:,} documents or more: R@5 {view:.4f} of the view, {tier:.4f} at last"
            )
    for side, result in results.items():
        lines.append(
            f"{side}: fit {result['fit']:.0f} s, predict {result['predict']:.0f} s, memory "
            f"{result['memory'] / 1e9:.2f} GB, model {result['size'] / 1e6:.0f} MB"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    measuring.run(main)
