"""Ids that were given and those that were not, and rows that have an id in place of a text."""

from pathlib import Path

import pytest

from funnelling import Corpus, InputError, read_corpus
from funnelling.formats import Layout, read_documents
from funnelling.formats.document import NO_TEXT, LineNumber


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def are_given(path: Path, **options: bool) -> list[bool]:
    return [not isinstance(document.id, LineNumber) for document in read_documents(path, **options)]


class TestWhetherAnIdWasGiven:
    def test_of_a_table(self, tmp_path: Path) -> None:
        named = write(tmp_path / "a.csv", "id,text,labels\n2,cat,a\n,dog,b\n")
        assert are_given(named) == [True, False]  # an id may look like the number of a line
        assert are_given(write(tmp_path / "b.csv", "text,labels\ncat,a\ndog,b\n")) == [False, False]

    def test_of_json_lines(self, tmp_path: Path) -> None:
        rows = '{"id": 1, "text": "cat", "labels": ["a"]}\n{"text": "dog", "labels": ["b"]}\n'
        assert are_given(write(tmp_path / "a.jsonl", rows)) == [True, False]

    def test_leaving_the_column_out_takes_them_for_no_ids(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.csv", "id,text,labels\n7,cat,a\n")
        (document,) = read_documents(path, Layout(id="none"))
        assert isinstance(document.id, LineNumber)

    def test_of_parts(self, tmp_path: Path) -> None:
        write(tmp_path / "parts" / "a.jsonl", '{"id": "1", "text": "cat"}\n{"text": "dog"}\n')
        first, second = read_documents(tmp_path / "parts")
        assert (first.id, isinstance(first.id, LineNumber)) == ("1", False)
        assert (second.id, isinstance(second.id, LineNumber)) == ("a:2", True)

    def test_a_path_is_none_for_a_file_may_move_to_another_label(self, tmp_path: Path) -> None:
        write(tmp_path / "folder" / "money" / "1.txt", "loan")
        write(tmp_path / "folder" / "sport" / "1.txt", "game")
        assert are_given(tmp_path / "folder") == [False, False]

    def test_a_corpus_and_its_selections_tell(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.csv", "id,text,language\n2,cat,en\n,dog,en\n")
        corpus = read_corpus(path).select([1, 0])
        assert [isinstance(name, LineNumber) for name in corpus.ids] == [True, False]
        again = Corpus.from_documents(corpus)
        assert [isinstance(name, LineNumber) for name in again.ids] == [True, False]

    def test_of_a_frame(self) -> None:
        class Frame:
            columns = ("text", "id")

            def __len__(self) -> int:
                return 2

            def __getitem__(self, name: str) -> list[str | None]:
                return {"text": ["cat", "dog"], "id": ["x", None]}[name]

        ids = Corpus.from_frame(Frame()).ids
        assert [isinstance(name, LineNumber) for name in ids] == [False, True]


class TestRowsWithoutText:
    def test_ids_and_labels_are_enough_where_texts_are_not_needed(self, tmp_path: Path) -> None:
        path = write(tmp_path / "corrections.csv", "id,labels\na,x|y\nb,[]\nc,\n")
        documents = list(read_documents(path, texts=False))
        assert [document.labels for document in documents] == [("x", "y"), (), None]
        assert all(document.text is NO_TEXT for document in documents)

    def test_they_are_refused_elsewhere(self, tmp_path: Path) -> None:
        path = write(tmp_path / "corrections.csv", "id,labels\na,x\n")
        with pytest.raises(InputError, match="which column holds the text"):
            list(read_documents(path))

    def test_rows_of_json_may_mix(self, tmp_path: Path) -> None:
        rows = '{"id": "a", "labels": ["x"]}\n{"id": "b", "text": "cat", "labels": ["x"]}\n'
        first, second = read_documents(write(tmp_path / "a.jsonl", rows), texts=False)
        assert first.text is NO_TEXT
        assert second.text == "cat"

    def test_a_row_with_neither_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="text"):
            list(read_documents(write(tmp_path / "a.csv", "labels,note\nx,y\n"), texts=False))
        with pytest.raises(InputError, match=r'a\.csv:3: "text" is missing'):
            list(read_documents(write(tmp_path / "a.csv", "id,labels\na,x\n,y\n"), texts=False))

    def test_a_column_that_looks_like_a_text_can_be_left_out(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.csv", "id,labels,comment\na,x,wrong before\n")
        assert next(read_documents(path, texts=False)).text == "wrong before"
        assert next(read_documents(path, Layout(text="none"), texts=False)).text is NO_TEXT
