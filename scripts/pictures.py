"""The pictures of the README, light or dark as the reader has it: what a funnel is, and what it brings.

    python scripts/pictures.py      # draws docs/pictures/*.svg anew

What it brings is read from committed results, so that the picture says no more than they do.
"""

import csv
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
PICTURES = DOCS / "pictures"
RESULTS = DOCS / "reports" / "debian-comparable-10" / "data" / "languages.csv"

STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2328 }
.faint { fill: #59636e; font-size: 12px }
.head { font-weight: 600; font-size: 14px }
.end { text-anchor: end }
.middle { text-anchor: middle }
.page { fill: #ffffff }
.card { fill: #ffffff; stroke: #d1d9e0 }
.funnel { fill: #eef2f7 }
.line { stroke: #afb8c1; fill: none; stroke-width: 1.5 }
.first { fill: #b45f06; stroke: none }
.second { fill: #7a4fb5; stroke: none }
.third { fill: #1a7f6b; stroke: none }
.ours { fill: #0b5cad; stroke: none }
.pale { opacity: .35 }
.on { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .faint { fill: #9198a1 }
  .page { fill: #0d1117 }
  .card { fill: #151b23; stroke: #3d444d }
  .funnel { fill: #1c2430 }
  .line { stroke: #656c76 }
  .first { fill: #e09b4f } .second { fill: #b18be8 } .third { fill: #4fc3ab } .ours { fill: #58a6ff }
  .on { fill: #0d1117 }
}
"""


def text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, style: str, corner: float = 8) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{corner:g}" class="{style}"/>'
    )


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    bend = (x + to_x) / 2
    return f'<path d="M{x:g} {y:g} C{bend:g} {y:g} {bend:g} {to_y:g} {to_x:g} {to_y:g}" class="line"/>'


def picture(width: int, height: int, title: str, parts: Iterator[str]) -> str:
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">'
    )
    page = box(0, 0, width, height, "page")  # of its own: who shows it may be light where the system is dark
    return "\n".join([opening, f"<style>{STYLE}</style>", page, *parts, "</svg>"]) + "\n"


def draw_funnel() -> Iterator[str]:
    """Documents, base classifiers, posteriors, the meta-classifier, labels; left to right."""
    languages = (
        ("English", "The ferry leaves at nine", "first", (0.9, 0.2, 0.1)),
        ("Italiano", "Il traghetto parte alle nove", "second", (0.7, 0.35, 0.15)),
        ("Ελληνικά", "Το πλοίο φεύγει στις εννέα", "third", (0.55, 0.15, 0.3)),
    )
    top, step, middle = 66, 78, 66 + 78 + 29
    outline = "M0 48 H530 C580 48 570 126 610 126 H690 V220 H610 C570 220 580 298 530 298 H0 Z"
    yield f'<path d="{outline}" class="funnel"/>'
    for x, head, below in (
        (117, "Documents", "in any language"),
        (331, "Tier 1", "one classifier per language"),
        (492, "Posteriors", "one per label"),
        (642, "Tier 2", "one for all"),
        (784, "Labels", "better in every language"),
    ):
        yield text(x, 16, head, "head middle")
        yield text(x, 34, below, "faint middle")
    for row, (language, sentence, style, posteriors) in enumerate(languages):
        y = top + row * step
        centre = y + 29
        yield arrow(218, centre, 274, centre) + arrow(388, centre, 448, centre)
        yield arrow(536, centre, 602, middle)
        yield box(16, y, 202, 58, "card")
        yield text(28, y + 24, language, "faint") + text(28, y + 44, sentence)
        yield box(274, y + 8, 114, 42, style)
        yield text(331, y + 33, "its own words", "middle on")
        for label, share in enumerate(posteriors):
            yield box(448, y + 10 + 14 * label, 88, 10, f"{style} pale", 2)
            yield box(448, y + 10 + 14 * label, 88 * share, 10, style, 2)
    yield box(602, middle - 34, 80, 68, "ours")
    yield text(642, middle - 3, "meta-", "middle on") + text(642, middle + 14, "classifier", "middle on")
    yield arrow(682, middle, 722, middle)
    yield box(722, middle - 40, 128, 80, "card")
    for label, (name, share) in enumerate((("travel", 0.96), ("money", 0.12), ("sport", 0.05))):
        y = middle - 16 + 21 * label
        yield text(734, y, name, "" if share > 0.5 else "faint")
        yield box(786, y - 9, 54, 10, "ours pale", 2) + box(786, y - 9, 54 * share, 10, "ours", 2)


def draw_gains(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """F1 of each language: alone, in one pool, in the funnel."""
    series = (
        ("Naive", "one classifier per language", "first"),
        ("Pooled", "one classifier for all words", "second"),
        ("Fun(auto)", "the funnel", "ours"),
    )
    panels = (("micro-F1", "", 52, 0.4, 0.8), ("macro-F1", "the paper's ", 480, 0.25, 0.65))
    width, top, step = 350, 78, 24
    bottom = top + step * len(rows)
    for number, (_, name, style) in enumerate(series):
        x = 52 + 230 * number
        yield f'<circle cx="{x}" cy="14" r="6" class="{style}"/>' + text(x + 12, 18, name)
    for measure, whose, left, low, high in panels:

        def place(score: float, left: int = left, low: float = low, high: float = high) -> float:
            return left + width * (score - low) / (high - low)

        yield text(left, 50, f"{whose}{measure} on test documents", "head")
        for tick in range(5):
            score = low + tick * 0.1
            yield f'<path d="M{place(score):g} {top - 12} V{bottom - 8}" class="line pale"/>'
            yield text(place(score), bottom + 10, f"{score:.2f}".lstrip("0"), "faint middle")
        for number, row in enumerate(rows):
            y = top + step * number
            scores = [float(row[f"{measure} {method}"]) for method, _, _ in series]
            yield text(left - 14, y + 4, row["language"], "end")
            yield f'<path d="M{place(min(scores)):g} {y} H{place(max(scores)):g}" class="line"/>'
            for score, (_, _, style) in zip(scores, series, strict=True):
                yield f'<circle cx="{place(score):g}" cy="{y}" r="6" class="{style}"/>'


def pictures() -> dict[str, str]:
    """The name and the content of each picture."""
    with RESULTS.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["language"] != "average"]
    rows.sort(key=lambda row: float(row["micro-F1 Fun(auto)"]) - float(row["micro-F1 Naive"]), reverse=True)
    gains = "F1 of each language: one classifier per language, one for all words, the funnel"
    return {
        "funnel.svg": picture(860, 310, "Documents of all languages pass one funnel", draw_funnel()),
        "gains.svg": picture(860, 78 + 24 * len(rows) + 20, gains, draw_gains(rows)),
    }


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, content in pictures().items():
        (PICTURES / name).write_text(content, encoding="utf-8", newline="\n")
