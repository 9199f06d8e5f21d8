"""Figures of pages are marked, agree with committed results, and are listed once their code has changed."""

import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
CSV = 'method,micro-F1,macro-F1*,fit s\nNaive,.568 ± .004,.190,8.9\nFun(TAT),.610 ± .004†,.242,"1,018.1"\n'

Write = Callable[[str], Path]


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return import_module("figures")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a page of a project that has one folder of code and one file of results, but no history."""
    for name, text in {"docs/results.csv": CSV, "src/funnelling/svm/solver.py": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    def page(text: str) -> Path:
        (tmp_path / "docs" / "page.md").write_text(text, encoding="utf-8")
        return tmp_path

    return page


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(root: Path, name: str, text: str) -> str:
    (root / name).write_text(text, encoding="utf-8")
    git(root, "add", name)
    git(root, "commit", "--quiet", "--message", name)
    return git(root, "rev-parse", "--short", "HEAD")


@pytest.fixture
def repository(write: Write) -> Path:
    root = write("")
    git(root, "init", "--quiet")
    return root


@pytest.mark.parametrize(
    "figure",
    [
        ".614",
        "0.52",
        "-.08",
        "12 s",
        "0.64 ms",
        "3 µs",
        "16 min",
        "1,200 seconds",
        "55 MB",
        "3.1 GB",
        "94 times",
        "190×",
        "43 %",
        "p < 10⁻³⁶",
    ],
)
def test_what_looks_measured_wants_a_marker(figures: ModuleType, write: Write, figure: str) -> None:
    (problem,) = figures.problems(write(f"# Page\n\nIt is {figure} here.\n"))
    assert problem == f"docs/page.md:3: {figure.lstrip('-')}: no marker says what gave that."


@pytest.mark.parametrize(
    "text",
    [
        "Thresholds of .5, Python 3.11, 7,900 documents, 8 × 8 pixels, C = 100",
        "`--threshold .35` and [a page](https://example.org/1.00/.123)",
        "```sh\n# a comment\nsleep .25  # 12 s\n```",
        "About .003 <!-- not measured: a setting -->",
        "## On .614",
    ],
)
def test_what_does_not_look_measured_wants_none(figures: ModuleType, write: Write, text: str) -> None:
    assert list(figures.problems(write(f"{text}\n"))) == []


def test_a_marker_covers_what_stands_above_it_up_to_a_heading_or_another_marker(
    figures: ModuleType, write: Write
) -> None:
    covered = "## One\n\n.111\n\n| a |\n| --- |\n| .222 |\n\n<!-- not measured: x -->\n\n"
    assert list(figures.problems(write(covered + "Text.\n"))) == []
    assert list(figures.problems(write("## Zero\n\n.000\n\n" + covered))) == [
        "docs/page.md:3: .000: no marker says what gave that."
    ]
    assert list(figures.problems(write(covered + "Then .333 and .444.\n"))) == [
        "docs/page.md:11: .333 and 1 more: no marker says what gave that."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "| | micro-F1 | macro-F1 | fit s |\n| --- | --- | --- | --- |\n"
        "| naive | .568 ± .004 | .19 | 9 |\n| **Fun(TAT)** | **.610** | .242 | 1,018 |\n",
        "| | macro-F1 |\n| --- | --- |\n| Naive | .190 |\n",  # older results have a star where we have none
        "From .568 to .61, in 9 seconds.\n",
        "| of another shape | .242 |\n",
    ],
)
def test_figures_that_are_in_the_results_pass(figures: ModuleType, write: Write, text: str) -> None:
    assert list(figures.problems(write(f"{text}\n<!-- checked: results.csv -->\n"))) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("From .568 to .611.", "3: .611"),
        ("It takes 10 seconds.", "3: 10 seconds"),
        ("It is -.568.", "3: -.568"),
        ("It has p < 10⁻³⁶.", "3: p < 10⁻³⁶."),
        ("| | micro-F1 |\n| --- | --- |\n| Naive | .610 |", "5: .610 (Naive, micro-f1)"),  # another row's
        ("| | fit s |\n| --- | --- |\n| Naive | 10 |", "5: 10 (Naive, fit s)"),
        ("| | what |\n| --- | --- |\n| Naive | .611 |", "5: .611"),
    ],
)
def test_a_figure_that_is_not_in_the_results_is_named(
    figures: ModuleType, write: Write, text: str, wrong: str
) -> None:
    (problem,) = figures.problems(write(f"# Page\n\n{text}\n\n<!-- checked: results.csv -->\n"))
    assert problem == f"docs/page.md:{wrong} is not in results.csv."


def test_results_that_are_not_there_are_named(figures: ModuleType, write: Write) -> None:
    assert list(figures.problems(write(".614 <!-- checked: attic.csv -->\n"))) == [
        "docs/page.md:1: there is no docs/attic.csv."
    ]


def test_figures_whose_code_has_changed_come_first(
    figures: ModuleType, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = commit(repository, "src/funnelling/svm/solver.py", "one")
    new = commit(repository, "src/funnelling/svm/solver.py", "two")
    page = f"1 s <!-- measured: {new} | new | svm -->\n2 s <!-- measured: {old} | old | head | svm -->\n"
    commit(repository, "docs/page.md", page)
    assert figures.main([], repository) == 0
    _, first, second, *rest = capsys.readouterr().out.splitlines()
    assert first.split() == ["1", old[:7], "docs/page.md:2", "old", "|", "head"]
    assert second.split() == ["0", new[:7], "docs/page.md:1", "new"]
    assert rest[0] == "2 places measured: the code of 1 has changed since, 0 name no command."
    assert figures.main(["--check"], repository) == 0


@pytest.mark.parametrize(
    ("marker", "problem"),
    [
        ("abcdef1 | command | svm", "the history of HEAD has no commit abcdef1."),
        ("HEAD | command | svm", "a marker is to read <!-- measured: COMMIT | COMMAND | CODE -->."),
        ("abcdef1 | command", "a marker is to read <!-- measured: COMMIT | COMMAND | CODE -->."),
    ],
)
def test_a_marker_that_is_wrong_is_named(
    figures: ModuleType, repository: Path, capsys: pytest.CaptureFixture[str], marker: str, problem: str
) -> None:
    commit(repository, "docs/page.md", f"It takes 2 s.\n\n<!-- measured: {marker} -->\n")
    assert figures.main(["--check"], repository) == 1
    assert capsys.readouterr().out == f"docs/page.md:3: {problem}\n"


def test_code_that_is_gone_is_named(figures: ModuleType, repository: Path) -> None:
    first = commit(repository, "docs/results.csv", CSV)
    commit(repository, "docs/page.md", f"2 s <!-- measured: {first} | command | svm attic docs/page.md -->\n")
    assert list(figures.problems(repository)) == ["docs/page.md:1: there is no code attic."]


def test_a_shallow_clone_asks_for_no_commit(figures: ModuleType, repository: Path, tmp_path: Path) -> None:
    first = commit(repository, "src/funnelling/svm/solver.py", "one")
    commit(repository, "docs/page.md", f"2 s <!-- measured: {first} | command | svm -->\n")
    git(repository, "clone", "--quiet", "--depth", "1", repository.as_uri(), str(tmp_path / "shallow"))
    assert list(figures.problems(tmp_path / "shallow")) == []


def test_the_pages_of_this_repository_are_marked_and_right(figures: ModuleType) -> None:
    assert list(figures.problems(ROOT)) == []
