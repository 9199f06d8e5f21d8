"""Files of documents in every format, damaged; bombs, lines without end, and what is no file at all."""

import json
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

from attack.bombs import gzip_bomb, zip_bomb
from attack.campaign import Outcome, Round, command, environment, judged, judged_command
from attack.material import LAW_LANGUAGES, saved, write_archives
from attack.special import SPECIAL, WAITING
from funnelling import read_documents
from funnelling.formats import Layout
from funnelling.research.corpora.jrc_acquis import build_jrc_acquis
from tests.formats.everyday import FILES, File
from tests.formats.mutations import mutated

BY_COMMAND = 20  # one round of so many runs a real command
COMMAND_SECONDS = 60.0
ARCHIVES = "laws"  # a folder of them
ENDLESS = 2**31  # bytes of a line; files with holes take no room

Make = Callable[[Path, random.Random], Path]


class Files:
    """Reads files that were made to hurt."""

    def __init__(self, home: Path) -> None:
        self._model = saved(home, "fun-tat")
        self._contents: dict[str, bytes] = {}
        for ending in (".parquet", ".xlsx", ".ods"):  # whose libraries are loaded before memory is bounded
            file = next(file for file in FILES if file.name.endswith(ending))
            self._content(file, home)
            sum(1 for _ in read_documents(home / file.name, Layout(**file.layout)))

    def attempt(self, turn: Round) -> Outcome:
        draw = turn.draw("files")
        # Half of the rounds damage what is otherwise well, the other half have a case each.
        name = "damaged" if turn.number % 2 else list(CASES)[turn.number // 2 % len(CASES)]
        turn.announce(name)
        layout = Layout()
        if name == "damaged":
            file = draw.choice([file for file in FILES if "." in file.name])
            name, layout = f"{file.name}, damaged", Layout(**file.layout)
            path = turn.folder / file.name
            path.write_bytes(mutated(self._content(file, turn.folder), draw))
        else:
            path = CASES[name](turn.folder, draw)
        turn.announce(name)
        labels = draw.random() < 0.5
        if turn.number % BY_COMMAND == BY_COMMAND - 1 and path.name != ARCHIVES:
            return self._command(name, path, labels)
        outcome = judged(name, lambda: _read(path, layout, labels))
        if outcome.kind == "answered" and name in REFUSED:
            return Outcome("let in", name, "read as if nothing were wrong")
        return outcome

    def close(self) -> None:
        pass

    def _content(self, file: File, folder: Path) -> bytes:
        if file.name not in self._contents:
            file.make(folder / file.name)
            self._contents[file.name] = (folder / file.name).read_bytes()
        return self._contents[file.name]

    def _command(self, name: str, path: Path, labels: bool) -> Outcome:
        arguments = ["inspect", path] if labels else ["predict", self._model, path]
        what = f"{name}, by {arguments[0]}"
        process = subprocess.Popen(
            command(*arguments),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        try:
            said = process.communicate(timeout=COMMAND_SECONDS)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Outcome("hung", what, f"no end within {COMMAND_SECONDS} s")
        return judged_command(what, process.returncode, said)


def _read(path: Path, layout: Layout, labels: bool) -> None:
    if path.name == ARCHIVES:
        next(build_jrc_acquis(LAW_LANGUAGES, [path]))
    else:
        for _ in read_documents(path, layout, labels=labels):
            pass


def _archives(folder: Path, draw: random.Random) -> Path:
    """Archives of a corpus, one of them damaged or no file."""
    write_archives(folder / ARCHIVES)
    path = draw.choice(sorted((folder / ARCHIVES).iterdir()))
    match draw.randrange(4):
        case 0:
            path.unlink()
            SPECIAL[draw.choice(list(SPECIAL))](path)
        case 1:
            path.write_bytes(gzip_bomb(b"", b"\0"))
        case _:
            path.write_bytes(mutated(path.read_bytes(), draw))
    return folder / ARCHIVES


def _written(name: str, content: bytes, hole: int = 0) -> Make:
    """A file, and after its content a hole of so many bytes, which read as zeros."""

    def make(folder: Path, _: random.Random) -> Path:
        path = folder / name
        path.write_bytes(content)
        os.truncate(path, len(content) + hole)
        return path

    return make


def _spread(name: str, content: Callable[[], bytes]) -> Make:
    return lambda folder, draw: _written(name, content())(folder, draw)


def _special(folder: Path, draw: random.Random) -> Path:
    ending = draw.choice(("jsonl", "csv", "parquet", "xlsx", "txt", "csv.gz"))
    path = folder / f"docs.{ending}"
    SPECIAL[draw.choice([name for name in SPECIAL if name != WAITING])](path)
    return path


def _special_in_folder(folder: Path, draw: random.Random) -> Path:
    """A folder of sources one of which is no file."""
    home = folder / "docs"
    for number, text in enumerate(("one text", "another text")):
        (home / "en" / "news").mkdir(parents=True, exist_ok=True)
        (home / "en" / "news" / f"{number}.txt").write_text(text)
    if draw.random() < 0.5:
        SPECIAL[draw.choice(list(SPECIAL))](home / "en" / "news" / "2.txt")
        return home
    (home / "part-1.jsonl").write_text('{"text": "x", "labels": ["a"]}\n')
    SPECIAL[draw.choice(list(SPECIAL))](home / "part-2.jsonl")
    return home


def _twice(line: bytes) -> bytes:
    return line + b"\n" + b'{"text": "second", "labels": ["b"]}\n'


_WORKBOOK = {
    "[Content_Types].xml": b'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    b'content-types"/>',
    "_rels/.rels": b'<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    b'relationships"><Relationship Id="1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    b'relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": b'<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/'
    b'2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    b'<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": b'<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/'
    b'package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/'
    b'2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
_ROW = b'{"text": "first", "labels": ["a"]}\n'
CASES: dict[str, Make] = {
    "a key twice": _written("docs.jsonl", _twice(b'{"text": "one", "labels": ["a"], "text": "other"}')),
    "a line without end": _written("docs.jsonl", _ROW, ENDLESS),
    "a special file": _special,
    "archives": _archives,
    "a gzip of blanks": _spread("docs.jsonl.gz", lambda: gzip_bomb(_ROW, b" ")),
    "a special file in a folder": _special_in_folder,
    "a table's line without end": _written("docs.csv", b"text,labels\nfirst,a\n", ENDLESS),
    "a gzip of one cell": _spread("docs.csv.gz", lambda: gzip_bomb(b'text,labels\nfirst,a\n"', b"x")),
    "a text without end": _written("docs.txt", b"a text ", ENDLESS),
    "a gzip of text": _spread("docs.txt.gz", lambda: gzip_bomb(b"a text ", b"x")),
    "a workbook that is a bomb": _spread(
        "docs.xlsx", lambda: zip_bomb("xl/worksheets/sheet1.xml", _WORKBOOK)
    ),
    "an ODS that is a bomb": _spread(
        "docs.ods",
        lambda: zip_bomb("content.xml", {"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}),
    ),
    "an array without end": _written("docs.json", b'[{"text": "first"},', ENDLESS),
    "nested JSON": _written("docs.jsonl", b'{"text": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"),
    "nested labels": _written("docs.jsonl", b'{"text": "x", "labels": [[[["a"]]]]}\n'),
    "a huge number": _written("docs.jsonl", b'{"text": "x", "id": ' + b"9" * 10_000 + b"}\n"),
    "a constant that JSON lacks": _written("docs.jsonl", b'{"text": "x", "id": NaN}\n'),
    "lone surrogates": _written("docs.jsonl", b'{"text": "\\ud800", "labels": ["\\udc00"]}\n'),
    "NULs": _written("docs.csv", b"text,labels\n\0\0,a\nx\0,\0\n"),
    "half a million columns": _written(
        "docs.csv", b"text" + b",a" * 500_000 + b"\nx" + b",1" * 500_000 + b"\n"
    ),
    "a quote that never ends": _written("docs.csv", b'text,labels\n"' + b"x,y\n" * 200_000),
    "a cell as a list of lists": _written("docs.csv", b'text,labels\nx,"' + b"[" * 100_000 + b'"\n'),
    "an empty file": _written("docs.jsonl", b""),
    "a parquet file that is none": _written("docs.parquet", b"PAR1" + bytes(100) + b"\xff\xff\xff\x7fPAR1"),
    "JSON of many objects": _written("docs.jsonl", json.dumps([{}] * 300_000).encode()),
}
REFUSED = ("a key twice", "a constant that JSON lacks", "a parquet file that is none", "an empty file")
