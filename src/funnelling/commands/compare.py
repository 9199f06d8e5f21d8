"""``funnelling compare``: several methods on the same documents, over several trials."""

import os
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from funnelling.commands import printing
from funnelling.commands.corpora import read_trials
from funnelling.commands.declaring import argument, flag, option
from funnelling.commands.options import (
    ALL_METHODS,
    DATA_HELP,
    VARIANTS_HELP,
    AsJson,
    Cluster,
    FilePath,
    Jobs,
    OneLabel,
    Overwriting,
    Reading,
    Resources,
    Seed,
    Settings,
    Trials,
    output_option,
)
from funnelling.commands.values import languages, shares
from funnelling.methods.registry import (
    DEFAULT_COMPARISON,
    DEFAULT_METHOD,
    DEFAULT_XMC_METHOD,
    METHODS,
    SHOWN_METHODS,
)
from funnelling.runtime.messages import Reporter, say, silent

if TYPE_CHECKING:
    from funnelling.evaluation.pieces import Result


class Compare(Trials, OneLabel, Resources, Settings, Seed, Jobs, Cluster, Overwriting, AsJson, Reading):
    """Compare methods on the test documents of a file, or on 30 % of each language drawn by seed.

    Further runs draw other test documents. Several files are several trials.
    """

    examples = ("compare docs.jsonl", "compare docs.jsonl --methods naive,fun-auto --runs 5 -o results")

    data: Sequence[str] = argument(
        f"{DATA_HELP}; or a corpus of `research corpora`", "DATA|CORPUS", nargs="+"
    )
    methods: str | None = option(
        f"{', '.join(SHOWN_METHODS)}, the paper's, or all (default: {', '.join(DEFAULT_COMPARISON)}; above "
        f"1,000 labels naive and {DEFAULT_XMC_METHOD}); {VARIANTS_HELP}",
        "M,M…",
        default=None,
        complete=lambda: [*METHODS, ALL_METHODS],
        common=True,
    )
    fractions: Sequence[float] = option(
        "evaluate models of shares of the training documents, too, such as .25,.5,.75,1",
        "F,F…",
        default=(),
        action="extend",
        type=shares,
        common=True,
    )
    paper: bool = flag("show the paper's measures, too", common=True)
    output: FilePath | None = output_option(
        "folder of the report and of every result; a comparison that was interrupted goes on from there",
        "DIR",
        default=None,
        common=True,
    )
    hold_out: Sequence[str] = option(
        "train without the documents of a language, and evaluate on its test documents alone; several are "
        "separated by commas",
        "LANG",
        default=(),
        action="extend",
        type=languages,
        complete="languages",
        common=True,
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> "Result":
        """Fit methods on the training documents of each trial, measure them on its test documents, sum up.

        >>> Compare(["sample"], methods="naive,clesa").run()
        Traceback (most recent call last):
        funnelling.errors.InputError: clesa needs a reference corpus, --reference FILE.
        """
        from funnelling.commands.sources import choose_methods, method_marks, prefix_errors_with_file
        from funnelling.evaluation.comparison import Comparison
        from funnelling.evaluation.curves import run_comparison
        from funnelling.evaluation.pieces import ResultCache, check_results_folder, write_json
        from funnelling.evaluation.splits import hold_out, settle
        from funnelling.methods.comparing import usual_methods
        from funnelling.methods.registry import make_method, parse_methods, parse_settings
        from funnelling.report.comparison import comparison_blocks, comparison_summary, facts
        from funnelling.report.content import Report, Section
        from funnelling.report.rendering import write_report

        methods = None if self.methods is None else parse_methods(self.methods)
        settings = parse_settings(self.set, methods or (*DEFAULT_COMPARISON, DEFAULT_XMC_METHOD))
        folder = None if self.output is None else Path(self.output)
        if folder is not None:
            check_results_folder(folder, self.force)
        at_hand, seed = self.read_resources(), self.seed
        trials, notes = read_trials(
            self.data, self.runs, seed, self.source, folder, verbose, self.layout, self.strict
        )
        with prefix_errors_with_file(", ".join(self.data)):
            if self.hold_out:
                trials = [hold_out(trial, self.hold_out) for trial in trials]
            trials, kind = settle(trials, self.one_label)
        if methods is None:
            methods, chosen = usual_methods(trials)
            kind += chosen
        skip_lacking = (self.methods or "").strip() == ALL_METHODS
        names, left_out = choose_methods(methods, at_hand, trials, skip_lacking)
        marks = method_marks(names, settings, at_hand)
        for line in (*notes, *kind, *left_out):
            report(line)
        makers = {
            name: partial(
                make_method, name, jobs=self.jobs, verbose=verbose, settings=settings, resources=at_hand
            )
            for name in names
        }
        pieces = ResultCache(folder)
        comparison = Comparison(trials, makers, seed, pieces, marks, report)
        result = run_comparison(comparison, self.fractions)
        if folder is not None:
            write_json(folder / "comparison.json", result)
            page = Report(
                "Comparison of methods",
                sections=[Section("comparison", "Methods", blocks=comparison_blocks(result))],
                facts=facts(", ".join(self.data), trials, seed, pieces.seconds, pieces.machines),
                summary=comparison_summary(result),
            )
            write_report(page, folder)
        return result

    def show(self, result: "Result") -> None:
        from funnelling.evaluation.significance import rivals_of
        from funnelling.report.comparison import (
            doubling_line,
            methods_table,
            shares_table,
            significance_line,
        )
        from funnelling.report.measures import DAGGERS, notes
        from funnelling.report.tables import plain

        if self.output is not None:
            say(f"Report: {Path(self.output) / 'report.html'}")
        if self.json:
            printing.print_json(result)
            return
        shown = shares_table if self.fractions else methods_table
        print(plain(shown(result, self.paper)))
        lines = [
            *(note for note in notes(result, self.paper) if note != DAGGERS),
            significance_line(result),
            doubling_line(result),
            self._next(rivals_of(result["methods"])),
        ]
        print("\n".join(filter(None, lines)))

    def _next(self, methods: "Sequence[str]") -> str:
        """The command that trains the first method; none for several files, a corpus by name or a variant."""
        file, *others = self.data
        if others or not os.path.exists(file) or not methods or ":" in methods[0]:
            return ""
        method = [] if methods[0] in (DEFAULT_METHOD, DEFAULT_XMC_METHOD) else ["--method", methods[0]]
        words = [printing.program(), "train", file, *self.reading_flags(), *method, "-o", "model"]
        return f"Next: {shlex.join(words)}"
