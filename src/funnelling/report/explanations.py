"""Explanations: the words for and against each label, as a page with marked texts or for a terminal."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from funnelling.errors import counted, printable
from funnelling.methods.explanation import OUT_OF_VOCABULARY
from funnelling.methods.rows import UNKNOWN_LANGUAGE
from funnelling.report.passages import excerpt, marked_plain, marked_terminal, signed
from funnelling.report.rendering import templates
from funnelling.report.tables import Table, plain
from funnelling.text.excerpts import amounts_by_word

MIN_CONTRIBUTION = 0.005  # what shows as more than 0

Row = dict[str, Any]
Amounts = list[tuple[str, float]]


class Sides(NamedTuple):
    """The words that speak for a label and those that speak against it, the strongest first."""

    for_it: Amounts
    against_it: Amounts


def sides(text: str, told: Row, top: int) -> Sides:
    """The words for and against a label: those of the text, or else the features by their names.

    What added so little that it would show as 0 is left out.

    >>> told = {"spans": [[0, 3, 0.5], [4, 7, -0.2], [8, 11, 0.25]]}
    >>> sides("tea bad Tea", told, 3)
    Sides(for_it=[('tea', 0.75)], against_it=[('bad', -0.2)])
    """
    if "spans" in told:
        amounts = amounts_by_word(text, told["spans"])
    else:
        amounts = [(str(name), amount) for name, amount in told.get("tier_one", {}).get("words", [])]
    ranked = sorted(
        (pair for pair in amounts if abs(pair[1]) >= MIN_CONTRIBUTION), key=lambda pair: -abs(pair[1])
    )
    return Sides(
        [pair for pair in ranked if pair[1] > 0][:top], [pair for pair in ranked if pair[1] < 0][:top]
    )


def explanation_rows(text: str, row: Row, top: int) -> Iterator[dict[str, object]]:
    """The words for and against each label of a document, one per row of a table, the strongest first."""
    for label, told in row["labels"].items():
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
    >>> counts = {"co_occurrence": 0.125, "documents": 12, "documents_in_language": 1}
    >>> seen({"candidate": {"rank": 2, "n_candidates": 40, "scores": scores, **counts}})
    'Candidate 2 of 40: own view +0.50, shared view −0.25, co-occurrence +0.12; 12 training documents, 1 in \
the language'
    """
    if "candidate" not in told:
        return ""
    of = told["candidate"]
    views = ", ".join(f"{view} view {signed(score)}" for view, score in of["scores"].items())
    return (
        f"Candidate {of['rank']} of {of['n_candidates']}: {views}, co-occurrence "
        f"{signed(of['co_occurrence'])}; {counted(of['documents'], 'training document')}, "
        f"{of['documents_in_language']:,} in the language"
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
        *(["The model cannot label this language."] if row["abstained"] == UNKNOWN_LANGUAGE else []),
        *(["Out of vocabulary: no label is assigned."] if row["abstained"] == OUT_OF_VOCABULARY else []),
        *(["Training had no documents in this language."] if row.get("zero_shot") else []),
    ]


def explanation_page(source: str, documents: Iterable[tuple[str, Row]], top: int) -> Iterator[str]:
    """Yield a page in pieces: each document with its labels, its text and its neighbours.

    ``documents`` are texts with their rows of `explain`, and ``source`` is the name of their file.
    """
    page = templates().get_template("explanations.html")
    functions = {"remarks": remarks, "seen": seen, "sides": sides, "verdict": verdict}
    return page.generate(title=f"Why these labels? {source}", documents=documents, top=top, **functions)


MAX_TEXT_CHARACTERS = 600  # characters of a text that are shown
MAX_NEIGHBOUR_CHARACTERS = 100
INDENT = "    "


def document_text(text: str, row: Row, top: int, colour: bool = False) -> str:
    """Lines about one document, an empty one at the end; ``row`` is a row of `explain`."""
    bold = "\x1b[1m{}\x1b[0m" if colour else "{}"
    lines = [bold.format(f"{printable(row['id'])}  {printable(row['language'])}"), *remarks(row)]
    told = row["labels"]
    if told:
        lines += ["", plain(_labels(row))]
    for label, of_label in told.items():
        lines += ["", bold.format(f"{printable(label)}: {verdict(of_label)}")]
        lines += [
            INDENT + line for line in (*_text_words(text, of_label, top), *filter(None, [seen(of_label)]))
        ]
        if of_label.get("spans"):
            mark = marked_terminal if colour else marked_plain
            lines += ["", INDENT + mark(*excerpt(text, of_label["spans"], MAX_TEXT_CHARACTERS))]
    if row.get("neighbours"):
        lines += ["", bold.format("Training documents that tier 2 finds most alike"), *_text_neighbours(row)]
    return "\n".join([*lines, "", ""])


def _labels(row: Row) -> Table:
    labels = row["labels"]
    cuts = any("threshold" in told for told in labels.values())
    named = any("name" in told for told in labels.values())
    return Table(
        ["label", *(["name"] if named else []), "probability", *(["threshold"] if cuts else []), "assigned"],
        [
            [
                label,
                *([told["name"]] if named else []),
                percent(told["probability"]),
                *([percent(told["threshold"])] if cuts else []),
                "yes" if told["assigned"] else "no",
            ]
            for label, told in labels.items()
        ],
    )


def _text_words(text: str, told: Row, top: int) -> list[str]:
    """The words for and against a label side by side, each with what it added."""
    both = sides(text, told, top)
    if not any(both):
        return []
    rows = [
        [cell for side in both for cell in ((side[i][0], signed(side[i][1])) if i < len(side) else ("", ""))]
        for i in range(max(map(len, both)))
    ]
    return plain(Table(["for", "adds", "against", "adds"], rows)).splitlines()


def _text_neighbours(row: Row) -> list[str]:
    lines = []
    for near in row["neighbours"]:
        labels = ", ".join(map(str, near["labels"])) or "no label"
        lines.append(f"{INDENT}{printable(near['id'])}  {near['language']}  {printable(labels)}")
        if "text" in near:
            shown = (
                near["text"]
                if len(near["text"]) <= MAX_NEIGHBOUR_CHARACTERS
                else near["text"][:MAX_NEIGHBOUR_CHARACTERS].rstrip() + " …"
            )
            lines.append(f"{INDENT * 2}{printable(shown)}")
    return lines
