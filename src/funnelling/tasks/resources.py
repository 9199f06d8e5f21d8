"""What methods read beside documents, and documents that get the parents of their labels."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from funnelling.corpus import Corpus
from funnelling.corpus.label_files import label_set_for
from funnelling.corpus.label_set import LabelSet
from funnelling.corpus.reference import read_reference
from funnelling.errors import InputError, counted
from funnelling.evaluation.splits import Trial
from funnelling.formats.files import shown_name
from funnelling.methods.model import Model
from funnelling.methods.registry import METHOD_RESOURCES, Settings, lacking, make_method
from funnelling.spaces.outside import encoder_digest, find_encoder
from funnelling.spaces.word_vectors import find_vectors
from funnelling.tasks.sources import FilePath

if TYPE_CHECKING:
    from funnelling.methods.algorithm import Parameters


@dataclass(frozen=True)
class ResourcePaths:
    """Where the resources of methods are.

    Parameters
    ----------
    reference : file of a reference corpus
    embeddings : folder of word vectors
    encoder : folder of a sentence-transformers model

    >>> ResourcePaths().read()
    {}
    >>> ResourcePaths(embeddings="nowhere").read()
    Traceback (most recent call last):
    funnelling.errors.InputError: nowhere: no such folder. Name the folder of the vectors.
    """

    reference: FilePath | None = None
    embeddings: FilePath | None = None
    encoder: FilePath | None = None

    def read(self) -> dict[str, Any]:
        """What `make_method` takes as ``resources``; a folder that holds none is refused."""
        resources: dict[str, Any] = {}
        if self.reference is not None:
            resources["reference"] = read_reference(self.reference)
        if self.embeddings is not None:
            find_vectors(self.embeddings)
            resources["embeddings"] = self.embeddings
        if self.encoder is not None:
            find_encoder(self.encoder)
            resources["encoder"] = self.encoder
        return resources


NO_RESOURCES = ResourcePaths()


def give_resources(model: Model, paths: ResourcePaths) -> Model:
    """A model that knows where the resources are that it reads; those that it does not read are refused."""
    given = paths.read()
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


def rolled_up_sides(trial: Trial, model: "Model | LabelSet | None") -> Trial:
    """`rolled_up` of all sides, by a label set or that of a model."""
    label_set = model if isinstance(model, LabelSet | None) else model.label_set
    return Trial(*(rolled_up(side, label_set) for side in trial))


def without_parents(train: Corpus, label_set: LabelSet | None, path: FilePath | None) -> list[str]:
    """A line on documents that have a label and not its parents, if the model will give both."""
    if label_set is None or path is None or label_set.roll_up or not label_set.has_parents:
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
