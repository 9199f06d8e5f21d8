"""The pages for people: files of the package, read once."""

from collections.abc import Mapping
from importlib.resources import files

from fastapi import FastAPI
from starlette.responses import Response

from funnelling.serving.paths import PAGES, page_files

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def add_pages(app: FastAPI, pages: Mapping[str, str] = PAGES) -> None:
    """Serve pages, each a file behind a path, and the scripts and styles of all."""
    folder = files("funnelling.serving").joinpath("page")
    for path, name in page_files(pages).items():
        content = folder.joinpath(name).read_bytes()
        _add(app, path, content, KINDS[name[name.rindex(".") :]])


def _add(app: FastAPI, path: str, content: bytes, kind: str) -> None:
    async def file() -> Response:
        return Response(content, headers={"Content-Type": kind})

    app.add_api_route(path, file, include_in_schema=False)
