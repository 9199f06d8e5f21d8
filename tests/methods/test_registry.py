"""Methods by the names users type, and their settings."""

import re
from dataclasses import replace
from typing import Any

import pytest

from funnelling import FunnellingClassifier, InputError
from funnelling.methods.baselines import NAIVE
from funnelling.methods.registry import (
    DEFAULT_METHOD,
    METHODS,
    Settings,
    make_method,
    name_of,
    parse_methods,
    parse_settings,
    title,
)
from funnelling.research import NaiveClassifier


def made(name: str, settings: Settings) -> Any:
    return make_method(name, settings=settings).parameters


@pytest.mark.parametrize("name", METHODS)
def test_every_name_makes_its_method(name: str) -> None:
    method = make_method(name, seed=3, jobs=2, verbose=1)
    assert name_of(method.algorithm, method.parameters) == name
    given = method.parameters
    assert (given.random_state, given.n_jobs, given.verbose) == (3, 2, 1)


def test_names_are_the_designs() -> None:
    funnels = {"fun-tat", "fun-kfcv", "fun-zero-shot", "fun-views", "fun-auto"}
    baselines = {
        "naive",
        "pooled",
        "words-and-characters",
        "lri",
        "clesa",
        "kcca",
        "dci",
        "mle",
        "mle-lstm",
        "upper-bound",
    }
    assert funnels | baselines <= set(METHODS)


def test_the_default_of_python_is_that_of_the_command() -> None:
    default = FunnellingClassifier(random_state=0)
    assert default.parameters.get_params() == make_method(DEFAULT_METHOD, seed=0).parameters.get_params()
    assert name_of(default.algorithm, default.parameters) == DEFAULT_METHOD == "fun-auto"


@pytest.mark.parametrize("variant", ["tat", "kfcv"])
def test_the_funnels_of_the_paper_are_one_argument_away(variant: str) -> None:
    paper = FunnellingClassifier.from_paper(variant, random_state=0)
    assert paper.parameters.get_params() == make_method(f"fun-{variant}", seed=0).parameters.get_params()


def test_a_method_of_somebody_else_has_a_name_of_its_own() -> None:
    mine = replace(NAIVE, name="mine")
    assert name_of(mine, NaiveClassifier()) == "mine"
    assert title("mine") == "mine"


class TestSettings:
    def test_reach_the_method(self) -> None:
        settings = {"fun-tat": {"meta_C": 10, "calibration": "none"}, "naive": {"C": 3}}
        method = made("fun-tat", settings)
        assert (method.meta_C, method.calibration) == (10, "none")
        assert made("naive", settings).C == 3

    @pytest.mark.parametrize(
        "parameter", ["variant", "random_state", "n_jobs", "verbose", "vectorizer", "nope"]
    )
    def test_that_are_none(self, parameter: str) -> None:
        with pytest.raises(InputError, match=rf"fun-tat has no setting '{parameter}'\. It has base_C, cal"):
            make_method("fun-tat", settings={"fun-tat": {parameter: 1}})

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("1", 1),
            ("1.5", 1.5),
            ("1e3", 1000.0),
            ("null", None),
            ("true", True),
            ('"1"', "1"),
            ("fixed", "fixed"),
            ("a=b", "a=b"),
            ("", ""),
            ("[1, 2]", [1, 2]),
        ],
    )
    def test_values(self, text: str, value: object) -> None:
        assert parse_settings([f"fun-tat.x={text}"], ["fun-tat"]) == {"fun-tat": {"x": value}}

    def test_pythons_words_are_understood(self) -> None:
        items = ["fun-views.normalise=False", "fun-views.keep=texts", "fun-views.base_C=None"]
        found = parse_settings(items, ["fun-views"])["fun-views"]
        assert found == {"normalise": False, "keep": "texts", "base_C": None}

    def test_the_last_of_a_parameter_counts(self) -> None:
        assert parse_settings(["naive.C=1", "naive.C=2"], ["naive"]) == {"naive": {"C": 2}}

    @pytest.mark.parametrize("item", ["C", "naive.C", "naive.=1", "=1", "."])
    def test_that_cannot_be_read(self, item: str) -> None:
        with pytest.raises(InputError, match=r"is no setting\. Write METHOD\.PARAM=VALUE"):
            parse_settings([item], ["naive"])

    def test_of_a_method_that_takes_no_part(self) -> None:
        with pytest.raises(InputError, match=r"--set naive\.C=1: naive takes no part, only pooled, fun-tat"):
            parse_settings(["naive.C=1"], ["pooled", "fun-tat"])


class TestLists:
    def test_all(self) -> None:
        assert parse_methods(" all ") == list(METHODS)

    def test_order_is_kept_and_doubles_are_dropped(self) -> None:
        assert parse_methods("pooled, naive,pooled") == ["pooled", "naive"]

    @pytest.mark.parametrize("text", ["", "naive,", "Naive", "naive;pooled"])
    def test_refused(self, text: str) -> None:
        with pytest.raises(InputError, match=r"no method '.*'\. (Choose from naive, |Did you mean )"):
            parse_methods(text)


class TestVariants:
    def test_a_variant_is_its_method_under_settings_of_its_own(self) -> None:
        names = parse_methods("pooled, pooled:at-0")
        settings = parse_settings(["pooled:at-0.calibrated=false"], names)
        plain, variant = (made(name, settings) for name in names)
        assert (plain.calibrated, variant.calibrated) == (True, False)
        assert [title(name) for name in names] == ["Pooled", "Pooled, at 0"]

    def test_settings_of_the_method_are_not_the_variant_s(self) -> None:
        settings = parse_settings(["naive.C=3", "naive:b.C=4"], ["naive", "naive:b"])
        assert made("naive:b", settings).C == 4

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("pool:at-0", "no method 'pool'. Did you mean pooled?"),
            ("pooled:", "'pooled:' is no variant. Write pooled:NAME"),
            ("pooled:a/b", "'pooled:a/b' is no variant"),
            ("upper-bound:b", "upper-bound has no variants"),
        ],
    )
    def test_odd_names_are_refused(self, name: str, message: str) -> None:
        with pytest.raises(InputError, match=f"^{re.escape(message)}"):
            parse_methods(f"naive,{name}")

    def test_one_without_settings_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"^pooled:b is pooled itself. Add --set pooled:b.PARAM=VALUE"):
            parse_settings(["pooled.C=1"], ["pooled", "pooled:b"])
