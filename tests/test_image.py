"""The image: the Dockerfile is made for the package as it is, and what comes of it does what is promised."""

import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.test_proxy import program

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instruction(name: str) -> str:
    """The words of the last instruction of this name."""
    lines = DOCKERFILE.replace("\\\n", " ").splitlines()
    return [line.removeprefix(name).strip() for line in lines if line.startswith(f"{name} ")][-1]


def test_the_extras_of_the_image_exist_and_have_no_pytorch() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"\.whl\)\[([\w,-]+)\]", DOCKERFILE)
    extras = set(named[0].split(","))
    assert (
        {"serve", "parquet", "spreadsheet"}
        <= extras
        <= set(known["optional-dependencies"]) - {"neural", "dev"}
    )


def test_it_runs_our_command_as_a_user_who_is_not_root() -> None:
    known = runpy.run_path(str(ROOT / "packaging" / "image" / "root.py"))
    assert json.loads(instruction("ENTRYPOINT")) == ["funnelling"]  # a list: signals reach the process itself
    assert instruction("USER") == f"{known['USER']}:{known['USER']}"


def test_the_health_check_asks_the_port_that_the_service_has() -> None:
    from funnelling.serving.settings import ServiceSettings

    port = str(ServiceSettings("model").port)
    assert instruction("EXPOSE") == port
    assert f", {port}, " in instruction("HEALTHCHECK")
    assert "/healthz" in instruction("HEALTHCHECK")


def test_the_base_is_pinned() -> None:
    assert re.search(r"^ARG BASE=python:3\.\d+-slim@sha256:[0-9a-f]{64}$", DOCKERFILE, re.MULTILINE)


def test_the_build_gets_all_that_the_wheel_is_made_of() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line[1:] for line in lines if line.startswith("!")}
    assert {"pyproject.toml", "setup.py", "src", "native", "README.md", "LICENSE", "NOTICE"} <= kept
    assert all((ROOT / name).exists() for name in kept)


@pytest.mark.slow
def test_the_image_does_what_is_promised() -> None:
    """Skipped where nothing can build one: the build installs from the internet, and takes minutes."""
    docker = program("docker")
    if subprocess.run([docker, "info"], capture_output=True).returncode:
        pytest.skip("docker does not run")
    done = subprocess.run([sys.executable, ROOT / "scripts" / "try_image.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
