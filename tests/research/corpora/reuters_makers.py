"""Archives of news in the layout of RCV1 and RCV2."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def story(
    itemid: str,
    lang: str,
    topics: Sequence[str],
    *paragraphs: str,
    headline: str = "Prices rise",
    title: str = "UK: Prices rise",
    encoding: str = "iso-8859-1",
) -> bytes:
    """A file of the corpora, with what else is in a real one."""
    codes = "".join(f'<code code="{code}"><editdetail action="confirmed"/></code>\n' for code in topics)
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"""<?xml version="1.0" encoding="{encoding}" ?>
<newsitem itemid="{itemid}" id="root" date="1996-08-20" xml:lang="{lang}">
<title>{title}</title>
<headline>{headline}</headline>
<byline>A. Writer</byline>
<dateline>LONDON 1996-08-20</dateline>
<text>
{body}
</text>
<copyright>(c) Reuters Limited 1996</copyright>
<metadata>
<codes class="bip:countries:1.0"><code code="UK"></code></codes>
<codes class="bip:topics:1.0">
{codes}</codes>
<dc element="dc.publisher" value="Reuters Holdings Plc"/>
</metadata>
</newsitem>""".encode(encoding)


def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
