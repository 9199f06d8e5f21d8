"""What is read of a help page, and what is only its frame."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from funnelling.research.corpora.libreoffice import paragraphs_of
from tests.research.corpora.makers import help_page


def texts(page: str) -> list[str]:
    return [paragraph.text for paragraph in paragraphs_of(page)]


def body(content: str) -> list[str]:
    return texts(f'<html><body><div id="DisplayArea">{content}</div><p>frame</p></body></html>')


def test_a_page_of_the_real_layout() -> None:
    page = help_page("Files", ("par_1", "How to <b>open</b> them."), ("", "And close."), heading="All files")
    assert [tuple(paragraph) for paragraph in paragraphs_of(page)] == [
        ("title", "Files"),
        ("hd_id1", "All files"),
        ("par_1", "How to open them."),
        ("", "And close."),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<p>A <span class='emph'>n</span>ote&nbsp;&amp;\n  more</p>", ["A note & more"]),
        ("<p>one<br>two<img src='x'>three</p>", ["one two three"]),
        ("<h2>Keys</h2><ul><li><p>first</p></li><li><p>second</p></li></ul>", ["Keys", "first", "second"]),
        ("<table><tr><td><p>a</p></td><td><p>b</p></td></tr></table>", ["a", "b"]),
        ("<div class='note'><div class='notetext'><p>Mind.</p></div></div>", ["Mind."]),
        ("<pre><p>code</p></pre><div class='bascode'><pre><code>Dim x</code></pre></div><p>a</p>", ["a"]),
        ("<script>if (1 < 2) document.write('<p>x</p>')</script><style>p {}</style><p>a</p>", ["a"]),
        (
            "<div class='howtoget'><div><p class='howtogetheader'>To access</p></div><p>Choose</p></div>",
            ["Choose"],
        ),
        (
            "<p>Press <span class='switchinline'><span hidden='true' class='MAC'>Cmd</span>"
            "<span hidden='true'>Ctrl</span></span>+Z.</p>",
            ["Press Ctrl+Z."],
        ),
        (
            "<p><span class='switchinline'><span class='WRITER'>Text</span>"
            "<span class='CALC'>Cell</span></span></p>",
            ["Text Cell"],
        ),
        ("<p>never closed<p>nor this<h2>here</h2>", ["never closed", "nor this", "here"]),
        ("</p></div></div><p>after the body</p>", []),
        ("<p></p><p> 12 </p>", ["", "12"]),
        ("<P ID=par_1>shouting</P>", ["shouting"]),
        ("text outside of paragraphs", []),
        ("<p>cut o", ["cut o"]),
        ("<p>a<!-- <p>b</p> -->c</p>", ["ac"]),
        ("<p>a &bogus; &#x110000; b</p>", ["a &bogus; \ufffd b"]),
    ],
)
def test_the_body(content: str, expected: list[str]) -> None:
    assert body(content) == expected


def test_a_page_without_body_is_only_its_title() -> None:
    assert texts("<html><title>Files</title><body><p>frame</p></body></html>") == ["Files"]
    assert texts("") == []
    assert texts("just words") == []


def test_quotes_do_not_matter() -> None:
    assert texts("<title>T</title><p>no</p><main id='DisplayArea'><p>yes</p></main>") == ["T", "yes"]


@given(st.text("<>/ap=\"'di h1!-&;DisplayArea\n"))
def test_anything_is_read(content: str) -> None:
    for paragraph in paragraphs_of(f'<div id="DisplayArea">{content}'):
        assert paragraph.text == " ".join(paragraph.text.split())
