"""What is stripped from texts is markup, all of their words stay, and long odd texts take no longer."""

import pytest

from funnelling.formats.texts import markup_in, strip_markup


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<html><head><title>x</title><body><p>Ciao</body>", "Ciao"),
        ("<head><meta charset=utf-8><title>x</title></head>Ciao", "Ciao"),
        ("<title>never closed<p>Ciao", "Ciao"),
        ("<title>closed</title><p>his/title", "his/title"),
        ("<dl><dt>Katze</dt><dd>Hund</dd></dl>", "Katze\nHund"),
        ("<option>Katze<option>Hund", "Katze\nHund"),
        ("<p>Kat<b>zen</b>haus</p>", "Katzenhaus"),
        ("<template><p>a</p></template>b", "b"),
        ("<script>x()</script>a<style>p{}</style>", "a"),
    ],
)
def test_what_a_browser_shows_stays(page: str, text: str) -> None:
    assert strip_markup(page, ["html"]) == text


@pytest.mark.parametrize("piece", ["\n", " \n", "[", "-\n", "![", "> \n", "<a "])
def test_many_of_a_kind_are_read_in_one_go(piece: str) -> None:
    text = piece * 200_000
    markup_in(text)
    for kind in ("html", "markdown", "quotes"):
        strip_markup(text, [kind])
