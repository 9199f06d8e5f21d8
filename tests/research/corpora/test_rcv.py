"""News of Reuters: the protocol of the paper, what is left out, and hostile archives."""

import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.research.corpora import rcv
from funnelling.research.corpora.builders import BuiltCorpus
from funnelling.research.corpora.rcv import build_rcv
from tests.research.corpora.reuters_makers import story, write_zip

LANGUAGES = ("de", "en", "nl")


def stories(lang: str, number: int, topics: Sequence[str] = ("GCAT", "C15")) -> dict[str, bytes]:
    return {
        f"{item}newsML.xml": story(str(item), lang, topics, f"story {item}", f"in {lang}")
        for item in range(2286, 2286 + number)
    }


def write_corpus(folder: Path, english: int = 12) -> Path:
    """Of German as much as is asked for, of English more, of Dutch less."""
    items = list(stories("en", english).items())
    write_zip(folder / "rcv1" / "19960820.zip", dict(items[: english // 2]))
    write_zip(folder / "rcv1" / "19960821.zip", dict(items[english // 2 :]))
    write_zip(folder / "rcv2" / "REUTE00A" / "REUTE00A.zip", stories("de", 10))
    write_zip(folder / "rcv2" / "REUTERS_" / "1.ZIP", stories("nl", 8))
    return folder


def built(
    folder: Path, languages: Iterable[str] = LANGUAGES, train: int = 6, test: int = 4, **more: Any
) -> BuiltCorpus:
    return next(build_rcv(tuple(languages), [folder], train=train, test=test, **more))


def refusal(folder: Path, languages: Iterable[str] = LANGUAGES, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        built(folder, languages, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def sizes(corpus: BuiltCorpus) -> Mapping[tuple[str | None, str | None], int]:
    return Counter((document.language, document.split) for document in corpus.documents)


def test_as_many_documents_in_every_language(tmp_path: Path) -> None:
    corpus = built(write_corpus(tmp_path))
    assert sizes(corpus) == {
        ("de", "train"): 6,
        ("de", "test"): 4,
        ("en", "train"): 6,
        ("en", "test"): 4,
        ("nl", "train"): 6,
        ("nl", "test"): 2,
    }
    assert corpus.omissions == ["2 items not drawn"]
    assert len({document.id for document in corpus.documents}) == len(corpus.documents)
    # No more than training alone would take: 70 % of them.
    assert sizes(built(tmp_path, ["nl"], train=8)) == {("nl", "train"): 6, ("nl", "test"): 2}
    assert sizes(built(tmp_path, ["de"], train=1_000)) == {("de", "train"): 7, ("de", "test"): 3}


def test_what_a_document_says(tmp_path: Path) -> None:
    write_zip(
        tmp_path / "1.zip",
        {
            "1.xml": story("1", "it", ["M14", "C15", "M14"], "Uno\n due", " ", "perché", headline="Titolo"),
            "2.xml": story("2", "it", ["C15"], "x", headline=" ", title="Più &amp; meno", encoding="utf-8"),
            "3.xml": story("3", "it", ["C15"], "x", headline="", title=""),
        },
    )
    documents = built(tmp_path, ["IT"], train=3).documents
    assert [document.text for document in documents] == ["Titolo\nUno due\nperché", "Più & meno\nx", "x"]
    first = documents[0]
    assert (first.id, first.language, first.labels) == ("rcv/1/it", "it", ("C15", "M14"))
    assert first.group is None


def test_labels_without_a_training_document_are_left_out(tmp_path: Path) -> None:
    files = {
        f"{item}.xml": story(str(item), lang, ["ALL", f"T{item}"], "x")
        for item, lang in [*((item, "en") for item in range(10)), *((item, "de") for item in range(10, 20))]
    }
    files |= {f"{item}.xml": story(str(item), "nl", [f"T{item}"], "x") for item in range(20, 30)}
    write_zip(tmp_path / "1.zip", files)
    documents = built(tmp_path).documents
    trained = {
        label for document in documents if document.split == "train" for label in document.labels or ()
    }
    assert len(trained) == 3 * 6 + 1
    assert {document.labels for document in documents if document.split == "test"} == {("ALL",), ()}


def test_seeds_and_the_order_of_files(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "a", english=40)
    documents = built(folder, seeds=[1]).documents
    assert built(folder, seeds=[1]).documents == documents
    other = built(folder, seeds=[2]).documents
    assert other != documents
    trials = build_rcv(LANGUAGES, [folder], seeds=[1, 2], train=6, test=4)
    assert [trial.documents for trial in trials] == [documents, other]
    train, test = ({d.id for d in documents if d.split == split} for split in ("train", "test"))
    assert not train & test
    # The same stories in another order and other archives.
    write_zip(tmp_path / "b" / "z.zip", dict(reversed(stories("en", 40).items())))
    write_zip(tmp_path / "b" / "y.zip", dict(reversed(stories("nl", 8).items())))
    write_zip(tmp_path / "b" / "x.zip", dict(reversed(stories("de", 10).items())))
    assert built(tmp_path / "b", seeds=[1]).documents == documents
    # A language is drawn from the same whatever other languages there are.
    alone = built(folder, ["nl"], seeds=[1]).documents
    assert alone == [document for document in documents if document.language == "nl"]


def test_what_is_left_out(tmp_path: Path) -> None:
    write_zip(
        tmp_path / "1.zip",
        {
            "1.xml": story("1", "es", ["C15"], "the first"),
            "1bis.xml": story("1", "es", ["C15"], "the second"),
            "2.xml": story("2", "es", [], "no topic"),
            "3.xml": story("3", "es", ["C15"]),
            "4.xml": story("", "es", ["C15"], "no number"),
            "5.xml": story("5", "es-LA", ["C15"], "a regional variant"),
            "6.xml": story("6", "ru", ["C15"], "another language"),
            "7.xml": story("7", "not a tag", ["C15"], "no language"),
            "8.xml": story("8", "ja", ["C15"], "日本", encoding="shift_jis"),
            "readme.txt": b"no news",
        },
    )
    write_zip(tmp_path / "REUTE007" / "1.zip", {"9.xml": story("9", "es", ["C15"], "from Bolivia")})
    corpus = built(tmp_path, ["es"])
    assert [document.text for document in corpus.documents] == ["Prices rise\nthe first"]
    assert corpus.omissions == [
        "1 item beside another one of the same number",
        "5 items of other languages",
        "3 items without a number, topics or text",
    ]
    assert [document.id for document in built(tmp_path, ["es-419"]).documents] == ["rcv/9/es_419"]


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"needs RCV1 and RCV2.* NIST .* licence .* --source DIR"):
        next(build_rcv())
    assert "no such folder" in refusal(tmp_path / "nowhere")
    assert refusal(tmp_path).startswith(f"{tmp_path}: no .zip in it. Put the zip archives there of RCV1")
    folder = write_corpus(tmp_path)
    assert refusal(folder, ["en", "sv"]) == (
        f"{folder}: no story in sv with topics and text. "
        "Put the archives of sv there, or leave it out of --languages."
    )
    assert "takes 1 document or more" in refusal(folder, train=0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<newsitem", "unclosed token"),
        (story("1", "en", ["C15"], "café").replace(b"iso-8859-1", b"utf-8"), "not UTF-8 text at byte"),
        (story("1", "en", ["C15"], "&unheard;"), "undefined entity"),
        (story("1", "en", ["C15"], "日本", encoding="shift_jis"), "multi-byte encodings are not supported"),
        (b"<a>" * 100_000 + b"</a>" * 100_000, "more than 100 elements in one another"),
        (b"<a>" + b"<b/>" * 1_000_000 + b"</a>", "more than 1,000,000 elements"),
        (
            b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><newsitem>&b;</newsitem>',
            "it declares entities or the like of its own",
        ),
        (
            b'<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><newsitem>&a;</newsitem>',
            "it declares entities or the like of its own",
        ),
    ],
)
def test_hostile_xml(tmp_path: Path, content: bytes, reason: str) -> None:
    path = write_zip(tmp_path / "1.zip", {"1.xml": content})
    message = refusal(tmp_path, ["en"])
    assert message.startswith(f'{path}: "1.xml" cannot be read as XML (')
    assert reason in message


def test_names_that_climb_remain_names(tmp_path: Path) -> None:
    write_zip(tmp_path / "in" / "1.zip", {"../../1.xml": story("1", "en", ["C15"], "x"), "/etc/2.txt": b""})
    assert len(built(tmp_path / "in", ["en"]).documents) == 1
    assert {path.name for path in tmp_path.rglob("*")} == {"in", "1.zip"}


def test_broken_archives(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "1.zip", stories("en", 5))
    whole = path.read_bytes()
    encrypted = bytearray(whole)
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[whole.index(signature) + flags] |= 1
    damaged = bytearray(whole)
    damaged[60:90] = bytes(30)
    for content, reason in [
        (whole[:-40], "File is not a zip file"),
        (whole[100:], ""),
        (b"", "File is not a zip file"),
        (bytes(damaged), ""),
        (bytes(encrypted), "is encrypted"),
    ]:
        path.write_bytes(content)
        message = refusal(tmp_path, ["en"])
        assert message.startswith(f"{path}: not a zip archive, or one that cannot be read (")
        assert reason in message
        assert message.endswith("). Copy it again, unencrypted.")


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_zip(tmp_path / "1.zip", {"1.xml": b" " * (rcv.MAX_FILE_BYTES + 1)})
    assert "a file of 4,194,305 bytes is in it" in refusal(tmp_path, ["en"])
    monkeypatch.setattr(rcv, "MAX_ARCHIVE_BYTES", 2**22)
    assert "it unpacks to 4,194,305 bytes" in refusal(tmp_path, ["en"])
    # What the directory says of the size may be a lie.
    with zipfile.ZipFile(path) as archive:
        directory = archive.start_dir
    content = bytearray(path.read_bytes())
    content[directory + 24 : directory + 28] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    assert refusal(tmp_path, ["en"]).startswith(f"{path}: ")
