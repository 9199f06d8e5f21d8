"""The pictures of the README are those that the script draws from the committed results."""

import runpy
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent


def test_the_pictures_are_as_the_script_draws_them() -> None:
    drawn = runpy.run_path(str(ROOT / "scripts" / "pictures.py"))["pictures"]()
    folder = ROOT / "docs" / "pictures"
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == drawn
    for content in drawn.values():
        assert ElementTree.fromstring(content).get("aria-label")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"docs/pictures/{name}" in readme for name in drawn)
