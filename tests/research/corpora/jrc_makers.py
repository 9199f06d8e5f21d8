"""Archives of laws in the layout of JRC-Acquis 3.0."""

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.research.corpora.makers import tar

DOCTYPE = '<!DOCTYPE TEI.2 SYSTEM "tei2.dtd">'


def law(n: str, lang: str, codes: Sequence[str], *paragraphs: str, doctype: str = DOCTYPE) -> str:
    """A file of the corpus, with what else is in a real one."""
    classes = "".join(f'<classCode scheme="eurovoc">{code}</classCode>' for code in codes)
    body = "\n".join(f'<p n="{number}">{paragraph}</p>' for number, paragraph in enumerate(paragraphs, 2))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
{doctype}
<TEI.2 id="jrc{n}-{lang}" n="{n}" lang="{lang}">
  <teiHeader lang="en" date.created="2006-10-16">
    <fileDesc><titleStmt><title>JRC-ACQUIS {n}</title><title>The header</title></titleStmt></fileDesc>
    <profileDesc><textClass>{classes}<classCode scheme="other">other</classCode></textClass></profileDesc>
  </teiHeader>
  <text><body>
    <head n="1">The title</head>
    <div type="body">
{body}
    </div>
    <div type="signature"><p n="90">Done at Brussels</p></div>
    <div type="annex"><p n="91">The annex</p></div>
  </body></text>
</TEI.2>"""


def write_laws(folder: Path, language: str, files: Mapping[str, str | bytes], *, links: str = "") -> Path:
    """An archive of a language; names are what follows the folder of the language, or whole with a /."""
    contents = {
        name if name.startswith((".", "/")) else f"{language}/{name}": content.encode()
        if isinstance(content, str)
        else content
        for name, content in files.items()
    }
    path = folder / f"jrc-{language}.tgz"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(tar(contents, {links: "/etc/passwd"} if links else None), mtime=0))
    return path


def name_of(n: str, lang: str, year: int | str) -> str:
    return f"{year}/jrc{n.replace('(', '_').replace(')', '')}-{lang}.xml"
