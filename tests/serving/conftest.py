"""A small model in three languages, and applications over it."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from funnelling.storage import describe_model, load, save_model
from tests.funnels import any_funnel

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'funnelling[serve]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'funnelling[serve]'")
testclient = pytest.importorskip("starlette.testclient", reason="needs httpx: pip install httpx")

from .service import Service, start  # noqa: E402

WORDS = {
    "en": {
        "animals": "cat dog horse bird sheep",
        "food": "bread cheese soup apple salad",
        "music": "guitar song piano singer violin",
        "": "the and there is with a very old my in this house was",
    },
    "it": {
        "animals": "gatto cane cavallo uccello pecora",
        "food": "pane formaggio minestra mela insalata",
        "music": "chitarra canzone pianoforte cantante violino",
        "": "il e che nella una molto vecchio mio questa casa della era",
    },
    "de": {
        "animals": "Katze Hund Pferd Vogel Schaf",
        "food": "Brot Käse Suppe Apfel Salat",
        "music": "Gitarre Lied Klavier Sängerin Geige",
        "": "der und das ist mit einem sehr alt mein in diesem Haus war",
    },
}
LABELS = ["animals", "food", "music"]
TEXTS = {
    "en": "There was an old dog and a horse in this house, with bread and cheese.",
    "it": "Nella casa della cantante era una chitarra e un pianoforte molto vecchio.",
    "de": "In diesem Haus ist ein sehr alter Hund mit einem Pferd und einer Katze.",
}


def sentences(documents: int, seed: int = 0) -> tuple[list[str], list[list[str]], list[str]]:
    """Texts that hold some words of each of their labels, their labels, their languages."""
    draw = random.Random(seed)
    texts, labels, languages = [], [], []
    for i in range(documents):
        language = ("en", "it", "de")[i % 3]
        chosen = [label for label in LABELS if draw.random() < 0.4]
        words = draw.choices(WORDS[language][""].split(), k=8)
        for label in chosen:
            words += draw.sample(WORDS[language][label].split(), 2)
        draw.shuffle(words)
        texts.append(" ".join(words))
        labels.append(chosen)
        languages.append(language)
    return texts, labels, languages


@pytest.fixture(scope="session")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts, labels, languages = sentences(180)
    path = tmp_path_factory.mktemp("serving") / "model"
    save_model(any_funnel(views=None, meta_C=10).fit(texts, labels, languages=languages), path)
    return path


@pytest.fixture(scope="session")
def model(model_path: Path) -> Any:
    return load(model_path)


Client = Callable[..., Any]


def answers_of(labels: Any) -> tuple[Any, Any]:
    """The types of answers with these labels: predictions and explanations."""
    from funnelling.serving.requests import label_type
    from funnelling.serving.responses import answer_types
    from funnelling.serving.settings import Limits

    return answer_types(labels, Limits(), label_type(list(map(str, labels.classes.tolist()))))


@pytest.fixture
def make_client(model: Any, model_path: Path) -> Iterator[Client]:
    """Clients of applications with settings of their own."""
    from funnelling.serving.application import create_app
    from funnelling.serving.guard import Metrics
    from funnelling.serving.settings import Limits, ServiceSettings, served_paths

    opened = []

    def make(
        token: str | None = None,
        other_model: Any = None,
        hosts: tuple[str, ...] = (),
        feedback: str | None = None,
        feedback_bytes: int = 10_000,
        **limits: Any,
    ) -> Any:
        settings = ServiceSettings(
            str(model_path),
            token=token,
            limits=Limits(**limits),
            allowed_hosts=hosts,
            feedback=feedback,
            feedback_bytes=feedback_bytes,
        )
        metrics = Metrics(served_paths(), model.languages)
        app = create_app(other_model or model, describe_model(model_path), settings, metrics)
        client = testclient.TestClient(app, base_url="http://localhost")
        opened.append(client.__enter__())
        return client

    yield make
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def client(make_client: Client) -> Any:
    return make_client()


@pytest.fixture
def serve(model_path: Path, tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Starts services over the model and stops them in the end."""
    started: list[Service] = []

    def begin(*options: object, model: Path = model_path) -> Service:
        started.append(start(model, tmp_path / f"log-{len(started)}.txt", *options))
        return started[-1]

    yield begin
    for service in started:
        service.stop()
