"""Compare methods on the same documents, over several trials."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from funnelling.evaluation.comparison import Comparison
from funnelling.evaluation.pieces import Result, ResultCache
from funnelling.evaluation.splits import Trial, hold_out, settle
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.matrices import XMC_MIN_LABELS
from funnelling.methods.registry import DEFAULT_COMPARISON, DEFAULT_XMC_METHOD, Settings, make_method
from funnelling.report.comparison import comparison_blocks, comparison_summary, facts
from funnelling.report.content import Report, Section
from funnelling.report.rendering import write_report
from funnelling.runtime.messages import Reporter, silent
from funnelling.tasks.building import read_trials
from funnelling.tasks.measurement import check_results_folder, write_json
from funnelling.tasks.resources import NO_RESOURCES, ResourcePaths, choose_methods, method_marks
from funnelling.tasks.sources import FilePath, prefix_errors_with_file

# Pairs of training document and label that the usual methods learn in minutes
MAX_AFFORDABLE_PAIRS = 20_000_000


def compare(
    data: Sequence[str],
    methods: Sequence[str] | None = None,
    *,
    runs: int = 1,
    seed: int = 0,
    sources: Sequence[Path] = (),
    held_out: Sequence[str] = (),
    resources: ResourcePaths = NO_RESOURCES,
    settings: Settings | None = None,
    one_label: bool | None = None,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    skip_lacking: bool = False,
    output: FilePath | None = None,
    force: bool = False,
    jobs: int | None = None,
    verbose: int = 0,
    report: Reporter = silent,
) -> Result:
    """Fit methods on the training documents of each trial, measure them on its test documents, sum up.

    Parameters
    ----------
    data : files of documents, and names of corpora; several are several trials
    methods : names of methods; None for those that are usual with so many labels
    runs : trials per file
    seed : of all random choices
    sources : folders of files that corpora are built from
    held_out : languages whose training documents are taken away, and whose test documents alone are measured
    resources : where the resources of methods are
    settings : parameters by method
    one_label : whether each document has exactly one label and is to be given one; None for what the training
        documents of all trials show
    layout : where the fields of documents are in the files, as far as that is not to be found
    strict : whether a document with a language that is none is refused, or else left out
    skip_lacking : whether a method that lacks resources is left out, or else refused
    output : folder of results and a report; started again, work goes on from there
    force : whether a folder of something else may be written to
    jobs : threads
    verbose : above 0 for progress bars
    report : what gets a line per result, and on whatever is left out

    >>> compare(["sample"], ["naive", "clesa"])
    Traceback (most recent call last):
    funnelling.errors.InputError: clesa needs a reference corpus, --reference FILE.
    """
    settings = settings or {}
    folder = None if output is None else Path(output)
    if folder is not None:
        check_results_folder(folder, force)
    at_hand = resources.read()
    trials, notes = read_trials(data, runs, seed, sources, folder, verbose, layout, strict)
    with prefix_errors_with_file(", ".join(data)):
        if held_out:
            trials = [hold_out(trial, held_out) for trial in trials]
        trials, kind = settle(trials, one_label)
    if methods is None:
        methods, chosen = usual_methods(trials)
        kind += chosen
    names, left_out = choose_methods(methods, at_hand, trials, skip_lacking)
    marks = method_marks(names, settings, at_hand)
    for line in (*notes, *kind, *left_out):
        report(line)
    makers = {
        name: partial(make_method, name, jobs=jobs, verbose=verbose, settings=settings, resources=at_hand)
        for name in names
    }
    pieces = ResultCache(folder)
    result = Comparison(trials, makers, seed, pieces, marks, report).run()
    if folder is not None:
        write_json(folder / "comparison.json", result)
        page = Report(
            "Comparison of methods",
            sections=[Section("comparison", "Methods", blocks=comparison_blocks(result))],
            facts=facts(", ".join(data), trials, seed, pieces.seconds, pieces.machines),
            summary=comparison_summary(result),
        )
        write_report(page, folder)
    return result


def usual_methods(trials: Sequence[Trial]) -> tuple[list[str], list[str]]:
    """The methods that are worth a comparison, and a line on them where there are many labels.

    Beside the one that is made for many labels there is Naive, as long as its classifiers can be afforded.
    """
    labels = max(len(trial.train.label_set()) for trial in trials)
    if labels <= XMC_MIN_LABELS:
        return list(DEFAULT_COMPARISON), []
    cells = labels * max(len(trial.train) for trial in trials)
    names = (
        [DEFAULT_XMC_METHOD] if cells > MAX_AFFORDABLE_PAIRS else [DEFAULT_COMPARISON[0], DEFAULT_XMC_METHOD]
    )
    return names, [f"{labels:,} labels: comparing {' and '.join(names)}. --methods names others."]
