"""Files of every format that is read, and what damage or malice may make of them."""

import gzip
import json
import random
from pathlib import Path

from funnelling.formats import Document, write_documents
from funnelling.formats.tables import write_table

HOSTILE = (
    b"\x00" * 8,
    b"\xff" * 8,
    b"\xff\xff\xff\x7f",
    b'"',
    b"\n",
    b"\r",
    b"[" * 64,
    b'{"text": ' * 64,
    b"1e999",
    b"NaN",
    b"9" * 5000,
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"=1+1",
    b"<!ENTITY a 'a'>",
    b"A1048577",
    b"XFD1048576",
)
_DOCUMENTS = [
    Document(str(number), text, language, labels)
    for number, (text, language, labels) in enumerate(
        [
            ("Il gatto dorme\nsul divano", "it", ("animals", "rest")),
            ("Der Hund läuft, „schnell“", "de", ("animals",)),
            ("Le train part à 12:30", "fr", ("travel",)),
            ("猫が寝ている", "ja", ()),
        ]
        * 5
    )
]
_SHEET = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"><office:body>'
    '<office:spreadsheet><table:table table:name="S">{}</table:table></office:spreadsheet></office:body>'
    "</office:document-content>"
)
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument.spreadsheet"
_MANIFEST = (
    '<?xml version="1.0"?><manifest:manifest '
    'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry '
    f'manifest:full-path="/" manifest:media-type="{_OPEN_DOCUMENT}"/></manifest:manifest>'
)


def samples(folder: Path) -> list[Path]:
    """A small sound file in every format that is read, written into a folder."""
    names = ["docs.jsonl", "docs.csv", "docs.tsv", "docs.parquet", "packed.jsonl.gz", "packed.csv.gz"]
    for name in names:
        write_documents(folder / name, _DOCUMENTS, force=True)
    rows: list[dict[str, object]] = [
        {"text": each.text, "labels": "|".join(each.labels or ())} for each in _DOCUMENTS
    ]
    write_table(folder / "docs.xlsx", rows, force=True)
    (folder / "docs.json").write_text(json.dumps(rows, ensure_ascii=False))
    (folder / "docs.txt").write_text("\n".join(each.text for each in _DOCUMENTS))
    (folder / "latin.csv").write_bytes(
        "text;labels\nDer Käse läuft über;a\nEs war schön;b\n".encode("cp1252")
    )
    (folder / "wide.tsv").write_bytes("text\tlabels\nIl gatto\ta\n".encode("utf-16"))
    (folder / "packed.txt.gz").write_bytes(gzip.compress(b"Il gatto dorme", mtime=0))
    cells = "".join(
        f"<table:table-row>{_cell(str(row['text']))}{_cell('a')}</table:table-row>" for row in rows
    )
    write_open_document(folder / "docs.ods", _row("text", "labels") + cells)
    return sorted(path for path in folder.iterdir() if path.is_file())


def write_open_document(path: Path, rows: str) -> None:
    """A spreadsheet of OpenDocument with these rows, as XML."""
    from zipfile import ZIP_DEFLATED, ZipFile

    with ZipFile(path, "w", ZIP_DEFLATED) as book:
        book.writestr("mimetype", _OPEN_DOCUMENT)
        book.writestr("content.xml", _SHEET.format(rows))
        book.writestr("META-INF/manifest.xml", _MANIFEST)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content of a file with one to four pieces of damage; that of gzip and zip may be packed again."""
    if content.startswith(b"\x1f\x8b") and chance.random() < 0.5:
        return gzip.compress(_damaged(gzip.decompress(content), chance), mtime=0)
    if content.startswith(b"PK") and chance.random() < 0.7:
        return _with_damaged_part(content, chance)
    return _damaged(content, chance)


def _with_damaged_part(content: bytes, chance: random.Random) -> bytes:
    """An archive that is sound, one of whose parts is not."""
    import io
    from zipfile import ZIP_DEFLATED, ZipFile

    packed = io.BytesIO()
    with ZipFile(io.BytesIO(content)) as before, ZipFile(packed, "w", ZIP_DEFLATED) as after:
        chosen = chance.choice(before.namelist())
        for name in before.namelist():
            part = before.read(name)
            after.writestr(name, _damaged(part, chance) if name == chosen else part)
    return packed.getvalue()


def _damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        start, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0 if content:  # a bit flips
                place = chance.randrange(len(content))
                flipped = content[place] ^ (1 << chance.randrange(8))
                content = content[:place] + bytes([flipped]) + content[place + 1 :]
            case 1:  # the end is missing
                content = content[:end]
            case 2:  # a piece comes twice
                content = content[:end] + content[start : start + 2**12] + content[end:]
            case 3:  # two pieces change places
                middle = (start + end) // 2
                content = content[:start] + content[middle:end] + content[start:middle] + content[end:]
            case 4:  # a piece is missing
                content = content[:start] + content[start + chance.randint(1, 64) :]
            case _:  # something odd stands there
                odd = chance.choice(HOSTILE)
                content = content[:start] + odd + content[start + chance.choice([0, len(odd)]) :]
    return content


def _row(*cells: str) -> str:
    return f"<table:table-row>{''.join(map(_cell, cells))}</table:table-row>"


def _cell(text: str) -> str:
    return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
