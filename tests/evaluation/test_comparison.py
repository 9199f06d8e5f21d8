"""Methods against each other: the same trials for all, the languages that all can label."""

import json
from pathlib import Path
from typing import Any

from funnelling import Corpus
from funnelling.evaluation.comparison import Comparison
from funnelling.evaluation.pieces import ResultCache
from funnelling.evaluation.splits import Trial
from tests.evaluation.oracle import Oracle, made_corpus


def test_every_method_sees_the_same_trials() -> None:
    seen: dict[str, list[list[str]]] = {"first": [], "second": []}
    seeds: list[int] = []

    def make(name: str) -> Any:
        return lambda seed: seeds.append(seed) or Oracle(seen[name])

    trials = [
        Trial(made_corpus(10), made_corpus(4), Corpus()),
        Trial(made_corpus(12), made_corpus(2), Corpus()),
    ]
    lines: list[str] = []
    result = Comparison(trials, {name: make(name) for name in seen}, seed=7, report=lines.append).run()
    assert seen["first"] == seen["second"] == [trial.train.texts for trial in trials]
    assert seeds.count(8) == 2, "trial 1 has the seed after trial 0's"
    assert len(lines) == 4
    assert result["methods"]["first"]["runs"] == 2
    assert result["methods"]["first"]["languages"]["en"]["documents"] == 3
    assert result["best"]["micro_f1"] == "first"
    p_values = [result["methods"][name]["p_value"]["micro_f1"] for name in ("first", "second")]
    assert p_values == [None, 1.0]


def test_test_documents_in_other_languages_are_left_out_and_reported() -> None:
    lines: list[str] = []
    trial = Trial(made_corpus(10), made_corpus(4, ("de", "en")), Corpus())
    result = Comparison([trial], {"oracle": lambda seed: Oracle()}, report=lines.append).run()  # noqa: ARG005
    assert list(result["methods"]["oracle"]["languages"]) == ["en"]
    assert lines[0] == "Not measured: de, which oracle cannot label without training documents."


def test_decisions_are_kept_in_the_pieces_and_nowhere_else(tmp_path: Path) -> None:
    trial = Trial(made_corpus(10), made_corpus(2), Corpus())
    makers: dict[str, Any] = {"oracle": lambda seed: Oracle()}  # noqa: ARG005
    result = Comparison([trial], makers, pieces=ResultCache(tmp_path)).run()
    (piece,) = tmp_path.rglob("*.json")
    kept = json.loads(piece.read_text())["result"]["decisions"]
    assert kept == {"classes": ["a", "b"], "given": [[0], [0, 1], [0], [0, 1]]}
    assert "given" not in json.dumps(result)
