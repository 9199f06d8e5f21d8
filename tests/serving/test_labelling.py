"""A page to label on, asked as its browser asks it: documents out, decisions in, each on disk at once."""

import json
import shutil
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from funnelling import load_model, read_documents, write_documents
from funnelling.commands import main
from funnelling.corpus.label_set import Label, LabelSet
from funnelling.errors import InputError
from funnelling.formats.document import Document
from funnelling.formats.journal import Journal
from funnelling.formats.jsonl import JOURNAL_HEADER
from funnelling.labelling.labels import ColdStart
from funnelling.labelling.learning import UpdateSettings, learned_before
from funnelling.labelling.page import create_labelling_app
from funnelling.labelling.queue import read_queue
from funnelling.labelling.service import AnnotationService
from funnelling.labelling.tasks import TaskQueue
from funnelling.serving.engine import Engine
from funnelling.serving.guard import HTTPProblem, Metrics
from funnelling.serving.settings import ServiceSettings, labelling_paths

from .conftest import TEXTS, sentences, testclient

ADA, BOB = "session-of-ada", "session-of-bob"


def documents(number: int = 12, seed: int = 9) -> list[Document]:
    texts, _, languages = sentences(number, seed)
    return [
        Document(f"d{i}", text, language)
        for i, (text, language) in enumerate(zip(texts, languages, strict=True))
    ]


class Page:
    """What a page asks."""

    def __init__(self, client: Any, journal: Path) -> None:
        self.client, self.journal = client, journal

    def ask(self, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
        answer = self.client.post(f"/v1/{path}", json=body)
        assert answer.status_code == status, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.journal.read_text("utf-8").splitlines()[1:]]


@pytest.fixture
def open_page(model: Any, model_path: Path, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens the application over a file, as a new process would."""
    opened: list[tuple[Any, Journal]] = []

    def stop() -> None:
        while opened:
            client, journal = opened.pop()
            client.__exit__(None, None, None)
            journal.close()

    def begin(
        after: int = 0,
        other_model: Any = None,
        token: str | None = None,
        most: int = 2**20,
        cold: ColdStart | None = None,
        **how: Any,
    ) -> Page:
        stop()
        path, data = tmp_path / "journal.jsonl", tmp_path / "docs.jsonl"
        if not data.exists():
            write_documents(data, documents())
        served = None if cold is not None else other_model or model
        queue = read_queue(served, data, detect=cold is not None, **how)
        journal = Journal(path, most=most)
        settings = ServiceSettings(str(model_path), token=token)
        metrics = Metrics(labelling_paths(), model.languages)

        def engine_of(served: Any) -> Engine:
            return Engine(served, metrics, settings.limits.words)

        learning = UpdateSettings(
            None if served is None else str(model_path), str(path), str(tmp_path / "labelled"), after
        )
        if cold is not None:
            learning = replace(learning, label_set=cold.label_set, single_label=cold.single_label)
        desk, engine = TaskQueue(queue.documents, journal), None if served is None else engine_of(served)
        bench = AnnotationService(queue, desk, engine, learning, 0, "", cold, engine_of)
        app = create_labelling_app(bench, settings, metrics)
        client = testclient.TestClient(app, base_url="http://localhost")
        opened.append((client.__enter__(), journal))
        return Page(client, path)

    yield begin
    stop()


def test_a_document_comes_with_what_the_model_suggests(open_page: Callable[..., Page], model: Any) -> None:
    page = open_page()
    facts = page.client.get("/v1/labels").json()
    assert [label["id"] for label in facts["labels"]] == ["animals", "food", "music"]
    shown = page.ask("next", session=ADA)
    document = shown["document"]
    (row,) = model.classify([document["text"]], [document["language"]])[1]
    assert list(document["probabilities"].values()) == pytest.approx(row.tolist())
    assert document["labels"] == document["suggested"]
    assert document["reason"]
    assert shown["progress"] == {"documents": 12, "labelled": 0, "skipped": 0, "left": 12, "yours": 0}
    told = page.ask("explain", key=document["key"], labels=["animals", "unheard of"])["labels"]
    assert list(told) == ["animals"]
    assert told["animals"]
    assert all(document["text"][start:stop].strip() for start, stop, _ in told["animals"])


def test_a_decision_is_on_disk_before_the_next_document_is_shown(open_page: Callable[..., Page]) -> None:
    page = open_page()
    first = page.ask("next", session=ADA)["document"]
    decision = {"session": ADA, "annotator": "Ada", "key": first["key"], "action": "label"}
    second = page.ask("annotate", **decision, labels=["music", "music", "poems"], note="hm")["document"]
    (line,) = page.lines()
    assert line.pop("timestamp")
    assert line == {
        "annotator": "Ada",
        "action": "label",
        "id": first["id"],
        "language": first["language"],
        "text": first["text"],
        "labels": ["music", "poems"],
        "suggested": first["suggested"],
        "note": "hm",
    }
    assert second["key"] != first["key"]
    again = open_page()  # killed, and started again
    facts = again.client.get("/v1/labels").json()
    assert facts["progress"]["labelled"] == 1
    assert [label["id"] for label in facts["labels"]] == ["animals", "food", "music", "poems"]
    seen = []
    while (document := again.ask("next", session=BOB)["document"]) is not None:
        seen.append(document["key"])
        again.ask("annotate", session=BOB, key=document["key"], action="label", labels=[])
    assert len(seen) == 11
    assert first["key"] not in seen


def test_a_new_label_has_no_bar(open_page: Callable[..., Page], model: Any) -> None:
    label_set = LabelSet.of([Label("animals"), Label("food|drink")])
    page = open_page(other_model=model.following(label_set))
    key = page.ask("next", session=ADA)["document"]["key"]
    decision = {"session": ADA, "key": key, "action": "label"}
    told = page.ask("annotate", 422, **decision, labels=["animals", "a|b"])
    assert told["detail"] == 'A new label has no "|", which joins labels: add the parts of "a|b" one by one.'
    page.ask("annotate", **decision, labels=["food|drink"])  # is no new one
    assert [document.labels for document in read_documents(page.journal)] == [("food|drink",)]


def test_a_full_journal_is_told_and_keeps_what_it_has(open_page: Callable[..., Page]) -> None:
    page = open_page(most=400)
    for status in (200, 507, 507):
        shown = page.ask("next", session=ADA)["document"]
        told = page.ask("annotate", status, session=ADA, key=shown["key"], action="label", labels=["food"])
    assert "is full, it may have 400 bytes" in told["detail"]
    assert "--max-journal" in told["detail"]
    assert page.ask("next", session=ADA)["document"] == shown
    assert len(page.lines()) == 1


def test_two_people_get_different_documents(open_page: Callable[..., Page]) -> None:
    page = open_page()
    keys = [page.ask("next", session=session)["document"]["key"] for session in (ADA, BOB, ADA)]
    assert keys[0] == keys[2] != keys[1]
    stolen = page.ask("annotate", 409, session=BOB, key=keys[0], action="label", labels=[])
    assert stolen["detail"].startswith("This document is decided about, or somebody else has it")
    assert page.lines() == []


def test_a_sign_of_life_gets_a_document_back_that_nobody_has(open_page: Callable[..., Page]) -> None:
    page = open_page()
    key = page.ask("next", session=ADA)["document"]["key"]
    page.ask("annotate", session=ADA, key=key, action="skip")
    assert page.ask("heartbeat", session=BOB, key="gone")["progress"]["left"] == 12
    page.ask("heartbeat", session=ADA, key=key)  # which she skipped
    page.ask("heartbeat", session=BOB, key=key)
    assert page.ask("next", session=BOB)["document"]["key"] == key


def test_undo_and_skip(open_page: Callable[..., Page]) -> None:
    page = open_page()
    assert page.ask("undo", 409, session=ADA)["detail"] == "There is nothing to take back."
    first = page.ask("next", session=ADA)["document"]["key"]
    page.ask("annotate", session=ADA, key=first, action="label", labels=["food"])
    shown = page.ask("undo", session=ADA)
    assert (shown["document"]["key"], shown["document"]["labels"]) == (first, ["food"])
    assert shown["progress"]["labelled"] == 0
    page.ask("annotate", session=ADA, key=first, action="note", note="odd")
    after = page.ask("annotate", session=ADA, key=first, action="skip", note="odd")
    assert after["progress"]["skipped"] == 1
    assert page.ask("undo", session=ADA)["document"]["note"] == "odd"
    assert [line["action"] for line in page.lines()] == ["label", "undo", "note", "skip", "undo"]
    assert not any("labels" in line for line in page.lines()[1:])


@pytest.mark.parametrize(
    ("status", "path", "body", "reason"),
    [
        (422, "next", {}, '"session" is missing'),
        (422, "next", {"session": ADA, "colour": 1}, '"colour" is no field of the body'),
        (404, "annotate", {"session": ADA, "key": "x", "action": "skip"}, "There is no such document"),
        (404, "explain", {"key": "x", "labels": []}, "There is no such document"),
        (
            422,
            "annotate",
            {"session": ADA, "key": "KEY", "action": "eat"},
            "\"action\" must be 'label', 'skip' or 'note'.",
        ),
        (422, "next", {"session": "short"}, '"session" must have at least 8 characters.'),
        (422, "annotate", {"session": ADA, "key": "KEY", "action": "label"}, '"labels" is missing'),
        (422, "annotate", {"session": ADA, "key": "KEY", "action": "label", "labels": [" "]}, "not be empty"),
    ],
)
def test_refusals(
    open_page: Callable[..., Page], status: int, path: str, body: dict[str, Any], reason: str
) -> None:
    page = open_page()
    key = page.ask("next", session=ADA)["document"]["key"]
    if body.get("key") == "KEY":
        body = {**body, "key": key}
    assert reason in page.ask(path, status, **body)["detail"]


@pytest.mark.parametrize(
    ("path", "example"),
    [
        ("next", '{"session": "…"}'),
        ("annotate", '{"session": "…", "key": "…", "action": "…"}'),
        ("language", '{"session": "…", "key": "…", "language": "…"}'),
        ("explain", '{"key": "…", "labels": ["…"]}'),
    ],
)
def test_what_a_body_looks_like(open_page: Callable[..., Page], path: str, example: str) -> None:
    answer = open_page().client.post(f"/v1/{path}", json=[1])
    assert answer.json()["detail"] == f"The body must be an object such as {example}."


def test_where_documents_have_one_label_none_and_two_are_refused(
    open_page: Callable[..., Page], model: Any
) -> None:
    one_label = replace(model, labels=replace(model.labels, single_label=True))
    page = open_page(other_model=one_label, as_they_are=True)
    key = page.ask("next", session=ADA)["document"]["key"]
    for labels in ([], ["animals", "food"]):
        told = page.ask("annotate", 422, session=ADA, key=key, action="label", labels=labels)
        assert told["detail"] == "A document has exactly one label here. Choose a label, or skip."
    assert page.lines() == []


def test_what_is_decided_is_answered_even_where_the_model_is_not(
    open_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any) -> Any:
        raise HTTPProblem(503, "Busy.")

    page = open_page()
    key = page.ask("next", session=ADA)["document"]["key"]
    monkeypatch.setattr(Engine, "predict", refuse)
    told = page.ask("annotate", session=ADA, key=key, action="label", labels=["animals"])
    assert told["document"]["key"] != key
    assert told["document"]["suggested"] == []
    assert page.ask("undo", session=ADA)["document"]["key"] == key
    page.ask("next", 503, session=ADA)


def test_the_token_is_asked_for(open_page: Callable[..., Page]) -> None:
    page = open_page(token="a-token-of-the-tests")
    page.ask("next", 401, session=ADA)
    assert page.client.get("/").status_code == 200


def test_what_is_shown_of_a_file(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    path.write_text(
        "id,language,text,labels,reason\n1,en,a cat,,second best\n2,en,a dog,animals,looks wrong\n"
        "2,en,a dog,animals,looks wrong\n"
    )
    told: list[str] = []
    queue = read_queue(model, path, report=told.append)
    assert [document.id for document in queue.documents] == ["1", "2"]  # in the order of the file
    assert list(queue.reasons.values()) == ["second best", "looks wrong"]
    assert len(told) == 2
    assert told[0].endswith("docs.csv: 1 document left out that came before.")
    assert told[1].endswith("they come in its order.")
    path.write_text(
        "id,language,text,labels,issue,questioned_label,suggested_label\n"
        "1,en,a cat,music,swapped,music,animals\n"
        "2,en,a dog,animals,missing label,,music\n3,en,a cow,animals,email,,\n"
    )
    queue = read_queue(model, path)  # as an audit writes it, but for the last
    assert list(queue.reasons.values()) == ["swapped: music, rather animals", "missing label: music"]
    path.write_text("id,language,text,labels\n1,en,a cat,\n2,en,a dog,animals\n3,fi,kissa,\n")
    queue = read_queue(model, path, report=told.append)
    assert [document.id for document in queue.documents] == ["3", "1"]
    assert "language without labels" in queue.reasons.values()
    assert "1 document with labels left out" in told[-1]
    assert len(read_queue(model, path, everything=True).documents) == 3
    path.write_text("id,language,text,labels\n2,en,a dog,animals\n")
    with pytest.raises(Exception, match="every document has labels"):
        read_queue(model, path)


def test_documents_whose_language_is_none_are_left_out(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    path.write_text('id,language,text\n1,eng,a cat\n2,"Elvish, I think",x\n3,und,a dog in this house\n')
    told: list[str] = []
    queue = read_queue(model, path, as_they_are=True, report=told.append)
    assert [(document.id, document.language) for document in queue.documents] == [("1", "en"), ("3", None)]
    assert told == [
        f'{path}: left out 1 document whose language is none: "Elvish, I think" '
        "(--language-column none detects them)."
    ]
    with pytest.raises(InputError, match=r'docs.csv: document "2": .* is not a language tag'):
        read_queue(model, path, strict=True)
    path.write_text('id,language,text\n2,"Elvish, I think",x\n')
    with pytest.raises(InputError, match=r"docs.csv: no document is in a language"):
        read_queue(model, path)


def test_a_language_that_the_model_does_not_know_can_be_labelled(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    write_documents(tmp_path / "docs.jsonl", [Document("1", "kissa", "fi")])
    page = open_page()
    document = page.ask("next", session=ADA)["document"]
    assert (document["language"], document["probabilities"], document["labels"]) == ("fi", {}, [])
    assert page.ask("explain", key=document["key"], labels=["animals"]) == {"labels": {}}
    page.ask("annotate", session=ADA, key=document["key"], action="label", labels=["animals"])
    (labelled,) = read_documents(page.journal)
    assert (labelled.language, labelled.labels) == ("fi", ("animals",))


def test_a_wrong_language_can_be_corrected(
    open_page: Callable[..., Page], model: Any, tmp_path: Path
) -> None:
    write_documents(tmp_path / "docs.jsonl", [Document("1", TEXTS["de"], "it")])
    page = open_page()
    assert page.client.get("/v1/labels").json()["languages"] == ["de", "en", "it"]
    document = page.ask("next", session=ADA)["document"]
    asked = {"session": ADA, "key": document["key"]}
    assert "not a language" in page.ask("language", 422, **asked, language="?")["detail"]
    for tag in ("xx", "und", "qaa"):
        assert "no language of ISO 639" in page.ask("language", 422, **asked, language=tag)["detail"]
    assert page.ask("language", **asked, language="Finnish")["document"]["language"] == "fi"
    page.ask("language", 409, session=BOB, key=document["key"], language="de")
    corrected = page.ask("language", **asked, language="DE")["document"]
    (row,) = model.classify([TEXTS["de"]], ["de"])[1]
    assert (corrected["key"], corrected["language"]) == (document["key"], "de")
    assert list(corrected["probabilities"].values()) == pytest.approx(row.tolist())
    assert corrected["labels"] == ["animals"]
    assert page.ask("language", **asked, language="de", labels=["food"])["document"]["labels"] == ["food"]
    page.ask("annotate", **asked, action="skip")
    assert page.lines()[-1]["language"] == "de"
    page = open_page()  # started again
    assert page.ask("next", session=ADA)["document"]["language"] == "de"
    page.ask("annotate", **asked, action="label", labels=["animals"])
    (labelled,) = read_documents(page.journal)
    assert (labelled.language, labelled.labels) == ("de", ("animals",))


def test_labels_are_those_of_the_label_set(open_page: Callable[..., Page], model: Any) -> None:
    """Those too that the model has not learned, and without those that are not to be assigned."""
    label_set = LabelSet.of(
        [Label("animals", {"de": "Tiere"}), Label("food", exclude=True), Label("poems", {"fr": "Poésie"})]
    )
    page = open_page(other_model=model.following(label_set))
    labels = {label["id"]: label for label in page.client.get("/v1/labels").json()["labels"]}
    assert list(labels) == ["animals", "music", "poems"]
    assert labels["poems"]["names"] == {"fr": "Poésie"}
    document = page.ask("next", session=ADA)["document"]
    assert list(document["probabilities"]) == ["animals", "music"]
    page.ask("annotate", session=ADA, key=document["key"], action="label", labels=["poems"])
    assert page.lines()[-1]["labels"] == ["poems"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            ["--journal", "journal.txt"],
            "journal.txt: a journal is JSON Lines. Use a name that ends in .jsonl",
        ),
        (["--learn-after", "-1"], "'-1' is not a whole number, 0 or more"),
        (["--save", "folder"], "folder exists and is no model that learned from docs-journal.jsonl"),
        (["--journal", "thesis.jsonl"], "thesis.jsonl: holds something else than a journal"),
        (["--journal", "folder.jsonl"], "folder.jsonl: is no file"),
        (["--journal", "gone/j.jsonl", "--all"], "gone/j.jsonl: cannot be written (no such file"),
        (["--journal", "deep.jsonl", "--all"], "deep.jsonl:2: damaged"),
        (["--labels", "set.csv"], "set.csv: its ids"),
        ([], "docs.jsonl: every document has labels. Add --all"),
    ],
)
def test_what_cannot_begin(
    model_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_documents("docs.jsonl", [Document("1", "a cat", "en", ("animals",))])
    Path("thesis.jsonl").write_text("my thesis\n")
    Path("deep.jsonl").write_text(json.dumps(JOURNAL_HEADER) + "\n" + "[" * 100_000 + "\n")
    Path("folder.jsonl").mkdir()
    Path("set.csv").write_text("id,name_en\nc1,Cats\n")
    shutil.copytree(model_path, "folder")
    words = [
        "label",
        str(model_path),
        "docs.jsonl",
        *([] if "--save" in options else ["--save", "new"]),
        *options,
    ]
    with suppress(SystemExit):  # options are refused as argparse does it
        assert main([*words, "--port", "0"]) == 2
    assert reason in capsys.readouterr().err
    assert not Path("docs-journal.jsonl").exists()


@pytest.mark.parametrize("command", ["label", "serve"])
def test_a_port_that_is_taken_leaves_no_journal(
    model_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    data, journal = tmp_path / "docs.jsonl", tmp_path / "new.jsonl"
    write_documents(data, documents(3))
    words = {"label": [data, "--learn-after", 0, "--journal", journal], "serve": ["--feedback", journal]}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([command, str(model_path), *map(str, words[command]), "--port", str(port)]) == 2
    assert f"127.0.0.1:{port}: address already in use" in capsys.readouterr().err
    assert not journal.exists()


def test_the_model_learns_meanwhile(open_page: Callable[..., Page], model_path: Path, tmp_path: Path) -> None:
    page = open_page(after=6)
    before = sorted(file.name for file in model_path.iterdir())
    for _ in range(6):
        document = page.ask("next", session=ADA)["document"]
        answer = page.ask(
            "annotate", session=ADA, key=document["key"], action="label", labels=[*document["labels"], "new"]
        )
    assert answer["learning"]["running"]
    assert answer["changes"]["labels"] == [{"label": "new", "added": 6, "removed": 0}]
    state = wait(page)
    assert state["problem"] == ""
    assert state["learned"] == 6
    assert {row["measure"] for row in state["scores"]} >= {"micro-F1"}
    assert "new" in page.ask("next", session=ADA)["document"]["probabilities"]
    assert sorted(file.name for file in model_path.iterdir()) == before
    assert "new" in load_model(tmp_path / "labelled").classes_
    assert learned_before(tmp_path / "labelled", page.journal) == 6
    elsewhere = tmp_path / "elsewhere" / page.journal.name
    elsewhere.parent.mkdir()
    for content in (None, page.journal.read_text("utf-8").replace('"timestamp": "2', '"timestamp": "1')):
        if content is not None:
            elsewhere.write_text(content, "utf-8")
        with pytest.raises(Exception, match=r"another journal that is called journal\.jsonl"):
            learned_before(tmp_path / "labelled", elsewhere)
    with pytest.raises(Exception, match="no model that learned from other"):
        learned_before(tmp_path / "labelled", tmp_path / "other.jsonl")


def test_labelling_from_nothing(open_page: Callable[..., Page], tmp_path: Path) -> None:
    texts, labels, _ = sentences(60, 9)
    given = {text: own[0] for text, own in zip(texts, labels, strict=True) if len(own) == 1}
    write_documents(tmp_path / "docs.jsonl", [Document(text, text) for text in given])
    names = [Label("poems"), Label("animals", {"en": "Horse"}), Label("food"), Label("music")]
    page = open_page(after=12, cold=ColdStart(LabelSet.of(names), single_label=True))
    facts = page.client.get("/v1/labels").json()
    assert [label["id"] for label in facts["labels"]] == ["poems", "animals", "food", "music"]
    assert (facts["single_label"], facts["languages"]) == (True, ["de", "en", "it"])
    shown, languages = page.ask("next", session=ADA), []
    for _ in range(12):
        document = shown["document"]
        horse = "horse" in document["text"]
        assert (document["suggested"], document["probabilities"]) == (["animals"] if horse else [], {})
        spans = page.ask("explain", key=document["key"], labels=["animals"])["labels"]["animals"]
        assert [document["text"][start:stop] for start, stop, _ in spans] == ["horse"] * len(spans)
        assert bool(spans) == horse
        languages.append(document["language"])
        decision = {"session": ADA, "key": document["key"], "action": "label"}
        shown = page.ask("annotate", **decision, labels=[given[document["text"]]])
    assert {languages.count(tag) for tag in ("de", "en", "it")} == {4}  # in turn
    assert shown["changes"]["documents"] == sum("suggested" in line for line in page.lines()) < 12
    state = wait(page)
    assert (state["problem"], state["learned"], state["until_next"]) == ("", 12, 12)
    assert state["majority"] == pytest.approx(
        max(Counter(line["labels"][0] for line in page.lines()).values()) / 12
    )
    (point,) = state["curve"]
    assert (state["measure"], point["documents"]) == ("accuracy", 12)
    assert 0 <= point["score"] <= 1
    document = page.ask("next", session=ADA)["document"]
    assert set(document["probabilities"]) == {"animals", "food", "music"}
    saved = load_model(tmp_path / "labelled")
    assert "poems" in saved.label_set_.ids  # without documents, and still to be chosen
    assert page.client.get("/v1/labels").json()["labels"] == facts["labels"]
    assert learned_before(tmp_path / "labelled", page.journal) == 12


def wait(page: Page) -> dict[str, Any]:
    """What is learned, once it is."""
    until = time.monotonic() + 120
    while (state := page.ask("heartbeat", session=ADA)["learning"])["running"] and time.monotonic() < until:
        time.sleep(0.1)
    told: dict[str, Any] = state
    return told


def test_without_a_model_the_labels_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_documents("docs.jsonl", documents(3))
    for options, reason in (
        ([], "docs.jsonl: without a model, the labels are needed. Add --labels FILE or --labels a,b,c."),
        (["--labels", "sport"], "sport: no such file. Name a file of labels, or two or more: a,b,c."),
    ):
        assert main(["label", "docs.jsonl", *options, "--port", "0"]) == 2
        assert reason in capsys.readouterr().err
    (tmp_path / "labels.txt").write_text("animals\n\nfood\n")
    for labels in ("labels.txt", "animals,food"):
        assert main(["label", "docs.jsonl", "--labels", labels, "--to", "next.csv", "--force"]) == 0
    assert len(list(read_documents("next.csv"))) == 3
    assert list(tmp_path.glob("*journal*")) == []
