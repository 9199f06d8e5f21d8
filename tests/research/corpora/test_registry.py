"""The registry of corpora."""

from pkgutil import resolve_name

import pytest

from funnelling.commands.corpora import CORPORA, build
from funnelling.errors import InputError


@pytest.mark.parametrize("name", CORPORA)
def test_every_corpus_has_a_builder_and_states_its_origin_size_and_licence(name: str) -> None:
    entry = CORPORA[name]
    assert callable(resolve_name(entry.builder))
    for field in (entry.summary, entry.origin, entry.size, entry.licence):
        assert field.strip()
    assert entry.labelled != entry.summary.startswith("reference corpus")


@pytest.mark.parametrize(
    ("name", "option", "shown"),
    [
        ("libreoffice-help", "documents", "--documents"),
        ("libreoffice-help", "alignments", "--alignments"),
        ("debian-untagged", "paragraphs", "--paragraphs"),
        ("debian-untagged", "documents", "--documents"),
        ("wikipedia", "paragraphs", "--paragraphs"),
        ("debian-comparable", "min_words", "--min-words"),
        ("debian-parallel", "documents", "--documents"),
        ("jrc-acquis", "alignments", "--alignments"),
        ("rcv", "paragraphs", "--paragraphs"),
        ("sample", "languages", "--languages"),
    ],
)
def test_an_option_without_use_is_refused(name: str, option: str, shown: str) -> None:
    with pytest.raises(InputError) as caught:
        build(name, **{option: 1})
    assert str(caught.value) == f"{name} takes no {shown}. Leave it out."
