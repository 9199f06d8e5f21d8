"""Explanations as a page of HTML that needs nothing beside it: the words marked in the texts."""

from funnelling.report.explanations import Amounts, Row, remarks, seen, sides, verdict
from funnelling.report.markup import escape
from funnelling.report.page import head
from funnelling.report.passages import LEGEND, marked_html, signed

FOOT = "</main>\n</body>\n</html>\n"


def page_head(source: str) -> str:
    """What stands before the documents of a file."""
    title = f"Why these labels? {source}"
    about = (
        "For each document its labels, and for each label what the words of the text added to its score in "
        "tier 1; the sum of all views, weighted by their shares."
    )
    lines = [
        *head(title),
        "<header>",
        f"<h1>{escape(title)}</h1>",
        f"<p>{about}</p>",
        LEGEND,
        "</header>",
        "",
    ]
    return "\n".join(lines)


def document_html(text: str, row: Row, top: int) -> str:
    """One document with its labels, its text and its neighbours; ``row`` is a row of `explain`."""
    title = f"{escape(row['id'])} <small>{escape(row['language'])}</small>"
    lines = ["<section>", f"<h2>{title}</h2>", *(f"<p>{escape(remark)}</p>" for remark in remarks(row))]
    labels = row["labels"] or {}
    if not any("passages" in told for told in labels.values()):
        lines.append(marked_html(text, [], row["language"]))
    for number, (label, told) in enumerate(labels.items()):
        lines += [
            f'<details class="why"{"" if number else " open"}>',
            f"<summary><b>{escape(_called(label, told))}</b>: {escape(verdict(told))}</summary>",
            *([marked_html(text, told["passages"], row["language"])] if "passages" in told else []),
            *_words(label, text, told, top),
            *([f"<p>{escape(seen(told))}.</p>"] if seen(told) else []),
            "</details>",
        ]
    return "\n".join([*lines, *_neighbours(row), "</section>", ""])


def _called(label: str, told: Row) -> str:
    """A label, with its name where that is told and another one."""
    return label if told.get("name", label) == label else f"{label} ({told['name']})"


def _words(label: str, text: str, told: Row, top: int) -> list[str]:
    both = sides(text, told, top)
    tables = [
        table
        for title, amounts in (("Words for it", both.for_it), ("Words against it", both.against_it))
        for table in _table(f'{title}<span class="hidden">: {escape(label)}</span>', amounts)
    ]
    return ['<div class="sides">', *tables, "</div>"] if tables else []


def _table(caption: str, amounts: Amounts) -> list[str]:
    if not amounts:
        return []
    rows = [
        f'<tr><th scope="row">{escape(word)}</th><td class="number">{signed(amount)}</td></tr>'
        for word, amount in amounts
    ]
    columns = '<tr><th scope="col">word</th><th scope="col" class="number">adds</th></tr>'
    return [
        "<table>",
        f"<caption>{caption}</caption>",
        f"<thead>{columns}</thead>",
        "<tbody>",
        *rows,
        "</tbody></table>",
    ]


def _neighbours(row: Row) -> list[str]:
    if not row.get("neighbours"):
        return []
    items = []
    for near in row["neighbours"]:
        labels = ", ".join(map(str, near["labels"])) or "no label"
        shown = f'<p class="near" dir="auto">{escape(near["text"])}</p>' if "text" in near else ""
        items.append(
            f"<li><code>{escape(near['id'])}</code> {escape(near['language'])}: {escape(labels)}{shown}</li>"
        )
    return [
        "<h3>Training documents that tier 2 finds most alike</h3>",
        '<ul class="neighbours">',
        *items,
        "</ul>",
    ]
