"""Links of a site that was built: what its pages link to, and what of that is not there."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest"}


class Page(HTMLParser):
    """What a page links to, what it loads, and where links can lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.loads.append(values[LOADED[tag]])
        if tag == "link" and LOADING_LINKS & set(values.get("rel", "").split()):
            self.loads.append(values["href"])


Pages = dict[Path, Page]


def read_pages(folder: Path) -> Pages:
    """All pages of a site, by their files."""
    return {path: Page(path) for path in sorted(folder.rglob("*.html"))}


def broken(pages: Pages) -> Iterator[str]:
    """Links within a site that lead nowhere."""
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor, known = unquote(parts.fragment), pages.get(target)
            if not target.is_file() or (anchor and known and anchor not in known.anchors):
                yield f"{path.name}: {link}"
