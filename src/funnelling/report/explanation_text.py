"""An explanation for a terminal: labels, the words for and against each, the text, and what is like it."""

from funnelling.errors import printable
from funnelling.report.explanations import Row, percent, remarks, seen, sides, verdict
from funnelling.report.passages import excerpt, marked_plain, marked_terminal, signed
from funnelling.report.tables import Table, plain

TEXT = 600  # characters of a text that are shown
NEIGHBOUR = 100
INDENT = "    "


def document_text(text: str, row: Row, top: int, colour: bool = False) -> str:
    """Lines about one document, an empty one at the end; ``row`` is a row of `explain`."""
    bold = "\x1b[1m{}\x1b[0m" if colour else "{}"
    lines = [bold.format(f"{printable(row['id'])}  {printable(row['language'])}"), *remarks(row)]
    told = row["labels"] or {}
    if told:
        lines += ["", plain(_labels(row))]
    for label, of_label in told.items():
        lines += ["", bold.format(f"{printable(label)}: {verdict(of_label)}")]
        lines += [INDENT + line for line in (*_words(text, of_label, top), *filter(None, [seen(of_label)]))]
        if of_label.get("passages"):
            mark = marked_terminal if colour else marked_plain
            lines += ["", INDENT + mark(*excerpt(text, of_label["passages"], TEXT))]
    if row.get("neighbours"):
        lines += ["", bold.format("Training documents that tier 2 finds most alike"), *_neighbours(row)]
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


def _words(text: str, told: Row, top: int) -> list[str]:
    """The words for and against a label side by side, each with what it added."""
    both = sides(text, told, top)
    if not any(both):
        return []
    rows = [
        [cell for side in both for cell in ((side[i][0], signed(side[i][1])) if i < len(side) else ("", ""))]
        for i in range(max(map(len, both)))
    ]
    return plain(Table(["for", "adds", "against", "adds"], rows)).splitlines()


def _neighbours(row: Row) -> list[str]:
    lines = []
    for near in row["neighbours"]:
        labels = ", ".join(map(str, near["labels"])) or "no label"
        lines.append(f"{INDENT}{printable(near['id'])}  {near['language']}  {printable(labels)}")
        if "text" in near:
            shown = (
                near["text"] if len(near["text"]) <= NEIGHBOUR else near["text"][:NEIGHBOUR].rstrip() + " …"
            )
            lines.append(f"{INDENT * 2}{printable(shown)}")
    return lines
