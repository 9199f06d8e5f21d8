"""Whose turn it is: which language the next document to look at is taken from."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

LESS_THAN_SHARE = 1 / 3

Item = TypeVar("Item")


def in_turn(
    rankings: Mapping[str, Iterator[Item]],
    labelled: Mapping[str, int],
    documents: Mapping[str, int],
    balance: bool = False,
) -> Iterator[tuple[str, Item]]:
    """The items of all languages, each language's in their order, such that any beginning is well divided.

    With them labelled, a language is to have labelled documents in proportion to a power of all its
    documents: one with eight times as many gets twice as many. What is learned of a language grows ever
    more slowly with its documents, so that the first ones of a small language are worth more than the
    thousandth of a large one. ``balance`` asks for as many in each.

    Parameters
    ----------
    rankings : items by language, the best first
    labelled : how many documents of each language are labelled already
    documents : how many there are in all
    balance : whether all languages are to have as many

    Examples
    --------
    >>> def taken(labelled, balance=False):
    ...     rankings = {"en": iter("abcdefgh"), "it": iter("xyz")}
    ...     return "".join(item for _, item in in_turn(rankings, labelled, {"en": 800, "it": 100}, balance))
    >>> taken({})
    'abxcdyefzgh'
    >>> taken({"en": 2}, balance=True)
    'xyazbcdefgh'
    """
    power = 0.0 if balance else LESS_THAN_SHARE
    shares = {tag: max(documents[tag], 1) ** power for tag in rankings}
    counts = {tag: labelled.get(tag, 0) for tag in rankings}
    open_ones = sorted(rankings)
    while open_ones:
        tag = min(open_ones, key=lambda each: ((counts[each] + 1) / shares[each], each))
        try:
            item = next(rankings[tag])
        except StopIteration:
            open_ones.remove(tag)
            continue
        counts[tag] += 1
        yield tag, item
