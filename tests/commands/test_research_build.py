"""``funnelling research build``: corpora in files, whole or not at all."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from funnelling import read_corpus
from funnelling.commands.corpora import CORPORA
from tests.research.corpora.fake_apt import install
from tests.research.corpora.makers import help_package, help_page, write_articles

from .command import (
    assert_one_line,
    command,
    contents,
    environment,
    hear_interrupts,
    read_jsonl,
    run_command,
    succeed,
)
from .conftest import Refuses

WORDS = {"en-us": "Choose the file that you want to open.", "it": "Scegliete il file che volete aprire."}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "debs"
    folder.mkdir()
    for code, text in WORDS.items():
        help_package(
            folder, code, {f"swriter/{i}": help_page(f"{code} {i}", (f"par_{i}", text)) for i in range(3)}
        )
    return folder


def build(*arguments: object) -> list[object]:
    return ["research", "build", "libreoffice-help", "--source", "debs", "--languages", "en,it", *arguments]


def test_json_and_documents_do_not_share_standard_output(refuses: Refuses) -> None:
    refuses(*build("-o", "-", "--json"), says=["--json and -o - both print. Name an output file."])


def test_a_corpus_and_what_became_of_the_rest(tmp_path: Path, packages: Path) -> None:
    assert packages.is_dir()
    done = run_command(*build("--min-words", "5", "-o", "help.jsonl"), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "3 groups in 2 languages, 6 documents.\nDropped: untranslated paragraphs (en 0 %, it 0 %).\n"
    )
    rows = read_jsonl(tmp_path / "help.jsonl")
    assert rows[1] == {
        "id": "libreoffice/swriter/0/it",
        "language": "it",
        "text": "it 0\nScegliete il file che volete aprire.",
        "group": "swriter/0",
    }
    corpus = read_corpus(tmp_path / "help.jsonl")
    assert list(corpus.by_language()) == ["en", "it"]
    assert set(corpus.labels) == {None}


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv", "a.tsv.gz", "a.parquet"])
def test_every_format_and_the_same_bytes_again(
    tmp_path: Path, packages: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert packages.is_dir()
    monkeypatch.chdir(tmp_path)
    succeed(*build("--min-words", 5, "-o", name))
    first = (tmp_path / name).read_bytes()
    succeed(*build("--min-words", 5, "-o", name, "--force"))
    assert (tmp_path / name).read_bytes() == first
    assert len(read_corpus(tmp_path / name)) == 6


def test_paragraphs_to_standard_output(
    tmp_path: Path, packages: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert packages.is_dir()
    monkeypatch.chdir(tmp_path)
    succeed(*build("--paragraphs", "-o", "-"))
    printed, said = capfdbinary.readouterr()
    assert b'"group": "swriter/0#par_0"' in printed
    assert b"1 group in 2 languages, 2 documents." in said
    assert b"2 repetitions of a paragraph" in said


def test_wikipedia(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for language, title in (("en", "Cat"), ("it", "Gatto")):
        write_articles(tmp_path / "dumps", language, {title: f"{title} has words enough"})
    (tmp_path / "alignments.tsv").write_text("en\tit\nCat\tGatto\n")
    arguments = ["research", "build", "wikipedia", "--source", "dumps", "--alignments", "alignments.tsv"]
    succeed(*arguments, "--min-words", 4, "--seed", 3, "--documents", 7, "-o", "w.tsv")
    assert capsys.readouterr().out == ""
    assert len(read_corpus(tmp_path / "w.tsv")) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["libreoffice-help", "-o", "a.jsonl", "--documents", 3], ["libreoffice-help takes no --documents."]),
        (["wikipedia", "-o", "a.jsonl"], ["Add --source DIR and --alignments FILE."]),
        (["nothing", "-o", "a.jsonl"], ["NAME", "'nothing'", "wikipedia"]),
        (["wikipedia"], ["-o"]),
        (["libreoffice-help", "-o", "a.doc", "--source", "debs"], ["a.doc: unknown format."]),
        (["libreoffice-help", "-o", "nowhere/a.csv", "--source", "debs"], ["its folder does not exist."]),
        (["libreoffice-help", "-o", "a.jsonl", "--source", "nowhere"], ["nowhere: no such folder."]),
        (["libreoffice-help", "-o", "a.jsonl", "--source", "debs", "--languages", "en,xx"], ["en, it."]),
        (
            ["libreoffice-help", "-o", "a.jsonl", "--source", "debs", "--languages", ""],
            ["not a language tag"],
        ),
        (["libreoffice-help", "-o", "a.jsonl", "--source", "debs", "--min-words", "0"], ["--min-words"]),
        (
            ["libreoffice-help", "-o", "a.jsonl", "--source", "debs", "--languages", "en,it"],
            ["no page has 50 words in all of en, it."],
        ),
        (["libreoffice-help", "-o", "there.jsonl"], ["there.jsonl exists.", "--force"]),
        (["debian-untagged", "-o", "a.jsonl", "--source", "debs"], ["debs: no index called Packages"]),
    ],
)
def test_refusals_leave_no_file(
    tmp_path: Path, packages: Path, refuses: Refuses, arguments: list[object], says: list[str]
) -> None:
    assert packages.is_dir()
    (tmp_path / "there.jsonl").write_text("mine")
    refuses("research", "build", *arguments, says=says)


def test_a_damaged_package_leaves_the_old_file(tmp_path: Path, packages: Path, refuses: Refuses) -> None:
    (tmp_path / "a.jsonl").write_text("mine")
    path = next(packages.glob("*-it_*"))
    path.write_bytes(path.read_bytes()[:-200])
    refuses(*build("-o", "a.jsonl", "--force"), says=[path.name, "Download it again."])


@pytest.mark.skipif(os.name != "posix", reason="apt is for Unix")
def test_an_interrupted_download_leaves_nothing(tmp_path: Path) -> None:
    work, served = tmp_path / "work", tmp_path / "served"
    work.mkdir()
    served.mkdir()
    fake = install(tmp_path, served, "print('Get:1', flush=True); time.sleep(60)")
    process = subprocess.Popen(
        command("research", "build", "libreoffice-help", "-o", "a.jsonl"),
        cwd=work,
        env=environment(**fake),
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    try:
        for _ in range(600):
            if (tmp_path / "log").exists():
                break
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert_one_line(stderr.decode(), ["interrupted"])
    assert not contents(work)
    assert not any(Path(fake["TMPDIR"]).iterdir())


def test_help_names_the_corpora_and_where_to_read_of_them(tmp_path: Path) -> None:
    done = run_command("research", "build", "--help", cwd=tmp_path)
    assert done.returncode == 0
    words = done.stdout.replace(",", " ").split()
    for name in CORPORA:
        assert name in words
    assert "`funnelling research corpora`" in " ".join(words)
