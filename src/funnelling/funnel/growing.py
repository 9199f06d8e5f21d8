"""A fitted funnel learns on: from further languages, and from further documents of languages it knows.

Base classifiers of languages that get no documents stay as they are, to the bit, and a language's vocabulary
and idf stay as they were. A document that is known already, by its id and its vector, is not learned twice:
it gets the labels it comes with, which is how labels are corrected. Tier 2 is fitted anew, on all
posteriors, old and new: a funnel over own words that grew by a language decides as one that was fitted on
everything at once. Views that all languages share stay as they were.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from funnelling.corpus import Corpus
from funnelling.corpus.label_matrix import label_matrix
from funnelling.errors import InputError
from funnelling.funnel.archive import Archive, group_names
from funnelling.funnel.design import Design, views_suffice
from funnelling.funnel.funnel import FittedFunnel, fit_over_views
from funnelling.funnel.teachers import choose_teachers
from funnelling.funnel.tier_one import Posteriors, ViewPosteriors
from funnelling.funnel.views.fitting import FittedViews, fit_own_words
from funnelling.matrices import Floats, Matrix, Targets, check_vectors, exclusive_columns, stacked
from funnelling.method.inputs import Inputs
from funnelling.method.labels import read_label_lists
from funnelling.method.training_set import TrainingSet
from funnelling.spaces.base import check_one_width
from funnelling.spaces.registry import OWN
from funnelling.svm.calibration import ABSENT
from funnelling.text.excerpts import beginning
from funnelling.text.vocabularies import fit_own


@dataclass(frozen=True)
class Growth:
    """A funnel that learned on, under all classes, and the documents that it has learned from by now."""

    funnel: FittedFunnel
    classes: list[str]
    training: TrainingSet


class LanguageDocuments(NamedTuple):
    """One language's training documents; a group "" is none, and a beginning "" that of an unknown text."""

    ids: list[str]
    groups: list[str]
    vectors: Matrix
    targets: Targets
    beginnings: list[str]
    new: Sequence[int] = ()  # the rows of the further documents that were appended


def growable_archive(classes: Iterable[Any], archive: Archive | None) -> Archive:
    """A model's archive; refused where it cannot learn on."""
    if not all(isinstance(label, str) for label in classes):
        raise InputError(
            "The model was fitted on an indicator matrix, or on classes that are no strings, and cannot "
            "learn on. Train it anew."
        )
    if archive is None:
        raise InputError(
            "The model is compact: it keeps nothing of its training documents to learn on. Train it anew."
        )
    return archive


def grow(
    design: Design,
    archive: Archive,
    views: FittedViews,
    known: list[str],
    exclusive: bool,
    inputs: Inputs,
    y: Any,
    groups: Any,
    ids: Any,
) -> Growth:
    """What a funnel becomes that also learns from further documents.

    ``known`` are its classes, ``exclusive`` where it gives each document one of them.
    """
    label_lists = read_label_lists(y, inputs, exclusive)
    grouping, names = inputs.groups(groups), inputs.ids(ids)
    further = {label for lists in label_lists.values() for labels in lists for label in labels}
    classes = known if further <= set(known) else sorted({*known, *further})
    if classes is not known:
        if design.zero_shot is not None:
            raise InputError("A zero-shot model cannot learn new labels. Train it anew.")
        if exclusive and len(known) == 2:  # one column stood for both
            archive, views = archive.of_both(design.calibration), _of_both(views)
        columns = np.searchsorted(np.array(classes, dtype=object), np.array(known, dtype=object))
        archive = archive.with_labels(columns, len(classes), ABSENT)
        views = views.with_labels(columns, len(classes))
    views, vectors = _with_vectors(design, views, inputs)
    if views.vectorizers is None and views.shared:
        check_one_width({**archive.vectors, **vectors}, "a shared view")
    documents = {}
    for language in sorted({*archive.ids, *vectors}):
        added = None
        if language in vectors:
            targets = label_matrix(label_lists[language], classes)
            if exclusive:
                targets = exclusive_columns(targets, len(classes))
            added = LanguageDocuments(
                names[language],
                group_names(grouping[language], len(targets)),
                vectors[language],
                targets,
                list(map(beginning, inputs.documents[language])) if inputs.texts else [""] * len(targets),
                range(len(targets)),
            )
        documents[language] = _with_archived(archive, language, added)
    training = _training_set(design, documents, exclusive, archive.seed)
    teachers = choose_teachers(design, training)
    posteriors = archive.posteriors()
    if OWN in posteriors:
        fits = fit_own_words(design, training.only(list(vectors)))
        views = replace(views, own={**views.own, **{tag: tier for tag, (tier, _) in fits.items()}})
        posteriors[OWN].update({tag: each for tag, (_, each) in fits.items()})
    views = replace(views, shared={name: view.learning(vectors) for name, view in views.shared.items()})
    for name, view in views.shared.items():
        for language in sorted(vectors.keys() & set(view.languages)):
            further_posteriors = view.tier.posteriors(
                views.vectors(name, language, inputs.documents[language])
            )
            posteriors[name][language] = _appended(
                posteriors[name].get(language), further_posteriors[list(documents[language].new)]
            )
    _check_visible(design, list(documents), posteriors)
    taught = {
        view: {language: each.of_teachers(teachers, language) for language, each in by_language.items()}
        for view, by_language in posteriors.items()
    }
    funnel = fit_over_views(design, training, views, taught, teachers)
    if funnel.archive is not None:
        beginnings = {tag: each.beginnings for tag, each in documents.items() if any(each.beginnings)}
        funnel = replace(funnel, archive=replace(funnel.archive, beginnings=beginnings))
    return Growth(funnel, classes, training)


def are_learned(archive: Archive, views: FittedViews, corpus: Corpus) -> npt.NDArray[np.bool_]:
    """Which documents a funnel has learned from, or from others of their group."""
    groups = {name for names in archive.groups.values() for name in names if name}
    learned = np.array([group in groups for group in corpus.groups], dtype=bool)
    for language, rows in corpus.by_language().items():
        if language in archive.ids:
            vectors = views.vectors(OWN, language, [corpus.texts[row] for row in rows])
            twins = archive.twins(language, [corpus.ids[row] for row in rows], vectors)
            learned[rows] |= [bool(places) for places in twins]
    return learned


def _of_both(views: FittedViews) -> FittedViews:
    """Views of two classes that exclude each other, from those of the second."""
    return replace(
        views,
        own={language: tier.of_both() for language, tier in views.own.items()},
        shared={name: replace(view, tier=view.tier.of_both()) for name, view in views.shared.items()},
    )


def _with_vectors(
    design: Design, views: FittedViews, inputs: Inputs
) -> tuple[FittedViews, dict[str, Matrix]]:
    """The further documents in their languages' own words; a new language gets a vocabulary."""
    if views.vectorizers is None:
        return views, {language: check_vectors(X) for language, X in inputs.documents.items()}
    new = {tag: texts for tag, texts in inputs.documents.items() if tag not in views.vectorizers}
    vectorizers, vectors = fit_own(new, design.vectorizer, design.shows_progress)
    views = replace(views, vectorizers={**views.vectorizers, **vectorizers})
    return views, {
        tag: check_vectors(vectors[tag] if tag in vectors else views.vectors(OWN, tag, texts))
        for tag, texts in inputs.documents.items()
    }


def _with_archived(archive: Archive, language: str, further: LanguageDocuments | None) -> LanguageDocuments:
    """A language's documents, further ones below those archived; one that is archived gets its new labels."""
    if language not in archive.ids:
        assert further is not None
        return further
    old = LanguageDocuments(
        archive.ids[language],
        archive.groups[language],
        archive.vectors[language],
        archive.targets[language],
        archive.beginnings.get(language) or [""] * len(archive.ids[language]),
    )
    if further is None:
        return old
    if further.vectors.shape[1] != old.vectors.shape[1]:
        raise InputError(
            f"The vectors of {language!r} have {further.vectors.shape[1]} features, and those before had "
            f"{old.vectors.shape[1]}. Give the same features."
        )
    targets, beginnings = old.targets.copy(), list(old.beginnings)
    twins = archive.twins(language, further.ids, further.vectors)
    for row, places in enumerate(twins):
        targets[places] = further.targets[row]
        for place in places:
            beginnings[place] = further.beginnings[row] or beginnings[place]
    new = [row for row, places in enumerate(twins) if not places]
    return LanguageDocuments(
        old.ids + [further.ids[row] for row in new],
        old.groups + [further.groups[row] for row in new],
        stacked({"old": old.vectors, "new": further.vectors[new]}),
        np.vstack([targets, further.targets[new]]),
        beginnings + [further.beginnings[row] for row in new],
        new,
    )


def _training_set(
    design: Design, documents: Mapping[str, LanguageDocuments], exclusive: bool, seed: int
) -> TrainingSet:
    """The folds are those that a fit on all these documents would have."""
    grouped = any(group for each in documents.values() for group in each.groups)
    vectors = {language: each.vectors for language, each in documents.items()}
    return TrainingSet.of(
        vectors,
        vectors,
        {language: each.targets for language, each in documents.items()},
        {
            language: [group or None for group in each.groups] if grouped else None
            for language, each in documents.items()
        },
        {language: each.ids for language, each in documents.items()},
        texts=False,
        exclusive=exclusive,
        seed=seed,
        n_jobs=design.n_jobs,
    )


def _appended(old: Posteriors | None, new: Floats) -> Posteriors:
    """Posteriors with those of new documents below, none of which a frozen view was trained on."""
    if old is None:
        return Posteriors(new, new)
    return Posteriors(np.vstack([old.training, new]), np.vstack([old.held_out, new]))


def _check_visible(design: Design, languages: Sequence[str], posteriors: ViewPosteriors) -> None:
    """Refuse a language that the views, which are frozen, cannot bring into tier 2's space."""
    for language in languages:
        if not views_suffice(design.combine, (language in each for each in posteriors.values())):
            raise InputError(
                f"The model's views cannot see documents in {language!r}, and learn no more. Train it anew."
            )
