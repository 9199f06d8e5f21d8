"""Rows of predictions: labels, scores and thresholds agree, whatever the model."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from funnelling import Document, InputError
from funnelling.corpus.by_language import Contents
from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.model import Model
from funnelling.methods.rows import Predictor, thresholds_of
from funnelling.research import NaiveClassifier
from tests.artificial import text_corpus
from tests.funnels import any_funnel

TEXTS, LABELS, LANGUAGES = text_corpus(documents=60)


@pytest.fixture(scope="module")
def model() -> Model:
    funnel = any_funnel(views=None, meta_C=1, random_state=0)
    return funnel.fit(TEXTS, LABELS, languages=LANGUAGES).model_


def _documents(texts: list[str] = TEXTS, languages: list[Any] = LANGUAGES) -> list[Document]:
    return [
        Document(str(i), text, language=language, line=i + 1)
        for i, (text, language) in enumerate(zip(texts, languages, strict=True))
    ]


class Stub:
    """A model whose answers are given."""

    single_label = False
    languages = ("en",)
    label_set = rules = fit_parameters = None

    def __init__(self, probabilities: Any, thresholds: Any) -> None:
        self.probabilities = np.asarray(probabilities, dtype=float)
        self.cuts = np.asarray(thresholds, dtype=float)
        self.classes = np.array([f"label {j}" for j in range(len(self.cuts))], dtype=object)

    @property
    def labels(self) -> LabelSpace:
        return LabelSpace(self.classes, self.single_label)

    def serves(self, language: str) -> bool:
        return language in self.languages

    def classify_with_evidence(self, documents: Contents) -> Any:
        assert documents.sizes() == {"en": len(self.probabilities)}
        decided = (self.probabilities > self.cuts).astype(int)
        return decided, self.probabilities, np.ones(len(decided), dtype=bool)

    def thresholds(self, language: str) -> Any:
        assert language == "en"
        return self.cuts


def _rows(model: Any, documents: list[Document] | None = None, **options: Any) -> list[dict[str, Any]]:
    made = [Document("1", "a", language="en")] if documents is None else documents
    return list(Predictor(model, **{"tell_thresholds": True, **options})(made))


def test_a_threshold_does_not_apply_to_one_label_per_document() -> None:
    stub = Stub([[0.6, 0.4]], [0.5, 0.5])
    stub.single_label = True
    with pytest.raises(InputError, match="a threshold does not apply"):
        Predictor(stub, threshold=0.3)  # type: ignore[arg-type]


shares = st.floats(0, 1)


@settings(max_examples=50)
@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=8), st.none() | st.integers(1, 9))
def test_labels_are_those_above_their_thresholds(pairs: list[tuple[float, float]], top: int | None) -> None:
    probabilities, thresholds = zip(*pairs, strict=True)
    (row,) = _rows(Stub([probabilities], thresholds), top=top)
    thresholds = row.get("thresholds", {})
    above = {label for label, score in row["probabilities"].items() if score > thresholds.get(label, 0.5)}
    assert above == set(row["labels"]) & set(row["probabilities"])
    assert len(row["probabilities"]) == min(len(pairs), top or len(pairs))
    assert list(row["probabilities"].values()) == (
        list(probabilities) if top is None else sorted(probabilities, reverse=True)[:top]
    )


def test_one_half_up_to_rounding_is_no_threshold_to_tell() -> None:
    (row,) = _rows(Stub([[0.2, 0.7, 0.9]], [0.5 + 2e-16, 0.5 - 1e-16, 0.3]))
    assert row["thresholds"] == {"label 2": 0.3}
    assert row["labels"] == ["label 1", "label 2"]


def test_of_equal_scores_the_first_label_is_shown() -> None:
    (row,) = _rows(Stub([[0.2, 0.6, 0.6, 0.6]], [0.5] * 4), top=2)
    assert list(row["probabilities"]) == ["label 1", "label 2"]
    assert row["labels"] == ["label 1", "label 2", "label 3"]


class SparseStub(Stub):
    """One whose answers are those to candidates alone: labels with a probability above 0."""

    def classify_with_evidence(self, documents: Contents) -> Any:
        decided, probabilities, evident = super().classify_with_evidence(documents)
        return sparse.csr_array(decided), sparse.csr_array(probabilities), evident


class TestSparseAnswers:
    @settings(max_examples=50)
    @given(
        st.lists(st.tuples(st.sampled_from([0, 0.25, 0.5, 0.75]), shares), min_size=1, max_size=8),
        st.none() | st.integers(1, 9),
        st.none() | st.sampled_from([0.0, 0.3, 0.6]),
    )
    def test_they_make_the_rows_that_dense_ones_make(
        self, pairs: list[tuple[float, float]], top: int | None, threshold: float | None
    ) -> None:
        options: dict[str, Any] = {"top": top or len(pairs), "threshold": threshold}
        (whole,) = _rows(Stub([[each for each, _ in pairs]], [cut for _, cut in pairs]), **options)
        (row,) = _rows(SparseStub([[each for each, _ in pairs]], [cut for _, cut in pairs]), **options)
        assert row["probabilities"] == {
            label: score for label, score in whole["probabilities"].items() if score
        }
        assert list(row["probabilities"]) == list(whole["probabilities"])[: len(row["probabilities"])]
        assert sorted(row["labels"]) == whole["labels"]
        if row["probabilities"]:
            assert (row["best_label"], row["probability"]) == (whole["best_label"], whole["probability"])

    def test_a_threshold_assigns_the_labels_above_it(self) -> None:
        (row,) = _rows(SparseStub([[0.2, 0, 0.6, 0.4]], [0.5] * 4), threshold=0.3)
        assert row["labels"] == ["label 2", "label 3"]

    def test_without_candidates_there_is_no_best_label(self) -> None:
        (row,) = _rows(SparseStub([[0, 0]], [0.5, 0.5]))
        assert (row["labels"], row["best_label"], row["probability"], row["probabilities"]) == (
            [],
            None,
            None,
            {},
        )
        assert row["abstained"] is None


class TestManyLabels:
    @pytest.mark.parametrize("kind", [Stub, SparseStub])
    def test_the_five_most_probable_are_shown(self, kind: type[Stub]) -> None:
        probabilities = np.linspace(0.001, 0.9, XMC_MIN_LABELS + 1)
        model = kind([probabilities], np.full(XMC_MIN_LABELS + 1, 0.899))
        (row,) = _rows(model)
        assert list(row["probabilities"]) == [f"label {XMC_MIN_LABELS - place}" for place in range(5)]
        assert len(row["labels"]) == (probabilities > 0.899).sum() < 5
        assert len(_rows(model, top=7)[0]["probabilities"]) == 7
        (more,) = _rows(kind([probabilities], np.full(XMC_MIN_LABELS + 1, 0.89)))
        assert len(more["probabilities"]) == len(more["labels"]) == (probabilities > 0.89).sum() > 5
        assert len(_rows(model, every=True)[0]["probabilities"]) == XMC_MIN_LABELS + 1

    def test_up_to_a_thousand_all_are_shown(self) -> None:
        (row,) = _rows(Stub([np.full(XMC_MIN_LABELS, 0.1)], np.full(XMC_MIN_LABELS, 0.5)))
        assert len(row["probabilities"]) == XMC_MIN_LABELS

    def test_one_threshold_of_all_is_told_once(self) -> None:
        alike = Stub([np.zeros(XMC_MIN_LABELS + 1)], np.full(XMC_MIN_LABELS + 1, 0.25))
        assert thresholds_of(alike) == {"en": {"all labels": 0.25}}  # type: ignore[arg-type]
        alike.cuts[7] = 0.4
        assert len(thresholds_of(alike)["en"]) == XMC_MIN_LABELS + 1  # type: ignore[arg-type]


def test_a_threshold_of_the_users_replaces_the_models() -> None:
    (row,) = _rows(Stub([[0.2, 0.6]], [0.1, 0.9]), threshold=0.4)
    assert row["labels"] == ["label 1"]
    assert "thresholds" not in row


def test_thresholds_are_told_where_they_are_asked_for() -> None:
    (row,) = _rows(Stub([[0.2, 0.6]], [0.1, 0.9]), tell_thresholds=False)
    assert "thresholds" not in row


def test_thresholds_of_a_model_are_those_of_its_rows(model: Model) -> None:
    told = thresholds_of(model)
    for row in _rows(model, _documents()):
        assert row.get("thresholds", {}) == told.get(row["language"], {})
    assert told


def test_the_best_label_is_the_most_probable_one(model: Model) -> None:
    for row in _rows(model, _documents()):
        assert (
            row["probability"]
            == max(row["probabilities"].values())
            == row["probabilities"][row["best_label"]]
        )
    (row,) = _rows(Stub([[0.2, 0.4]], [0.5, 0.5]), top=1)
    assert (row["labels"], row["best_label"], row["probability"]) == ([], "label 1", 0.4)


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 1.0])
def test_a_threshold_assigns_the_labels_above_it(threshold: float, model: Model) -> None:
    documents = [*_documents(), Document("blank", "", language="en")]
    *rows, blank = _rows(model, documents, threshold=threshold)
    *own, _ = _rows(model, documents)
    assert [row["labels"] for row in rows] == [
        [label for label, probability in row["probabilities"].items() if probability > threshold]
        for row in own
    ]
    assert blank["labels"] == []
    assert not any("thresholds" in row for row in rows)


def test_rows_are_plain_and_in_order(model: Model) -> None:
    rows = _rows(model, _documents())
    assert [row["id"] for row in rows] == [str(i) for i in range(len(TEXTS))]
    decided = model.predict(TEXTS, languages=LANGUAGES)
    assert [row["labels"] for row in rows] == [
        model.labels.classes[answer == 1].tolist() for answer in decided
    ]
    assert all(type(score) is float for row in rows for score in row["probabilities"].values())


def test_a_document_alone_has_the_bits_it_has_in_company(model: Model) -> None:
    documents = _documents()
    together = _rows(model, documents)
    assert [_rows(model, [document])[0] for document in documents] == together
    assert _rows(model, documents[::-1])[::-1] == together


def test_no_documents_no_rows(model: Model) -> None:
    assert _rows(model, []) == []


class TestLanguages:
    def test_a_refusal_names_the_place(self, model: Model) -> None:
        documents = _documents(["the cat", "le chat"], ["en", "fr"])
        with pytest.raises(InputError) as refusal:
            list(Predictor(model)(documents, "docs.jsonl"))
        assert str(refusal.value) == (
            'docs.jsonl:2: document "1": the model does not know the language "fr", only en, it. '
            "Without --strict such documents get no label."
        )

    def test_a_document_from_nowhere_is_named_by_its_id(self, model: Model) -> None:
        with pytest.raises(InputError, match=r'^documents: document "7": the model does not know'):
            _rows(model, [Document("7", "le chat", language="fr")])

    @pytest.mark.parametrize("tag", ["fr", "no tag!", "x"])
    def test_unknown_ones_pass_through(self, tag: str, model: Model) -> None:
        documents = _documents(["cat", "chat", "gatto"], ["en", tag, "it"])
        rows = _rows(model, documents, strict=False)
        assert rows[1] == {
            "id": "1",
            "language": tag,
            "labels": [],
            **dict.fromkeys(("best_label", "probability")),
            "abstained": "unknown-language",
            "probabilities": {},
        }
        assert [rows[0], rows[2]] == _rows(model, [documents[0], documents[2]])

    def test_missing_ones_are_detected_each_for_itself(self, model: Model) -> None:
        texts = ["the cat sleeps on the table", "il gatto dorme sul tavolo", "the garden by the river"]
        rows = _rows(model, _documents(texts, [None, None, None]))
        assert [row["language"] for row in rows] == ["en", "it", "en"]
        assert _rows(model, _documents(texts[1:2], [None]))[0]["language"] == "it"

    def test_languages_that_cannot_be_detected(self) -> None:
        model = (
            NaiveClassifier(C=1)
            .fit(["aa", "bb"] * 4, [["x"], ["y"]] * 4, languages=["tlh", "tlh", "qya", "qya"] * 2)
            .model_
        )
        with pytest.raises(InputError, match=r"^docs\.jsonl: none of qya, tlh can be detected"):
            list(Predictor(model)([Document("1", "aa")], "docs.jsonl"))

    def test_a_regional_variant_keeps_its_name(self, model: Model) -> None:
        plain, variant = _rows(model, _documents(["the cat", "the cat"], ["en", "en-GB"]))
        assert variant["language"] == "en_GB"
        assert variant["probabilities"] == plain["probabilities"]


@pytest.mark.parametrize(
    "y",
    [
        [(labels or ["none"])[0] for labels in LABELS],
        [len(labels) for labels in LABELS],
        [len(labels) > 1 for labels in LABELS],
    ],
    ids=["strings", "numbers", "truth values"],
)
def test_one_label_a_document(y: list[Any]) -> None:
    model = any_funnel(views=None, meta_C=1, random_state=0).fit(TEXTS, y, LANGUAGES).model_
    rows = _rows(model, _documents())
    for row, answer in zip(rows, model.predict(TEXTS, languages=LANGUAGES), strict=True):
        assert row["labels"] == [answer]
        assert row["probabilities"][row["labels"][0]] == max(row["probabilities"].values())
        assert sum(row["probabilities"].values()) == pytest.approx(1)
        assert "thresholds" not in row
