"""Settings from a file and from the environment: the same names and checks as on the command line."""

import json
import re
from pathlib import Path

import pytest

from funnelling.commands import build_parser, main
from funnelling.commands.parsing import command_of
from funnelling.commands.settings import parse
from funnelling.runtime.messages import CONFIG, TOKEN, VARIABLES

from .command import assert_refused, documents, run_command, succeed, write_jsonl
from .conftest import Refuses

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
SOURCES = ROOT / "src" / "funnelling"
NAMED = "mine.toml"
TRAIN = ("train", "docs.jsonl", "-o", "model")
SERVE = ("serve", "model")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write(text: str, name: str = NAMED) -> None:
    Path(name).write_text(text, encoding="utf-8")


def parsed(*words: str) -> dict[str, object]:
    return vars(command_of(parse(build_parser(), words)[0]))


class TestFile:
    def test_names_and_values_are_those_of_the_options(self) -> None:
        write(
            'method = "fun-tat"\njobs = 3\nset = ["fun-tat.meta_C=1", "fun-tat.folds=3"]\nno-measure = true\n'
            'text-column = "body"\nseveral-labels = true\nroll-up = false\n'
        )
        values = parsed("--config", NAMED, *TRAIN)
        assert (values["method"], values["jobs"]) == ("fun-tat", 3)
        assert values["set"] == ["fun-tat.meta_C=1", "fun-tat.folds=3"]
        assert (values["no_measure"], values["one_label"], values["roll_up"]) == (True, False, False)
        assert values["text_column"] == ["body"]

    def test_the_option_may_follow_the_command(self) -> None:
        write("jobs = 3")
        assert parsed(*TRAIN, "--config", NAMED)["jobs"] == 3

    def test_tables_are_for_commands(self) -> None:
        write("seed = 1\n[train]\nseed = 2\n[research.build]\nseed = 3\n[serve]\nmax-text = 1000\nport = 0\n")
        assert parsed("--config", NAMED, *TRAIN)["seed"] == 2
        assert parsed("--config", NAMED, "quickstart")["seed"] == 1
        assert parsed("--config", NAMED, "research", "build", "sample", "-o", "x")["seed"] == 3
        values = parsed("--config", NAMED, *SERVE)
        assert (values["max_text"], values["port"]) == (1_000, 0)

    def test_the_command_line_wins(self) -> None:
        write('jobs = 3\nset = ["fun-auto.folds=3"]\none-label = true\n[explain]\njson = true\n')
        values = parsed(*TRAIN, "--config", NAMED, "--jobs", "2", "--set", "fun-auto.folds=4")
        assert (values["jobs"], values["set"]) == (2, ["fun-auto.folds=4"])
        assert parsed(*TRAIN, "--config", NAMED, "--several-labels")["one_label"] is False
        values = parsed("explain", "model", "docs.jsonl", "--config", NAMED, "--html", "x.html")
        assert (values["json"], values["html"]) == (False, "x.html")

    def test_a_switch_that_is_off_excludes_nothing(self) -> None:
        write(
            "several-labels = true\none-label = false\n[compare]\none-label = true\nseveral-labels = false\n"
        )
        assert parsed(*TRAIN, "--config", NAMED)["one_label"] is False
        assert parsed("compare", "docs.jsonl", "--config", NAMED)["one_label"] is True

    def test_a_table_turns_off_what_stands_above_it(self) -> None:
        write("one-label = true\n[train]\none-label = false\n")
        assert parsed(*TRAIN, "--config", NAMED)["one_label"] is None
        assert parsed("compare", "docs.jsonl", "--config", NAMED)["one_label"] is True

    def test_what_is_required_may_come_from_a_file(self) -> None:
        write('[train]\noutput = "model"\nforce = true')
        values = parsed("train", "docs.jsonl", "--config", NAMED)
        assert (values["output"], values["force"]) == ("model", True)

    def test_a_value_that_may_be_left_out(self) -> None:
        write("[evaluate]\nby-label = true\nconfused = 3\n")
        values = parsed("evaluate", "model", "docs.jsonl", "--config", NAMED)
        assert (values["by_label"], values["confused"], values["errors"]) == (0, 3, None)

    def test_an_option_that_is_called_like_a_command(self) -> None:
        write('embeddings = "vectors"\n')
        assert parsed("--config", NAMED, *TRAIN)["embeddings"] == "vectors"
        assert "embeddings" not in parsed("--config", NAMED, "research", "vectors", "r.jsonl", "-o", "x")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("job = 3", f"{NAMED}:1: job: funnelling has no option of this name. Did you mean jobs?"),
        ("\n[train]\nport = 3", f"{NAMED}:3: train.port: funnelling train has no option of this name."),
        (
            "[trian]\njobs = 3",
            f"{NAMED}:1: trian: funnelling has no command of this name. Did you mean train?",
        ),
        ("max_text = 3", "Did you mean max-text?"),
        ("train = 3", f"{NAMED}:1: train: train is a command. Write its options below [train]."),
        ("[research]\nbuild = 3", f"{NAMED}:2: research.build: build is a command."),
        ("seed = {a = 1}", f"{NAMED}:1: seed: seed takes a number, or a text in quotes, not a table."),
        ("seed.a = 1", f"{NAMED}:1: seed: seed takes a number, or a text in quotes, not a table."),
        ('no-measure = "true"', f'{NAMED}:1: no-measure: no-measure takes true or false, not "true".'),
        ('\n"a.b" = 1', f"{NAMED}:2: a.b: funnelling has no option of this name."),
        ('[train]\ndata = "x"', f"{NAMED}:2: train.data: funnelling train has no option of this name"),
        ('config = "x"', f"{NAMED}:1: config: funnelling has no option of this name"),
        ("[serve]\nhots = 1", "Did you mean host?"),  # also where another command runs
        ("jobs = 0", f"{NAMED}:1: jobs: 0 is not 1 or more."),
        ("[train]\njobs = 'two'", f"{NAMED}:2: train.jobs: 'two' is not a whole number."),
        ("jobs = 1.5", f"{NAMED}:1: jobs: '1.5' is not a whole number."),
        ("jobs = true", f"{NAMED}:1: jobs: jobs takes a number, or a text in quotes, not true."),
        ("jobs = [1, 2]", "not a list."),
        ("jobs = 2020-01-01", "not 2020-01-01."),
        ("set = [[]]", "or a list of them, not a list."),
        ('force = "yes"', f'{NAMED}:1: force: force takes true or false, not "yes".'),
        (
            "one-label = true\nseveral-labels = true",
            f"{NAMED}:2: several-labels: cannot stand beside one-label. Leave one of them out.",
        ),
        ('[train]\nlabels-column = "a"\nlabel-column = "b"', f"{NAMED}:3: train.label-column: cannot stand"),
        ("jobs = ", f"{NAMED}: not TOML: Invalid value (at end of document)"),
        ("jobs = 1\njobs = 2\n", "(at line 2, column 9)"),
        ("a = " + "[" * 10_000, f"{NAMED}: not TOML"),
        ("#" * 2**21, "more than 1,048,576 bytes"),
    ],
)
def test_refused(text: str, says: str, refuses: Refuses) -> None:
    write(text)
    refuses(*TRAIN, "--config", NAMED, says=["funnelling: ", says])


def test_a_value_that_is_no_choice_is_refused(refuses: Refuses) -> None:
    write('probabilities = "tall"')
    says = f"{NAMED}:1: probabilities: invalid choice: 'tall'"
    refuses("predict", "model", "docs.jsonl", "--config", NAMED, says=["funnelling: ", says])


@pytest.mark.parametrize(
    ("setting", "says"),
    [('method = "fun-tta"', "no method 'fun-tta'. "), ('labels-column = "topik"', "no column 'topik'. ")],
)
def test_a_value_that_is_quoted_names_the_place(setting: str, says: str, refuses: Refuses) -> None:
    write(setting)
    Path("docs.csv").write_text("text,topic,language\na cat,x,en\n", encoding="utf-8")
    refuses(
        "train",
        "docs.csv",
        "-o",
        "model",
        "--config",
        NAMED,
        says=[f"funnelling: {NAMED}:1: {setting.split()[0]}: ", says],
    )


def test_what_a_command_refuses_later_names_the_place_too(tmp_path: Path, refuses: Refuses) -> None:
    write('[train]\nset = ["fun-tat.meta_C=1"]\nseed = 3\n')
    write_jsonl(tmp_path / "docs.jsonl", documents())
    words = (*TRAIN, "--config", NAMED, "--method", "naive")
    refuses(*words, says=[f"funnelling: {NAMED}:2: train.set: --set fun-tat.meta_C=1: fun-tat"])


def test_files_that_are_none(tmp_path: Path, refuses: Refuses) -> None:
    (tmp_path / NAMED).write_bytes(b"method = '\xff'")
    refuses(*TRAIN, "--config", NAMED, says=[f"{NAMED}: not UTF-8"])
    refuses(*TRAIN, "--config", "missing.toml", says=["missing.toml: no such file or directory"])
    refuses(*TRAIN, "--config", ".", says=["is a directory"])


class TestPlace:
    def test_a_file_that_nobody_named_is_not_read(self) -> None:
        write("jobs = 3\n[no command]\n", "funnelling.toml")
        assert parse(build_parser(), TRAIN)[1] == []

    def test_the_option_wins_over_the_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("jobs = 4", "a.toml")
        write("jobs = 5", "b.toml")
        monkeypatch.setenv(CONFIG, "a.toml")
        assert parsed(*TRAIN)["jobs"] == 4
        assert parsed(*TRAIN, "--config", "b.toml")["jobs"] == 5

    def test_in_a_process_of_its_own(self, folder: Path) -> None:
        write("[research.corpora]\njson = true\n")
        done = run_command("research", "corpora", cwd=folder, env={CONFIG: NAMED})
        assert "sample" in json.loads(done.stdout)
        assert done.stderr == ""
        write("[research.corpora]\njsno = true\n")
        says = [f"{NAMED}:2: research.corpora.jsno", "Did you mean json?"]
        assert_refused("research", "corpora", "--config", NAMED, cwd=folder, says=says)


class TestEnvironment:
    def test_wins_over_the_file_and_gives_way_to_the_command_line(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write("jobs = 3")
        monkeypatch.setenv(CONFIG, NAMED)
        monkeypatch.setenv("FUNNELLING_JOBS", "4")
        assert parsed(*TRAIN)["jobs"] == 4
        assert parsed(*TRAIN, "--jobs", "5")["jobs"] == 5
        assert "jobs" not in parsed("research", "corpora")

    def test_is_told_whole_by_help_and_guide(self) -> None:
        assert re.findall(r"^\| `([A-Z_]+)` \|", GUIDE, re.M) == list(VARIABLES)
        assert re.findall(r"^  ([A-Z_]+)  ", build_parser().format_help(), re.M) == list(VARIABLES)
        sources = "".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
        assert set(re.findall(r"\b(?:FUNNELLING|HF)_[A-Z_]+\b|\bNO_COLOR\b", sources)) == set(VARIABLES)

    def test_a_token(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write('token-file = "token"')
        assert parsed(*SERVE, "--config", NAMED)["token_file"] == "token"
        monkeypatch.setenv(TOKEN, "12345678")
        assert parsed(*SERVE, "--config", NAMED)["token_file"] is None
        assert parsed(*SERVE, "--config", NAMED, "--token-file", "mine")["token_file"] == "mine"

    def test_refused(self, monkeypatch: pytest.MonkeyPatch, refuses: Refuses) -> None:
        monkeypatch.setenv("FUNNELLING_JOBS", "all")
        refuses(*TRAIN, says=["FUNNELLING_JOBS: 'all' is not a whole number"])


def test_a_model_is_trained_as_the_file_says() -> None:
    write_jsonl(Path("docs.jsonl"), documents())
    write('method = "naive"\njobs = 1\nno-measure = true\n')
    succeed(*TRAIN, "--config", NAMED)
    assert json.loads(Path("model/model.json").read_text(encoding="utf-8"))["method"] == "naive"


def test_help_shows_what_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parsed("train", "--help")
    assert "[-h] -o MODEL [--method M]" in capsys.readouterr().out


def test_a_number_of_many_digits_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / NAMED).write_text(f"seed = {'9' * 5000}\n", encoding="utf-8")
    assert main(["research", "corpora", "--config", NAMED]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_a_file_says_does_not_reach_the_terminal_as_a_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / NAMED).write_text('"\\u001b]0;owned\\u0007\\u001b[2J" = 1\n', encoding="utf-8")
    assert main(["research", "corpora", "--config", NAMED]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert r"\x1b]0;owned\x07" in said
