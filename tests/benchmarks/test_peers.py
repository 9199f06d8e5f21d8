"""Peers are used like methods: they learn from texts, one label per document or several."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from funnelling import Corpus, Document
from tests.commands.command import documents, one_label_documents
from tests.spaces.tiny_encoder import make_encoder

Script = Callable[[str], ModuleType]
NAMES = ["linear-svc", "pipeline", "pipeline-balanced", "recipe"]


def _corpus(one_label: bool) -> Corpus:
    """Documents of several languages by turns."""
    rows = one_label_documents() if one_label else documents()
    rows.sort(key=lambda row: int(row["id"].partition("-")[2]))
    fields = ("id", "text", "language", "labels")
    made = [Document(**{name: row[name] for name in fields}) for row in rows]
    return Corpus.from_documents(made, one_label)


@pytest.mark.parametrize("one_label", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_peer_answers_in_the_order_of_the_documents(script: Script, name: str, one_label: bool) -> None:
    corpus = _corpus(one_label)
    peer = script("peers").PEERS[name](1, 0).fit(corpus)
    answers = peer.predict(corpus.texts, languages=corpus.languages)
    assert peer.exclusive_ == one_label
    truth = corpus.y if one_label else [[label in own for label in peer.classes_] for own in corpus.y]
    assert (answers == truth).mean() > 0.8


def test_linear_svc_ends_its_search_as_pooled_does(script: Script) -> None:
    peer = script("peers").PEERS["linear-svc"](1, 0).fit(_corpus(one_label=True))
    assert peer.tried_ == [0.1, 1, 10, 100, 1_000, 10_000][: len(peer.tried_)]
    assert peer.C_ in peer.tried_


def test_an_encoder_head_reads_the_folder_of_an_encoder(script: Script, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    corpus = _corpus(one_label=True)
    peer = script("peers").EncoderHead(1, 0, str(make_encoder(tmp_path))).fit(corpus)
    assert set(peer.predict(corpus.texts, languages=corpus.languages)) <= set(corpus.y)


def test_the_recipe_is_left_out_where_it_takes_hours(script: Script) -> None:
    peers, texts = script("peers"), script("texts")
    small = texts.draw_texts(script("drawing").Shape(2, 30, 5, 100), seed=0)
    posts = texts.draw_texts(texts.TEXTS["posts"], seed=0)
    assert [peers.takes_hours("recipe", corpus) for corpus in (small, posts)] == [False, True]
    assert not peers.takes_hours("pipeline", posts)


def test_unknown_peers_are_refused(script: Script) -> None:
    peers = script("peers")
    with pytest.raises(peers.InputError, match="There is no peer 'svc'"):
        peers.parse_peers("recipe,svc")


def test_drawn_texts_have_their_shape(script: Script) -> None:
    shape = script("drawing").Shape(3, 40, 4, 200, tokens=8, one_label=True, noise=0.5)
    corpus = script("texts").draw_texts(shape, seed=0)
    train = corpus.split("train")
    assert {language: len(rows) for language, rows in train.by_language().items()} == dict.fromkeys(
        ("de", "fr", "it"), 40
    )
    assert train.has_one_label().all()
    assert len(train.label_set()) == 4
    assert 4 < np.median([len(text.split()) for text in train.texts]) < 14
    words = [
        {word for text in train.select(rows).texts for word in text.split()}
        for rows in train.by_language().values()
    ]
    assert not set.intersection(*words)
