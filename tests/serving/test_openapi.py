"""The interface keeps what its OpenAPI document promises, whatever it is sent."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .service import Service

PROGRAM = Path(sys.executable).parent / "schemathesis"
TOKEN = "a-token-of-the-tests"
# Without it, a body that is refused because it is too large would count as accepted.
CONFIG = "[checks]\nnegative_data_rejection.expected-statuses = [400, 401, 405, 413, 415, 422]\n"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="needs Schemathesis: pip install schemathesis")


@pytest.mark.parametrize("secured", [False, True])
def test_schemathesis_finds_nothing(serve: Callable[..., Service], secured: bool, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    service = serve(*(("--token-file", token) if secured else ()))
    done = subprocess.run(
        [
            *(str(PROGRAM), "run", f"{service.url}/openapi.json", "--checks", "all", "--seed", "1"),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", "40", "--no-color"),
            *(("-H", f"Authorization: Bearer {TOKEN}") if secured else ()),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "failed:" not in service.log.read_text("utf-8")
