"""A user's script, with what each expression is: `tests/test_typing.py` has it checked, nothing runs it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import funnelling
from funnelling import (
    Corpus,
    Document,
    Embeddings,
    Encoder,
    FunnellingClassifier,
    InputError,
    LabelSet,
    ManyLabelsClassifier,
    ThresholdTuning,
    audit,
    compare,
    load_model,
    make_scorer,
    measure,
    read_corpus,
    read_documents,
    read_label_set,
    read_sample,
    write_documents,
)
from funnelling.corpus.label_set import Label
from funnelling.formats import Layout
from funnelling.methods.estimator import MethodEstimator
from funnelling.research import (
    CLESAClassifier,
    DCIClassifier,
    KCCAClassifier,
    LRIClassifier,
    MLEClassifier,
    MLELSTMClassifier,
    NaiveClassifier,
    PaperFunnelClassifier,
    PooledClassifier,
    Reference,
    UpperBoundClassifier,
    WordsAndCharactersClassifier,
    read_reference,
)

TEXTS, LANGUAGES, LABELS = ["a cat", "un cane"], ["en", "it"], [["cat"], ["dog"]]


def files(folder: Path) -> None:
    layout = Layout(text=["title", "body"], label_separator=";")
    documents = read_documents(folder / "tickets.csv", layout)
    assert_type(documents, Iterator[Document])
    write_documents("tickets.jsonl", documents, force=True)
    corpus = read_corpus("tickets.jsonl", layout=layout)
    assert_type(corpus, Corpus)
    assert_type(read_sample(), Corpus)
    audit(corpus, 10).to_csv(folder / "suspects.csv")
    print(compare(corpus, {"naive": NaiveClassifier(), "fun-tat": "fun-tat"})["methods"])
    assert_type(corpus.texts, list[str])
    assert_type(corpus.languages, list[str | None])
    assert_type(corpus.split("train").select([0, 1]).labelled(), Corpus)
    assert_type(corpus.by_language(), dict[str, NDArray[np.intp]])
    for document in corpus:
        assert_type(document.labels, tuple[str, ...] | None)
    labels = read_label_set(folder / "labels.csv", ["cat"])
    assert_type(labels, LabelSet)
    assert_type(labels["cat"], Label)
    assert_type(labels.names_in("de"), dict[str, str])
    reference = read_reference(folder)
    assert_type(reference, Reference)
    assert_type(reference.languages, list[str])


def a_model() -> None:
    views = ["auto", Encoder("encoder", epochs=1), Embeddings("vectors")]
    model = FunnellingClassifier(random_state=0, views=views, thresholds=ThresholdTuning("recall=.9"))
    assert_type(model.fit(TEXTS, LABELS, languages=LANGUAGES), FunnellingClassifier)
    assert_type(model, FunnellingClassifier)
    assert_type(model.predict(TEXTS, languages=LANGUAGES), NDArray[Any])
    assert_type(model.predict_proba(TEXTS), NDArray[np.float64])
    assert_type(model.decision_function(TEXTS), NDArray[np.float64])
    assert_type(model.score(TEXTS, LABELS), float)
    assert_type(make_scorer("macro-f1")(model, TEXTS, LABELS), float)
    assert_type(measure(LABELS, model.predict_labels(TEXTS)).average, dict[str, float])
    assert_type(model.thresholds_["it"], NDArray[np.float64])
    assert_type(model.explain(TEXTS, top=3), list[dict[str, Any]])
    assert_type(model.choice_.summary(), str)
    assert_type(model.tune("precision=.9").unreached(), list[str])
    assert_type(model.update(TEXTS, LABELS).forget(["7"]).relabel({"cat": "pet"}), FunnellingClassifier)
    assert_type(model.set_params(n_jobs=2), FunnellingClassifier)
    assert_type(read_corpus("tickets.jsonl").label_matrix(model.classes_), NDArray[np.bool_])
    routed: FunnellingClassifier = model.set_fit_request(languages=True).set_score_request(languages=True)
    routed.save("model", keep="nothing", force=True)
    routed.push("owner/name", keep="nothing")
    assert_type(FunnellingClassifier.from_paper("kfcv", folds=5), PaperFunnelClassifier)
    assert_type(PaperFunnelClassifier(meta_C=1.0).fit(TEXTS, LABELS), PaperFunnelClassifier)
    print(funnelling.__version__)


def vectors_by_kind() -> None:
    spaces = {"images": np.zeros((4, 9)), "texts": np.zeros((5, 7))}
    model = NaiveClassifier().fit(spaces, {"images": [0, 1, 0, 1], "texts": [0, 1, 0, 1, 0]})
    assert_type(model.predict(spaces), dict[str, NDArray[Any]])
    assert_type(model.predict_proba(spaces), dict[str, NDArray[np.float64]])


def a_loaded_model() -> None:
    try:
        model = load_model("model")
    except InputError as error:
        raise SystemExit(str(error)) from error
    assert_type(model, MethodEstimator)
    assert_type(model.predict_proba(TEXTS), NDArray[np.float64])
    if isinstance(model, FunnellingClassifier):
        assert_type(model.tune("recall=.9", labels=["cat"]).total()["after"]["f1"], float)


def a_shared_model() -> None:
    model = load_model("hf://owner/name")
    assert_type(model, MethodEstimator)


def rivals(reference: Reference) -> None:
    methods: list[MethodEstimator] = [
        CLESAClassifier(reference=reference),
        DCIClassifier(),
        KCCAClassifier(reference=reference),
        LRIClassifier(),
        ManyLabelsClassifier(),
        MLEClassifier(embeddings=Path("vectors")),
        MLELSTMClassifier(embeddings="vectors"),
        NaiveClassifier(),
        PooledClassifier(),
        UpperBoundClassifier(),
        WordsAndCharactersClassifier(),
    ]
    assert_type([method.fit(TEXTS, LABELS).predict(TEXTS) for method in methods], list[NDArray[Any]])
