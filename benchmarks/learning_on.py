"""Learning on beside training anew: seconds, quality, and whether the bits are the same.

    python benchmarks/learning_on.py
    python benchmarks/learning_on.py documents.jsonl.gz --languages all --output learning-on.json
    python benchmarks/learning_on.py documents.jsonl.gz --languages it,de --share .2 --method fun-tat

A model learns half of the training rows, then the other half; another one learns all of them at once, with
the views and settings that the first one chose. The same again with a hundredth of the rows. With
--languages, each language is taken out in turn, and added to a model of the others. All are measured on the
same test rows; each step is clocked in a new process, from texts or a model folder to a model folder.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from corpora import DEBIAN
from drawing import Shape
from fresh import run_afresh
from funnelling import Corpus, InputError, load_model, read_corpus
from funnelling.commands import options
from funnelling.evaluation.measuring import evaluate_classifier, supported_documents
from funnelling.evaluation.registry import MEASURES, paper_measures
from funnelling.evaluation.splits import Trial, outer_folds, settle, sides_of, trial_split
from funnelling.methods.learning import Method
from funnelling.methods.registry import make_method
from funnelling.report.tables import Table, number
from funnelling.runtime.messages import say
from funnelling.storage import load, save, save_model
from measuring import add_options, machine, run, short, show, timed
from texts import draw_texts

DATA = [DEBIAN.with_name(name) for name in (DEBIAN.name, "nusa-topic-10.jsonl.gz", "afrisenti-12.jsonl.gz")]
ALL = "all"
FEW = 100  # a small update is one of so many parts

Answer = tuple[dict[str, Any], Any]  # measures and scores on test rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "data", nargs="*", type=Path, default=DATA, metavar="FILE", help="(Debian's and two more)"
    )
    parser.add_argument("--method", default="fun-auto", metavar="M", help="(%(default)s)")
    parser.add_argument(
        "--languages", metavar="L,…", help=f"add each of these to a model of the others; {ALL} for all"
    )
    parser.add_argument("--only-languages", action="store_true", help="leave out halves and hundredths")
    parser.add_argument("--share", type=float, default=1.0, metavar="S", help="of each file's rows (all)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON, as it grows")
    add_options(parser, options.Jobs, options.Seed, options.AsJson)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"corpora": {}, "jobs": arguments.jobs, "machine": machine()}
    for path in arguments.data:
        say(path.name)
        with TemporaryDirectory() as folder:
            bench = Bench(
                Path(folder), trial_of(path, arguments), arguments.method, arguments.seed, arguments.jobs
            )
            measured = result["corpora"][path.name] = {"documents": len(bench.trial.train)}
            for name, measure in _wanted(bench, arguments):
                measured[name] = measure()
                if arguments.output:
                    arguments.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    show(result, _tables(result), arguments.json)


def trial_of(path: Path, arguments: argparse.Namespace) -> Trial:
    """What to learn from and to measure on, in languages of training documents."""
    if not path.exists():
        raise InputError(f"{path.name} is missing. Give files of documents as arguments.")
    if not 0 < arguments.share <= 1:
        raise InputError("--share must be above 0 and at most 1.")
    train, test, _ = trial_split(read_corpus(path).labelled(), 0, arguments.seed)
    if arguments.share < 1:
        train, test = (_some(side, arguments.share, arguments.seed) for side in (train, test))
    known = train.by_language()
    test = test.select(np.array([language in known for language in test.languages], dtype=bool))
    (trial,), _ = settle([Trial(train, test, Corpus())])
    return trial


def _some(corpus: Corpus, share: float, seed: int) -> Corpus:
    # Of another seed than the halves, which a group's place would else decide.
    return corpus.select(outer_folds(corpus, max(2, round(1 / share)), seed + 1) == 0)


@dataclass
class Bench:
    """A corpus, and a folder for models of it."""

    folder: Path
    trial: Trial
    method: str
    seed: int
    jobs: int | None

    def halves(self) -> dict[str, Any]:
        """Learn half, then the other half."""
        train = self.trial.train
        return self._learn_on("half", train, outer_folds(train, 2, self.seed) == 0)

    def hundredth(self) -> dict[str, Any]:
        """Learn all but a hundredth, then that."""
        train = self.trial.train
        few = outer_folds(train, min(FEW, len(train) // 10), self.seed) == 0
        return self._learn_on("most", train, ~few)

    def language(self, language: str) -> dict[str, Any]:
        """Learn all other languages, then one."""
        train = self.trial.train
        first = np.array([tag != language for tag in train.languages], dtype=bool)
        result = self._learn_on(language, train, first, exact=False)
        averages = {name: result[name]["languages"] for name in ("before", "update", "at_once")}
        measures = paper_measures(averages["update"][language])
        mine = {name: each.get(language) for name, each in averages.items()}
        others = [tag for tag in averages["before"] if tag != language]

        def largest_fall(step: str) -> float:
            falls = [
                averages["before"][tag][measure] - averages[step][tag][measure]
                for tag in others
                for measure in measures
            ]
            return max(falls, default=0.0)

        return {
            **{key: result[key] for key in ("seconds", "ratio", "difference", "same_bits")},
            **mine,
            "short_of_anew": {name: mine["at_once"][name] - mine["update"][name] for name in measures},
            "largest_fall_of_others": {step: largest_fall(step) for step in ("update", "at_once")},
        }

    def _learn_on(self, name: str, train: Corpus, first: Any, exact: bool = True) -> dict[str, Any]:
        """Learn some documents, then the others; in other ways, and all at once."""
        first_documents, others = train.select(first), train.select(~first)
        models = {each: self.folder / f"{name}-{each}" for each in ("before", "update", "exact", "at_once")}
        make = partial(make_method, self.method, seed=self.seed, jobs=self.jobs)
        seconds = {"before": run_afresh(train_model, make(), first_documents, models["before"], None)}
        choice = load(models["before"]).fitted.chosen
        everything = Corpus.from_documents([*first_documents, *others], train.one_label)
        learned = {"update": False, "exact": True} if exact else {"update": False}
        for each, is_exact in learned.items():
            seconds[each] = run_afresh(
                update_model, models["before"], others, models[each], is_exact, self.jobs
            )
        seconds["at_once"] = run_afresh(train_model, make(), everything, models["at_once"], choice)
        answers = {each: self._answer(models[each]) for each in seconds}
        anew = answers["at_once"][1]
        result = {
            "documents": {"before": len(first_documents), "further": len(others)},
            "choice": None if choice is None else choice.summary(),
            "seconds": seconds,
            "ratio": {each: seconds[each] / seconds["at_once"] for each in learned},
            "difference": {each: float(np.abs(answers[each][1] - anew).max()) for each in learned},
            "same_bits": {each: bool(np.array_equal(answers[each][1], anew)) for each in learned},
            "bytes": {each: _size(models[each]) for each in seconds},
            **{each: measured for each, (measured, _) in answers.items()},
        }
        ratio = ", ".join(f"{each} {short(ratio)}" for each, ratio in result["ratio"].items())
        say(f"{name}: {ratio} of {short(seconds['at_once'])} s")
        return result

    def _answer(self, folder: Path) -> Answer:
        model = load(folder)
        test = self.trial.test.select(supported_documents(self.trial.test, model))
        scores = model.margins(test.texts, languages=test.languages)
        return evaluate_classifier(model, test, self.trial.train.label_set()), scores


def train_model(model: Any, train: Corpus, folder: Path, choice: Any) -> float:
    """The seconds that it takes to train a model and to save it; where a ``choice`` is given, it is made."""
    _warm_up()
    chosen = (
        nullcontext() if choice is None else patch("funnelling.funnel.learning.choose", return_value=choice)
    )
    with chosen:
        seconds, _ = timed(lambda: save(Method.of(model).fit(train), folder))
    return seconds


def update_model(before: Path, further: Corpus, folder: Path, exact: bool, jobs: int | None) -> float:
    """The seconds that it takes to load a model, to teach it more and to save it."""
    _warm_up()

    def update() -> None:
        model = load_model(before).set_params(n_jobs=jobs)
        groups = further.groups if any(further.groups) else None
        model.update(further.texts, further.y, further.languages, groups, further.ids, exact=exact)
        save_model(model, folder)

    return timed(update)[0]


def _warm_up() -> None:
    """Load what is loaded at first use, so that no figure includes it."""
    few = sides_of(draw_texts(Shape(2, 30, 5, 100), seed=0)).train
    make_method("fun-tat", jobs=1).fit(few)


def _wanted(
    bench: Bench, arguments: argparse.Namespace
) -> Iterable[tuple[str, Callable[[], dict[str, Any]]]]:
    if not arguments.only_languages:
        yield "half", bench.halves
        yield "hundredth", bench.hundredth
    if arguments.languages:
        known = sorted(bench.trial.train.by_language())
        tags = known if arguments.languages == ALL else arguments.languages.split(",")
        if unknown := sorted(set(tags) - set(known)):
            raise InputError(f"no training documents in {unknown[0]}. Choose of {', '.join(known)}.")
        for tag in tags:
            yield tag, partial(bench.language, tag)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def _tables(result: Mapping[str, Any]) -> Iterable[tuple[str, Table]]:
    for name, measured in result["corpora"].items():
        updates = {what: measured[what] for what in ("half", "hundredth") if what in measured}
        if updates:
            yield f"{name}, {measured['documents']:,} training rows", _updates(updates)
        languages = {tag: each for tag, each in measured.items() if tag not in ("documents", *updates)}
        if languages:
            yield f"{name}, a language that is added", _languages(languages)


def _updates(updates: Mapping[str, Any]) -> Table:
    measures = paper_measures(next(iter(updates.values()))["at_once"]["average"])
    header = ["", "", *(MEASURES[name].title for name in measures), "s", "ratio", "largest difference", "MB"]
    rows = []
    for what, each in updates.items():
        for step in ("before", "update", "exact", "at_once"):
            same = each["same_bits"].get(step)
            difference = each["difference"].get(step)
            rows.append(
                [
                    what if step == "before" else "",
                    step.replace("_", " "),
                    *(number(each[step]["average"][name]) for name in measures),
                    short(each["seconds"][step]),
                    short(each["ratio"][step]) if step in each["ratio"] else "",
                    "" if same is None else "same bits" if same else f"{difference:.1e}",
                    short(each["bytes"][step] / 1e6),
                ]
            )
    return Table(header, rows)


def _languages(languages: Mapping[str, Any]) -> Table:
    measures = paper_measures(next(iter(languages.values()))["at_once"])
    titles = [MEASURES[name].title for name in measures]
    header = ["", "", *titles, "s", "ratio", "others fall by"]
    rows = []
    for tag, each in languages.items():
        for step in ("before", "update", "at_once"):
            known = each[step] or {}
            rows.append(
                [
                    tag if step == "before" else "",
                    step.replace("_", " "),
                    *(number(known[name]) if name in known else "" for name in measures),
                    short(each["seconds"][step]),
                    short(each["ratio"][step]) if step in each["ratio"] else "",
                    f"{fall:.4f}" if (fall := each["largest_fall_of_others"].get(step)) is not None else "",
                ]
            )
    short_of = [np.mean([each["short_of_anew"][name] for each in languages.values()]) for name in measures]
    rows.append(["mean", "short of anew", *(f"{value:.4f}" for value in short_of), "", "", ""])
    return Table(header, rows)


if __name__ == "__main__":
    run(main)
