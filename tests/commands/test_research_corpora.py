"""``funnelling research corpora``: the corpora that can be built, and building those of Debian's packages."""

import json
import os
from pathlib import Path

import pytest

from funnelling import read_corpus
from funnelling.commands.corpora import CORPORA
from tests.research.corpora.fake_apt import install
from tests.research.corpora.tagged_makers import comparable_packages, write_archive

from .command import contents, run_command, succeed
from .conftest import Refuses


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "lists", comparable_packages(120))


def build(name: str, *arguments: object) -> list[object]:
    return ["research", "build", name, "--source", "lists", "--languages", "en,fr,it", *arguments]


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_every_corpus_with_its_origin_size_and_licence(tmp_path: Path, columns: str) -> None:
    done = run_command("research", "corpora", cwd=tmp_path, env={"COLUMNS": columns})
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert [line for line in lines if line in CORPORA] == list(CORPORA)
    starts = [lines.index(name) for name in CORPORA]
    for (name, entry), start, end in zip(CORPORA.items(), starts, [*starts[1:], len(lines)], strict=True):
        block = " ".join(" ".join(lines[start:end]).split())
        says = f"{name} {entry.summary} from {entry.origin} size {entry.size} licence {entry.licence}"
        assert block.startswith(says)
    assert lines[-1].startswith("Build one with: ")
    assert "research build NAME -o FILE" in lines[-1]
    assert not contents(tmp_path)


def test_the_list_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    succeed("research", "corpora", "--json")
    listed = json.loads(capsys.readouterr().out)
    assert list(listed) == list(CORPORA)
    assert {"sample", "debian-comparable", "debian-parallel", "jrc-acquis", "rcv"} <= listed.keys()
    for name, entry in listed.items():
        assert entry == {field: getattr(CORPORA[name], field) for field in entry}
        assert entry.keys() == {"summary", "origin", "size", "licence"}
        assert all(entry.values())


def test_a_seed_gives_the_same_bytes_again(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert archive.is_dir()
    monkeypatch.chdir(tmp_path)
    for name, seed in (
        ("default", ()),
        ("zero", ("--seed", 0)),
        ("again", ("--seed", 0)),
        ("one", ("--seed", 1)),
    ):
        succeed(*build("debian-comparable", "-o", f"{name}.jsonl.gz", *seed))
    default, zero, again, one = (
        (tmp_path / f"{name}.jsonl.gz").read_bytes() for name in ("default", "zero", "again", "one")
    )
    assert default == zero == again
    assert one != zero


def test_a_corpus_that_the_other_commands_read(tmp_path: Path, archive: Path) -> None:
    assert archive.is_dir()
    done = run_command(*build("debian-comparable", "-o", "corpus.jsonl"), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "120 groups in 3 languages, 120 documents.\n"
        "Dropped: 40 packages beside another one of the source, or past the size.\n"
        "Dropped: 120 tags of fewer than 30 documents.\n"
    )
    corpus = read_corpus(tmp_path / "corpus.jsonl")
    assert list(corpus.by_language()) == ["en", "fr", "it"]
    assert set(corpus.splits) == {"train", "test"}
    assert None not in corpus.labels


def test_a_parallel_corpus(tmp_path: Path, archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "corpus.csv"
    succeed(
        "research",
        "build",
        "debian-parallel",
        "--source",
        archive,
        "--languages",
        "en,fr,it",
        "-o",
        target,
        "--json",
    )
    captured = capsys.readouterr()
    assert captured.err.startswith("60 groups in 3 languages, 180 documents.\n")
    result = json.loads(captured.out)
    assert (sum(result["documents"].values()), list(result["documents"])) == (180, ["en", "fr", "it"])
    assert (result["output"], result["groups"]) == (str(target), 60)
    assert set(read_corpus(target).splits) == {"train", "parallel", "test"}


@pytest.mark.skipif(os.name != "posix", reason="apt is for Unix")
def test_without_a_source_apt_fetches_the_indices(tmp_path: Path, archive: Path) -> None:
    fake = install(tmp_path, archive)
    arguments = ["research", "build", "debian-comparable", "--languages", "fr,it", "-o"]
    done = run_command(*arguments, "apt.jsonl", cwd=tmp_path, env=fake)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    succeed(*arguments, tmp_path / "folder.jsonl", "--source", archive)
    assert (tmp_path / "apt.jsonl").read_bytes() == (tmp_path / "folder.jsonl").read_bytes()
    log = (tmp_path / "log").read_text()
    assert log.startswith("update\n")
    # English is fetched too: a description that was left in it is none.
    assert 'Acquire::Languages { "en"; "fr"; "it"; };' in log
    assert not any(Path(fake["TMPDIR"]).iterdir())


def test_an_unknown_corpus_is_refused(refuses: Refuses) -> None:
    refuses(
        "research", "build", "debian-incomparable", "-o", "a.jsonl", says=["'debian-incomparable'", *CORPORA]
    )


@pytest.mark.parametrize("name", ["jrc-acquis", "rcv"])
def test_corpora_that_must_be_asked_for_need_a_source(refuses: Refuses, name: str) -> None:
    refuses("research", "build", name, "-o", "a.jsonl", says=["--source"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["debian-comparable", "--min-words", 3], ["debian-comparable takes no --min-words."]),
        (["debian-parallel", "--documents", 3], ["debian-parallel takes no --documents."]),
        (["sample", "--languages", "en,it"], ["sample takes no --languages."]),
        (["debian-comparable", "--source", "nowhere"], ["nowhere: no such folder."]),
        (["debian-comparable", "--source", "lists"], ["lists: no index called Translation-cs."]),
        (
            ["debian-parallel", "--source", "lists", "--languages", "en,sk"],
            ["lists: no index called Translation-sk.", "en, fr, it."],
        ),
    ],
)
def test_refusals_leave_no_file(
    archive: Path, refuses: Refuses, arguments: list[object], says: list[str]
) -> None:
    assert archive.is_dir()
    refuses("research", "build", *arguments, "-o", "a.jsonl", says=says)
