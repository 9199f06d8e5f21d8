"""Fit every method and every kind of funnel on the embedded corpus, and print three hashes of each model.

    python scripts/fingerprints.py > before.txt     # on one commit
    python scripts/fingerprints.py > after.txt      # on another; diff tells which models changed

``answers`` are scores, probabilities, labels, thresholds and explanations, of the model and of what it
becomes by each kind of update; ``arrays`` are the arrays of its folder, whatever they are called; ``folder``
is all of its files. A change that is to leave behaviour alone leaves every line alone; a new model format
changes the lines of folders and of commands that write them. What the commands answer is hashed too.
Bits are promised within one instruction set, so compare runs of one machine. Mostly public names are used, so
that the script runs on commits whose layout differs.
"""

import argparse
import contextlib
import copy
import hashlib
import io
import json
import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import funnelling
from funnelling import Corpus, ManyLabelsClassifier, load_model, read_corpus, write_documents
from funnelling.commands import main as command
from funnelling.funnel.design import FunnelParameters
from funnelling.funnel.learning import FUNNEL
from funnelling.methods.registry import estimator_type
from funnelling.research import (
    CLESAClassifier,
    DCIClassifier,
    KCCAClassifier,
    LRIClassifier,
    MLEClassifier,
    MLELSTMClassifier,
    NaiveClassifier,
    PooledClassifier,
    Reference,
    UpperBoundClassifier,
    WordsAndCharactersClassifier,
)
from funnelling.storage import save_model

LANGUAGES = ("en", "it", "de")
NEW_LANGUAGE = "es"
DOCUMENTS = 90  # of each language
DIMENSIONS = 20  # of word vectors


class Data:
    """A cut of the embedded corpus, and resources made of it."""

    def __init__(self, folder: Path) -> None:
        self.whole = read_corpus(next(Path(funnelling.__file__).parent.rglob("sample.jsonl.gz")))
        train = self.whole.split("train")
        self.train = _first(train, LANGUAGES, DOCUMENTS)
        self.new = _first(train, [NEW_LANGUAGE], DOCUMENTS)
        self.test = _first(self.whole.split("test"), [*LANGUAGES, NEW_LANGUAGE], 20)
        self.groups = [f"group {number % 50}" for number in range(len(self.train))]
        self.first_labels = [(labels or ("none",))[0].partition("::")[0] for labels in self.train.labels]
        most = max(sorted(set(self.first_labels)), key=self.first_labels.count)
        self.two_classes = [label == most for label in self.first_labels]
        self.reference = self._make_reference()
        self.embeddings = self._make_embeddings(folder / "vectors")
        rng = np.random.default_rng(0)
        self.labels = np.vstack([self.train.label_matrix(train.label_set()[:8])]).astype(int)
        self.vectors = rng.normal(size=(len(self.train), 15)) + self.labels @ rng.normal(size=(8, 15))
        rows = self.train.by_language()
        self.mapping = {language: self.vectors[places] for language, places in rows.items()}
        self.mapped_labels = {language: self.labels[places] for language, places in rows.items()}

    def _make_reference(self) -> Reference:
        chosen = {
            language: _first(self.whole, [language], 120).texts for language in (*LANGUAGES, NEW_LANGUAGE)
        }
        return Reference([f"page {number}" for number in range(120)], chosen)

    def _make_embeddings(self, folder: Path) -> Path:
        folder.mkdir()
        for language in (*LANGUAGES, NEW_LANGUAGE):
            words = sorted({word.lower() for text in self.reference.texts[language] for word in text.split()})
            vectors = np.random.default_rng([*language.encode()]).normal(size=(len(words), DIMENSIONS))
            lines = [f"{len(words)} {DIMENSIONS}"]
            lines += [
                f"{word} {' '.join(f'{value:.4f}' for value in vector)}"
                for word, vector in zip(words, vectors, strict=True)
            ]
            (folder / f"wiki.multi.{language}.vec").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder


def lengths(texts: Sequence[str]) -> Any:
    """A view that is a function: how long a text is."""
    return np.array([[len(text) / 1000, text.count(" ") / 100] for text in texts])


def _first(corpus: Corpus, languages: Sequence[str], number: int) -> Corpus:
    rows = corpus.by_language()
    return corpus.select(np.concatenate([rows[language][:number] for language in languages]))


def _fun(**parameters: Any) -> Any:
    given = FunnelParameters(**{"views": None, "random_state": 0, **parameters})
    return estimator_type(FUNNEL, given)._under(given)  # type: ignore[attr-defined]


def models(data: Data, encoder: str | None) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every kind of model by a name, and what fits it."""
    train = data.train

    def fitted(model: Any, labels: Any = None, groups: Any = None) -> Callable[[], Any]:
        y = train.labels if labels is None else labels
        return lambda: model.fit(train.texts, y, languages=train.languages, groups=groups, ids=train.ids)

    given = {"reference": data.reference, "embeddings": str(data.embeddings)}
    baselines = {
        "naive": NaiveClassifier(random_state=0),
        "pooled": PooledClassifier(random_state=0),
        "words-and-characters": WordsAndCharactersClassifier(random_state=0),
        "fun-many": ManyLabelsClassifier(random_state=0),
        "lri": LRIClassifier(random_state=0),
        "clesa": CLESAClassifier(random_state=0, reference=data.reference),
        "kcca": KCCAClassifier(random_state=0, reference=data.reference, components=50),
        "dci": DCIClassifier(random_state=0),
        "mle": MLEClassifier(random_state=0, embeddings=str(data.embeddings)),
        "mle-lstm": MLELSTMClassifier(
            random_state=0, embeddings=str(data.embeddings), units=16, dense_units=16, epochs=1, length=20
        ),
        "upper-bound": UpperBoundClassifier(random_state=0),
    }
    transformer = make_pipeline(TfidfVectorizer(min_df=2), TruncatedSVD(10))
    funnels: dict[str, dict[str, Any]] = {
        "fun-tat": {},
        "fun-kfcv": {"variant": "kfcv", "folds": 3},
        "no calibration": {"calibration": "none", "meta_C": 1},
        "fixed calibration": {"calibration": "fixed", "meta_C": 1},
        "C of tier 1 chosen": {"base_C": None, "meta_C": 1},
        "gamma given": {"meta_gamma": 0.5, "meta_C": 10},
        "base estimator": {"base_estimator": LogisticRegression(), "meta_C": 1},
        "base estimators": {"base_estimator": {"en": LogisticRegression(), "it": None}, "meta_C": 1},
        "meta estimator": {"final_estimator": LogisticRegression()},
        "vectorizer": {"vectorizer": TfidfVectorizer(min_df=2), "meta_C": 1},
        "compact": {"keep": "nothing", "meta_C": 1},
        "macro-f1": {"thresholds": "macro-f1", "meta_C": 1},
        "recall": {"thresholds": "recall=0.9", "meta_C": 1},
        "precision": {"thresholds": "precision=0.9", "meta_C": 1},
        "zero-shot": {"zero_shot": "auto", "meta_C": 1},
        "zero-shot embeddings": {"zero_shot": "auto", **given, "meta_C": 1},
        "zero-shot clesa": {"zero_shot": "clesa", "reference": data.reference},
        "zero-shot macro-f1": {"zero_shot": "pooled", "thresholds": "macro-f1", "meta_C": 1},
        "view own": {"views": ["own"]},
        "view pooled": {"views": ["pooled"]},
        "view lri": {"views": ["lri"]},
        "view characters": {"views": ["characters"]},
        "view wce": {"views": ["wce"]},
        "view embeddings": {"views": ["embeddings"], **given},
        "view function": {"views": ["own", lengths], "meta_C": 1, "keep": "nothing"},
        "view transformer": {"views": [transformer], "meta_C": 1},
        "view vectorizer": {"views": ["pooled", TfidfVectorizer(min_df=3)]},
        "views mean": {"views": ["own", "pooled", "characters"]},
        "views concat": {"views": ["own", "pooled"], "combine": "concat"},
        "views stacked": {"views": ["own", "pooled", "characters"], "combine": "stacked"},
        "views raw": {"views": ["own", "pooled"], "normalise": False},
        "views kfcv": {"views": ["own", "pooled"], "variant": "kfcv", "folds": 3, "meta_C": 1},
        "views and estimators": {
            "views": ["own", "pooled"],
            "base_estimator": {"pooled": LogisticRegression()},
            "final_estimator": LogisticRegression(),
        },
        "views macro-f1": {"views": ["own", "pooled"], "thresholds": "macro-f1"},
        "auto": {"views": "auto"},
        "auto concat": {"views": "auto", "combine": "concat"},
        "auto kfcv": {"views": "auto", "variant": "kfcv", "folds": 3},
        "auto embeddings": {"views": "auto", **given},
        "auto estimator": {"views": "auto", "final_estimator": LogisticRegression()},
        "auto C": {"views": "auto", "meta_C": 3.0},
    }
    if encoder is not None:
        funnels |= {
            "view encoder": {"views": ["encoder"], "encoder": encoder},
            "view taught encoder": {"views": ["encoder"], "encoder": encoder, "encoder_epochs": 1},
            "auto encoder": {"views": "auto", "encoder": encoder},
        }
    for name, model in baselines.items():
        yield name, fitted(model)
    for name, parameters in funnels.items():
        yield name, fitted(_fun(**parameters))
    for name, views in {"sampled": None, "sampled views": ["own", "pooled"]}.items():
        yield name, fitted(_fun(views=views, memory_limit=2e5, meta_C=1), data.labels)
    for name, parameters in {"": {"meta_C": 1}, " auto": {"views": "auto"}}.items():
        yield f"one label{name}", fitted(_fun(**parameters), data.first_labels)
        yield f"two classes{name}", fitted(_fun(**parameters), data.two_classes)
        yield f"groups{name}", fitted(_fun(**parameters), groups=data.groups)
    for name, model in {
        "naive": NaiveClassifier(random_state=0, C=1),
        "pooled": PooledClassifier(random_state=0, C=1),
    }.items():
        yield f"one label {name}", fitted(model, data.first_labels)
        yield f"two classes {name}", fitted(model, data.two_classes)
    for name, parameters in {
        "": {},
        " auto": {"views": "auto"},
        " views": {"views": ["own", "pooled"]},
    }.items():
        yield f"mapping{name}", lambda p=parameters: _fun(**p).fit(data.mapping, data.mapped_labels)
        yield (
            f"matrix{name}",
            lambda p=parameters: _fun(**p).fit(data.vectors, data.labels, languages=train.languages),
        )
    yield "one language", lambda: _fun().fit(data.mapping["en"], data.mapped_labels["en"])
    yield from _grown(data)


def _grown(data: Data) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Models that learned on."""
    half = data.train.select(np.arange(len(data.train)) % 2 == 0)
    known = set(half.label_set()[:20])
    few = [tuple(label for label in labels or () if label in known) for labels in half.labels]

    def grow(parameters: dict[str, Any], labels: Any, more: Corpus, groups: Any = None) -> Any:
        model = _fun(meta_C=1, **parameters)
        model.fit(half.texts, labels, languages=half.languages, ids=half.ids)
        return model.update(more.texts, more.labels, languages=more.languages, ids=more.ids, groups=groups)

    kinds: dict[str, dict[str, Any]] = {
        "grown": {},
        "grown kfcv": {"variant": "kfcv", "folds": 3},
        "grown views": {"views": ["own", "pooled", "characters"], "combine": "stacked"},
        "grown concat": {"views": ["own", "pooled"], "combine": "concat"},
        "grown auto": {"views": "auto"},
        "grown macro-f1": {"thresholds": "macro-f1"},
    }
    for name, parameters in kinds.items():
        yield f"{name}, a language", lambda p=parameters: grow(p, half.labels, data.new)
        yield f"{name}, documents", lambda p=parameters: grow(p, half.labels, data.train)
        yield f"{name}, labels", lambda p=parameters: grow(p, few, data.train)
    yield (
        "grown zero-shot, documents",
        lambda: grow({"zero_shot": "pooled"}, half.labels, half.select(np.arange(40))),
    )
    yield "grown, groups", lambda: grow({}, half.labels, data.train, data.groups)


def commands(data: Data, folder: Path) -> Iterator[tuple[str, str]]:
    """What commands leave behind and answer, as hashes."""
    files = {"train": data.train, "new": data.new, "test": data.test}
    documents = {name: folder / f"{name}.jsonl" for name in files}
    for name, corpus in files.items():
        write_documents(documents[name], corpus)
    both = folder / "both.jsonl"
    write_documents(both, Corpus.from_documents([*data.train, *_first(data.test, LANGUAGES, 20)]))
    unsplit = folder / "unsplit.jsonl"
    write_documents(unsplit, [replace(document, split=None) for document in data.train])
    parts = folder / "parts"
    parts.mkdir()
    rows = np.arange(len(data.train)) % 3
    for number in range(3):
        write_documents(parts / f"part-{number}.parquet", data.train.select(rows == number))
    for name, method, source in (
        ("fun-tat", "fun-tat", both),
        ("fun-auto", "fun-auto", both),
        ("five folds", "fun-tat", unsplit),
        ("naive", "naive", both),
        ("parts fun-tat", "fun-tat", parts),
        ("parts fun-kfcv", "fun-kfcv", parts),
        ("parts naive", "naive", parts),
    ):
        target = folder / name
        said = _run("train", source, "-o", target, "--method", method)
        yield f"train {name}", _folder_hash(target)
        yield f"train {name}, told", _hash(said.replace(str(folder), "").encode())
    model = folder / "fun-tat"
    for name, arguments in {
        "predict": ("predict", model, documents["test"]),
        "predict top": ("predict", model, both, "--top", "3", "--threshold", ".3"),
        "predict auto": ("predict", folder / "fun-auto", documents["test"]),
        "explain": ("explain", model, both),
        "explain auto": ("explain", folder / "fun-auto", documents["test"]),
        "explain naive": ("explain", folder / "naive", both),
        "evaluate": ("evaluate", folder / "fun-auto", documents["test"], "--json"),
        "inspect": ("inspect", model, "--json"),
        "describe": ("inspect", both),
    }.items():
        yield name, _hash(_run(*arguments).encode())
    compared = json.loads(
        _run("compare", both, "--methods", "naive,pooled,fun-tat,dci", "--json", "--runs", "2")
    )
    yield "compare", _hash(_timeless(compared))
    held = json.loads(
        _run("compare", both, "--methods", "pooled,fun-zero-shot", "--json", "--hold-out", "it")
    )
    yield "compare hold-out", _hash(_timeless(held))
    further = folder / "further.jsonl"
    write_documents(further, _first(data.whole.split("train"), LANGUAGES, DOCUMENTS + 20))
    for name, source in (("update by a language", documents["new"]), ("update", further)):
        target = folder / name
        said = _run("update", model, source, "-o", target, "--force")
        yield name, _folder_hash(target)
        yield f"{name}, told", _hash(said.replace(str(folder), "").encode())
    experiment = folder / "experiment"
    _run(
        "research",
        "experiment",
        "all",
        "--data",
        both,
        "-o",
        experiment,
        "--fractions",
        ".5,1",
        "--methods",
        "naive,fun-tat",
    )
    results = json.loads((experiment / "results.json").read_text(encoding="utf-8"))
    results.pop("efficiency")
    yield "experiment", _hash(_timeless(results))


def _run(*arguments: Any) -> str:
    """What a command prints."""
    said = io.BytesIO()
    stream = io.TextIOWrapper(said, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(io.StringIO()) as errors:
        status = command([str(argument) for argument in arguments])
    if status:
        raise SystemExit(f"{arguments}: {errors.getvalue()}")
    return said.getvalue().decode()


def _timeless(value: Any) -> bytes:
    """A result without the seconds that it took."""

    def kept(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: kept(inner) for key, inner in item.items() if not key.endswith("_seconds")}
        return [kept(inner) for inner in item] if isinstance(item, list) else item

    return json.dumps(kept(value), sort_keys=True).encode()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _folder_hash(folder: Path) -> str:
    """The hash of all files of a model folder, names and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(f"{path.name} {_hash(path.read_bytes())}\n".encode())
    return digest.hexdigest()


def _arrays_hash(folder: Path) -> str:
    """The hash of all arrays of a model folder, without their names."""
    arrays = [array for path in sorted(folder.glob("*.safetensors")) for array in load_file(path).values()]
    return _hash("".join(sorted(map(_array_hash, arrays))).encode())


def _array_hash(array: Any) -> str:
    dense = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
    if dense.dtype.kind in "OU":  # names
        return _hash(repr(dense.tolist()).encode())
    return _hash(f"{dense.dtype} {dense.shape}".encode() + np.ascontiguousarray(dense).tobytes())


def _answers(fresh: Callable[[], Any], data: Data) -> str:
    """The hash of what a model answers, as it was fitted and after each kind of update that it has."""
    stages = [_said(fresh(), data)]
    for change in (_update, _forget, _relabel, _tune):
        model = fresh()
        try:
            stages.append(_said(change(model, data), data))
        except (AttributeError, funnelling.InputError) as error:  # not of this method, or of these labels
            if isinstance(error, AttributeError) and error.obj is not model:
                raise
            stages.append("refused")
    return _hash(" ".join(stages).encode())


def _said(model: Any, data: Data) -> str:
    X, languages, test = _asked(model, data)
    said = [
        method(X, languages=languages)
        for method in (model.decision_function, model.predict_proba, model.predict)
    ]
    hashes = [_array_hash(each) for each in said]
    hashes += [_array_hash(model.thresholds_[language]) for language in model.languages_]
    if test is not None:
        hashes.append(_array_hash(model.decision_function(*test)))
        explained = [model.explain(texts[:9], tags[:9]) for texts, tags in ((X, languages), test)]
        hashes.append(_hash("".join(sorted(map(repr, _leaves(explained)))).encode()))
    return _hash(" ".join(hashes).encode())


def _asked(model: Any, data: Data) -> tuple[Any, Any, Any]:
    """Training documents of a model, with their languages, and test documents where it learned from texts."""
    if not (model.model_.texts if hasattr(model, "model_") else model.texts_):
        if len(model.languages_) == 1:
            return data.mapping["en"], None, None
        return data.vectors, data.train.languages, None
    test = [_first(data.test, [language], 20) for language in LANGUAGES if model.supports(language)]
    known = data.train.select([model.supports(language) for language in data.train.languages])
    asked = Corpus.from_documents(document for corpus in test for document in corpus)
    return known.texts, known.languages, (asked.texts, asked.languages)


def _leaves(value: Any) -> Iterator[Any]:
    """All values in a tree, whatever the keys."""
    if isinstance(value, dict):  # where an answer is given, "abstained" says nothing
        value = [each for key, each in value.items() if key != "abstained"] + [False] * bool(
            value.get("abstained")
        )
    elif not isinstance(value, list | tuple):
        yield value
        return
    for each in value:
        yield from _leaves(each)


def _update(model: Any, data: Data) -> Any:
    """A model that learned from further documents, whose labels are what it said of them."""
    X, languages, test = _asked(model, data)
    if test is None:
        X, languages = X[:30], languages and languages[:30]
    else:
        X, languages = test
    return model.update(X, model.predict(X, languages=languages), languages=languages)


def _forget(model: Any, data: Data) -> Any:
    return model.forget(data.train.ids[2:8:2])


def _relabel(model: Any, _: Data) -> Any:
    first, *others = model.classes_.tolist()
    if len(others) == 1:
        return model.relabel({first: "another"})
    return model.relabel({first: None, others[0]: others[-1]})


def _tune(model: Any, _: Data) -> Any:
    model.tune("macro-f1")
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--encoder", help="folder of a small sentence-transformers model, for its view")
    parser.add_argument("--only", default="", help="only models whose name holds this; no commands")
    parsed = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = Data(folder)
        for name, fit in models(data, parsed.encoder):
            if parsed.only not in name:
                continue
            model, target = fit(), folder / "model"
            try:
                save_model(model, target, force=True)
            except funnelling.InputError:  # a function as a view cannot be saved
                fresh = partial(copy.deepcopy, model)
            else:
                print(f"{_folder_hash(target)}  {name}: folder")
                print(f"{_arrays_hash(target)}  {name}: arrays")
                fresh = partial(load_model, target)
            print(f"{_answers(fresh, data)}  {name}: answers", flush=True)
        if not parsed.only:
            for name, found in commands(data, folder):
                print(f"{found}  {name}", flush=True)


if __name__ == "__main__":
    main()
