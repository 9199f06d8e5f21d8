"""Laws of the European Union: the protocol of the paper, what is left out, and hostile archives."""

import gzip
import io
import tarfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.research.corpora import jrc_acquis
from funnelling.research.corpora.builders import BuiltCorpus
from funnelling.research.corpora.jrc_acquis import build_jrc_acquis
from tests.research.corpora.jrc_makers import law, name_of, write_laws

LANGUAGES = ("en", "it", "sv")
# Number, year and codes; the labels of 2006 alone are frequent, but not in training.
LAWS: dict[str, tuple[int, list[str]]] = {
    **{f"3{year}D{number:04}": (year, ["10", "20"]) for year in (1950, 1999, 2005) for number in range(8)},
    "31998R0001": (1998, ["10", "30"]),
    "31998R0002": (1998, ["40"]),
    **{f"32006D{number:04}": (2006, ["10", "50"]) for number in range(5)},
}


def write_corpus(
    folder: Path, laws: Mapping[str, tuple[int, list[str]]] = LAWS, languages: Iterable[str] = LANGUAGES
) -> Path:
    for language in languages:
        files = {
            name_of(n, language, year): law(n, language, codes, f"law {n}", f"in {language}")
            for n, (year, codes) in laws.items()
        }
        write_laws(folder, language, files)
    return folder


def built(folder: Path, languages: Iterable[str] = LANGUAGES, **options: Any) -> BuiltCorpus:
    return next(build_jrc_acquis(tuple(languages), [folder], **options))


def refusal(folder: Path, languages: Iterable[str] = LANGUAGES, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        built(folder, languages, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_training_laws_in_one_language_and_test_laws_in_all(tmp_path: Path) -> None:
    corpus = built(write_corpus(tmp_path))
    splits: dict[str, Counter[str]] = {}
    for document in corpus.documents:
        assert document.group is not None
        splits.setdefault(document.group, Counter())[str(document.split)] += 1
    for group, (year, _) in LAWS.items():
        assert splits[group] == ({"test": 3} if year == 2006 else {"train": 1, "parallel": 2})
    drawn = Counter(document.language for document in corpus.documents if document.split == "train")
    assert drawn.keys() == set(LANGUAGES)
    assert corpus.omissions == []


def test_what_a_document_says(tmp_path: Path) -> None:
    group = "22006A0211(01)"
    files = {
        name_of(group, "it", 2006): law(
            group, "it", ["20", "10", "20"], "Uno  <b>due</b>\n tre", " ", "4 &lt; 5"
        )
    }
    training = {name_of("1", "it", 1950): law("1", "it", ["10", "20"], "x", doctype="")}
    write_laws(tmp_path, "it", {**files, **training})
    document = built(tmp_path, ["IT"]).documents[1]
    assert (document.id, document.group) == ("jrc-acquis/22006A0211(01)/it", group)
    assert document.text == "Uno due tre\n4 < 5"
    assert (document.language, document.labels, document.split) == ("it", ("10", "20"), "test")


def test_the_labels_are_the_most_frequent_of_the_training_laws(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path)
    labels = {label for document in built(folder).documents for label in document.labels or ()}
    assert labels == {"10", "20", "30", "40"}
    corpus = built(folder, labels=3)
    assert {label for document in corpus.documents for label in document.labels or ()} == {"10", "20", "30"}
    assert "31998R0002" not in {document.group for document in corpus.documents}
    assert corpus.omissions == ["1 law without any of the labels chosen"]


def test_a_seed_changes_only_which_version_is_for_training(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path)
    one, same, other = (built(folder, seeds=[seed]).documents for seed in (1, 1, 2))
    assert one == same
    trials = build_jrc_acquis(LANGUAGES, [folder], seeds=[1, 2])
    assert [trial.documents for trial in trials] == [one, other]
    assert [(d.id, d.text, d.labels, d.split == "test") for d in one] == [
        (d.id, d.text, d.labels, d.split == "test") for d in other
    ]
    assert [d.split for d in one] != [d.split for d in other]


def test_the_order_of_files_and_further_laws_change_nothing(tmp_path: Path) -> None:
    documents = built(write_corpus(tmp_path / "a")).documents
    backwards = dict(reversed(LAWS.items()))
    assert built(write_corpus(tmp_path / "b", backwards)).documents == documents
    more = {**backwards, "32004D9999": (2004, ["10"])}
    further = [d for d in built(write_corpus(tmp_path / "c", more)).documents if d.group != "32004D9999"]
    assert further == documents


def test_archives_in_several_folders(tmp_path: Path) -> None:
    write_corpus(tmp_path / "a", languages=["en", "it"])
    write_corpus(tmp_path / "b", languages=["sv"])
    corpus = next(build_jrc_acquis(LANGUAGES, [tmp_path / "a", tmp_path / "b"]))
    assert corpus.documents == built(write_corpus(tmp_path / "all")).documents


def test_what_is_left_out(tmp_path: Path) -> None:
    good = {"1": (1990, ["10"])}
    write_corpus(tmp_path, {**good, "2": (1990, ["10"])}, ["en"])
    files = {
        name_of("1", "it", 1990): law("1", "it", ["10"], "the first"),
        "1990/jrc1-it-again.xml": law("1", "it", ["10"], "the second"),
        name_of("2", "it", 2006): law("2", "it", ["10"], "of another year"),
        name_of("3", "it", 2007): law("3", "it", ["10"], "too late"),
        name_of("4", "it", "drafts"): law("4", "it", ["10"], "no year"),
        name_of("5", "it", 1990): law("5", "it", [], "no code"),
        name_of("6", "it", 1990): law("6", "it", ["10"]),
        name_of("7", "it", 1990): law("7", "en", ["10"], "English"),
        name_of("8", "it", 1990): law("", "it", ["10"], "no number"),
        name_of("9", "it", 1990): law("9", "it", ["10"], "only Italian"),
        "1990/readme.txt": "not XML",
    }
    write_laws(tmp_path, "it", files)
    corpus = built(tmp_path, ["en", "it"])
    # - sorts before the dot: the first by name stays, wherever it is in the archive.
    assert [document.text for document in corpus.documents] == ["law 1\nin en", "the second"]
    assert sorted(corpus.omissions) == [
        "1 document beside another one of the law in the language",
        "1 law not in all languages",
        "1 law of a training year here and of a test year there",
        "2 documents of other years than 1950 to 2006",
        "2 documents without a number, or not in the language of the archive",
        "2 documents without text or without EuroVoc codes",
    ]


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"needs JRC-Acquis 3.0 from the site .* jrc-XX.tgz.* --source DIR"):
        next(build_jrc_acquis())
    assert "no such folder" in refusal(tmp_path / "nowhere")
    folder = write_corpus(tmp_path)
    assert refusal(folder, ["en", "hu"]) == (
        f"{folder}: no jrc-hu.tgz. Put it there (JRC-Acquis 3.0 from the site of the Joint Research Centre), "
        "or leave hu out of --languages."
    )
    assert "takes 1 label or more" in refusal(folder, labels=0)
    path = write_laws(folder, "it", {"/readme.xml": "x"})
    assert refusal(folder).startswith(f"{path}: no it/YEAR/*.xml in it.")
    write_corpus(folder, {"32006D0001": (2006, ["10"])}, ["it"])
    assert refusal(folder).startswith(
        "no law of 1950 to 2005 has text and EuroVoc codes in all of en, it, sv."
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<TEI.2", "unclosed token"),
        (law("1", "it", ["10"], "perché").encode("latin-1"), "not UTF-8 text at byte"),
        (law("1", "it", ["10"], "x &unheard;"), "unknown entity &unheard;"),
        (law("1", "it", ["10"], "x &unheard;", doctype=""), "undefined entity"),
        ("<a>" * 100_000 + "</a>" * 100_000, "more than 100 elements in one another"),
        (
            '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><a>&b;</a>',
            "it declares entities or the like of its own",
        ),
        (
            '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><a>&a;</a>',
            "it declares entities or the like of its own",
        ),
        (
            '<!DOCTYPE a SYSTEM "a.dtd" [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><a/>',
            "it declares entities or the like of its own",
        ),
        ('<?xml version="1.0" encoding="nonsense"?><a/>', "unknown encoding"),
        (b"", "no element found"),
    ],
)
def test_hostile_xml(tmp_path: Path, content: str | bytes, reason: str) -> None:
    path = write_laws(tmp_path, "it", {"2006/x.xml": content})
    message = refusal(tmp_path, ["it"])
    assert message.startswith(f'{path}: "it/2006/x.xml" cannot be read as XML (')
    assert reason in message
    assert message.endswith("). Fetch the archive again, or repair or remove that file.")


def test_entities_of_html_are_known_and_a_dtd_is_never_read(tmp_path: Path) -> None:
    doctype = '<!DOCTYPE TEI.2 SYSTEM "file:///etc/passwd">'
    files = {
        "1990/1.xml": law("1", "it", ["10"], "perch&eacute; &odblac; &amp;lt;", doctype=doctype),
        "1990/2.xml": law("2", "it", ["10"], "perch&eacute;", doctype=""),
    }
    write_laws(tmp_path, "it", files)
    assert [document.text for document in built(tmp_path, ["it"]).documents] == ["perché ő &lt;", "perché"]


def test_names_that_climb_and_links_are_passed_over(tmp_path: Path) -> None:
    page = law("2", "it", ["10"], "elsewhere")
    files = {"1990/1.xml": law("1", "it", ["10"], "here"), "../it/1990/2.xml": page, "/it/1990/2.xml": page}
    write_laws(tmp_path / "in", "it", files, links="it/1990/3.xml")
    assert [document.group for document in built(tmp_path / "in", ["it"]).documents] == ["1"]
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "jrc-it.tgz"]


@pytest.mark.parametrize("kept", [10, 200, -9])
def test_truncated_archives(tmp_path: Path, kept: int) -> None:
    path = write_corpus(tmp_path, languages=["it"]) / "jrc-it.tgz"
    path.write_bytes(path.read_bytes()[:kept])
    assert refusal(tmp_path, ["it"]) == (
        f"{path}: the compressed data ends early or is damaged. Copy or download the file again."
    )
    path.write_bytes(b"<html>404</html>")
    assert refusal(tmp_path, ["it"]).startswith(f"{path}: not an archive of JRC-Acquis, or a damaged one (")


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_laws(tmp_path, "it", {"1990/1.xml": b"<a>" + b" " * 2**21})
    monkeypatch.setattr(jrc_acquis, "MAX_FILE_BYTES", 2**20)
    assert "a file of 2,097,155 bytes is in it" in refusal(tmp_path, ["it"])
    monkeypatch.setattr(jrc_acquis, "MAX_ARCHIVE_BYTES", 2**20)
    assert "it unpacks to more than 1,048,576 bytes" in refusal(tmp_path, ["it"])
    monkeypatch.setattr(jrc_acquis, "MAX_FILES", 3)
    write_laws(tmp_path, "it", {f"1990/{number}.xml": law("1", "it", ["10"], "x") for number in range(4)})
    assert "more than 3 files are in it" in refusal(tmp_path, ["it"])
    # A header may be the bomb, too: the long name of a file.
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("x" * 2**21))
    path.write_bytes(gzip.compress(stream.getvalue()))
    assert "a header of more than 1,048,576 bytes is in it" in refusal(tmp_path, ["it"])
