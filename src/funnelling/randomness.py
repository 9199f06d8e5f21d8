"""Random choices that depend on the seed and on what they are for, never on the order of the work."""

import hashlib
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt


def is_seed(number: int) -> bool:
    """Whether a whole number can be the seed of a fit, which is saved with it.

    >>> is_seed(0), is_seed(-1), is_seed(2**64)
    (True, False, False)
    """
    return 0 <= number < 2**64


def seed_of(random_state: object) -> int:
    """Turn scikit-learn's ``random_state`` (None, an int or a RandomState) into one number."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def _digest(*keys: object) -> int:
    text = "\x1f".join(map(str, keys)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def stream(*keys: object) -> np.random.Generator:
    """A random stream that belongs to these keys, the seed first.

    >>> stream(0, "folds", "it").integers(100) == stream(0, "folds", "it").integers(100)
    np.True_
    """
    return np.random.default_rng(_digest(*keys))


def assign_folds(
    k: int,
    documents: int,
    *keys: object,
    language: str = "",
    groups: Sequence[Hashable | None] | None = None,
) -> npt.NDArray[np.intp]:
    """Give each of one language's documents a fold from 0 to k - 1.

    Documents without a group (None or NaN) are shuffled and dealt to the folds in turn, so that folds differ
    in size by one of them at most. A group goes to the fold that its name hashes to: the same in every
    language, whatever other documents there are, so that adding a language moves no document.

    >>> sorted(assign_folds(2, 4, 0).tolist())
    [0, 0, 1, 1]
    >>> a, b = assign_folds(5, 2, 0, groups=["law 1", "law 1"])
    >>> a == b
    np.True_
    """
    dealt = stream(*keys, language)
    if groups is None:
        return dealt.permutation(documents) % k
    names = list(groups)
    alone = np.array([is_missing(name) for name in names], dtype=bool)
    folds = np.empty(documents, dtype=np.intp)
    folds[alone] = dealt.permutation(np.count_nonzero(alone)) % k
    folds[~alone] = [_digest(*keys, "group", name) % k for name in names if not is_missing(name)]
    return folds


def is_missing(value: object) -> bool:
    """Whether there is nothing: None, or what an empty cell of a table holds, NaN or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)
