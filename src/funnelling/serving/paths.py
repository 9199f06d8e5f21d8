"""The paths of the interface, and the files behind the paths of the pages."""

from importlib.resources import files

INTERFACE = (
    *("/v1/predict", "/v1/explain", "/v1/model", "/v1/labels"),
    *("/healthz", "/metrics", "/openapi.json"),
)
PAGES = {"/": "index.html", "/docs": "docs.html"}


def page_files() -> dict[str, str]:
    """The file of the package behind each path of the pages."""
    folder = files("funnelling.serving").joinpath("page")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith((".css", ".js", ".svg")))
    return {**PAGES, **{f"/static/{name}": name for name in names}}


def served_paths() -> list[str]:
    """All paths of the application."""
    return [*INTERFACE, *page_files()]
