"""Wikipedia's articles: alignments, samples, and files that are not what they should be."""

from pathlib import Path
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.research.corpora.builders import BuiltCorpus
from funnelling.research.corpora.wikipedia import build_wikipedia, read_alignments
from tests.research.corpora.makers import write_articles

ENGLISH = {"Cat": "Cat\n\nThe cat sleeps &amp; eats.\n", "Dog": "The dog barks.", "Sun": "Hot."}
ITALIAN = {"Gatto": "Il gatto dorme.", "Cane": "Il cane abbaia.", "Sole": "Il sole splende."}


def table(folder: Path, *rows: str) -> Path:
    path = folder / "alignments.tsv"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    write_articles(tmp_path / "dumps", "en", ENGLISH)
    write_articles(tmp_path / "dumps", "it", ITALIAN)
    table(tmp_path, "en\tit", "Cat\tGatto", "Dog\tCane", "Sun\tSole", "Moon\t")
    return tmp_path


def built(folder: Path, **options: Any) -> BuiltCorpus:
    given = {"sources": [folder / "dumps"], "alignments": folder / "alignments.tsv", "min_words": 3}
    return build_wikipedia(**{**given, **options})


def groups(corpus: BuiltCorpus) -> list[str | None]:
    return list(dict.fromkeys(document.group for document in corpus.documents))


def refusal(folder: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        built(folder, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_aligned_articles_with_enough_words_in_all_languages(dumps: Path) -> None:
    corpus = built(dumps)
    assert {document.id: document.text for document in corpus.documents} == {
        "wikipedia/Cat/en": "Cat\nThe cat sleeps & eats.",
        "wikipedia/Cat/it": "Gatto\nIl gatto dorme.",
        "wikipedia/Dog/en": "Dog\nThe dog barks.",
        "wikipedia/Dog/it": "Cane\nIl cane abbaia.",
    }
    assert {document.language for document in corpus.documents} == {"en", "it"}
    assert corpus.omissions == ["1 aligned article without 3 words in every language"]


def test_fifty_words_by_default(dumps: Path) -> None:
    assert refusal(dumps, min_words=50).startswith("no aligned article has 50 words in all of en, it.")
    long = " ".join(["parola"] * 49)
    write_articles(dumps / "dumps", "en", {"Cat": long})
    write_articles(dumps / "dumps", "it", {"Gatto": long})
    corpus = build_wikipedia(sources=[dumps / "dumps"], alignments=dumps / "alignments.tsv")
    assert groups(corpus) == ["Cat"]


def test_a_sample_by_seed(tmp_path: Path) -> None:
    names = [f"a{i:03}" for i in range(100)]
    for language in ("en", "it"):
        write_articles(
            tmp_path / "dumps", language, {name: f"text of {name} in {language}" for name in names}
        )
    table(tmp_path, "en\tit", *(f"{name}\t{name}" for name in names))
    samples = [groups(built(tmp_path, documents=20, seed=seed)) for seed in (0, 0, 1)]
    assert samples[0] == samples[1] != samples[2]
    assert all(len(sample) == 20 and sample == sorted(map(str, sample)) for sample in samples)
    table(tmp_path, "en\tit", *(f"{name}\t{name}" for name in reversed(names)))
    assert groups(built(tmp_path, documents=20)) == samples[0]
    assert len(groups(built(tmp_path, documents=1_000))) == 100


def test_numbers_titles_with_underscores_and_names_of_groups(dumps: Path) -> None:
    write_articles(dumps / "dumps", "it", {"Gatto delle nevi": "Il gatto delle nevi."}, "wiki_01")
    table(dumps, "group\ten:id\tIT", "Q146\t10\tGatto_delle_nevi", "Q144\t11\tCane")
    corpus = built(dumps)
    assert groups(corpus) == ["Q144", "Q146"]
    assert corpus.documents[3].text == "Gatto delle nevi\nIl gatto delle nevi."


@pytest.mark.parametrize("name", ["wiki_07.bz2", "wiki_07.gz", "wiki_07.xz"])
def test_compressed_output(dumps: Path, name: str) -> None:
    (dumps / "dumps" / "it" / "AA" / "wiki_00").unlink()
    path = write_articles(dumps / "dumps", "it", ITALIAN, name)
    assert groups(built(dumps)) == ["Cat", "Dog"]
    path.write_bytes(path.read_bytes()[:-20])
    assert refusal(dumps).startswith(f"{path}: the compressed data ends early or is damaged.")


def test_languages_are_a_choice_of_the_columns(dumps: Path) -> None:
    table(dumps, "en\tit\tde", "Cat\tGatto\t", "Dog\tCane\tHund")
    assert groups(built(dumps, languages=["it", "en"])) == ["Cat", "Dog"]
    assert refusal(dumps).startswith(f"{dumps / 'dumps'}: no de/AA/wiki_00.")
    assert refusal(dumps, languages=["en", "sv"]) == (
        f"{dumps / 'alignments.tsv'}: no column for sv. Use languages of en, it, de."
    )


def test_an_article_that_is_there_twice_counts_once(dumps: Path) -> None:
    write_articles(dumps / "dumps", "it", {"Gatto": "Ancora il gatto."}, "wiki_01")
    write_articles(dumps / "other", "en", {"Cat": "The cat again."})
    corpus = built(dumps, sources=[dumps / "dumps", dumps / "other"])
    assert len(corpus.documents) == 4


@pytest.mark.parametrize(
    "line",
    ['<doc id="1" title="Cat">', '{"id": "1", "title": "Cat"}', "[1, 2]", "", "9" * 5_000, "[" * 100_000],
)
def test_files_that_are_no_articles(dumps: Path, line: str) -> None:
    path = dumps / "dumps" / "en" / "AA" / "wiki_00"
    path.write_text(path.read_text() + line + "\n")
    assert refusal(dumps) == (
        f"{path}:4: not an article with id, title and text in JSON. Run WikiExtractor with --json."
    )


def test_both_inputs_are_needed(dumps: Path) -> None:
    for missing in ({"sources": []}, {"alignments": None}):
        assert refusal(dumps, **missing).endswith("Add --source DIR and --alignments FILE.")
    assert "no such folder" in refusal(dumps, sources=[dumps / "nowhere"])
    assert "no such file" in refusal(dumps, alignments=dumps / "nowhere.tsv")
    assert "is a folder" in refusal(dumps, alignments=dumps)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], ": no column of a language. Begin with a line of language codes."),
        (["group"], ": no column of a language."),
        (["", "a"], ":1: '' is not a language tag."),
        (["en\tEnglish name"], ":1: 'English name' is not a language tag."),
        (["en\tEN:id"], ":1: two columns are of en. Drop one of them."),
        (["en\tit", "a\tb\tc"], ":2: 3 cells where the header has 2. Drop some."),
        (["en\tit", "a\tb", "a\tc"], ':3: group "a" a second time. Drop one of the rows.'),
        (["en\tit", "a\tb", "c\tb"], ':3: article "b" of it is in two groups. Drop it from one.'),
    ],
)
def test_broken_tables(tmp_path: Path, rows: list[str], says: str) -> None:
    path = table(tmp_path, *rows)
    with pytest.raises(InputError) as caught:
        read_alignments(path)
    assert str(caught.value).startswith(f"{path}{says}")


def test_rows_that_lack_a_language_do_no_harm(tmp_path: Path) -> None:
    path = table(tmp_path, "en\tit", "a\tb", "", "\tb", "a\t", "c")
    assert {language: column.groups for language, column in read_alignments(path).items()} == {
        "en": {"a": "a"},
        "it": {"b": "a"},
    }
