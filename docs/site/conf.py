"""How Sphinx makes the site, and the man pages (`build.py` calls it)."""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from commands import man_pages_of  # noqa: E402
from docstrings import INNER  # noqa: E402

project = "funnelling"
author = "The Funnelling maintainers"
copyright = author  # noqa: A001
release = version = version_of("funnelling")

extensions = ["myst_parser"]
templates_path = [str(HERE / "templates")]
nitpicky = True

# --- what the man pages need ------------------------------------------------------------------------

man_pages = man_pages_of(author)

if tags.has("man"):  # noqa: F821  Sphinx defines it: nothing but the commands is there
    root_doc = "commands/index"
else:
    extensions += [
        "sphinx.ext.autodoc",
        "sphinx.ext.autosummary",
        "sphinx.ext.napoleon",
        "docstrings",
        "sphinx_copybutton",
        "sphinx_gallery.gen_gallery",
    ]

# --- Markdown ---------------------------------------------------------------------------------------

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "colon_fence"]
# `site:` leads to what is copied as it is, relative to the page.
myst_url_schemes = {"http": None, "https": None, "mailto": None, "site": "{{path}}"}

# --- the API ----------------------------------------------------------------------------------------

# Single backticks name things of Python, which become links where the site has them.
default_role = "py:obj"
nitpick_ignore_regex = [
    ("py:obj", r"(?!funnelling\.[A-Za-z_]+$).*"),  # parameters, methods, modules that only we import
    ("py:class", ".*"),  # types of other packages, and words such as "path" in lists of parameters
    ("py:exc", ".*"),
]
autosummary_generate = True
autodoc_typehints = "none"  # docstrings say what is taken, in words
autodoc_default_options = {"exclude-members": ", ".join(INNER)}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_preprocess_types = False
napoleon_attr_annotations = False

# --- the examples -----------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "examples",
    "filename_pattern": r"[/\\]\d\d_",
    "ignore_pattern": r"[/\\](?!\d\d_)[^/\\]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("funnelling",),
    "backreferences_dir": "api/uses",
    "show_signature": False,
    "ignore_repr_types": r"funnelling\.",  # a model that a block ends with says nothing
    "write_computation_times": False,
    "abort_on_example_error": True,
}

# --- the look ---------------------------------------------------------------------------------------

html_theme = "furo"
html_title = "funnelling"
html_baseurl = "https://funnelling.github.io/funnelling/"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_favicon = str(ROOT / "src" / "funnelling" / "serving" / "page" / "icon.svg")
html_search_scorer = str(HERE / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "source_repository": "https://github.com/funnelling/funnelling/",
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": [],  # pages are staged, so the theme would not know where they are edited
    "light_css_variables": {"color-brand-primary": "#005a8c", "color-brand-content": "#005a8c"},
    "dark_css_variables": {"color-brand-primary": "#7cc4f2", "color-brand-content": "#7cc4f2"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


LIST = re.compile(r"^\.\. The list is .*^\.\. The list ends\.$", re.DOTALL | re.MULTILINE)


def _mend_gallery(_: object, place: str, text: list[str]) -> None:
    """Take the list of stories out of the gallery's page, which shows them all; say what a story needs."""
    if place == "examples/index":
        text[0] = LIST.sub("", text[0])
    elif place.startswith("examples/"):
        text[0] += "\n\nTo run it: ``pip install 'funnelling[examples]'`` (:doc:`more on that <index>`).\n"


def setup(app: Any) -> None:
    app.connect("source-read", _mend_gallery)
