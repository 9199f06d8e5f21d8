"""`fun-tat` and `fun-kfcv` do what the reference does, on documents of the embedded corpus.

Both sides get the same vectorizer and the same folds. Their solvers differ, by no more than `funnelling.svm`
promises beside scikit-learn. Each comparison that has to hold has a neighbour that must not: another variant,
another calibration.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score

from funnelling.corpus import Corpus
from funnelling.corpus.by_language import INNER_FOLDS
from funnelling.corpus.reference import read_sample
from funnelling.funnel.design import CALIBRATIONS, FUNNEL_VARIANTS
from funnelling.randomness import assign_folds
from funnelling.research import PaperFunnelClassifier, reference
from funnelling.research.reference import Funnel, fit_platt
from funnelling.svm import calibration
from funnelling.svm.learner import C_GRID
from tests.funnels import any_funnel

LANGUAGES = ("es", "it", "pt")
DOCUMENTS = 80  # of each language, to learn from
K = 4  # folds of Fun(KFCV): ten take longer, and do the same
POSTERIORS, SCORES, F1 = 2e-3, 1e-2, 0.01  # by how much both sides may differ
SAME = 0.999  # the share of decisions, where a score is not as near to 0 as that, that have to be the same
OTHER = 25  # times as much is the least by which another variant or calibration differs

Array = npt.NDArray[Any]
each_variant = pytest.mark.parametrize("variant", FUNNEL_VARIANTS)
each_calibration = pytest.mark.parametrize("kind", CALIBRATIONS)


class Side(NamedTuple):
    texts: dict[str, list[str]]
    labels: dict[str, Array]


@cache
def sides(single_label: bool = False) -> tuple[Side, Side]:
    """Documents to learn from and to test on, with every fourth label by frequency."""
    corpus = read_sample()
    train, test = corpus.split("train"), corpus.split("test")
    places = train.by_language()
    train = train.select(
        np.concatenate([np.arange(len(train))[places[tag]][:DOCUMENTS] for tag in LANGUAGES])
    )
    by_frequency = np.argsort(-train.label_matrix(train.label_set()).sum(axis=0), kind="stable")
    classes = [train.label_set()[column] for column in by_frequency[::4]]

    def side(of: Corpus) -> Side:
        rows = {tag: np.arange(len(of))[of.by_language()[tag]] for tag in LANGUAGES}
        labels = of.label_matrix(classes)
        kept = {tag: each[labels[each].any(axis=1)] if single_label else each for tag, each in rows.items()}
        if single_label:  # the rarest of its labels
            labels = np.eye(len(classes), dtype=bool)[len(classes) - 1 - labels[:, ::-1].argmax(axis=1)]
        return Side(
            {tag: [of.texts[row] for row in each] for tag, each in kept.items()},
            {tag: labels[each].astype(int) for tag, each in kept.items()},
        )

    return side(train), side(test)


def product_folds(k: int, language: str, documents: int) -> Array:
    return assign_folds(k, documents, 0, "folds" if k == 5 else "kfcv", language=language)


def vectorizer() -> TfidfVectorizer:
    return TfidfVectorizer(min_df=3, sublinear_tf=True)


@cache
def referred(
    variant: Any, kind: Any = "platt", meta_C: float | None = 1.0, single_label: bool = False
) -> Funnel:
    funnel = Funnel(variant, kind, meta_C=meta_C, k=K, vectorizer=vectorizer())
    with patch.object(reference, "deal_folds", product_folds):
        return funnel.fit(*sides(single_label)[0])


@cache
def product(variant: str, kind: str = "platt", meta_C: float | None = 1.0, single_label: bool = False) -> Any:
    given: dict[str, Any] = {"calibration": kind, "meta_C": meta_C, "folds": K, "vectorizer": vectorizer()}
    model = any_funnel(variant, views=None, random_state=0, n_jobs=1, **given)
    train, _ = sides(single_label)
    if not single_label:
        return model.fit(*train)
    return model.fit(train.texts, {tag: rows.argmax(axis=1) for tag, rows in train.labels.items()})


def posteriors(variant: str, kind: str) -> tuple[Array, Array, Array, Array]:
    """Posteriors of the training documents, then of the test documents: the product's and the reference's."""
    model, funnel, (_, test) = product(variant, kind), referred(variant, kind), sides()
    vectors = {
        tag: model.model_.fitted.learned.views.vectorizers[tag].transform(texts)
        for tag, texts in test.texts.items()
    }
    return (
        np.vstack([model.model_.fitted.kept.training["own"][tag] for tag in LANGUAGES]),
        np.vstack([funnel.phi2[tag] for tag in LANGUAGES]),
        np.vstack([model.model_.fitted.learned.views.own[tag].posteriors(vectors[tag]) for tag in LANGUAGES]),
        np.vstack([funnel.f_of_h1[tag](funnel.phi1[tag].transform(test.texts[tag])) for tag in LANGUAGES]),
    )


def scores(model: Any, funnel: Funnel, single_label: bool = False) -> tuple[Array, Array, Array]:
    """Scores of the test documents, the product's and the reference's, and the labels."""
    _, test = sides(single_label)
    ours = model.decision_function(test.texts)
    return (
        np.vstack([ours[tag] for tag in LANGUAGES]),
        np.vstack([funnel.scores(tag, test.texts[tag]) for tag in LANGUAGES]),
        np.vstack([test.labels[tag] for tag in LANGUAGES]),
    )


def apart(left: Array, right: Array) -> float:
    return float(np.abs(left - right).max())


def same_decisions(left: Array, right: Array) -> float:
    return float(((left > 0) == (right > 0))[np.abs(right) > SCORES].mean())


def test_the_documents_have_the_hard_cases() -> None:
    train, _ = sides()
    positives = np.array([rows.sum(axis=0) for rows in train.labels.values()])
    assert ((positives == 0) & positives.any(axis=0)).any(), "a label that one language lacks"
    alone = [
        rows[product_folds(K, tag, len(rows)) != fold].any(axis=0)
        for tag, rows in train.labels.items()
        for fold in range(K)
    ]
    assert (~np.array(alone)).sum() > K * (positives == 0).sum(), "a label that lies in one fold alone"


@each_variant
@each_calibration
def test_posteriors_are_those_of_the_reference(variant: str, kind: str) -> None:
    training, training_there, new, new_there = posteriors(variant, kind)
    assert apart(training, training_there) <= POSTERIORS
    assert apart(new, new_there) <= POSTERIORS


@each_calibration
def test_variants_differ_in_the_posteriors_of_training_documents_alone(kind: str) -> None:
    tat, kfcv = posteriors("tat", kind), posteriors("kfcv", kind)
    assert apart(tat[0], kfcv[1]) > OTHER * POSTERIORS
    assert apart(kfcv[0], tat[1]) > OTHER * POSTERIORS
    assert apart(tat[2], kfcv[3]) <= POSTERIORS


@each_variant
@pytest.mark.parametrize(("kind", "other"), [("platt", "fixed"), ("fixed", "none"), ("none", "platt")])
def test_another_calibration_gives_other_posteriors(variant: str, kind: str, other: str) -> None:
    ours, there = posteriors(variant, kind), posteriors(variant, other)
    assert apart(ours[0], there[1]) > OTHER * POSTERIORS
    assert apart(ours[2], there[3]) > OTHER * POSTERIORS


@each_variant
@each_calibration
def test_scores_and_decisions_are_those_of_the_reference(variant: str, kind: str) -> None:
    ours, there, _ = scores(product(variant, kind), referred(variant, kind))
    assert apart(ours, there) <= SCORES
    assert same_decisions(ours, there) >= SAME


@pytest.mark.parametrize(
    ("one", "other"), [(("tat", "platt"), ("kfcv", "platt")), (("tat", "platt"), ("tat", "fixed"))]
)
def test_another_variant_or_calibration_decides_otherwise(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    for here, away in ((one, other), (other, one)):
        ours, there, _ = scores(product(*here), referred(*away))
        assert apart(ours, there) > OTHER * SCORES
        assert same_decisions(ours, there) < SAME


@each_variant
def test_where_c_is_chosen_it_is_the_same_and_f1_too(variant: str) -> None:
    model, funnel = product(variant, meta_C=None), referred(variant, meta_C=None)
    assert model.model_.fitted.final_c == funnel.C
    ours, there, truth = scores(model, funnel)
    for average in ("micro", "macro"):
        f1, f1_there = (f1_score(truth, each > 0, average=average, zero_division=1) for each in (ours, there))
        assert f1 == pytest.approx(f1_there, abs=F1)


def test_where_each_document_has_one_label_the_highest_score_decides() -> None:
    ours, there, truth = scores(product("tat", single_label=True), referred("tat", single_label=True), True)
    assert apart(ours, there) <= SCORES
    first, second = np.sort(there, axis=1)[:, :-3:-1].T
    clear = first - second > 2 * SCORES
    assert ours.argmax(axis=1)[clear].tolist() == there.argmax(axis=1)[clear].tolist()
    assert (there.argmax(axis=1) == truth.argmax(axis=1)).mean() > 0.3
    predicted = product("tat", single_label=True).predict(sides(True)[1].texts)
    assert np.concatenate([predicted[tag] for tag in LANGUAGES]).tolist() == ours.argmax(axis=1).tolist()


def test_parameters_are_those_of_the_product() -> None:
    funnel, model = Funnel(), PaperFunnelClassifier("kfcv", random_state=0)
    assert (funnel.k, funnel.base_C, funnel.meta_C) == (model.folds, model.base_C, model.meta_C)
    assert (funnel.calibration, reference.GRID) == (model.calibration, C_GRID)
    assert (reference.FOLDS, FUNNEL_VARIANTS, CALIBRATIONS) == (
        INNER_FOLDS,
        ("tat", "kfcv"),
        ("platt", "fixed", "none"),
    )


def test_sigmoids_are_those_of_the_package_where_a_slope_falls_too() -> None:
    random = np.random.default_rng(0)
    Y = random.random((80, 4)) < 0.2
    held_out = random.normal(size=Y.shape) + Y * [2, 1, -2, 3]
    for ours, there in zip(calibration.fit_platt(held_out, Y), fit_platt(held_out, Y), strict=True):
        np.testing.assert_allclose(ours, there, atol=1e-3)


def test_folds_are_of_one_size_and_the_same_every_time() -> None:
    folds = reference.deal_folds(5, "it", 52)
    assert sorted(np.bincount(folds)) == [10, 10, 10, 11, 11]
    assert folds.tolist() == reference.deal_folds(5, "it", 52).tolist()
    assert folds.tolist() != reference.deal_folds(5, "pt", 52).tolist()


def test_the_reference_owes_nothing_to_the_package() -> None:
    tree = ast.parse(Path(reference.__file__).read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    assert {name.partition(".")[0] for name in imported} <= {
        *("collections", "dataclasses", "typing", "numpy", "scipy", "sklearn")
    }
