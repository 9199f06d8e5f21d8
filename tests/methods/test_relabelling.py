"""Other labels for a fitted model: renaming and dropping leave all other bits alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funnelling import InputError, LabelSet, audit, load_model
from funnelling.corpus.label_set import Label
from funnelling.funnel.estimator import FunnelEstimator
from funnelling.methods.learning import Relabelling, correction, update
from funnelling.research import DCIClassifier, NaiveClassifier, PooledClassifier
from funnelling.storage import save_model
from tests.artificial import text_corpus
from tests.funnels import any_funnel

TEXTS, LABELS, LANGUAGES = text_corpus(60)
SEVERAL = [labels or ["horses"] for labels in LABELS]
ONE = [labels[0] for labels in SEVERAL]
NEW, _, NEW_LANGUAGES = text_corpus(25, seed=1)
NAMES = {"cats": "felines", "dogs": "hounds of all kinds", "birds": "dogs"}
BACK = {new: old for old, new in NAMES.items()}

Make = Callable[[], Any]


def funnel(**parameters: Any) -> FunnelEstimator:
    return any_funnel(**{"views": None, "random_state": 0, "base_C": 1.0, **parameters})


METHODS: dict[str, Make] = {
    "paper": funnel,
    "thresholds": lambda: funnel(thresholds="macro-f1"),
    "compact": lambda: funnel(keep="nothing"),
    "zero-shot": lambda: funnel(zero_shot="pooled"),
    **{
        combine: lambda combine=combine: funnel(views=["own", "pooled"], combine=combine)
        for combine in ("mean", "concat", "stacked", "odds")
    },
    "naive": lambda: NaiveClassifier(C=1.0, random_state=0),
    "pooled": lambda: PooledClassifier(C=1.0, random_state=0),
    "calibrated": lambda: PooledClassifier(C=1.0, calibrated=True, random_state=0),
    "dci": lambda: DCIClassifier(C=1.0, random_state=0),
}
ONE_LABEL = [name for name in METHODS if name not in ("thresholds", "calibrated")]


def fitted(name: str, one_label: bool = False) -> Any:
    return METHODS[name]().fit(TEXTS, ONE if one_label else SEVERAL, languages=LANGUAGES)


def saved(model: Any, folder: Path) -> Any:
    save_model(model, folder / "model", force=True)
    return load_model(folder / "model")


def answers(model: Any) -> list[Any]:
    given = {"X": NEW, "languages": NEW_LANGUAGES}
    return [
        model.decision_function(**given),
        model.predict_proba(**given),
        *(model.thresholds_[language] for language in model.languages_),
    ]


@pytest.mark.parametrize(
    ("name", "one_label"), [(name, False) for name in METHODS] + [(name, True) for name in ONE_LABEL]
)
def test_renaming_changes_names_alone(name: str, one_label: bool, tmp_path: Path) -> None:
    model = fitted(name, one_label)
    before, predicted = answers(model), model.predict(NEW, languages=NEW_LANGUAGES)
    model = saved(model.relabel(NAMES), tmp_path)
    assert model.classes_.tolist() == ["dogs", "felines", "hounds of all kinds", "horses"]
    for old, new in zip(before, answers(model), strict=True):
        assert np.array_equal(old, new)
    renamed = model.predict(NEW, languages=NEW_LANGUAGES)
    expected = [NAMES.get(label, label) for label in predicted] if one_label else predicted
    assert np.array_equal(renamed, expected)
    model = saved(model.relabel(BACK), tmp_path)
    assert model.predict(NEW, languages=NEW_LANGUAGES).tolist() == predicted.tolist()
    assert model.classes_.tolist() == ["birds", "cats", "dogs", "horses"]


@pytest.mark.parametrize("name", METHODS)
def test_dropping_leaves_the_other_labels_to_the_bit(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    before, predicted = answers(model), model.predict(NEW, languages=NEW_LANGUAGES)
    model = saved(model.relabel({"cats": None}), tmp_path)
    assert model.classes_.tolist() == ["birds", "dogs", "horses"]
    for old, new in zip(before, answers(model), strict=True):
        assert np.array_equal(old[..., [0, 2, 3]], new)
    assert np.array_equal(model.predict(NEW, languages=NEW_LANGUAGES), predicted[:, [0, 2, 3]])
    model = saved(model.relabel({"birds": "", "dogs": "hounds"}), tmp_path)  # and once more
    assert model.classes_.tolist() == ["hounds", "horses"]
    for old, new in zip(before, answers(model), strict=True):
        assert np.array_equal(old[..., [2, 3]], new)


@pytest.mark.parametrize("name", ONE_LABEL)
def test_one_label_is_the_best_of_the_rest(name: str, tmp_path: Path) -> None:
    model = fitted(name, one_label=True)
    scores, probabilities, *_ = answers(model)
    model = saved(model.relabel({"cats": None}), tmp_path)
    rest = scores[:, [0, 2, 3]]
    assert np.array_equal(model.decision_function(NEW, languages=NEW_LANGUAGES), rest)
    assert np.array_equal(model.predict(NEW, languages=NEW_LANGUAGES), model.classes_[rest.argmax(axis=1)])
    left = probabilities[:, [0, 2, 3]] / probabilities[:, [0, 2, 3]].sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(NEW, languages=NEW_LANGUAGES), left)
    model = saved(model.relabel({"birds": None}), tmp_path)  # two are left
    assert np.allclose(model.decision_function(NEW, languages=NEW_LANGUAGES), rest[:, 2] - rest[:, 1])
    best = model.classes_[rest[:, 1:].argmax(axis=1)]
    assert np.array_equal(model.predict(NEW, languages=NEW_LANGUAGES), best)
    left = probabilities[:, [2, 3]] / probabilities[:, [2, 3]].sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(NEW, languages=NEW_LANGUAGES), left)
    assert [list(row["labels"]) for row in model.explain(NEW, NEW_LANGUAGES, top=3)]
    with pytest.raises(InputError, match="would have one label"):
        model.relabel({"dogs": None})


@pytest.mark.parametrize("one_label", [False, True])
@pytest.mark.parametrize("name", ["paper", "mean", "concat", "naive", "pooled"])
def test_explanations_go_on_to_sum_to_the_scores(name: str, one_label: bool, tmp_path: Path) -> None:
    model = fitted(name, one_label)
    given = (NEW, NEW_LANGUAGES, ["dogs", "horses"], 99)
    before = model.explain(*given)
    model = saved(model.relabel({"cats": None, "dogs": "hounds"}), tmp_path)
    for old, new in zip(before, model.explain(NEW, NEW_LANGUAGES, ["hounds", "horses"], 99), strict=True):
        for was, now in zip(old["labels"].values(), new["labels"].values(), strict=True):
            assert was["score"] == now["score"]
            words, other = dict(was["tier_one"]["words"]), dict(now["tier_one"]["words"])
            assert words == pytest.approx(other)
            if "tier_two" in was or not one_label:  # else it is the probability, of the rest
                assert was["tier_one"]["posterior"] == pytest.approx(now["tier_one"]["posterior"])
            if "tier_two" in was:
                told = [name.replace("cats", "(dropped label)") for name, _ in was["tier_two"]["labels"]]
                told = [name.replace("dogs", "hounds") for name in told]
                assert [name for name, _ in now["tier_two"]["labels"]] == told
        labels = {label for neighbour in new["neighbours"] for label in neighbour["labels"]}
        assert labels <= {"birds", "hounds", "horses"}


def test_what_is_held_out_follows_the_labels() -> None:
    model = fitted("thresholds")
    before = model.model_.held_out_measures(["birds", "dogs", "horses"])
    assert model.relabel({"cats": None}).held_out_scores_ == before
    assert list(fitted("paper").relabel(NAMES).held_out_scores_) == ["en", "it"]


def test_numbers_become_names() -> None:
    y = np.array([["cats" in labels, "dogs" in labels, "birds" in labels] for labels in SEVERAL]).astype(int)
    model = NaiveClassifier(C=1.0).fit(TEXTS, y, languages=LANGUAGES)
    assert model.relabel({0: 7}).classes_.tolist() == [7, 1, 2]
    assert model.relabel({7: "cats", "1": "dogs"}).classes_.tolist() == ["cats", "dogs", "2"]


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ({"cat": "x"}, "no label 'cat'. Did you mean cats?"),
        ({"Dogs": "x"}, "no label 'Dogs'. Did you mean dogs?"),
        ({"xyz": "x"}, "funnelling inspect"),
        (dict.fromkeys(["birds", "cats", "dogs", "horses"]), "would have no label"),
        (dict.fromkeys(["birds", "cats", "dogs"], " "), "would have one label"),
        (dict.fromkeys(["birds", "cats", "dogs", "horses"], "animals"), "would have one label"),
    ],
)
def test_what_makes_no_sense_is_refused(mapping: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Relabelling.of(["birds", "cats", "dogs", "horses"], mapping)


def test_all_happens_at_once() -> None:
    relabelling = Relabelling.of(["a", "b", "c", "d", "e"], {"a": "b", "b": "c", "c": None, "e": "d"})
    assert relabelling.new == ["b", "c", "d"]
    assert relabelling.renamed == {"a": "b", "b": "c"}
    assert relabelling.merged == {"d": ["d", "e"]}
    assert relabelling.dropped == ["c"]


# --- learning again --------------------------------------------------------------------------------------

MERGE = {"birds": "pets", "cats": "pets", "horses": None}


def under(mapping: dict[str, str | None], labels: list[Any]) -> list[Any]:
    """Labels under their new names, as they would have come to a fit."""
    if isinstance(labels[0], str):
        return [mapping.get(label, label) for label in labels]
    return [sorted({new for label in row if (new := mapping.get(label, label))}) for row in labels]


def bits(model: Any) -> list[Any]:
    return [model.classes_.tolist(), *(each.tolist() for each in answers(model))]


@pytest.mark.parametrize(
    "name", ["paper", "mean", "odds", "thresholds", "zero-shot", "naive", "pooled", "dci"]
)
def test_a_merge_is_a_fit_on_the_merged_labels(name: str, tmp_path: Path) -> None:
    anew = METHODS[name]().fit(TEXTS, under(MERGE, SEVERAL), languages=LANGUAGES)
    model = saved(fitted(name), tmp_path).relabel(MERGE)
    assert bits(model) == bits(anew)
    assert bits(saved(model, tmp_path)) == bits(anew)


@pytest.mark.parametrize("name", ["paper", "odds", "naive"])
@pytest.mark.parametrize("mapping", [MERGE, {"birds": "pets", "cats": "pets"}, {"cats": "dogs"}])
def test_a_merge_of_labels_that_exclude_each_other(
    name: str, mapping: dict[str, str | None], tmp_path: Path
) -> None:
    rows = [row for row, label in enumerate(under(mapping, ONE)) if label is not None]
    anew = METHODS[name]().fit(
        [TEXTS[row] for row in rows],
        [under(mapping, ONE)[row] for row in rows],
        languages=[LANGUAGES[row] for row in rows],
    )
    model = saved(fitted(name, one_label=True), tmp_path).relabel(mapping)
    assert bits(model) == bits(anew)
    assert model.documents_ == anew.documents_


def test_the_choice_of_views_outlives_a_merge() -> None:
    model = funnel(views="auto").fit(TEXTS, SEVERAL, languages=LANGUAGES)
    before = model.choice_.summary()
    assert model.relabel({"cats": "dogs"}).choice_.summary() == before


def test_what_was_held_out_is_measured_under_the_new_labels() -> None:
    for one_label in (False, True):
        model = fitted("mean", one_label)
        plan = Relabelling.of(model.classes_, {"cats": "dogs"})
        before = model.model_.fitted.measures_under(plan, model.model_.labels, model.model_.archive)
        assert {language: each["documents"] for language, each in before.items()} == model.documents_
        same = Relabelling.of(model.classes_, {})
        assert (
            model.model_.fitted.measures_under(same, model.model_.labels, model.model_.archive)
            == model.held_out_scores_
        )


def test_held_out_documents_get_the_best_of_the_rest() -> None:
    model = fitted("mean", one_label=True)
    archive, scores = model.training_, model.model_.fitted.kept.scores
    model.relabel({"cats": None})
    for language, measures in model.held_out_scores_.items():
        truth = archive.targets[language]
        rows = ~truth[:, 1]
        best = np.array([0, 2, 3])[scores[language][rows][:, [0, 2, 3]].argmax(axis=1)]
        assert measures["documents"] == rows.sum()
        assert measures["accuracy"] == pytest.approx((truth[rows].argmax(axis=1) == best).mean())


@pytest.mark.parametrize("name", ["paper", "mean", "pooled"])
@pytest.mark.parametrize("mapping", [NAMES, {"cats": None, "dogs": "hounds"}])
def test_models_learn_on_under_new_labels(name: str, mapping: dict[str, str | None], tmp_path: Path) -> None:
    further, labels, languages = text_corpus(20, seed=2)
    ids = [f"d{row}" for row in range(len(TEXTS) + len(further))]
    old, new = ids[: len(TEXTS)], ids[len(TEXTS) :]
    model = METHODS[name]().fit(TEXTS, SEVERAL, languages=LANGUAGES, ids=old)
    model = saved(model.relabel(mapping), tmp_path)
    model.update(further, under(mapping, labels), languages, ids=new, exact=not model.model_.dropped)
    order = [mapping.get(label, label) for label in ("birds", "cats", "dogs", "horses")]
    assert model.classes_.tolist() == [label for label in order if label]
    together = under(mapping, [*SEVERAL, *labels])
    y = np.array([[label in row for label in model.classes_] for row in together]).astype(int)
    anew = METHODS[name]().fit([*TEXTS, *further], y, languages=[*LANGUAGES, *languages], ids=ids)
    assert [each.tolist() for each in answers(model)] == [each.tolist() for each in answers(anew)]
    assert not model.model_.dropped


@pytest.mark.parametrize("drops", [["cats"], ["cats", "horses"]])
def test_documents_of_a_dropped_class_leave_when_it_learns_on(drops: list[str], tmp_path: Path) -> None:
    ids = [f"d{row}" for row in range(len(TEXTS))]
    model = funnel().fit(TEXTS, ONE, languages=LANGUAGES, ids=ids)
    model = saved(model.relabel(dict.fromkeys(drops)), tmp_path)
    gone = [row for row, label in enumerate(ONE) if label in drops]
    assert model.documents_ == {"en": 30, "it": 30}  # it has learned from them
    # One of them gets another label, so that it stays.
    corrected = correction(model.model_, [ids[gone[0]]], ["birds"])
    model.model_ = update(model.model_, corrected, exact=True)
    labels = ["birds" if row == gone[0] else label for row, label in enumerate(ONE)]
    rows = [row for row in range(len(TEXTS)) if row not in gone[1:]]
    anew = funnel().fit(
        [TEXTS[row] for row in rows],
        [labels[row] for row in rows],
        languages=[LANGUAGES[row] for row in rows],
        ids=[ids[row] for row in rows],
    )
    assert model.documents_ == anew.documents_
    assert bits(model) == bits(anew)


def test_documents_of_a_dropped_class_can_be_forgotten(tmp_path: Path) -> None:
    ids = [f"d{row}" for row in range(len(TEXTS))]
    model = funnel().fit(TEXTS, ONE, languages=LANGUAGES, ids=ids)
    model = saved(model.relabel({"cats": None}), tmp_path)
    model.forget([ids[ONE.index("cats")]])
    rows = [row for row, label in enumerate(ONE) if label != "cats"]
    anew = funnel().fit(
        [TEXTS[row] for row in rows], [ONE[row] for row in rows], languages=[LANGUAGES[row] for row in rows]
    )
    assert bits(model) == bits(anew)


def test_a_compact_model_cannot_merge() -> None:
    with pytest.raises(InputError, match=r"compact.*Train it again"):
        fitted("compact").relabel({"cats": "dogs"})


@pytest.mark.parametrize("labels", [SEVERAL, ONE], ids=["several", "one"])
@pytest.mark.parametrize("mapping", [{"birds": None}, {"birds": "cats"}, {"birds": "fowl"}], ids=str)
def test_a_relabelled_model_can_be_audited(mapping: dict[str, Any], labels: Any) -> None:
    model = funnel().fit(TEXTS, labels, LANGUAGES).relabel(mapping)
    for posteriors in model.model_.fitted.held_out_posteriors(model.model_.labels).values():
        assert posteriors.shape[1] == len(model.classes_)
    audit(model)


def test_what_would_leave_only_excluded_labels_is_refused_before_anything_changes() -> None:
    model = funnel().fit(TEXTS, SEVERAL, LANGUAGES)
    before = model.classes_.tolist()
    model.label_set_ = LabelSet.of([Label("cats", exclude=True), Label("dogs", exclude=True)])
    with pytest.raises(InputError, match="Every label of the model is excluded"):
        model.relabel({label: None for label in before if label not in ("cats", "dogs")})
    assert model.classes_.tolist() == before
