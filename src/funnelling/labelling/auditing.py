"""Labelled documents whose labels look wrong or missing, the most suspicious first, and why."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.evaluation.errors import telling_words
from funnelling.evaluation.splits import have_one_label
from funnelling.formats.frames import as_frame
from funnelling.labelling.duplicates import COPIES, TRANSLATIONS, Disagreement, find_label_disagreements
from funnelling.labelling.held_out import OutOfFoldPredictions, held_out, held_out_of
from funnelling.labelling.issues import (
    MISSING,
    NO_COLUMN,
    PROBABILITY_CLIP,
    SWAPPED,
    WRONG,
    Array,
    LabelIssues,
    score_label_issues,
)
from funnelling.matrices import Rows
from funnelling.methods.learning import Method
from funnelling.methods.model import Model
from funnelling.methods.registry import make_method
from funnelling.runtime.progress import watched

if TYPE_CHECKING:
    from pandas import DataFrame

    from funnelling.methods.estimator import MethodEstimator


AUDIT_METHOD = "fun-views"  # one fit of it is quicker than five of fun-tat, and its posteriors are better
MAX_OTHERS_NAMED = 5  # other labels, or documents, that a row names
# Documents, the most suspicious, whose words are told: nobody reads those of others
MAX_EXPLAINED_DOCUMENTS = 1_000
ISSUE_KINDS = (WRONG, MISSING, SWAPPED, COPIES, TRANSLATIONS)
AUDIT_COLUMNS = (
    *("id", "language", "labels", "issue", "questioned_label", "suggested_label", "probability"),
    *("words_for", "words_against", "labels_against", "duplicates", "issue_score"),
)

Row = dict[str, Any]


def audit(
    source: "Corpus | Model | MethodEstimator",
    number: int | None = None,
    *,
    method: "str | MethodEstimator" = AUDIT_METHOD,
    seed: int = 0,
    jobs: int | None = None,
    verbose: int = 0,
) -> "DataFrame":
    """The documents whose labels look most wrong, or most incomplete, to classifiers that did not see them.

    Every labelled document is judged by classifiers that were fitted on other documents, groups and copies
    kept together, and by its other labels, where documents have several. A fitted model is asked for the
    training documents that it keeps, and for what it said of them when they were held out.

    Parameters
    ----------
    source : corpus of labelled documents, others are passed over; or a fitted model
    number : how many documents are told, the most suspicious first; None for all
    method : an unfitted method, or the name of one, that judges a corpus
    seed : of the folds, and of a method that is given by name
    jobs : threads of such a method
    verbose : above 0 for progress bars

    Returns
    -------
    pandas.DataFrame
        A row per document: its fields (``id``, ``language``, ``text``, ``labels``, …); its ``issue``, "wrong
        label", "missing label", "swapped", "duplicates disagree" or "translations disagree"; the
        ``questioned_label`` may be wrong, the ``suggested_label`` may be missing, and ``probability`` is that
        of the first of them; ``words_for`` and ``words_against`` the labels as they are; ``labels_against``,
        other labels of the document that speak against them; ``duplicates``, ids of copies or translations
        with other labels; and the ``issue_score`` from 0 to 1. Only the first 1,000 rows have words. Where a
        model has not kept texts as they were written, rows have their ``beginning`` instead of a ``text``.

    Examples
    --------
    >>> from funnelling import Document
    >>> texts = {"money": "loan bank rate", "sport": "game ball team"}
    >>> documents = [
    ...     Document(f"{label}{i}", f"{text} {i % 5}", "en", (label,))
    ...     for i in range(20) for label, text in texts.items()
    ... ]
    >>> documents[0] = Document("slip", "loan bank rate 0", "en", ("sport",))
    >>> frame = audit(Corpus.from_documents(documents), 1)
    >>> frame[["id", "questioned_label", "suggested_label"]].values.tolist()
    [['slip', 'sport', 'money']]
    """
    if isinstance(source, Corpus):
        return as_frame(audit_corpus(source, number, method, seed, jobs, verbose), AUDIT_COLUMNS)
    if not isinstance(source, Model) and not hasattr(type(source), "_current_model"):
        raise InputError(
            f"Give a corpus, as read_corpus(path) gives one, or a fitted model, not {type(source).__name__}."
        )
    model = source if isinstance(source, Model) else source._current_model
    return as_frame(audit_model(model, number, verbose), AUDIT_COLUMNS)


def audit_corpus(
    corpus: Corpus,
    number: int | None = None,
    method: "str | Method | MethodEstimator" = AUDIT_METHOD,
    seed: int = 0,
    jobs: int | None = None,
    verbose: int = 0,
) -> list[Row]:
    """What `audit` gives of a corpus, as rows."""
    labelled = corpus.labelled()
    if not len(labelled):
        raise InputError("no labelled document to look at. Give documents labels.")
    labelled = replace(labelled, one_label=have_one_label(labelled))
    judge = make_method(method, seed=seed, jobs=jobs) if isinstance(method, str) else Method.of(method)
    return audit_held_out(held_out(judge, labelled, seed, verbose), number, seed=seed, verbose=verbose)


def audit_model(model: Model, number: int | None = None, verbose: int = 0) -> list[Row]:
    """What `audit` gives of a model, as rows. Words are those that speak to it, which knows the document."""
    seed = 0 if model.archive is None else model.archive.seed
    return audit_held_out(held_out_of(model, verbose), number, seed=seed, verbose=verbose)


def audit_held_out(
    documents: OutOfFoldPredictions, number: int | None = None, *, seed: int = 0, verbose: int = 0
) -> list[Row]:
    """What `audit` gives of documents whose held-out probabilities are known, as rows."""
    ranking = rank(documents, seed, verbose)
    first = watched(ranking.order[:number], "evidence", bool(verbose))
    given = documents.corpus.label_matrix(documents.classes)
    return [
        _row(documents, ranking, row, given[row], place < MAX_EXPLAINED_DOCUMENTS)
        for place, row in enumerate(first)
    ]


def rank(documents: OutOfFoldPredictions, seed: int = 0, verbose: int = 0) -> "IssueRanking":
    """All documents from the most suspicious to the least, and what is doubted of each."""
    corpus = documents.corpus
    given = corpus.label_matrix(documents.classes)
    doubts = score_label_issues(
        documents.probabilities,
        given,
        corpus.languages,
        documents.folds,
        one_label=corpus.one_label,
        seed=seed,
        verbose=verbose,
    )
    disagreeing = find_label_disagreements(corpus, given, verbose)
    scores = doubts.scores.copy()
    odds = doubts.scores / np.maximum(1 - doubts.scores, PROBABILITY_CLIP)
    for row, each in disagreeing.items():  # one of them is wrong: which, their own suspicions say
        others = odds[each.duplicates].mean() / len(each.duplicates)
        scores[row] += (1 - scores[row]) * odds[row] / max(odds[row] + others, PROBABILITY_CLIP)
    return IssueRanking(np.argsort(-scores, kind="stable").tolist(), scores, doubts, disagreeing)


class IssueRanking(NamedTuple):
    """Rows of documents, the most suspicious first; the suspicion of each row, and what it comes from."""

    order: list[int]
    scores: Array
    doubts: LabelIssues
    disagreeing: dict[int, Disagreement]


def _row(
    documents: OutOfFoldPredictions, ranking: IssueRanking, row: int, given: Rows, explained: bool
) -> Row:
    corpus, classes = documents.corpus, documents.classes
    doubts, peers = ranking.doubts, ranking.disagreeing.get(row)
    kind = doubts.kinds[row]
    doubted = int(doubts.wrong[row]) if kind in (WRONG, SWAPPED) else NO_COLUMN
    rather = int(doubts.missing[row]) if kind in (MISSING, SWAPPED) else NO_COLUMN
    if peers is not None:
        kind = peers.kind
        chances = doubts.probabilities[row]
        doubted = min(peers.wrong, key=lambda column: chances[column], default=NO_COLUMN)
        rather = max(peers.missing, key=lambda column: chances[column], default=NO_COLUMN)
    first = doubted if doubted != NO_COLUMN else rather
    words_for, words_against = _words(documents, row, doubted, rather) if explained else ([], [])
    text = {"text": corpus.texts[row]}
    if documents.beginnings is not None:
        text = {"beginning": documents.beginnings[row]}
    return {
        "id": corpus.ids[row],
        "language": corpus.languages[row],
        **text,
        "labels": list(corpus.labels[row] or ()),
        **{
            name: value
            for name, value in (("split", corpus.splits[row]), ("group", corpus.groups[row]))
            if value is not None
        },
        "issue": kind,
        "questioned_label": None if doubted == NO_COLUMN else classes[doubted],
        "suggested_label": None if rather == NO_COLUMN else classes[rather],
        "probability": None if first == NO_COLUMN else float(doubts.probabilities[row, first]),
        "words_for": words_for,
        "words_against": words_against,
        "labels_against": [
            classes[column] for column in _others_against(doubts, row, given, doubted, rather)
        ],
        "duplicates": [corpus.ids[peer] for peer in (peers.duplicates if peers else ())[:MAX_OTHERS_NAMED]],
        "issue_score": float(ranking.scores[row]),
    }


def _words(
    documents: OutOfFoldPredictions, row: int, doubted: int, rather: int
) -> tuple[list[str], list[str]]:
    """The words that speak for the labels of a document as they are, and those that speak against them.

    A word that speaks for a label and for the one that it should rather have is told once, with the stronger.
    """
    named = {
        documents.classes[column]: sign
        for column, sign in ((doubted, 1), (rather, -1))
        if column != NO_COLUMN
    }
    reasons = documents.explain(row, list(named))
    text = documents.corpus.texts[row]
    spoken: dict[str, float] = {}
    for label, reason in reasons.items():
        passages = [tuple(each) for each in reason.get("spans", ())]
        for sign in (1, -1):
            for word, amount in telling_words(text, passages, reason, sign):
                spoken[str(word)] = spoken.get(str(word), 0.0) + named[label] * amount
    order = sorted(spoken, key=lambda word: -abs(spoken[word]))
    return [word for word in order if spoken[word] > 0], [word for word in order if spoken[word] < 0]


def _others_against(doubts: LabelIssues, row: int, given: Rows, doubted: int, rather: int) -> list[int]:
    """The columns of a document's labels that speak most against one of them, or for one that it lacks."""
    if doubts.others is None:
        return []
    seen = doubts.others.seen
    against = np.zeros(len(seen))
    for column, sign in ((doubted, -1), (rather, 1)):
        if column != NO_COLUMN:
            spoken = sign * doubts.others.contributions(row, column)
            against += np.where(given[seen] & (seen != doubted), np.maximum(spoken, 0), 0)
    order = np.argsort(-against, kind="stable")[:MAX_OTHERS_NAMED]
    return [int(seen[place]) for place in order if against[place] > 0]
