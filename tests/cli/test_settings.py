"""Settings from a file and from the environment: the same names and checks as on the command line."""

import json
import re
from pathlib import Path

import pytest

from funnelling.cli import build_parser, main
from funnelling.cli.parsers import every_parser, options_of
from funnelling.cli.settings import IF_FOUND, NOT_IN_FILES, ONLY_NAMED, may_be_found, parse
from funnelling.errors import InputError
from funnelling.work.names import CONFIG, SETTINGS, TOKEN, VARIABLES

from .command import assert_refused, documents, run_command, succeed, write_jsonl
from .conftest import Refuses

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
SOURCES = ROOT / "src" / "funnelling"
NAMED = "mine.toml"
TRAIN = ("train", "docs.jsonl", "-o", "model")
SERVE = ("serve", "model")
PUSH = ("push", "model", "owner/name")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in VARIABLES:
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
        ("train = 3", f"{NAMED}:1: train: train is a command. Write its options below [train]."),
        ("[data]\ndescribe = 3", f"{NAMED}:2: data.describe: describe is a command."),
        ("seed = {a = 1}", f"{NAMED}:1: seed: seed takes a number, or a text in quotes, not a table."),
        ("seed.a = 1", f"{NAMED}:1: seed: seed takes a number, or a text in quotes, not a table."),
        ('no-table = "true"', f'{NAMED}:1: no-table: no-table takes true or false, not "true".'),
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
        ('device = "tpu"', f"{NAMED}:1: device: invalid choice: 'tpu'"),
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


class TestFound:
    """A file in the working folder, which may be anybody's."""

    def test_is_used_and_named(self) -> None:
        write("jobs = 3\n[serve]\nport = 1", SETTINGS)
        values, [used] = parse(build_parser(), TRAIN)
        assert (values.jobs, used.name, used.found) == (3, "jobs", True)

    @pytest.mark.parametrize("words", [(*TRAIN, "--no-config"), ("--no-config", *TRAIN)])
    def test_can_be_left_alone(self, words: tuple[str, ...]) -> None:
        write('method = "fun-tat"', SETTINGS)
        assert parsed(*words)["method"] is None  # the number of labels decides then

    def test_gives_way_to_one_that_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        write("jobs = 3", SETTINGS)
        write("jobs = 4", "a.toml")
        write("jobs = 5", "b.toml")
        monkeypatch.setenv(CONFIG, "a.toml")
        assert parsed(*TRAIN)["jobs"] == 4
        assert parsed(*TRAIN, "--config", "b.toml")["jobs"] == 5

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("force = true", TRAIN),
            ("keep-texts = true", TRAIN),
            ("compact = true", TRAIN),
            ('set = "fun-auto.keep_texts=true"', TRAIN),
            ('output = "elsewhere"', ("train", "docs.jsonl")),
            ('cluster = "tcp://192.0.2.1:8786"', TRAIN),
            ('encoder = "folder"', TRAIN),
            ('html = "page.html"', ("explain", "model", "docs.jsonl")),
            ('host = "0.0.0.0"', SERVE),
            ('allow-host = "example.org"', SERVE),
            ('token-file = "token"', SERVE),
            ("max-body = 1000000000000", SERVE),
            ("deadline = 86400", SERVE),
            ("max-text = 1000000000", SERVE),
            ("workers = 5000", SERVE),
            ("port = 22", SERVE),
            ("with-documents = true", PUSH),
            ("[push]\ncompact = true", PUSH),
            ('license = "cc0-1.0"', PUSH),
            ('revision = "main"', PUSH),
            ('message = "x"', PUSH),
            ("quiet = true", TRAIN),
            ("log-json = true", TRAIN),
            ('[experiment]\ndata = "x"', ("experiment", "all")),
            ('map = "x"', ("relabel", "model")),
            ('ids = "x"', ("forget", "model")),
            ('id-column = "other"', ("forget", "model", "--ids", "ids.csv")),
            ('optimise = "recall=1"', ("tune", "model")),
            ('labels = "file"', ("tune", "model", "--optimise", "micro-f1")),
            ("[evaluate]\nerrors = 3", ("evaluate", "model", "docs.jsonl")),
        ],
    )
    def test_may_not_do_harm(self, text: str, words: tuple[str, ...]) -> None:
        write(text, SETTINGS)
        with pytest.raises(InputError, match="merely found may not set this") as refused:
            parsed(*words)
        assert f"{CONFIG}={SETTINGS}" in str(refused.value)
        parsed(*words, "--config", SETTINGS)

    def test_every_option_is_decided_on(self) -> None:
        """A new one goes into one of two lists: it is not trusted because nobody thought of it."""
        commands = dict(every_parser(build_parser()))
        names = {name for command in commands.values() for name in options_of(command)} - NOT_IN_FILES
        exceptions = {name for name in ONLY_NAMED if "." in name}
        undecided = {name for name in names if (name in IF_FOUND) == (name in ONLY_NAMED)}
        assert not undecided, f"decide in cli/settings.py whether a found file may set {undecided}"
        assert IF_FOUND | (ONLY_NAMED - exceptions) == names
        for exception in exceptions:
            *command, name = exception.split(".")
            assert name in options_of(commands[tuple(command)])
            assert name in IF_FOUND
            assert not may_be_found(command, name)

    def test_the_guide_lists_what_it_may_set(self) -> None:
        lists = re.findall(r"^- (?:how|what) .*?[;.]$", GUIDE.partition("merely found\n")[2], re.M | re.S)
        told = set(re.findall(r"`([a-z-]+)`", "".join(lists)))
        hidden = {"label-column", "optimize", "skip-unknown"}  # other names of some
        assert told == IF_FOUND - hidden

    def test_what_does_no_harm_is_not_in_the_way(self) -> None:
        write('jobs = 2\nmethod = "fun-tat"\nforce = false\n[train]\nkeep-texts = false\n', SETTINGS)
        for command, names in ((SERVE, []), (PUSH, []), (TRAIN, ["jobs", "method"])):
            assert [used.name for used in parse(build_parser(), command)[1]] == names

    def test_is_checked_only_where_it_counts(self) -> None:
        write('output = "elsewhere"', SETTINGS)
        assert parsed(*TRAIN)["output"] == "model"

    def test_in_a_process_of_its_own(self, folder: Path) -> None:
        write("[data.list]\njson = true\n", SETTINGS)
        done = run_command("data", "list", cwd=folder)
        assert "sample" in json.loads(done.stdout)
        assert done.stderr == f"Settings of {SETTINGS}: json (--no-config leaves them out).\n"
        assert run_command("data", "list", "--quiet", cwd=folder).stderr == ""
        write("[data.list]\njsno = true\n", SETTINGS)
        assert_refused(
            "data", "list", cwd=folder, says=[f"{SETTINGS}:2: data.list.jsno", "Did you mean json?"]
        )


class TestEnvironment:
    def test_wins_over_the_file_and_gives_way_to_the_command_line(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write("jobs = 3", SETTINGS)
        monkeypatch.setenv("FUNNELLING_JOBS", "4")
        assert parsed(*TRAIN)["jobs"] == 4
        assert parsed(*TRAIN, "--jobs", "5")["jobs"] == 5
        assert "jobs" not in parsed("data", "list")

    def test_is_told_whole_by_help_and_guide(self) -> None:
        assert re.findall(r"^\| `([A-Z_]+)` \|", GUIDE, re.M) == list(VARIABLES)
        assert re.findall(r"^  ([A-Z_]+)  ", build_parser().epilog or "", re.M) == list(VARIABLES)
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


def test_a_model_is_trained_as_the_file_says(capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(Path("docs.jsonl"), documents())
    write('method = "naive"\njobs = 1\nno-table = true\n', SETTINGS)
    succeed(*TRAIN)
    assert "Settings of funnelling.toml: method, jobs, no-table" in capsys.readouterr().err
    assert json.loads(Path("model/model.json").read_text(encoding="utf-8"))["method"] == "naive"


def test_help_shows_what_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parsed("train", "--help")
    assert "[-h] -o MODEL [--method M]" in capsys.readouterr().out


def test_a_number_of_many_digits_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "funnelling.toml").write_text(f"seed = {'9' * 5000}\n", encoding="utf-8")
    assert main(["data", "list"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_a_file_says_does_not_reach_the_terminal_as_a_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "funnelling.toml").write_text('"\\u001b]0;owned\\u0007\\u001b[2J" = 1\n', encoding="utf-8")
    assert main(["data", "list"]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert r"\x1b]0;owned\x07" in said
