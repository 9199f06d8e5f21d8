"""Lemmas: those of simplemma, word for word, from a cache that can fail without harm."""

import logging
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from simplemma import Lemmatizer
from simplemma.strategies import DefaultStrategy
from simplemma.strategies.dictionaries import DefaultDictionaryFactory
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from funnelling.text import lemmas
from funnelling.text.lemmas import MappedDictionary, dictionary
from funnelling.work.names import CACHE

SMALL = ("ms", "id", "fa")  # a few of the dictionaries, of which the largest take seconds


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without anything in it."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "lemmas"


def packed(code: str) -> Mapping[str, str]:
    return DefaultDictionaryFactory(cache_max_size=1).get_dictionary(code)


def assert_equal(mapped: Mapping[str, str], expected: Mapping[str, str]) -> None:
    assert isinstance(mapped, MappedDictionary)
    assert len(mapped) == len(expected)
    assert all(mapped.get(word) == lemma for word, lemma in expected.items())


@pytest.mark.parametrize("code", SMALL)
def test_a_mapped_dictionary_is_the_packed_one(code: str, cache: Path) -> None:
    assert_equal(dictionary(code), packed(code))
    assert_equal(dictionary(code), packed(code))  # mapped again, not made
    assert [path.suffix for path in cache.iterdir()] == [".trie"]


@pytest.mark.slow
@pytest.mark.parametrize("code", sorted(SUPPORTED_LANGUAGES))
def test_every_word_of_every_language(code: str) -> None:
    expected = packed(code)
    mapped = dictionary(code)
    assert_equal(mapped, expected)
    assert set(mapped) == set(expected)


@pytest.mark.parametrize("code", ["en", *SMALL])
def test_lemmas_are_those_of_simplemma(code: str) -> None:
    """For words that it knows, and for others, to which it applies rules over the dictionary."""
    words = sorted(packed(code))
    chosen = random.Random(0).sample(words, 500)
    others = [first[: len(first) // 2] + second for first, second in pairwise(chosen)]
    strategy = DefaultStrategy(dictionary_factory=DefaultDictionaryFactory())
    theirs = Lemmatizer(lemmatization_strategy=strategy)
    ours = lemmas.lemmatiser(code)
    for word in [*chosen, *others, *map(str.title, chosen), "", "-", "x-y", "'"]:
        if word:
            assert ours(word) == theirs.lemmatize(word, code)


@pytest.mark.parametrize("content", [b"", b"no trie", b"We love Marisa.\0" + bytes(100)])
def test_what_is_no_trie_is_made_anew(content: bytes, cache: Path) -> None:
    dictionary("ms")
    (path,) = cache.iterdir()
    path.write_bytes(content)
    assert_equal(dictionary("ms"), packed("ms"))
    assert path.stat().st_size > 1_000


def test_a_trie_that_was_cut_is_made_anew(cache: Path) -> None:
    dictionary("ms")
    (path,) = cache.iterdir()
    path.write_bytes(path.read_bytes()[:-1_000])
    assert_equal(dictionary("ms"), packed("ms"))


def test_where_nothing_can_be_written_lemmas_come_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE, str(tmp_path / "file"))
    with caplog.at_level(logging.INFO):
        found = dictionary("ms")
    assert not isinstance(found, MappedDictionary)
    assert dict(found) == dict(packed("ms"))
    assert not caplog.records
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_disk_that_is_full_leaves_nothing_behind(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_number: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert not isinstance(dictionary("ms"), MappedDictionary)
    assert list(cache.iterdir()) == []


def test_processes_that_prepare_the_same_do_not_meet(cache: Path) -> None:
    script = "from funnelling.text.lemmas import dictionary; print(len(dictionary('fa')))"
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(3)]
    assert {process.communicate()[0] for process in running} == {f"{len(packed('fa'))}\n".encode()}
    assert len(list(cache.iterdir())) == 1


def test_a_large_dictionary_says_so_once_and_is_mapped_at_once(
    cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lemmas, "LARGE", 10)
    with caplog.at_level(logging.INFO):
        dictionary("fa")
        assert [record.getMessage() for record in caplog.records] == ["Preparing the lemmas of fa, once."]
        monkeypatch.setattr(lemmas, "_write_trie", pytest.fail)
        dictionary("fa")
        assert len(caplog.records) == 1
    assert cache.exists()


@pytest.mark.parametrize("word", ["\x00", "x\x00y", "\ud800"])
def test_what_no_trie_can_look_up_is_not_there(word: str) -> None:
    assert dictionary("ms").get(word) is None
