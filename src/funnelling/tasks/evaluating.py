"""Measure a model on labelled documents."""

from typing import TYPE_CHECKING

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.formats.files import shown_name
from funnelling.tasks.sources import FilePath, load_text_model, read_labelled
from funnelling.trials.measuring import CONFUSED, WORST, measure_in_full, model_scores, servable
from funnelling.trials.one_label import measurable
from funnelling.trials.pieces import Result
from funnelling.trials.reporting import Reporter, silent

if TYPE_CHECKING:
    from funnelling.method.base import Method


def evaluate(
    model: FilePath,
    data: FilePath,
    *,
    skip_unknown: bool = False,
    labels: int | None = WORST,
    pairs: int | None = CONFUSED,
    confusion: bool = False,
    verbose: int = 0,
    report: Reporter = silent,
) -> Result:
    """The measures of a model on the test documents of a file, or on all where none has a split.

    A document in which the model knows nothing counts as one without labels, or as its most probable class
    where the model gives each document one label.

    Parameters
    ----------
    model : folder of the model
    data : file of labelled documents
    skip_unknown : whether documents in languages the model does not know are left out, or else refused
    labels : of how many labels, from the worst on, ``by_label`` tells; None for all
    pairs : how many pairs of labels ``confused`` and ``missed_together`` have at most; None for all
    confusion : whether all labels given to documents of each label are told, by a model that gives one each
    verbose : above 0 for progress bars
    report : what gets a line on documents that are left out
    """
    classifier = load_text_model(model)
    if confusion and not classifier.exclusive_:
        raise InputError(
            f"{shown_name(model)}: a confusion matrix is of models that give each document one label. "
            "Use --confused."
        )
    classifier.verbose = verbose
    corpus, notes = read_labelled(data, verbose=verbose)
    test, left_out = _measurable(corpus, classifier, shown_name(data), skip_unknown)
    if classifier.exclusive_:
        test, lacking = measurable(test)
        left_out += lacking
        if not len(test):
            raise InputError(
                f"{shown_name(data)}: the model gives each document one label, and no document has exactly "
                "one. Choose another file."
            )
    result = measure_in_full(classifier, test)
    scores = model_scores(result, labels, pairs)
    if confusion:
        scores["confusion"] = result["confusion"]
    for line in (*notes, *left_out):
        report(line)
    return scores


def _measurable(corpus: Corpus, model: "Method", name: str, skip_unknown: bool) -> tuple[Corpus, list[str]]:
    """The documents to measure on, and a line to report on the others."""
    if any(corpus.splits):
        corpus = corpus.split("test")
        if not len(corpus):
            raise InputError(f'{name}: no labelled document with split "test". Mark what to measure on.')
    rows = servable(corpus, model)
    if rows.all():
        return corpus, []
    unknown = list(corpus.select(~rows).by_language())
    if not skip_unknown or not rows.any():
        cure = "Add --skip-unknown to leave such documents out." if rows.any() else "Choose another file."
        raise InputError(
            f"{name}: the model does not know the language {quoted(unknown[0])}, only "
            f"{', '.join(model.languages_)}. {cure}"
        )
    return corpus.select(rows), [f"{name}: left out {(~rows).sum():,} documents in {', '.join(unknown)}."]
