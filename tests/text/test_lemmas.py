"""Lemmas: those of simplemma, word for word, from a cache that can fail without harm."""

import logging
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save
from simplemma import Lemmatizer
from simplemma.strategies import DefaultStrategy
from simplemma.strategies.dictionaries import DefaultDictionaryFactory
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from funnelling.runtime.files import arrays_in
from funnelling.runtime.messages import CACHE
from funnelling.text import words as module
from funnelling.text.words import Dictionary, PackedDictionary, dictionary

needs_native = pytest.mark.skipif(module._lemmas is None, reason="installed without a compiler")

SMALL = ("ms", "id", "fa")  # a few of the dictionaries, of which the largest take seconds


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without anything in it."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "lemmas"


def decoded(code: str) -> Mapping[str, str]:
    return DefaultDictionaryFactory(cache_max_size=1).get_dictionary(code)


def assert_equal(found: Dictionary, expected: Mapping[str, str]) -> None:
    assert all(found.get(word) == lemma for word, lemma in expected.items())
    others = (changed for word in expected for changed in (word + "x", word[:-1], word[1:], word.title()))
    assert all(found.get(word) == expected.get(word) for word in islice(others, 100_000))


@needs_native
@pytest.mark.parametrize("code", SMALL)
def test_a_mapped_dictionary_is_that_of_simplemma(code: str, cache: Path) -> None:
    assert_equal(dictionary(code), decoded(code))
    written = [path.stat().st_mtime_ns for path in cache.iterdir()]
    assert_equal(dictionary(code), decoded(code))
    assert [path.stat().st_mtime_ns for path in cache.iterdir()] == written  # mapped again, not made
    assert len(written) == 1


@pytest.mark.slow
@pytest.mark.parametrize("code", sorted(SUPPORTED_LANGUAGES))
def test_every_word_of_every_language(code: str) -> None:
    assert_equal(dictionary(code), decoded(code))


@pytest.mark.parametrize("code", ["en", *SMALL])
def test_lemmas_are_those_of_simplemma(code: str) -> None:
    """For words that it knows, and for others, to which it applies rules over the dictionary."""
    words = sorted(decoded(code))
    chosen = random.Random(0).sample(words, 500)
    others = [first[: len(first) // 2] + second for first, second in pairwise(chosen)]
    strategy = DefaultStrategy(dictionary_factory=DefaultDictionaryFactory())
    theirs = Lemmatizer(lemmatization_strategy=strategy)
    ours = module.lemmatiser(code)
    for word in [*chosen, *others, *map(str.title, chosen), "", "-", "x-y", "'"]:
        if word:
            assert ours(word) == theirs.lemmatize(word, code)


@needs_native
@pytest.mark.parametrize("content", [b"", b"no arrays", bytes(100), save({"records": np.zeros(9, np.uint8)})])
def test_what_is_no_dictionary_is_made_anew(content: bytes, cache: Path) -> None:
    dictionary("ms")
    (path,) = cache.iterdir()
    path.write_bytes(content)
    assert_equal(dictionary("ms"), decoded("ms"))
    assert path.stat().st_size > 1_000


@needs_native
def test_a_file_that_was_cut_is_made_anew(cache: Path) -> None:
    dictionary("ms")
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1_000])
    assert_equal(dictionary("ms"), decoded("ms"))
    assert path.read_bytes() == whole


@needs_native
def test_damage_within_a_file_gives_no_lemma_or_a_wrong_one(cache: Path) -> None:
    dictionary("ms")
    (path,) = cache.iterdir()
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    words, random = sorted(decoded("ms")), np.random.default_rng(0)
    for _ in range(50):
        damaged = whole.copy()
        places = random.integers(300, len(whole), 100)
        damaged[places] = random.integers(0, 256, len(places))
        arrays = arrays_in(damaged.tobytes())
        found = PackedDictionary(arrays)
        assert all(isinstance(found.get(word), str | None) for word in words[::50])


def test_where_nothing_can_be_written_lemmas_come_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE, str(tmp_path / "file"))
    with caplog.at_level(logging.INFO):
        assert_equal(dictionary("ms"), decoded("ms"))
    assert not caplog.records
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@needs_native
def test_a_disk_that_is_full_leaves_nothing_behind(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_number: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert_equal(dictionary("ms"), decoded("ms"))
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("code", SMALL)
def test_without_the_compiled_module_lemmas_are_the_same(
    code: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_lemmas", None)
    assert_equal(dictionary(code), decoded(code))
    assert not cache.exists()


@needs_native
def test_a_dictionary_of_another_format_is_left_to_simplemma(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = module._lemmas.index
    monkeypatch.setattr(
        module, "_lemmas", SimpleNamespace(index=lambda _: index(b"SMFC2, a version to come"))
    )
    found = dictionary("ms")
    monkeypatch.undo()
    assert_equal(found, decoded("ms"))
    assert not isinstance(found, PackedDictionary)
    assert list(cache.iterdir()) == []


@needs_native
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"SMFC1",
        b"SMFC1\0\1",  # a word is missing
        b"SMFC1\0\0\0\1a\0\0",  # one is too many
        b"SMFC1\0\1\1\1a\0\0",  # the first word shares a byte
        b"SMFC1\0\1\0\x05a\0\0",  # a word goes on behind the end
        b"SMFC1\0\1\0\1a\2\0",  # of one byte two are to be trimmed
        b"SMFC1\0\1\0\xff\xff\xff\xff\xffa\0\0",  # a length without an end
        b"SMFC1\0\xff\xff\xff\x7f\0\1a\0\0",  # fewer words than told
    ],
)
def test_a_damaged_dictionary_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="dictionary"):
        module._lemmas.index(content)


@needs_native
def test_an_index_of_another_dictionary_is_no_way_out_of_memory() -> None:
    records = b"SMFC1\0\1\0\1a\0\1b"
    assert module._lemmas.lemma(records, module._lemmas.index(records), b"a") == b"ab"
    for index in (b"", b"short", bytes(16), bytes(64), b"\xff" * 64, b"\x10" + bytes(15)):
        with suppress(ValueError):
            assert module._lemmas.lemma(records, index, b"a") in (None, b"ab")


@needs_native
def test_processes_that_prepare_the_same_do_not_meet(cache: Path) -> None:
    word, lemma = next((word, lemma) for word, lemma in decoded("fa").items() if word != lemma)
    script = (
        f"from funnelling.text.words import dictionary; print(dictionary('fa').get({word!r}) == {lemma!r})"
    )
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(3)]
    assert {process.communicate()[0] for process in running} == {b"True\n"}
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("word", ["\x00", "x\x00y", pytest.param("\ud800", marks=needs_native)])
def test_what_is_no_word_is_not_there(word: str) -> None:
    assert dictionary("ms").get(word) is None
