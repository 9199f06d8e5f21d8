"""Run the paper's experiments on any corpus, ending in a report."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from funnelling.commands.building import SAMPLE, read_trials
from funnelling.commands.measurement import check_results_folder, write_json
from funnelling.commands.options import NO_RESOURCES, FilePath, Resources
from funnelling.commands.sources import (
    choose_methods,
    have_english_versions,
    method_marks,
    prefix_errors_with_file,
)
from funnelling.errors import InputError
from funnelling.evaluation.pieces import Result, ResultCache
from funnelling.evaluation.splits import settle
from funnelling.methods.registry import Settings
from funnelling.report.comparison import facts
from funnelling.report.content import Report, Section
from funnelling.report.rendering import write_report
from funnelling.research.experiments.registry import ALWAYS, DEFAULT_METHODS, EXPERIMENTS
from funnelling.research.experiments.setting import FRACTIONS, ExperimentContext
from funnelling.runtime.messages import Reporter, silent

INTRODUCTION = (
    "From the paper on funnelling by Esuli, Moreo and Sebastiani (ACM TOIS 2019), run on this corpus."
)


@dataclass(frozen=True)
class Experiments:
    """The results of experiments by name, and the sections of the report on them."""

    results: Result
    sections: list[Section]


def experiment(
    names: Sequence[str],
    output: FilePath,
    data: Sequence[str] = (SAMPLE,),
    *,
    methods: Sequence[str] | None = None,
    skip_lacking: bool = False,
    fractions: Sequence[float] = FRACTIONS,
    runs: int = 1,
    seed: int = 0,
    sources: Sequence[Path] = (),
    resources: Resources = NO_RESOURCES,
    settings: Settings | None = None,
    one_label: bool | None = None,
    force: bool = False,
    jobs: int | None = None,
    verbose: int = 0,
    report: Reporter = silent,
) -> Experiments:
    """Run experiments on the same trials, keep every result as it comes, and write a report.

    Parameters
    ----------
    names : names of experiments
    output : folder of results and a report; started again, work goes on from there
    data : files of documents, and names of corpora; several are several trials
    methods : names of the methods in tables; None for the usual ones, and UpperBound where it can be had
    skip_lacking : whether a method that lacks resources is left out, or else refused
    fractions : shares of a language's training documents, for learning curves
    runs : trials per file
    seed : of all random choices
    sources : folders of files that corpora are built from
    resources : where the resources of methods are
    settings : parameters by method
    one_label : whether each document has exactly one label and is to be given one; None for what the training
        documents of all trials show
    force : whether a folder of something else may be written to
    jobs : threads
    verbose : above 0 for progress bars
    report : what gets a line per result, and on whatever is left out
    """
    settings = settings or {}
    folder = Path(output)
    check_results_folder(folder, force)
    at_hand = resources.read_resources()
    trials, notes = read_trials(data, runs, seed, sources, folder, verbose)
    with prefix_errors_with_file(", ".join(data)):
        trials, kind = settle(trials, one_label)
    chosen, left_out = choose_methods(methods or DEFAULT_METHODS, at_hand, trials, skip_lacking)
    if methods is None and have_english_versions(trials):
        chosen.append("upper-bound")
    marks = method_marks([*chosen, *ALWAYS], settings, at_hand)
    for line in (*notes, *kind, *left_out):
        report(line)
    pieces = ResultCache(folder)
    setting = ExperimentContext(
        trials,
        chosen,
        fractions,
        seed,
        jobs,
        pieces,
        settings,
        resources=at_hand,
        marks=marks,
        report=report,
        verbose=verbose,
    )
    results, sections = run_experiments(names, setting)
    write_json(folder / "results.json", results)
    corpus = ", ".join(data)
    title = f"Experiment {names[0]} on {corpus}" if len(names) == 1 else f"Experiments on {corpus}"
    page = Report(
        title,
        [INTRODUCTION],
        sections,
        facts(corpus, trials, seed, pieces.seconds, pieces.machines, {"Methods": ", ".join(chosen)}),
    )
    write_report(page, folder)
    return Experiments(results, sections)


def run_experiments(names: Sequence[str], setting: ExperimentContext) -> tuple[dict[str, Any], list[Section]]:
    """The results of experiments, and a section of a report on each.

    Of several, one that these documents do not allow is reported and passed over.
    """
    results: dict[str, Any] = {}
    sections = []
    for name in names:
        module, key = import_module(EXPERIMENTS[name].module), name.replace("-", "_")
        try:
            results[name] = getattr(module, f"run_{key}")(setting)
        except InputError as error:
            if len(names) == 1:
                raise
            setting.report(f"{name}: not run: {error}")
            sections.append(Section(name, name.replace("-", " ").capitalize(), [f"Not run: {error}"]))
        else:
            sections.append(getattr(module, f"{key}_section")(results[name]))
    if not results:
        raise InputError(f"no experiment could be run. {sections[0].paragraphs[0]}")
    return results, sections
