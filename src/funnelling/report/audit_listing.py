"""Documents whose labels look wrong, for a terminal."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from funnelling.errors import printable
from funnelling.report.tables import number
from funnelling.text.excerpts import beginning


def audit_listing(rows: Sequence[Mapping[str, Any]], width: int) -> str:
    """Below each document what is doubted, and why, in lines of some width.

    >>> row = {"id": "a", "language": "en", "text": "A match", "labels": ["fire"], "kind": "swapped"}
    >>> row |= {"doubted": "fire", "rather": "sport", "probability": 0.1, "words_for": [], "peers": []}
    >>> row |= {"words_against": ["match"], "others_against": [], "suspicion": 0.9}
    >>> print(audit_listing([row], 60))
     1. a (en), suspicion .900
        swapped: fire .100, rather sport
        labels   fire
        against  match
        text     A match
    """
    lines = []
    for place, row in enumerate(rows, start=1):
        said = {
            "labels": ", ".join(row["labels"]) or "none",
            "for": ", ".join(row["words_for"]),
            "against": ", ".join([*row["words_against"], *row["others_against"]]),
            "beside": ", ".join(row["peers"]),
            "text": beginning(row.get("text", row.get("beginning", ""))),
        }
        lines.append(
            printable(f"{place:2}. {row['id']} ({row['language']}), suspicion {number(row['suspicion'])}")
        )
        lines.append(printable(f"    {row['kind']}: {_doubt(row)}"))
        for name, value in said.items():
            if value:
                begin, rest = f"    {name:<9}", " " * 13
                plain = " ".join(printable(value).split())
                lines.append(
                    textwrap.fill(plain, width, initial_indent=begin, subsequent_indent=rest).rstrip()
                )
    return "\n".join(lines)


def _doubt(row: Mapping[str, Any]) -> str:
    doubted, rather = row["doubted"], row["rather"]
    chance = "" if row["probability"] is None else f" {number(row['probability'])}"
    if doubted is None:
        return f"{rather}{chance}"
    return f"{doubted}{chance}" + ("" if rather is None else f", rather {rather}")
