"""``funnelling push`` and ``pull``, and commands that read a model on the Hub; on a small Hub of our own."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from funnelling import Document, write_documents
from funnelling.commands import main
from tests.storage.local_hub import LocalHub, environment, used

from .command import assert_one_line, documents, run_command, succeed
from .conftest import Refuses

ADDRESS = "hf://owner/name"
TEXT = "printer network window"
PAGE = Path(__file__).parents[2] / "docs" / "sharing.md"
BLOCK = re.compile(r"^```(console|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ funnelling (.*)\n((?:[^$\n].*\n)*)", re.MULTILINE)


@pytest.fixture
def hub(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with used(tmp_path_factory.mktemp("cache"), monkeypatch) as hub:
        yield hub


@pytest.fixture
def hub_with_model(hub: LocalHub, own_words_model: Path) -> LocalHub:
    hub.repository("owner/name", {path.name: path.read_bytes() for path in own_words_model.iterdir()})
    return hub


@pytest.mark.usefixtures("hub")
def test_a_model_goes_to_the_hub_and_comes_back(
    own_words_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    succeed(
        "push", own_words_model, "owner/name", "--keep", "nothing", "--private", "--license", "mit", "--json"
    )
    pushed = json.loads(capsys.readouterr().out)
    assert pushed["address"] == ADDRESS
    assert pushed["keeps"].startswith("It keeps nothing of its training documents")
    assert {"model.json", "README.md"} < set(pushed["files"])

    succeed("push", own_words_model, "owner/name@v2", "--keep", "words", "--message", "all")
    printed = capsys.readouterr()
    assert f"Model:  {ADDRESS}@v2\n" in printed.out
    assert "It keeps of 32 training documents: ids, " in printed.out
    assert "report.html (" in printed.out
    assert printed.err == ""

    succeed("pull", "owner/name@v2", "-o", tmp_path / "copy", "--json")
    assert json.loads(capsys.readouterr().out) == {"model": str(tmp_path / "copy")}
    succeed("tune", tmp_path / "copy", "--goal", "micro-f1")
    succeed("pull", ADDRESS, "-o", tmp_path / "copy", "--force")
    capsys.readouterr()


@pytest.mark.usefixtures("hub_with_model")
def test_commands_that_read_take_an_address(
    own_words_model: Path, split_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for model in (ADDRESS, own_words_model):
        for command in (
            ("predict", model, TEXT),
            ("explain", model, TEXT),
            ("evaluate", model, split_data),
            ("inspect", model, "--json"),
        ):
            succeed(*command)
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


@pytest.mark.usefixtures("hub_with_model")
def test_a_folder_of_parts_is_labelled_too(split_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.jsonl").write_bytes(split_data.read_bytes())
    succeed("predict", ADDRESS, tmp_path / "parts", "-o", tmp_path / "labelled", "--jobs", 1)
    assert (tmp_path / "labelled" / "one.parquet").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("tune", ADDRESS, "--goal", "micro-f1"),
        ("update", ADDRESS, "docs.jsonl"),
        ("forget", ADDRESS, "--ids", "ids.txt"),
        ("relabel", ADDRESS, "--map", "labels.csv"),
        ("train", "docs.jsonl", "-o", ADDRESS),
        ("push", ADDRESS, "owner/other"),
        ("pull", ADDRESS, "-o", "hf://owner/other"),
    ],
    ids=lambda command: command[0],
)
def test_those_that_change_a_model_say_how(command: tuple[str, ...], refuses: Refuses) -> None:
    refuses(*command, says=["is on the Hub", "funnelling pull", "funnelling push"])


def test_documents_are_not_pushed_unasked(hub: LocalHub, own_words_model: Path, refuses: Refuses) -> None:
    refuses("push", own_words_model, "owner/name", says=["ids", "--keep nothing", "--keep words"])
    refuses("push", own_words_model, "name", "--keep", "nothing", says=["hf://owner/name"])
    assert not hub.requests


def test_a_process_of_its_own_finds_the_hub_by_the_environment(
    hub_with_model: LocalHub, tmp_path: Path
) -> None:
    told = environment(hub_with_model, tmp_path / "home", token=None)
    (tmp_path / "home").mkdir()
    done = run_command("predict", ADDRESS, TEXT, cwd=tmp_path, env=told)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr  # on thresholds
    assert json.loads(done.stdout)["labels"]
    offline = run_command("predict", ADDRESS, TEXT, cwd=tmp_path, env={**told, "HF_HUB_OFFLINE": "1"})
    assert offline.stdout == done.stdout
    missing = run_command("predict", "hf://owner/other", TEXT, cwd=tmp_path, env=told)
    assert_one_line(missing.stderr, ["hf://owner/other: not found, or private", "HF_TOKEN"])
    assert missing.returncode == 2


def test_the_page_on_sharing_does_as_it_says(
    hub_with_model: LocalHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    files = hub_with_model.repositories["owner/name"].files()
    small = {f"small/{name}": content for name, content in files.items()}
    hub_with_model.repositories["owner/name"].add({**files, **small}, "v2")
    for name, each in (("new", 4), ("more", 12)):
        rows = ({**row, "labels": tuple(row["labels"])} for row in documents(each=each))
        write_documents(f"{name}.csv", (Document(**row) for row in rows))
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "py":
            exec(compile(text, str(PAGE), "exec"), {})
            continue
        for command, output in COMMAND.findall(text):
            if command.startswith("serve "):  # which does not end
                continue
            capsys.readouterr()
            status = main(shlex.split(command))
            printed = "".join(capsys.readouterr())
            assert status == (2 if output.startswith("funnelling: ") else 0), printed
            said = re.escape(output.replace("https://huggingface.co", hub_with_model.address))
            assert re.search(said.replace("…", ".*"), printed), printed
