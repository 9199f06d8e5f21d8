"""What to label next: documents that `suggest` names, beside documents drawn at random.

Each trial begins with a few labelled documents per language. The labels that training documents have play the
person who labels what is chosen; the method learns anew after each step.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.language_averages import measure_languages
from funnelling.evaluation.registry import MEASURES, ONE_LABEL_MEASURES, PAPER_MEASURES, is_of_one_label
from funnelling.method.registry import title
from funnelling.randomness import stream
from funnelling.report.content import Curves, Section, TableBlock
from funnelling.report.tables import Table, number
from funnelling.reproduction.experiments.decisions import decisions_of
from funnelling.reproduction.experiments.setting import Setting
from funnelling.review.suggesting import suggest_texts
from funnelling.trials.fitting import fit_method
from funnelling.trials.pieces import Result
from funnelling.wording import counted

RANDOM, SUGGESTED = "at random", "suggested"
START = 20  # labelled documents per language
LESS = 2 / 3  # of the labels, by which suggestions are judged

Places = npt.NDArray[np.intp]
Array = npt.NDArray[np.float64]


def run_labelling(setting: Setting) -> Result:
    """For each trial and way of choosing: the measures after each step, by language and averaged."""
    for trial in setting.trials:
        fewest = START * len(trial.train.by_language())
        if fewest >= setting.label_up_to or setting.label_up_to > len(trial.train):
            raise InputError(
                f"--label-up-to {setting.label_up_to} is out of reach: the training documents to choose from "
                f"are {len(trial.train)}, and {fewest} are labelled from the beginning."
            )
    key = [setting.learner, setting.marks.get(setting.learner), setting.label_up_to, setting.steps]
    trials = [
        {
            way: setting.piece(
                f"labelling-{way.replace(' ', '-')}", number, key, _label_on, setting, number, way
            )["points"]
            for way in (RANDOM, SUGGESTED)
        }
        for number in range(len(setting.trials))
    ]
    return {"learner": setting.learner, "label_up_to": setting.label_up_to, "trials": trials}


def _label_on(setting: Setting, trial: int, way: str) -> Result:
    """A trial, step by step, with the documents labelled that one way of choosing names."""
    train, seed = setting.trials[trial].train, setting.seed + trial
    shuffled = {
        tag: rows[stream(seed, "labelling", tag).permutation(len(rows))]
        for tag, rows in train.by_language().items()
    }
    labelled = np.concatenate([rows[:START] for rows in shuffled.values()])
    others = np.setdiff1d(np.arange(len(train)), labelled)
    at_random = np.concatenate([labelled, stream(seed, "labelling").permutation(others)])
    points: list[Result] = []
    method = None
    for size in _sizes(setting, len(labelled)):
        if way == RANDOM:
            labelled = at_random[:size]
        elif method is not None:
            labelled = np.concatenate([labelled, _suggested(method, train, labelled, size - len(labelled))])
        method = setting.make(setting.learner, seed)
        if "keep_texts" in method.get_params():  # for the order of words, by which suggestions are better
            method.set_params(keep_texts=True)
        method = fit_method(method, train.select(labelled))
        points.append({"labelled": size, **_measured(setting, trial, method)})
    return {"points": points}


def _sizes(setting: Setting, start: int) -> list[int]:
    """How many documents are labelled in the beginning, and after each step."""
    steps = [round(setting.label_up_to * step / setting.steps) for step in range(1, setting.steps + 1)]
    return [start, *(size for size in steps if size > start)]


def _suggested(method: Any, train: Corpus, labelled: Places, number: int) -> Places:
    """The places of documents that a method suggests; where it has too few, of others, in their order."""
    left = np.setdiff1d(np.arange(len(train)), labelled)
    pool = train.select(left)
    groups = pool.groups if any(pool.groups) else None
    rows = suggest_texts(method, pool.texts, pool.languages, number, ids=range(len(pool)), groups=groups)
    places = left[[int(row["id"]) for row in rows]]
    return np.concatenate([places, np.setdiff1d(left, places)[: number - len(places)]])


def _measured(setting: Setting, trial: int, method: Any) -> Result:
    """The measures of a method over all labels of the trial, those not met yet included."""
    train, test, _ = setting.trials[trial]
    classes = train.label_set()
    decisions = decisions_of(method, test, classes)
    measured = measure_languages(test.label_matrix(classes), decisions, test.languages, setting.one_label)
    return {"average": measured["average"], "languages": measured["languages"]}


def labelling_section(result: Result) -> Section:
    """What a report says of it."""
    budget, trials = result["label_up_to"], len(result["trials"])
    return Section(
        "labelling",
        "What to label next",
        [
            f"{title(result['learner'])} begins with {START} labelled documents per language and learns anew "
            "after each step. The documents of a step are drawn at random, or they are those that `suggest` "
            f"names. {_finding(result)}",
            f"Lines are means over {counted(trials, 'trial')}, bands one deviation over trials to either "
            "side. Macro averages run over all labels of the training documents, labelled or not.",
        ],
        [
            TableBlock("labelling", f"What {budget:,} documents drawn at random are worth", _table(result)),
            *(_figure(measure, result) for measure in _measures(result)),
            TableBlock(
                "labelling-languages",
                f"Each language with {_less(result):,} labelled documents in all, less than at random",
                _language_table(result),
                ["the mean over trials of what is suggested, and by how much it is above what is drawn"],
            ),
        ],
    )


def _measures(result: Result) -> Sequence[str]:
    averages = result["trials"][0][RANDOM][0]["average"]
    return ONE_LABEL_MEASURES if is_of_one_label(averages) else PAPER_MEASURES[:2]


def _sizes_of(result: Result) -> list[int]:
    return [point["labelled"] for point in result["trials"][0][RANDOM]]


def _less(result: Result) -> int:
    """The number of labelled documents, more than in the beginning, that is nearest to two thirds of all."""
    return min(_sizes_of(result)[1:], key=lambda size: (abs(size - LESS * result["label_up_to"]), size))


def _values(result: Result, way: str, measure: str, language: str | None = None) -> Array:
    """A measure by trial and step, in one language or on average."""
    return np.array(
        [
            [
                (point["average"] if language is None else point["languages"][language])[measure]
                for point in trial[way]
            ]
            for trial in result["trials"]
        ]
    )


def _needed(result: Result, measure: str) -> float | None:
    """How many suggested documents are worth as much as all that are drawn, None where more are needed.

    Between two steps the quality is taken to grow evenly.
    """
    goal = _values(result, RANDOM, measure).mean(axis=0)[-1]
    reached, sizes = _values(result, SUGGESTED, measure).mean(axis=0), _sizes_of(result)
    step = next((step for step, value in enumerate(reached) if value >= goal), None)
    if step is None:
        return None
    if step == 0:
        return float(sizes[0])
    part = (goal - reached[step - 1]) / (reached[step] - reached[step - 1])
    return float(sizes[step - 1] + part * (sizes[step] - sizes[step - 1]))


def _finding(result: Result) -> str:
    budget = result["label_up_to"]
    said = []
    for measure in _measures(result):
        needed = _needed(result, measure)
        name = MEASURES[measure].title
        if needed is None:
            said.append(f"not even {budget:,} of them do for {name}")
        else:
            said.append(f"{needed:,.0f} of them do for {name} ({needed / budget:.0%})")
    return f"As good as {budget:,} documents drawn at random are fewer that are suggested: {', '.join(said)}."


def _table(result: Result) -> Table:
    """For each measure: both ways at two thirds of the labels and at all, and how many labels are needed."""
    less, budget, sizes = _less(result), result["label_up_to"], _sizes_of(result)
    rows = []
    for measure in _measures(result):
        means = {way: _values(result, way, measure).mean(axis=0) for way in (RANDOM, SUGGESTED)}
        deviations = {way: _values(result, way, measure).std(axis=0) for way in (RANDOM, SUGGESTED)}
        needed = _needed(result, measure)
        cells = [
            f"{number(means[way][step])} ± {number(deviations[way][step])}"
            for step in (sizes.index(less), len(sizes) - 1)
            for way in (RANDOM, SUGGESTED)
        ]
        rows.append([MEASURES[measure].title, *cells, "–" if needed is None else f"{needed:,.0f}"])
    header = ["measure", RANDOM, SUGGESTED, RANDOM, SUGGESTED, f"needed for {budget:,}"]
    return Table(header, rows, [(f"{less:,} labelled", 2), (f"{budget:,} labelled", 2), ("suggested", 1)])


def _language_table(result: Result) -> Table:
    """For each language what suggested documents are worth, and more than as many drawn at random."""
    step = _sizes_of(result).index(_less(result))
    rows = []
    for language in result["trials"][0][RANDOM][0]["languages"]:
        cells = []
        for measure in _measures(result):
            drawn, named = (_values(result, way, measure, language)[:, step] for way in (RANDOM, SUGGESTED))
            cells += [number(named.mean()), f"{(named - drawn).mean():+.3f}"]
        rows.append([language, *cells])
    titles = [MEASURES[measure].title for measure in _measures(result)]
    return Table(["language", *([SUGGESTED, "more"] * len(titles))], rows, [(name, 2) for name in titles])


def _figure(measure: str, result: Result) -> Curves:
    languages: list[str | None] = [None, *result["trials"][0][RANDOM][0]["languages"]]
    sizes = _sizes_of(result)
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    bands: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for language in languages:
        panel = language or "average"
        panels[panel], bands[panel] = {}, {}
        for way in (SUGGESTED, RANDOM):
            values = _values(result, way, measure, language)
            mean, deviation = values.mean(axis=0).tolist(), values.std(axis=0).tolist()
            panels[panel][way] = list(zip(map(float, sizes), mean, strict=True))
            bands[panel][way] = [(m - d, m + d) for m, d in zip(mean, deviation, strict=True)]
    name = MEASURES[measure].title
    return Curves(
        f"labelling-{measure.replace('_', '-')}",
        f"{name} against the number of labelled documents",
        f"One panel for the average over languages, and one per language: {name} for growing numbers of "
        "labelled documents in all languages together, suggested or drawn at random, with bands of one "
        "deviation over trials.",
        "labelled documents",
        name,
        panels,
        bands=bands,
    )
