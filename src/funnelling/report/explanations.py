"""What an explanation says, apart from how it looks: the words for and against, by what they added."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from funnelling.report.passages import signed
from funnelling.text.excerpts import amounts_by_word

LEAST = 0.005  # what shows as more than 0

Row = dict[str, Any]
Amounts = list[tuple[str, float]]


class Sides(NamedTuple):
    """The words that speak for a label and those that speak against it, the strongest first."""

    for_it: Amounts
    against_it: Amounts


def sides(text: str, told: Row, top: int) -> Sides:
    """The words for and against a label: those of the text, or else the features by their names.

    What added so little that it would show as 0 is left out.

    >>> told = {"passages": [[0, 3, 0.5], [4, 7, -0.2], [8, 11, 0.25]]}
    >>> sides("tea bad Tea", told, 3)
    Sides(for_it=[('tea', 0.75)], against_it=[('bad', -0.2)])
    """
    amounts = amounts_by_word(text, told["passages"]) if "passages" in told else _by_feature(told)
    ranked = sorted((pair for pair in amounts if abs(pair[1]) >= LEAST), key=lambda pair: -abs(pair[1]))
    return Sides(
        [pair for pair in ranked if pair[1] > 0][:top], [pair for pair in ranked if pair[1] < 0][:top]
    )


def explanation_rows(text: str, row: Row, top: int) -> Iterator[dict[str, object]]:
    """The words for and against each label of a document, one per row of a table, the strongest first."""
    for label, told in (row["labels"] or {}).items():
        for word, amount in chain(*sides(text, told, top)):
            yield {
                "id": row["id"],
                "language": row["language"],
                "label": label,
                **({"label_name": told["name"]} if "name" in told else {}),
                "probability": told["probability"],
                "assigned": told["assigned"],
                "word": word,
                "adds": amount,
            }


def _by_feature(told: Row) -> Amounts:
    return [(str(name), amount) for name, amount in told.get("tier_one", {}).get("words", [])]


def verdict(told: Row) -> str:
    """How probable a label is, and whether it is assigned.

    >>> verdict({"probability": 0.921, "threshold": 0.4, "assigned": True})
    '92 %, assigned (above 40 %)'
    """
    threshold = f" (above {percent(told['threshold'])})" if "threshold" in told else ""
    return f"{percent(told['probability'])}, {'' if told['assigned'] else 'not '}assigned{threshold}"


def seen(told: Row) -> str:
    """What tier 2 saw of a label, where it is a candidate among many; else nothing.

    >>> scores = {"own": 0.5, "shared": -0.25}
    >>> counts = {"company": 0.125, "documents": 12, "documents_in_language": 1}
    >>> seen({"candidate": {"place": 2, "of": 40, "scores": scores, **counts}})
    'Candidate 2 of 40: own view +0.50, shared view −0.25, company +0.12; learned from 12, 1 in the language'
    """
    if "candidate" not in told:
        return ""
    of = told["candidate"]
    views = ", ".join(f"{view} view {signed(score)}" for view, score in of["scores"].items())
    return (
        f"Candidate {of['place']} of {of['of']}: {views}, company {signed(of['company'])}; learned from "
        f"{of['documents']:,}, {of['documents_in_language']:,} in the language"
    )


def percent(probability: float) -> str:
    """A probability as a reader wants it.

    >>> percent(0.4217), percent(0.001), percent(0.9999)
    ('42 %', '< 1 %', '> 99 %')
    """
    if 0 < probability < 0.005:
        return "< 1 %"
    if 0.995 <= probability < 1:
        return "> 99 %"
    return f"{probability:.0%}".replace("%", " %")


def remarks(row: Row) -> list[str]:
    """What must be known of a document beside its labels."""
    return [
        *(["The model cannot label this language."] if row["labels"] is None else []),
        *(["Nothing in this text is known to the model: no label is assigned."] if "evidence" in row else []),
        *(["Training had no documents in this language."] if row.get("zero_shot") else []),
    ]
