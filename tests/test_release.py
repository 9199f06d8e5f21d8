"""What is released says one version everywhere, and needs the same everywhere."""

import re
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return import_module("release")


def test_all_places_say_the_version_of_pyproject(release: ModuleType) -> None:
    assert list(release.disagreements()) == []


def test_a_place_that_says_another_version_is_named(
    release: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = release.version()
    monkeypatch.setattr(release, "version", lambda: "7.0.0")
    wrong = list(release.disagreements())
    assert [line.partition(":")[0] for line in wrong] == list(release.REPEATED)
    assert wrong[1] == f"CITATION.cff: says {present}, pyproject.toml 7.0.0. Make them agree."


def test_a_tag_is_that_of_the_version(release: ModuleType) -> None:
    told = f"The tag is v6.0.0, the version {release.version()}. Tag v{release.version()}."
    assert told in release.disagreements("v6.0.0")


def test_the_recipe_for_conda_needs_what_we_need() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    run = RECIPE.read_text(encoding="utf-8").partition("  run:\n")[2].partition("\ntests:")[0]
    needed = {line.removeprefix("    - ").replace(" ", "", 1) for line in run.splitlines() if line}
    assert needed == {"python", *project["dependencies"]}
    lowest = re.escape(project["requires-python"].removeprefix(">="))
    assert re.search(rf'skip: match\(python, "<{lowest}"\)', RECIPE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("platform", ["linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64"])
def test_the_recipe_for_conda_is_understood_by_its_builder(platform: str) -> None:
    rattler_build = pytest.importorskip("rattler_build")
    variants = 'python: ["3.11", "3.14"]\nc_compiler: [gcc]\nc_stdlib: [sysroot]\n'
    rendered = rattler_build.Stage0Recipe.from_yaml(RECIPE.read_text(encoding="utf-8")).render(
        rattler_build.VariantConfig.from_yaml(variants),
        rattler_build.RenderConfig(platform=rattler_build.PlatformConfig(target_platform=platform)),
    )
    assert len(rendered) == 2  # one per Python
