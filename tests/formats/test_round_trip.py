"""What is written is what is read, in every format, and equal documents are equal bytes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from funnelling.errors import InputError
from funnelling.formats import Document, read_documents, write_documents
from funnelling.formats.document import MISSING

TEXT_EXTENSIONS = [".jsonl", ".ndjson", ".json", ".csv", ".tsv"]
EXTENSIONS = [*TEXT_EXTENSIONS, *(e + ".gz" for e in TEXT_EXTENSIONS), ".parquet", ".JSONL", ".csv.GZ"]
ODD = "a |\\\"',;\t\n\r\u2028\x85\ufeffé猫🐈שלום{}[]#"

odd_text = st.text(ODD) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
name = odd_text.filter(bool)
label = odd_text.map(str.strip).filter(bool)  # labels are stripped
documents = st.lists(
    st.builds(
        Document,
        id=name,
        text=odd_text,
        language=st.none() | name.filter(lambda language: language not in MISSING),
        labels=st.none() | st.lists(label, unique=True).map(tuple),
        split=st.sampled_from([None, "train", "test", "parallel"]),
        group=st.none() | name,
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("extension", EXTENSIONS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(documents)
@example(
    [Document("1", "", labels=()), Document("2", "", labels=None), Document("3", "", labels=("|", "\\"))]
)
@example(
    [
        Document(
            "\ufeff",
            "\r",
            "\n",
            ("a\rb", "a\r\nb", "[]", "NaN", "1.0", 'it\'s, "so"', "مرحبا", "👩‍👩‍👧"),
            "test",
            " ",
        )
    ]
)
def test_what_is_written_is_read_back(tmp_path: Path, extension: str, written: list[Document]) -> None:
    path = tmp_path / f"docs{extension}"
    write_documents(path, written, force=True)
    assert list(read_documents(path)) == written


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_equal_documents_are_equal_bytes(tmp_path: Path, extension: str) -> None:
    written = [Document(str(i), "testo", "it", ("a",)) for i in range(3000)]
    paths = [tmp_path / f"one{extension}", tmp_path / f"two{extension}"]
    for path in paths:
        write_documents(path, iter(written))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert list(read_documents(paths[0])) == written


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_text_of_ten_megabytes(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"docs{extension}"
    written = [Document("1", ('parole, "e\t virgole"' * 1000 + "\r\n") * 500)]
    write_documents(path, written)
    assert list(read_documents(path)) == written


def test_json_keeps_a_nul_and_a_table_refuses_it(tmp_path: Path) -> None:
    written = [Document("7", "a\0b")]
    write_documents(tmp_path / "docs.jsonl", written)
    assert list(read_documents(tmp_path / "docs.jsonl")) == written
    with pytest.raises(InputError, match=r'document "7" holds a NUL character.*Write JSON Lines'):
        write_documents(tmp_path / "docs.csv", written)
    assert [path.name for path in tmp_path.iterdir()] == ["docs.jsonl"]


def test_lines_of_json_are_plain_to_read(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    write_documents(path, [Document("1", "è", labels=()), Document("2", "x", "it", ("a",), "test", "g")])
    assert path.read_text("utf-8") == (
        '{"id": "1", "text": "è", "labels": []}\n'
        '{"id": "2", "language": "it", "text": "x", "labels": ["a"], "split": "test", "group": "g"}\n'
    )
