"""How long a fit may take beside another in the same run, on short posts with noisy labels."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

POSTS = ("posts", "afrisenti-12.jsonl.gz")
LINEAR_SVC, NAIVE = 3, 10  # times as long: pooled beside linear-svc, every method beside naive


def past_bars(methods: Mapping[str, Mapping[str, Any]], peers: Collection[str]) -> Iterator[str]:
    """A line for each fit that takes longer than it may.

    >>> list(past_bars({"naive": {"fit_seconds": 2}, "fun-tat": {"fit_seconds": 25}}, []))
    ['fun-tat: a fit takes 12.5 times as long as one of naive, and may take 10 times as long.']
    """
    bars = [("pooled", "linear-svc", LINEAR_SVC)]
    bars += [(name, "naive", NAIVE) for name in methods if name not in peers]
    for name, other, bar in bars:
        if name in methods and other in methods:
            times = methods[name]["fit_seconds"] / methods[other]["fit_seconds"]
            if times > bar:
                yield (
                    f"{name}: a fit takes {times:.1f} times as long as one of {other}, "
                    f"and may take {bar} times as long."
                )
