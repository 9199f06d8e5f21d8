"""A text with its words marked in place by what they added to a label's score, in HTML and on a terminal.

Passages are those of `explain`: ``[start, end, amount]``, in the order of the text. The sign shows as a
colour and as a kind of underline, the size as a shade, in relation to the largest of the text.
"""

from collections.abc import Callable, Sequence

from funnelling.errors import printable
from funnelling.report.tables import escape
from funnelling.text.excerpts import cut_out, telling_part

N_SHADES = 4  # shades; what would not reach half of the lightest is not marked

Passages = Sequence[Sequence[float]]  # start, end, amount

LEGEND = (
    '<p class="marks-legend"><mark class="for mark-3">blue, underlined</mark> speaks for the label, '
    '<mark class="against mark-3">orange, with dashes</mark> against it; '
    "the stronger, the fuller the colour.</p>"
)


def marked_html(text: str, passages: Passages, language: str = "") -> str:
    """A text as a paragraph whose words are marked; hovering tells the amounts.

    >>> marked_html("tea & cats", [[0, 3, 0.5], [6, 10, -0.25]])
    '<p class="marked" dir="auto"><mark class="for mark-4" title="+0.50">tea</mark> &amp; \
<mark class="against mark-2" title="−0.25">cats</mark></p>'
    """
    spoken = f' lang="{escape(language.replace("_", "-"))}"' if language else ""
    return f'<p class="marked" dir="auto"{spoken}>{_marked(text, passages, _html_mark, escape)}</p>'


def marked_terminal(text: str, passages: Passages) -> str:
    """A text for a terminal that knows colours: underlined in blue for, orange against, strong in bold."""
    return _marked(text, passages, _terminal_mark, printable)


def marked_plain(text: str, passages: Passages) -> str:
    """A text without colours: what is strong stands in brackets, with its sign.

    >>> marked_plain("tea and cats", [[0, 3, 0.5], [8, 12, -0.4]])
    '[+tea] and [−cats]'
    """
    return _marked(text, passages, _plain_mark, printable)


def excerpt(text: str, passages: Passages, length: int) -> tuple[str, list[list[float]]]:
    """The stretch of a long text in which the words added most, for or against, and the passages in it.

    Where the text goes on, an ellipsis stands; the passages fit the text that comes back.

    >>> excerpt("nothing at all but tea", [[19, 22, 0.5]], 8)
    ('… but tea', [[6, 9, 0.5]])
    """
    if len(text) <= length:
        return text, [list(each) for each in passages]
    start, end = telling_part(text, passages, length)
    part, moved = cut_out(text, start, end)
    inside = [[a + moved, b + moved, amount] for a, b, amount in passages if a >= start and b <= end]
    return part, inside


def signed(amount: float) -> str:
    """An amount with its sign.

    >>> signed(0.25), signed(-12.3), signed(0.0001)
    ('+0.25', '−12.3', '0.00')
    """
    shown = f"{abs(amount):.2f}" if abs(amount) < 0.995 else f"{abs(amount):.1f}"
    if not float(shown):
        return shown
    return ("−" if amount < 0 else "+") + shown


def _marked(
    text: str, passages: Passages, mark: Callable[[str, float, int], str], plain: Callable[[str], str]
) -> str:
    largest = max((abs(amount) for *_, amount in passages), default=0)
    pieces, end = [], 0
    for start, stop, amount in passages:
        start, stop = int(start), int(stop)
        pieces.append(plain(text[end:start]))
        level = min(N_SHADES, int(N_SHADES * abs(amount) / largest + 0.5)) if largest else 0
        piece = plain(text[start:stop])
        pieces.append(mark(piece, amount, level) if level else piece)
        end = stop
    return "".join([*pieces, plain(text[end:])])


def _html_mark(word: str, amount: float, level: int) -> str:
    kind = "for" if amount > 0 else "against"
    return f'<mark class="{kind} mark-{level}" title="{signed(amount)}">{word}</mark>'


def _plain_mark(word: str, amount: float, level: int) -> str:
    return f"[{'+' if amount > 0 else '−'}{word}]" if 2 * level >= N_SHADES else word


def _terminal_mark(word: str, amount: float, level: int) -> str:
    colour = "34" if amount > 0 else "33"
    style = f"4;{colour}" if amount > 0 else colour
    return f"\x1b[{'1;' if 2 * level > N_SHADES else ''}{style}m{word}\x1b[0m"
