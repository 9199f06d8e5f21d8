"""Results that are kept: found again under the same key, made anew under any other."""

from pathlib import Path
from typing import Any

import pytest

from funnelling.corpus import Corpus
from funnelling.evaluation.pieces import ResultCache, corpus_digest, this_machine, trial_digest
from funnelling.evaluation.splits import Trial
from funnelling.formats import Document


class Work:
    """Counts how often it is done."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> dict[str, Any]:
        self.times += 1
        return {"value": 0.1 + 0.2, "time": self.times}


def test_what_is_kept_is_not_made_again(tmp_path: Path) -> None:
    work = Work()
    first = ResultCache(tmp_path).get("part", ["key", 1], work)
    assert ResultCache(tmp_path).get("part", ["key", 1], work) == first
    assert work.times == 1


@pytest.mark.parametrize("change", [("other", ["key", 1]), ("part", ["key", 2]), ("part", None)])
def test_another_name_or_key_is_another_piece(tmp_path: Path, change: tuple[str, Any]) -> None:
    work = Work()
    ResultCache(tmp_path).get("part", ["key", 1], work)
    ResultCache(tmp_path).get(*change, work)
    assert work.times == 2


def test_another_version_finds_nothing_to_reuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work()
    ResultCache(tmp_path).get("part", 1, work)
    monkeypatch.setattr("funnelling.evaluation.pieces.version", lambda _name: "99")
    ResultCache(tmp_path).get("part", 1, work)
    assert work.times == 2


def test_a_piece_cut_short_is_made_anew(tmp_path: Path) -> None:
    work = Work()
    ResultCache(tmp_path).get("part", 1, work)
    (kept,) = tmp_path.rglob("*.json")
    kept.write_bytes(kept.read_bytes()[:9])
    ResultCache(tmp_path).get("part", 1, work)
    assert work.times == 2


def test_the_time_of_a_piece_is_kept_with_it(tmp_path: Path) -> None:
    made, kept = ResultCache(tmp_path), ResultCache(tmp_path)
    made.get("part", 1, Work())
    assert made.seconds > 0 == kept.seconds
    for _ in range(2):
        kept.get("part", 1, Work())
    assert kept.seconds == made.seconds
    assert kept.machines == made.machines == [this_machine()]


def test_without_a_folder_nothing_is_kept() -> None:
    work = Work()
    for _ in range(2):
        ResultCache(None).get("part", 1, work)
    assert work.times == 2


def test_nothing_is_left_of_work_that_failed(tmp_path: Path) -> None:
    def fails() -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ResultCache(tmp_path).get("part", 1, fails)
    assert not list(tmp_path.rglob("*.json"))


def test_a_digest_tells_documents_and_sides_apart() -> None:
    one, two = (Corpus.from_documents([Document(name, "text", language="en")]) for name in "12")
    none = Corpus()
    assert corpus_digest(one) == corpus_digest(one.select([0])) != corpus_digest(two)
    assert trial_digest(Trial(one, two, none)) != trial_digest(Trial(two, one, none))
    assert trial_digest(Trial(one, two, none)) != trial_digest(Trial(one, none, two))
