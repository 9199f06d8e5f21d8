"""Bars are ratios within one run."""

from collections.abc import Callable
from types import ModuleType

PEERS = ["linear-svc", "recipe"]


def _past(script: Callable[[str], ModuleType], **seconds: float) -> list[str]:
    methods = {name.replace("_", "-"): {"fit_seconds": value} for name, value in seconds.items()}
    return [line.partition(":")[0] for line in script("bars").past_bars(methods, PEERS)]


def test_pooled_may_take_three_times_as_long_as_linear_svc(script: Callable[[str], ModuleType]) -> None:
    assert _past(script, pooled=2.9, linear_svc=1.0) == []
    assert _past(script, pooled=3.1, linear_svc=1.0) == ["pooled"]


def test_no_method_may_take_more_than_ten_times_as_long_as_naive(
    script: Callable[[str], ModuleType],
) -> None:
    assert _past(script, naive=1.0, pooled=9.0, fun_auto=11.0, recipe=100.0) == ["fun-auto"]


def test_what_was_not_measured_has_no_bar(script: Callable[[str], ModuleType]) -> None:
    assert _past(script, fun_auto=11.0, recipe=1.0) == []
