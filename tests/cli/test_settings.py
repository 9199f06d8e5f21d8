"""Settings from a file and from the environment: the same names and checks as on the command line."""

import json
from pathlib import Path

import pytest

from funnelling.cli import build_parser
from funnelling.cli.settings import CONFIG, FOUND, TOKEN, VARIABLES, parse
from funnelling.errors import InputError

from .command import assert_refused, documents, run_command, succeed, write_jsonl
from .conftest import Refuses

NAMED = "mine.toml"
TRAIN = ("train", "docs.jsonl", "-o", "model")
SERVE = ("serve", "model")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (CONFIG, TOKEN, *VARIABLES.values()):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write(text: str, name: str = NAMED) -> None:
    Path(name).write_text(text, encoding="utf-8")


def parsed(*words: str) -> dict[str, object]:
    return vars(parse(build_parser(), words)[0])


class TestFile:
    def test_names_and_values_are_those_of_the_options(self) -> None:
        write(
            'method = "fun-tat"\njobs = 3\nset = ["fun-tat.meta_C=1", "fun-tat.folds=3"]\nno-table = true\n'
            'text-column = "body"\nseveral-labels = true\ncompact = false\n'
        )
        values = parsed("--config", NAMED, *TRAIN)
        assert (values["method"], values["jobs"]) == ("fun-tat", 3)
        assert values["set"] == ["fun-tat.meta_C=1", "fun-tat.folds=3"]
        assert (values["no_table"], values["one_label"], values["compact"]) == (True, False, False)
        assert values["text_column"] == ["body"]

    def test_the_option_may_follow_the_command(self) -> None:
        write("jobs = 3")
        assert parsed(*TRAIN, "--config", NAMED)["jobs"] == 3

    def test_tables_are_for_commands(self) -> None:
        write("seed = 1\n[train]\nseed = 2\n[data.build]\nseed = 3\n[serve]\nmax-text = 1000\nport = 0\n")
        assert parsed("--config", NAMED, *TRAIN)["seed"] == 2
        assert parsed("--config", NAMED, "quickstart")["seed"] == 1
        assert parsed("--config", NAMED, "data", "build", "sample", "-o", "x")["seed"] == 3
        values = parsed("--config", NAMED, *SERVE)
        assert (values["max_text"], values["port"]) == (1_000, 0)

    def test_the_command_line_wins(self) -> None:
        write('jobs = 3\nset = ["fun-auto.folds=3"]\none-label = true\n[explain]\njson = true\n')
        values = parsed(*TRAIN, "--config", NAMED, "--jobs", "2", "--set", "fun-auto.folds=4")
        assert (values["jobs"], values["set"]) == (2, ["fun-auto.folds=4"])
        assert parsed(*TRAIN, "--config", NAMED, "--several-labels")["one_label"] is False
        values = parsed("explain", "model", "docs.jsonl", "--config", NAMED, "--html", "x.html")
        assert (values["json"], values["html"]) == (False, "x.html")

    def test_what_is_required_may_come_from_a_file_that_is_named(self) -> None:
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
        values = parsed("--config", NAMED, "embeddings", "neighbours", "dir", "en", "word")
        assert values["embeddings"] == "dir"


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
        ('force = "yes"', f"{NAMED}:1: force: force takes true or false, not yes."),
        ('device = "tpu"', f"{NAMED}:1: device: invalid choice: 'tpu'"),
        ("one-label = true\nseveral-labels = true", ""),
        ("jobs = ", f"{NAMED}: not TOML: Invalid value (at end of document)"),
        ("jobs = 1\njobs = 2\n", "(at line 2, column 9)"),
        ("a = " + "[" * 10_000, f"{NAMED}: not TOML"),
        ("#" * 2**21, "more than 1,048,576 bytes"),
    ],
)
def test_refused(text: str, says: str, refuses: Refuses) -> None:
    write(text)
    if says:
        refuses(*TRAIN, "--config", NAMED, says=["funnelling: ", says])
    else:
        assert parsed(*TRAIN, "--config", NAMED)["one_label"] is False  # the last one counts


def test_files_that_are_none(tmp_path: Path, refuses: Refuses) -> None:
    (tmp_path / NAMED).write_bytes(b"method = '\xff'")
    refuses(*TRAIN, "--config", NAMED, says=[f"{NAMED}: not UTF-8"])
    refuses(*TRAIN, "--config", "missing.toml", says=["missing.toml: no such file or directory"])
    refuses(*TRAIN, "--config", ".", says=["is a directory"])


class TestFound:
    """A file in the working folder, which may be anybody's."""

    def test_is_used_and_named(self) -> None:
        write("jobs = 3\n[serve]\nport = 1", FOUND)
        values, found = parse(build_parser(), TRAIN)
        assert (values.jobs, found) == (3, ["jobs"])

    @pytest.mark.parametrize("words", [(*TRAIN, "--no-config"), ("--no-config", *TRAIN)])
    def test_can_be_left_alone(self, words: tuple[str, ...]) -> None:
        write('method = "fun-tat"', FOUND)
        assert parsed(*words)["method"] == "fun-auto"

    def test_gives_way_to_one_that_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("jobs = 3", FOUND)
        write("jobs = 4", "a.toml")
        write("jobs = 5", "b.toml")
        monkeypatch.setenv(CONFIG, "a.toml")
        assert parsed(*TRAIN)["jobs"] == 4
        assert parsed(*TRAIN, "--config", "b.toml")["jobs"] == 5

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("force = true", TRAIN),
            ('output = "elsewhere"', ("train", "docs.jsonl")),
            ('cluster = "tcp://192.0.2.1:8786"', TRAIN),
            ('encoder = "folder"', TRAIN),
            ('html = "page.html"', ("explain", "model", "docs.jsonl")),
            ('host = "0.0.0.0"', SERVE),
            ('allow-host = "example.org"', SERVE),
            ('token-file = "token"', SERVE),
            ("quiet = true", TRAIN),
            ("log-json = true", TRAIN),
            ('[experiment]\ndata = "x"', ("experiment", "all")),
            ('map = "x"', ("relabel", "model")),
            ('ids = "x"', ("forget", "model")),
        ],
    )
    def test_may_not_do_harm(self, text: str, words: tuple[str, ...]) -> None:
        write(text, FOUND)
        with pytest.raises(InputError, match="merely found may not set this") as refused:
            parsed(*words)
        assert f"{CONFIG}={FOUND}" in str(refused.value)
        parsed(*words, "--config", FOUND)

    def test_is_checked_only_where_it_counts(self) -> None:
        write('output = "elsewhere"', FOUND)
        assert parsed(*TRAIN)["output"] == "model"

    def test_in_a_process_of_its_own(self, folder: Path) -> None:
        write("[data.list]\njson = true\n", FOUND)
        done = run_command("data", "list", cwd=folder)
        assert "sample" in json.loads(done.stdout)
        assert done.stderr == f"Settings of {FOUND}: json (--no-config leaves them out).\n"
        assert run_command("data", "list", "--quiet", cwd=folder).stderr == ""
        write("[data.list]\njsno = true\n", FOUND)
        assert_refused("data", "list", cwd=folder, says=[f"{FOUND}:2: data.list.jsno", "Did you mean json?"])


class TestEnvironment:
    def test_wins_over_the_file_and_gives_way_to_the_command_line(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write("jobs = 3", FOUND)
        monkeypatch.setenv("FUNNELLING_JOBS", "4")
        assert parsed(*TRAIN)["jobs"] == 4
        assert parsed(*TRAIN, "--jobs", "5")["jobs"] == 5
        assert "jobs" not in parsed("data", "list")

    def test_a_token(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write('token-file = "token"')
        assert parsed(*SERVE, "--config", NAMED)["token_file"] == "token"
        monkeypatch.setenv(TOKEN, "12345678")
        assert parsed(*SERVE, "--config", NAMED)["token_file"] is None
        assert parsed(*SERVE, "--config", NAMED, "--token-file", "mine")["token_file"] == "mine"

    def test_refused(self, monkeypatch: pytest.MonkeyPatch, refuses: Refuses) -> None:
        monkeypatch.setenv("FUNNELLING_JOBS", "all")
        refuses(*TRAIN, says=["FUNNELLING_JOBS: 'all' is not a whole number"])


def test_a_model_is_trained_as_the_file_says(capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(Path("docs.jsonl"), documents())
    write('method = "naive"\njobs = 1\nno-table = true\n', FOUND)
    succeed(*TRAIN)
    assert "Settings of funnelling.toml: method, jobs, no-table" in capsys.readouterr().err
    assert json.loads(Path("model/model.json").read_text(encoding="utf-8"))["method"] == "naive"


def test_help_shows_what_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parsed("train", "--help")
    assert "[-h] -o MODEL [--method M]" in capsys.readouterr().out
