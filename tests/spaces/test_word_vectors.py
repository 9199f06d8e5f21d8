"""Files of word vectors: MUSE's format as it is, and what is said of broken ones."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from funnelling.errors import InputError
from funnelling.spaces.word_vectors import WordVectors, find_vectors, read_header, read_vectors, write_vectors

TEXT = "3 2\nthe 0.1 -0.2\ncaffè 1e-1 2\nnew\u00a0york .5 1.\n"


def written(folder: Path, text: str | bytes, name: str = "wiki.multi.it.vec") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_file_of_muse_is_read_as_it_is(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, TEXT))
    assert vectors.words == ["the", "caffè", "new\u00a0york"]
    np.testing.assert_allclose(vectors.matrix, [[0.1, -0.2], [0.1, 2], [0.5, 1]])
    assert vectors.matrix.dtype == np.float32
    assert vectors.ranks.tolist() == [0, 1, 2]
    assert vectors.dimensions == 2
    assert read_header(tmp_path / "wiki.multi.it.vec") == (3, 2)


@pytest.mark.parametrize("text", [TEXT.replace("\n", " \n"), TEXT.replace("\n", "\r\n"), "\ufeff" + TEXT])
def test_the_line_ends_of_other_tools(text: str, tmp_path: Path) -> None:
    assert read_vectors(written(tmp_path, text)).words == ["the", "caffè", "new\u00a0york"]


def test_compressed_or_not(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(TEXT.encode()), "wiki.multi.it.vec.gz")
    assert read_vectors(path).words == ["the", "caffè", "new\u00a0york"]
    assert find_vectors(tmp_path) == {"it": path}


def test_only_what_is_wanted(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    some = read_vectors(path, wanted={"new\u00a0york", "missing", "the"})
    everything = read_vectors(path)
    assert some.words == ["the", "new\u00a0york"]
    assert some.ranks.tolist() == [0, 2]
    np.testing.assert_array_equal(some.matrix, everything.matrix[[0, 2]])
    assert read_vectors(path, limit=1).words == ["the"]
    nothing = read_vectors(path, wanted={"missing"})
    assert (nothing.words, nothing.dimensions) == ([], 2)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    vectors = WordVectors(["été", "b", "c"], rng.normal(size=(3, 7)).astype(np.float32), np.arange(3))
    for name in ("fr.vec", "it.vec.gz"):
        write_vectors(tmp_path / name, vectors)
        again = read_vectors(tmp_path / name)
        assert again.words == vectors.words
        np.testing.assert_allclose(again.matrix, vectors.matrix, rtol=1e-4)
    assert list(find_vectors(tmp_path)) == ["fr", "it"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r": the file is empty\. "),
        ("the 0.1 -0.2\n", r':1: the header must be the number of words and of dimensions, found "the 0\.1'),
        ("0 2\n", r":1: the header must be"),
        ("2\nthe 1 2\n", r":1: the header must be"),
        ("2 2\nthe 1 2\n", r":1: the header says 2 words, the file has 1\. "),
        ("1 2\nthe 1 2\na 1 2\n", r":3: the header says 1 words, here is one more\. "),
        ("2 2\nthe 1 2\na 1\n", r':3: "a" has 1 numbers, the header says 2\. '),
        ("2 2\nthe 1 2\na 1 2 3\n", r':3: "a" has 3 numbers, the header says 2\. '),
        ("2 2\nthe 1 2\na 1 nan\n", r':3: number 2 of "a" is "nan", not a finite number\. '),
        ("2 2\nthe inf 2\na 1 2\n", r':2: number 1 of "the" is "inf", not a finite number\. '),
        ("2 2\nthe 1 x\na 1 2\n", r':2: number 2 of "the" is "x", not a finite number\. '),
        ("2 2\nthe 1 1e99\na 1 2\n", r':2: number 2 of "the" is "1e99", not a finite number\. '),
        ("2 2\nthe 1 2\nthe 1 2\n", r':3: "the" for the second time\. Keep one of its lines\.'),
        ("2 2\nthe 1 2\n 1 2\n", r":3: no word before the numbers"),
        (b"1 2\n\xff\xfe 1 2\n", r":2: not UTF-8 text\. "),
        ("2 2\n", r":1: the header says 2 words, the file has 0\. "),
    ],
)
def test_broken_files_name_the_line_and_the_cure(text: str | bytes, says: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=r"wiki\.multi\.it\.vec" + says):
        read_vectors(path)


def test_lines_that_are_not_wanted_are_checked_for_their_form(tmp_path: Path) -> None:
    path = written(tmp_path, "3 2\nthe 1 2\na 1\nb 1 2\n")
    with pytest.raises(InputError, match=r':3: "a" has 1 numbers'):
        read_vectors(path, wanted={"b"})


class TestFolders:
    @pytest.mark.parametrize(
        ("name", "language"),
        [
            ("wiki.multi.pt.vec", "pt"),
            ("wiki.pt.align.vec", "pt"),
            ("pt_BR.vec", "pt_BR"),
            ("pt-br.vec.gz", "pt_BR"),
        ],
    )
    def test_the_language_stands_in_the_name(self, name: str, language: str, tmp_path: Path) -> None:
        path = written(tmp_path, TEXT, name)
        written(tmp_path, "not vectors", "README.md")
        assert find_vectors(tmp_path) == {language: path}

    def test_two_files_of_a_language_are_refused(self, tmp_path: Path) -> None:
        written(tmp_path, TEXT, "it.vec")
        written(tmp_path, TEXT, "wiki.multi.it.vec")
        with pytest.raises(InputError, match=r"it\.vec is of the same language\. Remove one"):
            find_vectors(tmp_path)

    def test_dimensions_must_be_the_same(self, tmp_path: Path) -> None:
        written(tmp_path, TEXT, "it.vec")
        written(tmp_path, "1 3\na 1 2 3\n", "en.vec")
        with pytest.raises(InputError, match=r"dimensions, .* Use files that were aligned together"):
            find_vectors(tmp_path)

    def test_no_folder_and_no_vectors(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no vectors in it"):
            find_vectors(tmp_path)
        with pytest.raises(InputError, match="no such folder"):
            find_vectors(tmp_path / "nowhere")
        with pytest.raises(InputError, match="is no folder"):
            find_vectors(written(tmp_path, TEXT))


@pytest.mark.parametrize("words", [["a", "a"], ["a b"], [""], []])
def test_words_that_no_file_can_hold(words: list[str], tmp_path: Path) -> None:
    vectors = WordVectors(words, np.ones((len(words), 2), dtype=np.float32), np.arange(len(words)))
    with pytest.raises(InputError):
        write_vectors(tmp_path / "it.vec", vectors)
    assert not list(tmp_path.iterdir())
