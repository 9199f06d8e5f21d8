"""A text whose words are marked by their contribution to a label's score, for pages and terminals.

Passages are those of `explain`: ``[start, end, amount]``, in the order of the text. The sign shows as a
colour and as a kind of underline, the size as a shade relative to the largest of the text.
"""

import math
from collections.abc import Iterator, Sequence

from funnelling.errors import printable
from funnelling.text.excerpts import cut_out, telling_part

N_SHADES = 4  # an amount below half of the lightest is not marked

Passages = Sequence[Sequence[float]]  # start, end, amount


def marks(text: str, passages: Passages) -> Iterator[tuple[str, float, int]]:
    """The pieces of a text, each with its amount and its shade, which is 0 where nothing is marked.

    >>> list(marks("tea and cats", [[0, 3, 0.5], [8, 12, -0.25]]))
    [('', 0, 0), ('tea', 0.5, 4), (' and ', 0, 0), ('cats', -0.25, 2), ('', 0, 0)]
    """
    largest = max((abs(amount) for *_, amount in passages), default=0) or math.inf
    end = 0
    for start, stop, amount in passages:
        start, stop = int(start), int(stop)
        yield text[end:start], 0, 0
        yield text[start:stop], amount, min(N_SHADES, int(N_SHADES * abs(amount) / largest + 0.5))
        end = stop
    yield text[end:], 0, 0


def marked_terminal(text: str, passages: Passages) -> str:
    """A text for a terminal with colours: blue and underlined for, orange against, strong in bold."""

    def mark(words: str, amount: float, level: int) -> str:
        style = "4;34" if amount > 0 else "33"
        return f"\x1b[{'1;' if 2 * level > N_SHADES else ''}{style}m{words}\x1b[0m" if level else words

    return "".join(mark(printable(piece), amount, level) for piece, amount, level in marks(text, passages))


def marked_plain(text: str, passages: Passages) -> str:
    """A text without colours: strong passages are in brackets, with their sign.

    >>> marked_plain("tea and cats", [[0, 3, 0.5], [8, 12, -0.4]])
    '[+tea] and [−cats]'
    """
    return "".join(
        f"[{'+' if amount > 0 else '−'}{printable(piece)}]" if 2 * level >= N_SHADES else printable(piece)
        for piece, amount, level in marks(text, passages)
    )


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
