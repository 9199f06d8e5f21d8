"""The interface as OpenAPI documents say it: a change shows as a change of the stored ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from funnelling.research import NaiveClassifier

from ..snapshots import assert_as_stored
from .conftest import Client, sentences


def assert_interface(client: Any, name: str) -> None:
    document = client.get("/openapi.json").json()
    document["info"]["version"] = "that of the package"
    document["components"]["schemas"]["Limits"].pop("description", None)  # older pydantic leaves it out
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert_as_stored(Path(__file__).with_name(name), text, "tests/serving/test_interface.py")


def test_several_labels_a_token_and_feedback(make_client: Client, tmp_path: Path) -> None:
    token = "a-token-of-the-tests"
    client = make_client(token=token, hosts=("localhost",), feedback=str(tmp_path / "feedback.jsonl"))
    client.headers["Authorization"] = f"Bearer {token}"
    assert_interface(client, "openapi.json")


@pytest.fixture(scope="module")
def one_label_model() -> Any:
    texts, labels, languages = sentences(60)
    return NaiveClassifier().fit(texts, [(each or ["music"])[0] for each in labels], languages).model_


def test_one_label_and_no_more_than_there_must_be(make_client: Client, one_label_model: Any) -> None:
    assert_interface(make_client(other_model=one_label_model), "openapi_one_label.json")
