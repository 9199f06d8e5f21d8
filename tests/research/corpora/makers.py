"""Files in the layout of the real ones: packages, help pages, package indices, WikiExtractor's output."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".xz": lzma.compress,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    "": bytes,
}


def tar(files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return stream.getvalue()


def ar(members: Mapping[str, bytes]) -> bytes:
    content = b"!<arch>\n"
    for name, data in members.items():
        content += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode()
        content += data + b"\n" * (len(data) % 2)
    return content


def deb(data: bytes, extension: str = ".xz") -> bytes:
    """A package around a tar archive of what it installs."""
    return ar(
        {
            "debian-binary": b"2.0\n",
            "control.tar.xz": lzma.compress(tar({"./control": b"Package: x\n"})),
            f"data.tar{extension}": COMPRESSORS[extension](data),
        }
    )


def help_package(
    folder: Path, code: str, pages: Mapping[str, str | bytes], links: Mapping[str, str] | None = None
) -> Path:
    """A package of help pages, with what else is in a real one."""
    language = "en-US" if code == "en-us" else code
    base = f"./usr/share/libreoffice/help/{language}"
    files = {
        f"./usr/share/doc/libreoffice-help-{code}/copyright": b"MPL-2.0",
        f"{base}/bookmarks.js": b"var bookmarks;",
        f"{base}/noscript.html": b"<p>JavaScript is needed.</p>",
    }
    for page, content in pages.items():
        files[f"{base}/text/{page}.html"] = content.encode() if isinstance(content, str) else content
    path = folder / f"libreoffice-help-{code}_4%3a7.4.7-1_all.deb"
    path.write_bytes(deb(tar(files if pages else {}, links)))
    return path


def help_page(title: str, *paragraphs: tuple[str, str], heading: str = "") -> str:
    """A page in the frame of the web site; paragraphs are pairs of an id, maybe empty, and of HTML."""
    body = "\n".join(
        f'<p{f" id={chr(34)}{name}{chr(34)}" if name else ""} class="paragraph" dir="auto">{content}</p>'
        for name, content in paragraphs
    )
    return f"""<!DOCTYPE html>
<html lang="it" dir="ltr">
<head>
<noscript><meta http-equiv="refresh" content="0; URL=it/noscript.html"></noscript>
<title>{title}</title>
<link type="text/css" href="normalize.css" rel="Stylesheet">
<script type="text/javascript" src="polyfills.js"></script>
</head>
<body>
<header id="TopLeftHeader"><a class="logo" href="it/new_help.html"><p dir="auto">The frame</p></a></header>
<aside class="leftside"><div id="Index"><div class="index-label" dir="auto">Index</div></div></aside>
<div id="DisplayArea" itemprop="softwareHelp" itemscope="true">
<a name="bm_id1"></a>  <meta itemprop="keywords" content="an index entry">
<h1 id="hd_id1" dir="auto"><a name="anchor"></a>{heading or title}</h1>
{body}
<a name="relatedtopics"></a><div class="relatedtopics">
<p class="related" itemprop="mentions" dir="auto"><span class="emph">Related Topics</span></p>
<div class="relatedbody"><div class="embedded"><p class="embedded"><a href="x.html">Elsewhere</a></p>
</div></div>
</div>
</div>
<div id="SearchFrame"></div>
<footer><div id="DEBUG" class="debug"><h3 class="bug">Help content debug info:</h3>
<p dir="auto">Title is: {title}</p></div></footer>
</body>
</html>"""


def stanza(**fields: str) -> str:
    """A block of an index; _ in a name is - there."""
    return "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items()) + "\n"


def write_indices(folder: Path, packages: Iterable[str], translations: Mapping[str, Iterable[str]]) -> Path:
    """Indices under the names that apt gives them."""
    prefix = "deb.debian.org_debian_dists_bookworm_main"
    folder.mkdir(exist_ok=True)
    (folder / f"{prefix}_binary-amd64_Packages").write_text("".join(packages), encoding="utf-8")
    for language, stanzas in translations.items():
        path = folder / f"{prefix}_i18n_Translation-{language}"
        path.write_text("".join(stanzas), encoding="utf-8")
    return folder


def write_articles(folder: Path, language: str, articles: Mapping[str, str], name: str = "wiki_00") -> Path:
    """Articles, numbered from 10 on, as WikiExtractor --json writes them."""
    path = folder / language / "AA" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps(
            {"id": str(10 + i), "revid": "7", "url": f"https://x?curid={i}", "title": title, "text": text}
        )
        for i, (title, text) in enumerate(articles.items())
    ]
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(COMPRESSORS[path.suffix](content))
    return path
