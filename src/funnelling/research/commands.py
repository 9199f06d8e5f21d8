"""``funnelling research``: the paper's experiments, corpora, word vectors."""

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.corpora import CORPORA, SAMPLE
from funnelling.commands.declaring import Command, argument, flag, option
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
    Resources,
    Seed,
    Settings,
    Trials,
    output_option,
    seed_option,
)
from funnelling.commands.values import count, languages, probability
from funnelling.errors import InputError, counted
from funnelling.methods.registry import METHODS
from funnelling.research.experiments.registry import ALWAYS, DEFAULT_METHODS, EXPERIMENTS, parse_experiments
from funnelling.runtime.messages import Reporter, say, silent

if TYPE_CHECKING:
    from funnelling.evaluation.pieces import Result
    from funnelling.formats import Document
    from funnelling.report.content import Section
    from funnelling.research.experiments.setting import ExperimentContext

INTRODUCTION = (
    "From the paper on funnelling by Esuli, Moreo and Sebastiani (ACM TOIS 2019), run on this corpus."
)
DIMENSIONS = 300  # of word vectors: MUSE's


@dataclass(frozen=True)
class Experiments:
    """The results of experiments by name, and the sections of the report on them."""

    results: "Result"
    sections: "list[Section]"


def fractions(text: str) -> list[float]:
    """Numbers from 0 to 1 with commas between them, in growing order."""
    return sorted({probability(share) for share in text.split(",")})


class Research(Command):
    """Run the paper's experiments, build corpora, learn word vectors.

    The paper's methods are values of --method and --methods, such as fun-tat.
    """

    examples = ("research experiment methods --data docs.jsonl -o results",)


class Experiment(Trials, OneLabel, Resources, Settings, Seed, Jobs, Cluster, Overwriting, AsJson):
    """Run experiments of the paper on a corpus.

    Every result is kept as it comes: started again after an interruption, work goes on where it stopped.
    """

    epilog = "\n".join(
        ["experiments:", *(f"  {name:16} {entry.summary}" for name, entry in EXPERIMENTS.items())]
    )
    examples = ("research experiment methods --data docs.jsonl --runs 10 -o results",)

    name: str = argument(
        "an experiment, several with commas between them, or all",
        "NAME",
        complete=lambda: [*EXPERIMENTS, ALL_METHODS],
    )
    data: Sequence[str] = option(
        "file of documents, or a corpus of `research corpora` (sample); several are several trials",
        "FILE|CORPUS",
        default=(),
        action="append",
        common=True,
    )
    methods: str | None = option(
        f"methods of the tables, as train has them, or all ({','.join(DEFAULT_METHODS)}, and upper-bound "
        f"where it can be had); {VARIANTS_HELP}",
        "M,M…",
        default=None,
        complete=lambda: [*METHODS, ALL_METHODS],
        common=True,
    )
    fractions: Sequence[float] = option(
        "shares of a language's training documents, for learning-curves (0,.1,.2,.3,.5,.75,1)",
        "F,F…",
        default=(),
        type=fractions,
    )
    output: FilePath = output_option(
        "folder of results and report (./experiment)", "DIR", default="experiment"
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> Experiments:
        """Run experiments on the same trials, keep every result as it comes, and write a report."""
        from funnelling.commands.corpora import read_trials
        from funnelling.commands.sources import (
            choose_methods,
            have_english_versions,
            method_marks,
            prefix_errors_with_file,
        )
        from funnelling.evaluation.pieces import ResultCache, check_results_folder, write_json
        from funnelling.evaluation.splits import settle
        from funnelling.methods.registry import parse_methods, parse_settings
        from funnelling.report.comparison import facts
        from funnelling.report.content import Report
        from funnelling.report.rendering import write_report
        from funnelling.research.experiments.setting import FRACTIONS, ExperimentContext

        names, data = parse_experiments(self.name), self.data or [SAMPLE]
        methods = None if self.methods is None else parse_methods(self.methods)
        settings = parse_settings(self.set, dict.fromkeys([*(methods or DEFAULT_METHODS), *ALWAYS]))
        folder, seed = Path(self.output), self.seed
        check_results_folder(folder, self.force)
        at_hand = self.read_resources()
        trials, notes = read_trials(data, self.runs, seed, self.source, folder, verbose)
        with prefix_errors_with_file(", ".join(data)):
            trials, kind = settle(trials, self.one_label)
        skip_lacking = (self.methods or "").strip() == ALL_METHODS
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
            self.fractions or FRACTIONS,
            seed,
            self.jobs,
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
        page = Report(
            f"Experiment {names[0]} on {corpus}" if len(names) == 1 else f"Experiments on {corpus}",
            [INTRODUCTION],
            sections,
            facts(corpus, trials, seed, pieces.seconds, pieces.machines, {"Methods": ", ".join(chosen)}),
        )
        write_report(page, folder)
        return Experiments(results, sections)

    def show(self, result: Experiments) -> None:
        from funnelling.report.content import TableBlock
        from funnelling.report.tables import plain

        if self.json:
            printing.print_json(result.results)
        for section in () if self.json else result.sections:
            print(f"\n{section.title}\n")
            for block in section.blocks:
                if isinstance(block, TableBlock) and not block.folded:
                    print(f"{plain(block.table)}\n")
        say(f"Report: {Path(self.output) / 'report.html'}")


def run_experiments(
    names: Sequence[str], setting: "ExperimentContext"
) -> "tuple[dict[str, Any], list[Section]]":
    """The results of experiments, and a section of a report on each.

    Of several, one that these documents do not allow is reported and passed over.
    """
    from funnelling.report.content import Section

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


class ListCorpora(AsJson):
    """List the corpora that can be built: from where, how large, under which licence."""

    examples = ("research corpora --json",)

    def run(self, report: Reporter = silent, verbose: int = 0) -> dict[str, dict[str, str]]:
        fields = ("summary", "origin", "size", "licence")
        return {name: {field: getattr(entry, field) for field in fields} for name, entry in CORPORA.items()}

    def show(self, result: dict[str, dict[str, str]]) -> None:
        if self.json:
            printing.print_json(result)
            return
        width = max(shutil.get_terminal_size().columns - 14, 40)
        for name, entry in result.items():
            print(name)
            for title, text in zip(("", "from", "size", "licence"), entry.values(), strict=True):
                lines = textwrap.wrap(text, width, break_on_hyphens=False)
                print("\n".join(f"  {title if not i else '':8} {line}" for i, line in enumerate(lines)))
        print(f"\nBuild one with: {printing.program()} research build NAME -o FILE")


class BuildCorpus(Overwriting, AsJson):
    """Build a corpus: with apt, without changing anything on the machine, or from files in --source.

    Each takes only the options that it has a use for.
    """

    epilog = "`funnelling research corpora` shows what they are, from where, and how large."
    examples = ("research build debian-parallel -o reference.jsonl --languages en,de",)

    corpus: str = argument(f"one of {', '.join(CORPORA)}", "NAME", choices=CORPORA)
    output: FilePath = output_option(
        "output file: .jsonl, .csv, .tsv (each also .gz), .parquet, or - for standard output",
        "FILE",
    )
    source: Sequence[Path] | None = option(
        "folder of files to build from; may be repeated",
        "DIR",
        default=None,
        action="append",
        type=Path,
        common=True,
    )
    languages: Sequence[str] | None = option(
        "languages, such as en,it,pt_BR",
        "L,L…",
        default=None,
        type=lambda text: text.split(","),
        complete="languages",
        common=True,
    )
    min_words: int | None = option(
        "words that a text must have in every language", "N", default=None, type=count
    )
    paragraphs: bool | None = flag("one group per paragraph, not per page", default=None)
    documents: int | None = option("how many groups to sample (5,000)", "N", default=None, type=count)
    alignments: Path | None = option(
        "table of articles, one column per language", "FILE", default=None, type=Path
    )
    seed: int | None = seed_option(None)  # None is not given: a corpus refuses what it has no use for

    def run(self, report: Reporter = silent, verbose: int = 0) -> dict[str, Any]:
        """Gives the number of documents by language, that of groups, and what was dropped."""
        from funnelling.commands.corpora import build
        from funnelling.formats import write_documents
        from funnelling.formats.files import STANDARD

        if self.json and self.output == STANDARD:
            raise InputError("--json and -o - both print. Name an output file.")
        names = ("languages", "min_words", "paragraphs", "documents", "alignments", "seed")
        given = {"sources": self.source} | {name: getattr(self, name) for name in names}
        options = {name: value for name, value in given.items() if value is not None}
        result: dict[str, Any] = {"output": str(self.output)}

        def documents() -> "Iterator[Document]":
            # Within the writing, so that an output that cannot be written is refused before the work.
            corpus = build(self.corpus, **options, verbose=verbose)
            yield from corpus.documents
            result["documents"] = dict(sorted(Counter(each.language for each in corpus.documents).items()))
            result["groups"] = len({each.group for each in corpus.documents} - {None})
            result["dropped"] = [*corpus.omissions]

        write_documents(self.output, documents(), self.force)
        number, languages = sum(result["documents"].values()), counted(len(result["documents"]), "language")
        in_groups = f"{counted(result['groups'], 'group')} in " if result["groups"] else ""
        report(f"{in_groups}{languages}, {counted(number, 'document')}.")
        for line in result["dropped"]:
            report(f"Dropped: {line}.")
        return result

    def show(self, result: dict[str, Any]) -> None:
        if self.json:
            printing.print_json(result)


class BuildVectors(Seed, Overwriting, AsJson):
    """Learn vectors for the words of all languages of a reference corpus,
    aligned with each other, and write one file per language in MUSE's text format.
    """

    examples = ("research vectors reference.jsonl -o vectors --dimensions 100",)

    reference: FilePath = argument(f"reference corpus, a {DATA_HELP}", "REFERENCE", complete="DATA")
    output: FilePath = output_option(
        "folder of the vectors",
        "DIR",
    )
    dimensions: int = option(f"dimensions ({DIMENSIONS})", "N", default=DIMENSIONS, type=count, common=True)
    min_count: int = option("times a word must occur (1)", "N", default=1, type=count)
    languages: Sequence[str] | None = option(
        "languages (all of the reference corpus)",
        "L,L…",
        default=None,
        type=languages,
        complete="languages",
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> tuple[int, Mapping[str, int]]:
        """Gives the number of groups that were learned from, and how many words each language has."""
        from funnelling.corpus.reference import read_reference
        from funnelling.spaces.learned_vectors import learn_vectors
        from funnelling.spaces.word_vectors import check_folder, write_folder

        folder, shown = Path(self.output), bool(verbose)
        check_folder(folder, self.force)
        corpus = read_reference(self.reference, self.languages)
        vectors = learn_vectors(corpus.texts, self.dimensions, self.min_count, self.seed, shown=shown)
        write_folder(folder, vectors, self.force, shown=shown)
        return len(corpus.groups), {tag: len(of.words) for tag, of in vectors.items()}

    def show(self, result: tuple[int, Mapping[str, int]]) -> None:
        groups, words = result
        if self.json:
            printing.print_json({"output": str(self.output), "groups": groups, "words": dict(words)})
            return
        listed = ", ".join(f"{language} {number:,}" for language, number in words.items())
        print(f"Vectors: {Path(self.output)}, from {counted(groups, 'group')} (words: {listed})")
