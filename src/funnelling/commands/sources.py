"""What commands read: labelled documents, models, resources and label sets; a refusal names the file."""

import logging
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from funnelling.commands.options import FilePath, Resources
from funnelling.corpus import Corpus, name_languages
from funnelling.corpus.findings import findings
from funnelling.corpus.label_files import label_set_for
from funnelling.corpus.label_set import LabelSet
from funnelling.errors import InputError, counted, prefix_errors
from funnelling.evaluation.splits import Trial, sides_of
from funnelling.formats import read_documents
from funnelling.formats.files import STANDARD, file_ending, shown_name
from funnelling.formats.layout import AS_FOUND, Layout
from funnelling.methods.registry import METHOD_RESOURCES, Settings, lacking, make_method
from funnelling.runtime.messages import MODEL
from funnelling.runtime.progress import timed
from funnelling.spaces.outside import encoder_digest, find_encoder
from funnelling.spaces.word_vectors import find_vectors
from funnelling.storage import load

if TYPE_CHECKING:
    from funnelling.methods.algorithm import Parameters
    from funnelling.methods.model import Model

MAX_LANGUAGES_NAMED = 10  # languages in a line
MAX_WARNINGS = 6
REMEMBERED = ("text", "labels", "language", "id", "label_separator", "no_label", "strip")  # of a layout

logger = logging.getLogger(__name__)


def prefix_errors_with_file(path: FilePath) -> AbstractContextManager[None]:
    """Let a refusal begin with the name of the file it is about."""
    return prefix_errors(shown_name(path))


def read_labelled(
    path: FilePath,
    among: Sequence[str] = (),
    verbose: int = 0,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    texts: bool = True,
    others: bool = False,
) -> tuple[Corpus, list[str]]:
    """The labelled documents of a file, and lines to report once all checks have passed.

    They say which tags of languages have become shorter, which languages were detected, and how many
    documents are left out. Missing languages are detected among those of the layout, else ``among`` some and
    frequent ``others``, or among those that other documents name. Documents with a language that is none are
    left out; ``strict`` refuses them. Unless ``texts`` are needed, a document with an id may have `NO_TEXT`,
    and no language.
    """
    name = shown_name(path)
    with timed(f"reading {name}", bool(verbose)):
        corpus = Corpus.from_documents(read_documents(path, layout, texts=texts))
    others = others and not layout.detect_among
    among = layout.detect_among or among
    corpus, names = name_languages(corpus, name, True, among, verbose, strict, others)
    labelled = corpus.labelled()
    if not len(labelled):
        raise InputError(
            f'{name}: no labelled document: "labels" is empty or missing in all of them. Fill it in, or name '
            "the column with --labels-column. To start from nothing: "
            f"funnelling label {quote(name)} --labels a,b,c."
        )
    unlabelled = len(corpus) - len(labelled)
    notes = []
    if names.renamed:
        notes.append(f"{name}: languages by their shortest codes: {_renamings(names.renamed)}.")
    notes += [f"{name}: {line}" for line in names.lines()]
    if unlabelled:
        notes.append(f"{name}: {unlabelled} of {len(corpus)} documents have no labels and are left out.")
    return labelled, notes


def warnings(trial: Trial) -> list[str]:
    """What may spoil a model that learns from these documents, a line each."""
    serious = [finding for finding in findings(trial.train.followed_by(trial.test)) if finding.serious]
    return [f"Look at: {finding.line()}." for finding in serious[:MAX_WARNINGS]]


def _renamings(renamed: Mapping[str, str]) -> str:
    """Languages, each with the tags that became its own.

    >>> _renamings({"ger": "de", "deu": "de", "jpn_Jpan": "ja"})
    'de (deu, ger), ja (jpn_Jpan)'
    """
    tags: dict[str, list[str]] = {}
    for tag in sorted(renamed):
        tags.setdefault(renamed[tag], []).append(tag)
    named = [f"{language} ({', '.join(tags[language])})" for language in sorted(tags)]
    further = [f"and {len(named) - MAX_LANGUAGES_NAMED} more"] if len(named) > MAX_LANGUAGES_NAMED else []
    return ", ".join(named[:MAX_LANGUAGES_NAMED] + further)


def read_sides(
    path: FilePath,
    among: Sequence[str] = (),
    verbose: int = 0,
    layout: Layout = AS_FOUND,
    strict: bool = False,
    texts: bool = True,
    others: bool = False,
) -> tuple[Trial, list[str]]:
    """What a file says to learn from, at least one document, and to measure on; and what to report.

    ``texts`` and ``others`` are those of `read_labelled`.
    """
    corpus, notes = read_labelled(path, among, verbose, layout, strict, texts, others)
    trial = sides_of(corpus)
    if not len(trial.train):
        raise InputError(
            f'{shown_name(path)}: no labelled document with split "train". Mark some with "split": "train".'
        )
    return trial, notes


def layout_for(model: "Model", layout: Layout) -> Layout:
    """A layout that reads as the model's training documents were read, where it says nothing else."""
    before = Layout(**model.reading)
    return replace(
        layout,
        strip=layout.strip or before.strip,
        label_separator=layout.label_separator or before.label_separator,
        no_label=layout.no_label or before.no_label,
        before=before,
    )


def remember_layout(model: "Model", layout: Layout) -> "Model":
    """A model that keeps what was said of how to read the documents it learned from."""
    said = {name: getattr(layout, name) for name in REMEMBERED}
    reading = {
        name: list(value) if isinstance(value, tuple) else value for name, value in said.items() if value
    }
    return replace(model, reading=reading) if reading else model


def is_model(path: FilePath) -> bool:
    """Whether a path is that of a model, here or on the Hub, and not of documents; refused if of neither."""
    name = os.fspath(path)
    files = os.listdir(name) if os.path.isdir(name) else []
    if name.startswith("hf://") or any(file == MODEL or file.endswith(".safetensors") for file in files):
        return True
    if name == STANDARD or os.path.exists(name) or file_ending(name):
        return False
    raise InputError(f"{name}: no such file, and no such model. Check the path.")


def load_text_model(path: FilePath, mapped: bool = False) -> "Model":
    """The model in a folder, which must be one that reads texts; ``mapped`` leaves its arrays on the disk."""
    model = load(path, mapped)
    check_reads_texts(model, path)
    return model


def check_reads_texts(model: "Model", path: FilePath) -> None:
    """Refuse a model that reads no texts."""
    if not model.texts:
        raise InputError(f"{path}: the model was fitted on vectors, not on texts. Use it from Python.")


def give_resources(model: "Model", paths: Resources) -> "Model":
    """A model that knows where the resources are that it reads; those that it does not read are refused."""
    given = paths.read_resources()
    for name in given:
        if name not in model.parameters.get_params(deep=False):
            raise InputError(f"the model reads no {name}. Leave --{name} out.")
    return model.running(**given)


def check_resources(name: str, at_hand: Collection[str]) -> None:
    """Refuse a method whose resources are not at hand.

    >>> check_resources("clesa", [])
    Traceback (most recent call last):
    funnelling.errors.InputError: clesa needs a reference corpus, --reference FILE.
    """
    missing = lacking(name, at_hand)
    if missing:
        raise InputError(f"{name} needs {' and '.join(METHOD_RESOURCES[need] for need in missing)}.")


def choose_methods(
    names: Sequence[str], resources: Collection[str], trials: Sequence[Trial], skip_lacking: bool
) -> tuple[list[str], list[str]]:
    """The methods whose resources are at hand, and a line to report on the others.

    A method that lacks something is refused, unless ``skip_lacking``.
    """
    at_hand = set(resources)
    if have_english_versions(trials):
        at_hand.add("parallel")
    if not skip_lacking:
        for name in names:
            check_resources(name, at_hand)
    needs = {name: lacking(name, at_hand) for name in names}
    incomplete = [
        f"{name} ({' and '.join(METHOD_RESOURCES[need] for need in needs[name])})"
        for name in names
        if needs[name]
    ]
    notes = [f"Left out for what they lack: {'; '.join(incomplete)}."] if incomplete else []
    return [name for name in names if not needs[name]], notes


def have_english_versions(trials: Sequence[Trial]) -> bool:
    """Whether training documents have English versions, which UpperBound reads."""
    return all("en" in trial.parallel.languages for trial in trials)


def method_marks(
    names: Sequence[str], settings: Settings, resources: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """What the results of each method depend on beside documents and seed; unknown settings are refused."""
    return {
        name: [
            settings.get(name),
            fingerprints(make_method(name, settings=settings, resources=resources).parameters, resources),
        ]
        for name in dict.fromkeys(names)
    }


def fingerprints(given: "Parameters", resources: Mapping[str, Any]) -> dict[str, Any]:
    """What distinguishes the resources that a method reads from others of the same name."""
    marks: dict[str, Any] = {}
    parameters = given.get_params(deep=False)
    if parameters.get("zero_shot", "") is None and parameters.get("views") is None:
        return marks  # a funnel that reads none
    if "reference" in resources and "reference" in parameters:
        marks["reference"] = resources["reference"].digest()
    if "embeddings" in resources and "embeddings" in parameters:
        files = find_vectors(resources["embeddings"]).values()
        marks["embeddings"] = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    if "encoder" in resources and "encoder" in parameters:
        marks["encoder"] = encoder_digest(find_encoder(resources["encoder"]))
    return marks


def label_set_to_learn(path: FilePath | None, labels: list[str], roll_up: bool) -> LabelSet | None:
    """The label set of a file for a model that is to learn some labels; None without a file."""
    if path is None:
        return None
    label_set = label_set_for(path, labels)
    return label_set.rolled_up() if roll_up else label_set


def rolled_up(corpus: Corpus, label_set: LabelSet | None) -> Corpus:
    """Documents with all labels above theirs, where the label set says so."""
    if label_set is None or not label_set.roll_up:
        return corpus
    labels = [None if own is None else label_set.closed(own) for own in corpus.labels]
    return replace(corpus, labels=labels)


def rolled_up_sides(trial: Trial, label_set: LabelSet | None) -> Trial:
    """`rolled_up` of all sides."""
    return Trial(*(rolled_up(side, label_set) for side in trial))


def without_parents(train: Corpus, label_set: LabelSet | None, path: FilePath | None) -> list[str]:
    """A line on documents that have a label and not its parents, if the model will give both."""
    if label_set is None or path is None or label_set.roll_up or not len(label_set.broader):
        return []
    known = set(train.label_set())
    lacking = sum(
        bool(known.intersection(label_set.closed(own or ())) - {*(own or ())}) for own in train.labels
    )
    if not lacking:
        return []
    return [
        f"{shown_name(path)}: {counted(lacking, 'document')} of {len(train):,} lack labels above theirs, "
        "which the model will give with them. Add --roll-up to learn them so."
    ]
