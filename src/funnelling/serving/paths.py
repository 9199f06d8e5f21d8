"""The paths of the interface, and the files behind the paths of the pages."""

from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

FEEDBACK = "/v1/feedback"
INTERFACE = (
    *("/v1/predict", "/v1/explain", FEEDBACK, "/v1/model", "/v1/labels"),
    *("/healthz", "/metrics", "/openapi.json"),
)
PAGES = {"/": "index.html", "/docs": "docs.html"}
LABELLING_PAGES = {"/": "label.html"}


class _Labelling(NamedTuple):
    """The paths of a page to label on."""

    facts: str = "/v1/labels"
    next: str = "/v1/next"
    decide: str = "/v1/decide"
    undo: str = "/v1/undo"
    language: str = "/v1/language"
    stay: str = "/v1/stay"
    passages: str = "/v1/passages"


LABELLING = _Labelling()


def page_files(pages: Mapping[str, str] = PAGES) -> dict[str, str]:
    """The file of the package behind each path of some pages, and of what they are made of."""
    folder = files("funnelling.serving").joinpath("page")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith((".css", ".js", ".svg")))
    return {**pages, **{f"/static/{name}": name for name in names}}


def served_paths() -> list[str]:
    """All paths of the application."""
    return [*INTERFACE, *page_files()]


def labelling_paths() -> list[str]:
    """All paths of a page to label on."""
    return [*LABELLING, *page_files(LABELLING_PAGES)]
