"""``funnelling inspect``: what a model is, or what is in a file of documents."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from funnelling.commands import printing
from funnelling.commands.declaring import argument, flag
from funnelling.commands.options import DATA_HELP, AsJson, FilePath, Names, Reading
from funnelling.errors import InputError
from funnelling.runtime.messages import Reporter, silent

if TYPE_CHECKING:
    from funnelling.corpus.label_set import LabelSet
    from funnelling.methods.model import Model

MERGE = "relabel to merge labels"
ON_TEXTS = ("update", "forget")
CHANGE_COMMANDS = ("update", "forget", "tune", "relabel", MERGE)
OF_VECTORS = "It was fitted on vectors, not on texts. Use extend and forget in Python."


class Inspect(Names, AsJson, Reading):
    """Show what a model is: languages, labels, metrics, what it stores and how it can be changed. Or show
    what is in a file of documents: odd rows, documents and words by language, documents by label, words that
    languages share.
    """

    examples = ("inspect model", "inspect docs.csv --labels-column topics --label-separator ';'")

    source: FilePath = argument(
        f"folder of a model, hf://owner/name, or file of documents; {DATA_HELP}", "MODEL|DATA"
    )
    full: bool = flag(
        "show all of a model (thresholds, errors, history, parameters), or all labels of a file", common=True
    )

    def run(self, report: Reporter = silent, verbose: int = 0) -> dict[str, Any]:
        from funnelling.commands.sources import is_model
        from funnelling.formats.layout import AS_FOUND

        if is_model(self.source):
            if self.strict or self.layout != AS_FOUND:
                raise InputError(
                    f"{self.source} is a model: options on how a file is read do not apply. Leave them out."
                )
            return inspect_model(self.source, self.names)
        from funnelling.corpus import read_corpus
        from funnelling.corpus.findings import describe

        if self.names is not None:
            raise InputError(f"{self.source} is no model: --names does not apply. Leave it out.")
        corpus = read_corpus(self.source, verbose=verbose, layout=self.layout, strict=self.strict)
        return describe(corpus, verbose=verbose)

    def show(self, result: dict[str, Any]) -> None:
        from funnelling.report.inspection import data_lines, model_details, model_summary

        if self.json:
            printing.print_json(result)
        elif "method" not in result:
            print("\n".join(data_lines(result, self.full)))
        elif self.full:
            print("\n".join(model_details(result)))
        else:
            print("\n".join(model_summary(str(self.source), result)))


def inspect_model(model: FilePath, names: str | None = None) -> dict[str, Any]:
    """What `describe_model` says of a model, and what is known once it is loaded.

    ``thresholds`` are those that are not .5, by language, and ``stored`` has what `possible_changes` gives,
    too. Where the model has a label set, ``label_set`` tells of it, and with the language of ``names``,
    ``label_names`` what each label is called. Of a model that cannot be loaded here, the thresholds are None
    and ``stored`` has no more.
    """
    from funnelling.methods.rows import names_of_labels, thresholds_of
    from funnelling.storage import describe_model, load

    description = describe_model(model)
    try:
        loaded = load(model, mapped=True)
    except InputError:
        return {**description, "thresholds": None}
    stored = {**description["stored"], **possible_changes(loaded)}
    told = {**description, "stored": stored, "thresholds": thresholds_of(loaded)}
    if loaded.label_set is not None:
        told["label_set"] = _describe_label_set(loaded.label_set)
    if names is not None:
        called = names_of_labels(loaded, names)
        told["label_names"] = {str(label): called.get(str(label), str(label)) for label in told["labels"]}
    return told


def _describe_label_set(label_set: "LabelSet") -> dict[str, Any]:
    """How many labels a set has, in which languages it names them, and what it says of them."""
    labels = list(label_set)
    return {
        "labels": len(labels),
        "names": sorted(label_set.names),
        "with_parents": sum(bool(label.parents) for label in labels),
        "excluded": [label.id for label in labels if label.exclude],
        "roll_up": bool(label_set.roll_up),
    }


def possible_changes(model: "Model") -> dict[str, Any]:
    """The ``supported_changes`` of a model by commands, and the ``unsupported_changes`` with their reasons.

    ``needs`` are resources that are not stored with a model, and that it needs again to be fitted.
    """
    cannot = _impossible(model)
    return {
        "supported_changes": [command for command in CHANGE_COMMANDS if command not in cannot],
        "unsupported_changes": cannot,
        "needs": _resources(model),
    }


def _impossible(model: "Model") -> dict[str, str]:
    from funnelling.funnel.tuning import check_tunable
    from funnelling.methods.learning import check_extensible

    again, tune = (_refusal(check, model) for check in (check_extensible, check_tunable))
    on_texts = again if again or model.texts else OF_VECTORS
    reasons = {**dict.fromkeys(ON_TEXTS, on_texts), MERGE: again, "tune": tune}
    archive = model.archive
    if archive is not None and not on_texts and not any(map(archive.given_ids, archive.blocks)):
        reasons["forget"] = "Its documents were given no ids. Give them some with update."
    return {command: reason for command, reason in reasons.items() if reason}


def _refusal(check: Callable[["Model"], object], model: "Model") -> str:
    """Why a model is refused; nothing where it is not."""
    try:
        check(model)
    except InputError as error:
        return str(error)
    return ""


def _resources(model: "Model") -> list[str]:
    from funnelling.spaces.embedded import EmbeddedSpace
    from funnelling.spaces.outside import EncoderSpace
    from funnelling.spaces.reference import ReferenceSpace

    kinds = {"embeddings": EmbeddedSpace, "encoder": EncoderSpace, "reference": ReferenceSpace}
    spaces = model.fitted.spaces
    return [name for name, kind in kinds.items() if any(isinstance(space, kind) for space in spaces)]
