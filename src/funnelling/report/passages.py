"""A text with its passages marked in place: those that spoke for a label, and those that spoke against it."""

from collections.abc import Sequence

from funnelling.report.markup import escape

SHADES = 3


def marked(text: str, passages: Sequence[tuple[int, int, float]]) -> str:
    """The text as HTML, all of it escaped, each passage in a mark whose shade grows with its weight.

    >>> marked("a <b> loan", [(6, 10, 0.5)])
    'a &lt;b&gt; <mark class="for shade-3" title="+0.500">loan</mark>'
    """
    largest = max((abs(weight) for _, _, weight in passages), default=0.0)
    pieces, end = [], 0
    for start, stop, weight in passages:
        if not weight or start < end:
            continue
        shade = min(SHADES, 1 + int(SHADES * abs(weight) / largest))
        kind = "for" if weight > 0 else "against"
        pieces.append(escape(text[end:start]))
        pieces.append(f'<mark class="{kind} shade-{shade}" title="{weight:+.3f}">{escape(text[start:stop])}</mark>')
        end = stop
    return "".join([*pieces, escape(text[end:])])
