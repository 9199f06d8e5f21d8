"""Vocabularies in SKOS: what becomes of concepts, and that a file leads nowhere else."""

import gzip
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from funnelling import InputError, read_label_set
from funnelling.corpus.label_set import Label

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://example.org/voc/> .
:scheme a skos:ConceptScheme ; skos:prefLabel "Pets"@en .
:p1 a skos:Concept ; skos:prefLabel "Animals"@en, "Tiere"@de ; skos:notation "A" ; skos:narrower :p2 .
:p2 a skos:Concept ; skos:prefLabel "Cats"@en ; skos:notation "A1" ; skos:definition "Felis catus"@en ;
    skos:broader <http://elsewhere.org/living> .
:p3 a skos:Concept ; skos:prefLabel "Plants" ; skos:notation "B" ; owl:deprecated true .
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
{doctype}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:skos="http://www.w3.org/2004/02/skos/core#">
  <skos:Concept rdf:about="http://example.org/voc/p1"><skos:prefLabel xml:lang="en">{name}</skos:prefLabel>
  </skos:Concept>
</rdf:RDF>
"""
LAUGHS = '<!DOCTYPE r [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'
SHORT = f'<!DOCTYPE r [<!ENTITY a "{"x" * 100}">]>\n'
HUGE = "a" * 500_000


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("nothing is fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)


class TestRead:
    @pytest.fixture(autouse=True)
    def _with_rdflib(self) -> None:
        pytest.importorskip("rdflib", reason="needs rdflib: pip install 'funnelling[skos]'")

    def test_concepts_become_labels(self, tmp_path: Path) -> None:
        (tmp_path / "pets.ttl").write_text(TURTLE)
        assert list(read_label_set(tmp_path / "pets.ttl")) == [
            Label("http://example.org/voc/p1", {"en": "Animals", "de": "Tiere"}),
            Label("http://example.org/voc/p2", {"en": "Cats"}, "Felis catus", ("http://example.org/voc/p1",)),
            Label("http://example.org/voc/p3", {"und": "Plants"}, exclude=True),
        ]

    @pytest.mark.parametrize(
        ("labels", "ids"), [(["p2", "p3", "x"], ["p1", "p2", "p3"]), (["A1"], ["A", "A1", "B"])]
    )
    def test_they_are_called_as_documents_call_them(
        self, tmp_path: Path, labels: list[str], ids: list[str]
    ) -> None:
        with gzip.open(tmp_path / "pets.ttl.gz", "wt") as file:
            file.write(TURTLE)
        found = read_label_set(tmp_path / "pets.ttl.gz", labels)
        assert found.ids == ids
        assert found[ids[1]].parents == (ids[0],)

    def test_xml_with_shorthands_for_addresses(self, tmp_path: Path) -> None:
        shorthand = '<!DOCTYPE rdf:RDF [<!ENTITY voc "http://example.org/voc/">]>\n'
        (tmp_path / "pets.rdf").write_text(XML.format(doctype=shorthand, name="&voc;cats"))
        assert next(iter(read_label_set(tmp_path / "pets.rdf"))).names == {
            "en": "http://example.org/voc/cats"
        }

    @pytest.mark.parametrize(
        "doctype",
        [
            LAUGHS,
            '<!DOCTYPE r [<!ENTITY a SYSTEM "secret.txt">]>\n',
            '<!DOCTYPE r [<!ENTITY % a SYSTEM "http://example.org/x.dtd"> %a;]>\n',
            f'<!DOCTYPE r [<!ENTITY a "{"x" * 1_000}">]>\n',
        ],
    )
    def test_other_entities_are_refused(self, tmp_path: Path, doctype: str) -> None:
        (tmp_path / "secret.txt").write_text("secret")
        (tmp_path / "pets.rdf").write_text(XML.format(doctype=doctype, name="&a;"))
        with pytest.raises(InputError, match=r"pets.rdf: it defines entities"):
            read_label_set(tmp_path / "pets.rdf")

    def test_a_document_type_elsewhere_is_not_fetched(self, tmp_path: Path) -> None:
        elsewhere = '<!DOCTYPE r SYSTEM "http://example.org/x.dtd">\n'
        (tmp_path / "pets.rdf").write_text(XML.format(doctype=elsewhere, name="Cats"))
        assert read_label_set(tmp_path / "pets.rdf").ids == ["http://example.org/voc/p1"]

    def test_what_is_odd_and_does_no_harm(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
    ) -> None:
        odd = """
        <http://example.org/> owl:imports <http://example.org/other.ttl> .  # it's not fetched
        :p1 owl:deprecated "x"^^<http://www.w3.org/2001/XMLSchema#boolean> ; skos:prefLabel "\\uD800"@fr .
        [] a skos:Concept ; skos:prefLabel "without an address" .
        """
        (tmp_path / "pets.ttl").write_bytes(b"\xef\xbb\xbf" + (TURTLE + odd).encode())
        labels = read_label_set(tmp_path / "pets.ttl")
        assert [each.rpartition("/")[2] for each in labels.ids] == ["p1", "p2", "p3"]
        assert labels["http://example.org/voc/p1"].names["fr"] == "\ufffd"
        assert (capsys.readouterr().err, len(recwarn)) == ("", 0)

    @pytest.mark.parametrize(
        ("name", "content", "says"),
        [
            ("a.ttl", "this is no Turtle", "a.ttl: not turtle as rdflib reads it"),
            ("a.ttl", "@prefix a: <http://b/> .\na:a a:b " + "[ a:b " * 5_000, "a.ttl: not turtle"),
            ("a.rdf", "<a>", "a.rdf: not xml as rdflib reads it"),
            ("a.ttl", "<http://a/b> <http://a/c> 1 .", "a.ttl: no concept of SKOS in it"),
            ("a.ttl", TURTLE + ":p1 skos:broader :p2 .", "is among its own parents"),
            (
                "a.ttl",
                TURTLE + HUGE.replace("a", "\n").join(['"""'] * 2),
                "a.ttl: a value of more than 400,000",
            ),
            ("a.nt", HUGE.replace("a", "\\n").join('""'), "a.nt: a value of more than 400,000 characters"),
            ("a.ttl", TURTLE + f"<urn:{'a' * 200_000}> a skos:Concept .", "a text of more than 100,000"),
            ("a.rdf", XML.format(doctype="", name=HUGE), "a.rdf: a value of more than 400,000 characters"),
            (
                "a.rdf",
                XML.format(doctype="", name=HUGE.join(["<![CDATA[<", "]]>"])),
                "a.rdf: a value of more",
            ),
            ("a.rdf", XML.format(doctype=SHORT, name="&a;" * 9_000), "a.rdf: a value of more than 400,000"),
            (
                "a.rdf",
                XML.format(doctype="", name="<b/>" * 300_000).replace(
                    'xml:lang="en"', 'rdf:parseType="Literal"'
                ),
                "a.rdf: a value of more",
            ),
        ],
    )
    def test_what_is_refused(self, tmp_path: Path, name: str, content: str, says: str) -> None:
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError) as refusal:
            read_label_set(tmp_path / name)
        assert says in str(refusal.value)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["none.ttl", "none.csv", "folder.ttl", "folder.rdf", "folder.jsonl"])
def test_what_is_no_file_is_named_once(tmp_path: Path, name: str) -> None:
    if name.startswith("folder"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError) as refusal:
        read_label_set(tmp_path / name)
    assert str(refusal.value).count(name) == 1


def test_without_rdflib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    (tmp_path / "pets.ttl").write_text(TURTLE)
    with pytest.raises(InputError, match=r"pets.ttl: SKOS needs rdflib: pip install 'funnelling\[skos\]'"):
        read_label_set(tmp_path / "pets.ttl")
