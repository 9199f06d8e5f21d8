"""A fitted funnel learns on: from further languages, and from further documents of languages it knows.

Base classifiers of languages that get no documents stay as they are, to the bit, and a language's vocabulary
and idf stay as they were. A document that is known already, by its id and its vector, is not learned twice:
it gets the labels it comes with, which is how labels are corrected. Tier 2 is fitted anew, on all
posteriors, new and kept: a funnel that grew by a language decides as one that was fitted on everything at
once.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus
from funnelling.errors import InputError
from funnelling.funnel.archive import Kept, group_names
from funnelling.funnel.tier_one import Posteriors, absent
from funnelling.funnel.views import OWN
from funnelling.matrices import Floats, Matrix, check_vectors, stacked
from funnelling.method.inputs import Inputs
from funnelling.method.labels import read_label_lists
from funnelling.method.training_set import Training
from funnelling.spaces.base import check_one_width
from funnelling.text.vocabularies import fit_own

if TYPE_CHECKING:
    from funnelling.funnel.classifier import FunnellingClassifier


class Documents(NamedTuple):
    """One language's training documents; a group "" is none."""

    ids: list[str]
    groups: list[str]
    vectors: Matrix
    targets: npt.NDArray[np.bool_]
    added: Sequence[int] = ()  # which of those given are new


def check_growable(model: "FunnellingClassifier") -> Kept:
    """What a model keeps of its training documents; refused where it cannot learn on."""
    if model.exclusive_:
        raise InputError("The model gives each document one label, and cannot learn on. Train it anew.")
    if not all(isinstance(label, str) for label in model.classes_):
        raise InputError("The model was fitted on an indicator matrix, and cannot learn on. Train it anew.")
    kept: Kept | None = getattr(model, "training_", None)
    if kept is None:
        raise InputError(
            "The model is compact: it keeps nothing of its training documents to learn on. Train it anew."
        )
    return kept


def grown(model: "FunnellingClassifier", inputs: Inputs, y: Any, groups: Any, ids: Any) -> dict[str, Any]:
    """What a model would be had it learned from further documents, too: its attributes."""
    kept = check_growable(model)
    model = copy(model)
    lists = read_label_lists(y, inputs)
    known = [str(label) for label in model.classes_]
    classes = sorted({*known, *(label for part in lists.values() for labels in part for label in labels)})
    if classes != known:
        if model.zero_shot is not None:
            raise InputError("A zero-shot model cannot learn new labels. Train it anew.")
        columns = np.searchsorted(np.array(classes, dtype=object), np.array(known, dtype=object))
        kept = kept.with_labels(columns, len(classes), absent(model.calibration))
        model.base_ = {tag: tier.with_labels(columns, len(classes)) for tag, tier in model.base_.items()}
        model.shared_views_ = {
            name: view.with_labels(columns, len(classes)) for name, view in model.shared_views_.items()
        }
    new = _new_documents(model, inputs, lists, classes, groups, ids)
    if not model.texts_ and model.shared_views_:
        check_one_width({**kept.vectors, **{tag: part.vectors for tag, part in new.items()}}, "a shared view")
    documents = {tag: _with(kept, tag, new.get(tag)) for tag in sorted({*kept.ids, *new})}
    training = _training(model, documents, kept.seed)
    rows = model.check_size(training)
    model.classes_ = np.array(classes, dtype=object)
    model.languages_ = list(documents)
    model.documents_ = {language: len(part.ids) for language, part in documents.items()}
    model.features_ = {language: int(part.vectors.shape[1]) for language, part in documents.items()}
    seen: dict[str, dict[str, Posteriors]] = {
        view: {language: kept.posteriors(view, language) for language in rows}
        for view, rows in kept.training.items()
    }
    if OWN in seen:
        fitted = model.fit_base(training.only(list(new)))
        model.base_ = {**model.base_, **{language: tier for language, (tier, _) in fitted.items()}}
        seen[OWN].update({language: posteriors for language, (_, posteriors) in fitted.items()})
    model.shared_views_ = {name: view.learning(new) for name, view in model.shared_views_.items()}
    for name, view in model.shared_views_.items():
        for language in sorted(new.keys() & set(view.languages)):
            asked = view.tier.posteriors(model.seen_by(name, language, inputs.parts[language]))
            added = asked[list(documents[language].added)]
            seen[name][language] = _appended(seen[name].get(language), added)
    _check_seen(model, seen)
    taught = {
        view: {language: posteriors.taught(rows, language) for language, posteriors in found.items()}
        for view, found in seen.items()
    }
    model.fit_above(training, taught, rows)
    return model.__dict__


def _check_seen(model: "FunnellingClassifier", seen: Mapping[str, Mapping[str, Posteriors]]) -> None:
    """Refuse a language that the views, which are frozen, cannot bring into tier 2's space."""
    enough = all if model.combination() == "concat" else any
    for language in model.languages_:
        if not enough(language in parts for parts in seen.values()):
            raise InputError(
                f"The model's views cannot see documents in {language!r}, and learn no more. Train it anew."
            )


def _appended(old: Posteriors | None, new: Floats) -> Posteriors:
    """Posteriors with those of new documents below, of which a frozen view saw none in training."""
    if old is None:
        return Posteriors(new, new)
    return Posteriors(np.vstack([old.training, new]), np.vstack([old.held_out, new]))


def are_learned(model: "FunnellingClassifier", corpus: Corpus) -> npt.NDArray[np.bool_]:
    """Which documents the model has learned from, or from others of their group."""
    kept = check_growable(model)
    groups = {name for names in kept.groups.values() for name in names if name}
    learned = np.array([group in groups for group in corpus.groups], dtype=bool)
    for language, rows in corpus.by_language().items():
        if language in kept.ids:
            vectors = model.seen_by(OWN, language, [corpus.texts[row] for row in rows])
            twins = kept.twins(language, [corpus.ids[row] for row in rows], vectors)
            learned[rows] |= [bool(found) for found in twins]
    return learned


def _new_documents(
    model: "FunnellingClassifier",
    inputs: Inputs,
    lists: dict[str, Any],
    classes: list[str],
    groups: Any,
    ids: Any,
) -> dict[str, Documents]:
    divided = inputs.divide(groups, "groups") if groups is not None else {}
    named = inputs.names() if ids is None else inputs.divide(ids, "ids")
    column = {label: j for j, label in enumerate(classes)}
    found = {}
    for language, part in inputs.parts.items():
        targets = np.zeros((len(lists[language]), len(classes)), dtype=bool)
        for row, labels in enumerate(lists[language]):
            targets[row, [column[label] for label in labels]] = True
        found[language] = Documents(
            [str(name) for name in named[language]],
            group_names(divided.get(language), len(targets)),
            _vectors(model, language, part),
            targets,
            range(len(targets)),
        )
    return found


def _vectors(model: "FunnellingClassifier", language: str, part: Any) -> Matrix:
    if not model.texts_:
        return check_vectors(part)
    if language in model.vectorizers_:
        return check_vectors(model.vectorizers_[language].transform(part))
    vectorizers, vectors = fit_own({language: part}, model.vectorizer, bool(model.verbose))
    model.vectorizers_ = {**model.vectorizers_, **vectorizers}
    return check_vectors(vectors[language])


def _with(kept: Kept, language: str, new: Documents | None) -> Documents:
    """A language's documents, the new ones below those kept; one that is kept already gets its new labels."""
    if language not in kept.ids:
        assert new is not None
        return new
    old = Documents(kept.ids[language], kept.groups[language], kept.vectors[language], kept.targets[language])
    if new is None:
        return old
    if new.vectors.shape[1] != old.vectors.shape[1]:
        raise InputError(
            f"The vectors of {language!r} have {new.vectors.shape[1]} features, and those before had "
            f"{old.vectors.shape[1]}. Give the same features."
        )
    targets = old.targets.copy()
    twins = kept.twins(language, new.ids, new.vectors)
    for row, found in enumerate(twins):
        targets[found] = new.targets[row]
    added = [row for row, found in enumerate(twins) if not found]
    return Documents(
        old.ids + [new.ids[row] for row in added],
        old.groups + [new.groups[row] for row in added],
        stacked({"old": old.vectors, "new": new.vectors[added]}),
        np.vstack([targets, new.targets[added]]),
        added,
    )


def _training(model: "FunnellingClassifier", documents: dict[str, Documents], seed: int) -> Training:
    """The same folds as a fit on all these documents would have."""
    grouped = any(group for part in documents.values() for group in part.groups)
    groups = {
        language: [group or None for group in part.groups] if grouped else None
        for language, part in documents.items()
    }
    return Training.of(
        {language: part.vectors for language, part in documents.items()},
        {language: part.vectors for language, part in documents.items()},
        {language: part.targets for language, part in documents.items()},
        dict(groups),
        {language: part.ids for language, part in documents.items()},
        exclusive=False,
        seed=seed,
        n_jobs=model.n_jobs,
    )
