"""``funnelling forget``: training documents are removed from a model."""

import io
import json
from pathlib import Path

import pytest

from funnelling import load_model

from .command import contents, documents, succeed, write_jsonl
from .conftest import Refuses


def holds(folder: Path, *secrets: str) -> list[str]:
    """Those files below a folder that hold any of some strings, in the bytes of whatever encoding."""
    spellings = [secret.encode(code) for secret in secrets for code in ("utf-8", "utf-16-le", "utf-32-le")]
    return [
        name
        for name, content in contents(folder).items()
        if content is not None and any(spelling in content for spelling in spellings)
    ]


@pytest.fixture(params=["fun-tat", "fun-auto", "naive"])
def secretive(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A model that learned from two documents with words of their own, which show in its report."""
    rows = [{**row, "split": "train"} for row in documents()]
    rows[3] |= {"id": "person-17", "text": f"Zanzibarra {rows[3]['text']}", "labels": ["account"]}
    rows[30] |= {"id": "person-18", "text": f"Quetzalcoatl {rows[30]['text']}"}
    data = write_jsonl(tmp_path / "docs.jsonl", rows)
    succeed("train", data, "-o", tmp_path / "model", "--method", request.param, "--jobs", 1, "--no-measure")
    assert holds(tmp_path / "model", "person-17", "Zanzibarra")
    return tmp_path / "model"


class TestForgetting:
    def test_nothing_of_the_documents_is_left(self, secretive: Path, tmp_path: Path) -> None:
        (tmp_path / "ids.txt").write_text("person-17\n\nperson-18\n")
        succeed("forget", secretive, "--ids", tmp_path / "ids.txt", "--jobs", 1)
        secrets = ("person-17", "person-18", "Zanzibarra", "zanzibarra", "Quetzalcoatl", "quetzalcoatl")
        assert holds(secretive, *secrets) == []
        assert load_model(secretive).documents_ == {"en": 23, "it": 23}

    def test_the_model_is_the_one_that_never_saw_them(self, secretive: Path, tmp_path: Path) -> None:
        rows = [json.loads(line) for line in (tmp_path / "docs.jsonl").read_text().splitlines()]
        rest = write_jsonl(
            tmp_path / "rest.jsonl", [row for row in rows if not row["id"].startswith("person")]
        )
        method = json.loads((secretive / "model.json").read_text())["method"]
        never = tmp_path / "never"
        succeed("train", rest, "-o", never, "--method", method, "--jobs", 1, "--no-measure")
        (tmp_path / "ids.txt").write_text("person-17\nperson-18\n")
        succeed("forget", secretive, "--ids", tmp_path / "ids.txt", "--jobs", 1)
        arrays = [sorted(path.name for path in folder.glob("arrays-*")) for folder in (never, secretive)]
        assert arrays[0] == arrays[1]  # named after their content

    def test_what_is_said(
        self, own_words_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "ids.csv").write_text("Nr;id\n1;it-1\n2;en-2\n3;en-4\n")
        succeed("forget", own_words_copy, "--ids", tmp_path / "ids.csv", "--jobs", 1)
        printed = capsys.readouterr().out
        assert "Forgot 3 documents: en 2, it 1" in printed
        assert "README.md and report.html are new" in printed
        assert "14 held out" in printed

    def test_json(self, own_words_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "ids").write_text("it-1\nnobody\n")
        options = ("--ignore-unknown", "--json", "--jobs", 1)
        succeed("forget", own_words_copy, "--ids", tmp_path / "ids", *options)
        result = json.loads(capsys.readouterr().out)
        assert (result["forgotten"], result["unknown"]) == ({"it": 1}, 1)
        assert result["after"]["languages"]["it"]["documents"] == 15

    def test_from_standard_input(self, own_words_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"it-1\n")))
        succeed("forget", own_words_copy, "--ids", "-", "--jobs", 1)
        assert load_model(own_words_copy).documents_ == {"en": 16, "it": 15}

    def test_a_label_and_a_language_that_lose_all_documents_go_away(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = documents(["en", "it"])
        rows[1]["labels"] = [*rows[1]["labels"], "rare"]
        succeed(
            "train", write_jsonl(tmp_path / "d.jsonl", [*rows, *documents(["de"], each=2)]),
            "-o", tmp_path / "model", "--method", "fun-tat", "--jobs", 1, "--no-measure",
        )  # fmt: skip
        (tmp_path / "ids.txt").write_text("en-1\nde-0\nde-1\n")
        succeed("forget", tmp_path / "model", "--ids", tmp_path / "ids.txt", "--jobs", 1)
        printed = capsys.readouterr().out
        assert "Languages without documents, removed: de" in printed
        assert "Labels without documents, removed: rare" in printed
        model = load_model(tmp_path / "model")
        assert model.languages_ == ["en", "it"]
        assert "rare" not in model.classes_

    def test_into_another_folder(
        self, own_words_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = contents(own_words_copy)
        (tmp_path / "ids.txt").write_text("it-1\n")
        succeed("forget", own_words_copy, "--ids", tmp_path / "ids.txt", "-o", tmp_path / "new", "--jobs", 1)
        assert contents(own_words_copy) == before
        assert f"The old model still has these documents: {own_words_copy}" in capsys.readouterr().out


class TestRefusals:
    @pytest.mark.usefixtures("own_words_copy")
    @pytest.mark.parametrize(
        ("name", "content", "says"),
        [
            (
                "ids.txt",
                "it-1\nnobody\n",
                ['ids.txt: no training document has the id "nobody"'],
            ),
            ("ids.txt", "nobody\nno one\n", ['"nobody", nor 1 more', "--ignore-unknown"]),
            ("ids.csv", "name,age\nx,3\n", ["ids.csv: which column holds the id?", "--id-column"]),
            ("ids.txt", "", ["ids.txt: no document in it"]),
        ],
    )
    def test_a_bad_file(
        self, tmp_path: Path, refuses: Refuses, name: str, content: str, says: list[str]
    ) -> None:
        (tmp_path / name).write_text(content)
        refuses("forget", "model", "--ids", name, says=says)

    @pytest.mark.usefixtures("own_words_copy")
    def test_forgetting_everything(self, tmp_path: Path, refuses: Refuses) -> None:
        (tmp_path / "ids.txt").write_text("".join(f"{row['id']}\n" for row in documents()))
        says = ["These are all training documents", "Delete the model"]
        options = ("--ids", "ids.txt", "--ignore-unknown", "--jobs", 1)
        refuses("forget", "model", *options, says=["model: ", *says])

    def test_a_compact_model(self, tmp_path: Path, split_data: Path, refuses: Refuses) -> None:
        succeed(
            "train",
            split_data,
            "-o",
            tmp_path / "small",
            "--keep",
            "nothing",
            "--method",
            "fun-tat",
            "--jobs",
            1,
        )
        (tmp_path / "ids.txt").write_text("it-1\n")
        refuses("forget", "small", "--ids", "ids.txt", says=["small", "compact"])

    def test_documents_without_ids(self, tmp_path: Path, refuses: Refuses) -> None:
        rows = [{key: row[key] for key in row if key != "id"} for row in documents()]
        data = write_jsonl(tmp_path / "docs.jsonl", rows)
        succeed("train", data, "-o", tmp_path / "model", "--method", "fun-tat", "--jobs", 1, "--no-measure")
        (tmp_path / "ids.txt").write_text("1\n")
        refuses(
            "forget", "model", "--ids", "ids.txt", says=["ids.txt: ", "have no ids", "Update the model with"]
        )
