"""Options that cannot be: one line that names the option and the choice, status 2."""

from pathlib import Path

import pytest

from .command import assert_refused, documents, write_jsonl
from .conftest import Refuses

TRAIN = ("train", "docs.jsonl", "-o", "model")


@pytest.fixture(autouse=True)
def docs(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "docs.jsonl", documents())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-q"], ["required: COMMAND", "--help"]),
        (["trian"], ["funnelling: no command 'trian'. Did you mean train?"]),
        (["research"], ["required: COMMAND"]),
        (
            ["research", "experment"],
            ["funnelling research: no command 'experment'. Did you mean experiment?"],
        ),
        (["train", "docs.jsonl"], ["required: -o/--output", "funnelling train --help"]),
        (["train", "-o", "model"], ["required: DATA"]),
        ([*TRAIN, "--methd", "x"], ["funnelling train: no option --methd. Did you mean --method?"]),
        ([*TRAIN, "--jobs", "0"], ["--jobs: 0 is not 1 or more"]),
        ([*TRAIN, "--jobs", "-1"], ["--jobs: -1 is not 1 or more"]),
        ([*TRAIN, "--jobs", "two"], ["--jobs: 'two' is not a whole number"]),
        ([*TRAIN, "--seed", "1.5"], ["--seed: '1.5' is not a whole number"]),
        ([*TRAIN, "--seed", "-5"], ["--seed: -5 is not a whole number from 0 to 2^64 - 1"]),
        ([*TRAIN, "--seed", str(2**64)], ["is not a whole number from 0 to 2^64 - 1"]),
        ([*TRAIN, "--method", "fun-tap"], ["funnelling: no method 'fun-tap'. Did you mean fun-tat?"]),
        ([*TRAIN, "--set", "meta_C"], ["--set meta_C is no setting", "METHOD.PARAM=VALUE"]),
        ([*TRAIN, "--set", "fun-auto.meta_C"], ["--set fun-auto.meta_C is no setting"]),
        ([*TRAIN, "--set", "fun-tap.meta_C=1"], ["no method 'fun-tap'. Did you mean fun-tat?"]),
        ([*TRAIN, "--set", "naive.C=1"], ["--set naive.C=1: naive takes no part, only fun-auto"]),
        ([*TRAIN, "--set", "fun-auto.gama=1"], ["fun-auto has no setting 'gama'", "meta_gamma"]),
        ([*TRAIN, "--set", "fun-auto.views=own"], ["fun-auto has no setting 'views'"]),
        ([*TRAIN, "--set", "fun-auto.vectorizer=mine"], ["fun-auto has no setting 'vectorizer'"]),
        ([*TRAIN, "--set", "fun-auto.random_state=1"], ["fun-auto has no setting 'random_state'"]),
        (["compare", "docs.jsonl", "--methods", "naive,fun"], ["no method 'fun'. Did you mean fun-tat?"]),
        (["compare", "docs.jsonl", "--methods", ""], ["no method ''. Choose from naive, pooled, fun-tat"]),
        (["compare", "docs.jsonl", "--runs", "0"], ["--runs: 0 is not 1 or more"]),
        (["compare", "docs.jsonl", "-o", "out", "--set", "fun-tat.gama=1"], ["has no setting 'gama'"]),
        (
            ["compare", "docs.jsonl", "--methods", "fun-views", "--set", 'fun-views.views=["words"]'],
            ["no view 'words'. Choose from own, "],
        ),
        (
            ["compare", "docs.jsonl", "--methods", "fun-views", "--set", "fun-views.views=5"],
            ["views must be a list of views, not 5"],
        ),
        (
            [
                *("compare", "docs.jsonl", "--hold-out", "it", "--methods", "fun-zero-shot"),
                *("--set", "fun-zero-shot.zero_shot=nonsense"),
            ],
            ["zero_shot must be one of auto, pooled"],
        ),
        (["predict", "model", "docs.jsonl", "--top", "0"], ["--top: 0 is not 1 or more"]),
        (
            ["predict", "model", "docs.jsonl", "--threshold", "1.5"],
            ["--threshold: 1.5 is not between 0 and 1"],
        ),
        (
            ["predict", "model", "docs.jsonl", "--threshold", "nan"],
            ["--threshold: nan is not between 0 and 1"],
        ),
        (["predict", "model", "docs.jsonl", "--threshold", "half"], ["--threshold: 'half' is not a number"]),
    ],
    ids=" ".join,
)
def test_refused(arguments: list[str], says: list[str], refuses: Refuses) -> None:
    refuses(*arguments, says=says)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("fun-auto.meta_C=-1", "meta_C must be a positive number or grid, not -1"),
        ("fun-auto.meta_C=NaN", "meta_C must be a positive number or grid, not nan"),
        ("fun-auto.base_C=much", "base_C must be a positive number or grid, not 'much'"),
        ("fun-auto.calibration=cubic", "calibration must be one of platt, fixed, none, not 'cubic'"),
        ("fun-auto.folds=1.5", "folds must be a whole number"),
        ("fun-auto.memory_limit=0", "memory_limit must be a number of bytes"),
        ("fun-auto.memory_limit=10", "memory"),
    ],
)
def test_a_value_that_the_method_refuses(
    setting: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from funnelling.commands import main

    assert main(["train", str(tmp_path / "docs.jsonl"), "-o", str(tmp_path / "m"), "--set", setting]) == 2
    captured = capsys.readouterr()
    line, error = captured.err.splitlines()
    assert line.endswith("label).")
    assert error.startswith("funnelling: ")
    assert says in error
    assert [path.name for path in tmp_path.iterdir()] == ["docs.jsonl"]


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    assert_refused("trian", cwd=tmp_path, says=["funnelling: no command 'trian'. Did you mean train?"])
    assert_refused("predict", cwd=tmp_path, says=["funnelling predict: ", "MODEL, DATA"])
    assert_refused(*TRAIN, "--jobs", "x", cwd=tmp_path, says=["funnelling train: argument --jobs: 'x' is"])
    assert_refused(*TRAIN, "--method", "x", cwd=tmp_path, says=["funnelling: no method 'x'. Choose from "])
    assert_refused(*TRAIN, "--set", "x", cwd=tmp_path, says=["funnelling: --set x is no setting"])
