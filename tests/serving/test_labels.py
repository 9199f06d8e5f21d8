"""GET /v1/labels, and labels that a request excludes."""

from typing import Any

import pytest

from funnelling import LabelSet
from funnelling.corpus.label_set import Label
from funnelling.formats import Document
from funnelling.methods.rows import Predictor
from funnelling.serving.application import KnownLabels

from .conftest import LABELS, TEXTS, Client

NAMED = LabelSet.of(
    [
        Label("animals", {"en": "Animals", "de": "Tiere"}, "Cats and dogs", ("nature",)),
        Label("food", {"de": "Essen"}, exclude=True),
        Label("nature"),
    ]
)


@pytest.fixture
def named(model: Any) -> Any:
    return model.following(NAMED)


def test_names_of_labels(make_client: Client, named: Any) -> None:
    assert make_client(other_model=named).get("/v1/labels").json()["labels"] == [
        {
            "id": "animals",
            "name": "Animals",
            "names": {"en": "Animals", "de": "Tiere"},
            "description": "Cats and dogs",
            "parents": ["nature"],
            "excluded": False,
        },
        {
            "id": "food",
            "name": "Essen",
            "names": {"de": "Essen"},
            "description": "",
            "parents": [],
            "excluded": True,
        },
        {"id": "music", "name": "music", "names": {}, "description": "", "parents": [], "excluded": False},
    ]


def test_without_a_label_set_they_are_called_by_their_ids(client: Any) -> None:
    rows = client.get("/v1/labels").json()["labels"]
    assert [(row["id"], row["name"]) for row in rows] == [(label, label) for label in LABELS]


def test_a_request_excludes_labels(client: Any, model: Any) -> None:
    documents = [{"text": text, "id": tag} for tag, text in TEXTS.items()]
    rows = client.post("/v1/predict", json={"documents": documents, "exclude": ["music", "food"]})
    fewer = Predictor(model.following(exclude=["food", "music"]))
    assert rows.json()["documents"] == list(fewer([Document(tag, text) for tag, text in TEXTS.items()]))
    assert [list(row["probabilities"]) for row in rows.json()["documents"]] == [["animals"]] * 3
    whole = client.post("/v1/predict", json={"documents": documents})
    assert [list(row["probabilities"]) for row in whole.json()["documents"]] == [LABELS] * 3


@pytest.mark.parametrize(
    ("exclude", "pointer", "says"),
    [
        (["musik"], "/exclude/0", 'no label "musik"'),
        ([], "/exclude", "must not be empty"),
        (LABELS, "/exclude", "Every label is excluded"),
        ("music", "/exclude", "must be a list"),
    ],
)
def test_what_is_refused(client: Any, exclude: Any, pointer: str, says: str) -> None:
    answer = client.post("/v1/predict", json={"documents": [{"text": "a dog"}], "exclude": exclude})
    assert (answer.status_code, answer.json()["pointer"]) == (422, pointer)
    assert says in answer.json()["detail"]


def test_what_the_service_excludes_a_request_need_not(make_client: Client, named: Any) -> None:
    client = make_client(other_model=named)
    body = {"documents": [{"text": TEXTS["en"]}], "exclude": ["music", "animals"]}
    assert client.post("/v1/predict", json=body).status_code == 422
    (row,) = client.post("/v1/predict", json={**body, "exclude": ["music"]}).json()["documents"]
    assert list(row["probabilities"]) == ["animals"]


def test_labels_that_people_may_give_are_those_of_the_model_then_others(named: Any) -> None:
    known = KnownLabels(named.label_set, named.labels.classes)
    own = [label for label in LABELS if label != "food"]
    assert [row["id"] for row in known.rows(set())] == [*own, "nature"]
    given = {"food", "magic", "music"}
    assert [row["id"] for row in known.rows(given)] == [*LABELS, "magic", "nature"]
    assert known.ids == set(LABELS)
