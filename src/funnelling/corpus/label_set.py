"""A set of labels, held as columns that a model folder can keep."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from funnelling.corpus.label_rules import Edges, Hierarchy, LabelRules, depths
from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.state import Length, expect, numbers
from funnelling.text.languages import is_tag, normalise_tag, served_by

MAX_LABELS = 2**20
UNTAGGED = "und"  # the language of a name that comes without one
PREFERRED = ("en", UNTAGGED)  # where a label has no name in the language that was asked for


@dataclass(frozen=True, slots=True)
class Label:
    """A label: what it is called in each language, what it means, and what it belongs to.

    Parameters
    ----------
    id : what documents and models call it
    names : by language
    description : for whoever has to decide whether a document has it
    parents : the ids of more general labels
    exclude : whether it is not to be assigned
    """

    id: str
    names: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    parents: tuple[str, ...] = ()
    exclude: bool = False

    @property
    def name(self) -> str:
        """What it is called in English, in no language or in any; else its id."""
        return next(
            (self.names[tag] for tag in PREFERRED if tag in self.names),
            next(iter(self.names.values()), self.id),
        )


@dataclass(eq=False)
class LabelSet:
    """Labels with names, parents and those that are not to be assigned; see `LabelSet.of`.

    Parameters
    ----------
    ids : the labels, as documents and models call them
    names : for each language one name per label, "" where it has none
    descriptions : one per label, "" where there is none
    broader : a row for each parent of a label: the place of the label, and that of its parent
    excluded : which labels are not to be assigned
    roll_up : whether documents that have a label are read as if they had its parents, too

    Examples
    --------
    >>> labels = LabelSet.of([
    ...     Label("animals", {"en": "Animals", "de": "Tiere"}),
    ...     Label("cats", {"en": "Cats"}, parents=("animals",)),
    ... ])
    >>> labels["cats"].parents, labels.names_in("de")
    (('animals',), {'animals': 'Tiere', 'cats': 'Cats'})
    >>> LabelSet.of([Label("cats", parents=("animal",))])
    Traceback (most recent call last):
    funnelling.errors.InputError: label "cats": its parent "animal" is no label. Add it, or correct its id.
    """

    ids: Annotated[list[str], Length("labels")]
    names: dict[str, Annotated[list[str], Length("labels")]]
    descriptions: Annotated[list[str], Length("labels")]
    broader: Annotated[Edges, numbers(None, 2, kinds="i", least=0)]
    excluded: Annotated[npt.NDArray[np.bool_], numbers("labels", kinds="b")]
    roll_up: bool = False

    @classmethod
    def of(cls, labels: Iterable[Label]) -> "LabelSet":
        """The set of these labels; parents that are none of them, and circles, are refused."""
        entries = list(labels)
        if len(entries) > MAX_LABELS:
            raise InputError(f"more than {MAX_LABELS:,} labels. Leave out those that nothing has.")
        places: dict[str, int] = {}
        for entry in entries:
            if entry.id in places:
                raise InputError(f"label {quoted(entry.id)} is there twice. Keep one.")
            places[entry.id] = len(places)
        pairs = []
        for entry in entries:
            for parent in dict.fromkeys(entry.parents):
                if parent not in places:
                    raise InputError(
                        f"label {quoted(entry.id)}: its parent {quoted(parent)} is no label. Add it, or "
                        "correct its id."
                    )
                pairs.append((places[entry.id], places[parent]))
        broader = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        depths(broader, list(places))  # refuses circles
        return cls(
            list(places),
            _by_language(entries),
            [entry.description for entry in entries],
            broader,
            np.array([entry.exclude for entry in entries], dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, label: object) -> bool:
        return label in self._places

    def __getitem__(self, label: str) -> Label:
        """What the set says of a label; of one that it does not have, nothing."""
        place = self._places.get(label)
        if place is None:
            return Label(label)
        return Label(
            label,
            {tag: names[place] for tag, names in self.names.items() if names[place]},
            self.descriptions[place],
            tuple(self.ids[parent] for parent in self._parents.get(place, ())),
            bool(self.excluded[place]),
        )

    def __iter__(self) -> Iterator[Label]:
        return (self[label] for label in self.ids)

    def name_of(self, label: str, language: str | None = None) -> str:
        """What a label is called in a language; else in English, in no language or in any; else its id."""
        place = self._places.get(label)
        if place is None:
            return label
        return next((names[place] for names in self._columns(language) if names[place]), label)

    def names_in(self, language: str) -> dict[str, str]:
        """What each label is called in a language, as `name_of` says; one without any names is refused."""
        served = served_by(normalise_tag(language), self.names)
        if served not in self.names and UNTAGGED not in self.names:
            known = ", ".join(sorted(self.names)) or "any language"
            raise InputError(
                f"no label has a name in {quoted(language)}, only in {known}. Choose from those."
            )
        return {label: self.name_of(label, served) for label in self.ids}

    def texts(self, labels: Iterable[str], language: str) -> list[str]:
        """What each of some labels is called in a language, as `name_of` says.

        Labels that have no name, or are not to be assigned, have "".
        """
        columns = self._columns(language) or [[""] * len(self.ids)]
        called = {
            label: next(filter(None, names), "")
            for label, names in zip(self.ids, zip(*columns, strict=True), strict=True)
        }
        for place in np.flatnonzero(self.excluded).tolist():
            called[self.ids[place]] = ""
        return [called.get(label, "") for label in labels]

    def assignable(self) -> set[str]:
        """The labels that have a name and may be assigned."""
        return {label for label, text in zip(self.ids, self.texts(self.ids, UNTAGGED), strict=True) if text}

    def excluding(self, labels: Iterable[str]) -> "LabelSet":
        """The set with further labels that are not to be assigned; those that it lacks are added."""
        wanted = dict.fromkeys(labels)
        changed = copy.copy(self)  # with what is known of its hierarchy, which stays as it is
        changed.excluded = self.excluded.copy()
        changed.excluded[[self._places[label] for label in wanted if label in self]] = True
        if missing := [label for label in wanted if label not in self]:
            changed.ids = [*self.ids, *missing]
            changed.names = {tag: [*names, *[""] * len(missing)] for tag, names in self.names.items()}
            changed.descriptions = [*self.descriptions, *[""] * len(missing)]
            changed.excluded = np.append(changed.excluded, np.ones(len(missing), dtype=bool))
            changed.__dict__.pop("_places", None)  # they are more now
        return changed

    def renamed(self, names: Mapping[str, str]) -> "LabelSet":
        """The set under other ids; of labels that become one, the first is kept, with the parents of all."""
        ids = [names.get(label) or label for label in self.ids]
        merged: dict[str, Label] = {}
        for own, entry in zip(ids, self, strict=True):
            parents = tuple(names.get(parent) or parent for parent in entry.parents)
            kept = merged.get(own, Label(own, entry.names, entry.description, (), entry.exclude))
            above = tuple(parent for parent in (*kept.parents, *parents) if parent != own)
            named = {**entry.names, **kept.names}
            merged[own] = Label(own, named, kept.description, above, kept.exclude)
        renamed = LabelSet.of(merged.values())
        return renamed.rolled_up() if self.roll_up else renamed

    def rolled_up(self) -> "LabelSet":
        """The set, with documents that get the parents of their labels when they are read."""
        changed = copy.copy(self)
        changed.roll_up = True
        return changed

    def closed(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Labels with all labels above them, which come last.

        >>> labels = LabelSet.of([Label("cats", parents=("animals",)), Label("animals")])
        >>> labels.closed(["cats", "other"])
        ('cats', 'other', 'animals')
        """
        found = dict.fromkeys(labels)
        waiting = [self._places[label] for label in found if label in self._places]
        while waiting:
            for parent in self._parents.get(waiting.pop(), ()):
                if self.ids[parent] not in found:
                    found[self.ids[parent]] = None
                    waiting.append(parent)
        return tuple(found)

    def rules(self, classes: Iterable[Any]) -> LabelRules:
        """What the set says of the answers of a model with these labels, ``classes_`` as it is or a list.

        Their hierarchy is kept until others are asked for; an array, which no model writes into, is known
        again without a look at its labels.
        """
        last = self._last.get("asked")  # read once: another thread may ask for others
        if last is None or last[0] is not classes:
            labels = tuple(map(str, classes))
            if last is None or last[1].classes != labels:
                last = classes, Hierarchy.of(labels, self.ids, self.broader)
            self._last["asked"] = (classes if isinstance(classes, np.ndarray) else None), last[1]
        hierarchy = last[1]
        excluded = np.zeros(len(hierarchy.classes), dtype=bool)
        for place in np.flatnonzero(self.excluded).tolist():
            if (column := hierarchy.columns.get(self.ids[place])) is not None:
                excluded[column] = True
        return LabelRules(excluded, hierarchy)

    def check_state(self) -> None:
        """Refuse what was read from a file and is no set of labels."""
        expect(0 < len(set(self.ids)) == len(self.ids) <= MAX_LABELS, "the labels of its label set")
        for tag in self.names:
            expect(is_tag(tag) and normalise_tag(tag) == tag, "the language of names of labels")
        expect(self.broader.max(initial=0) < len(self.ids), "the parents of labels")
        depths(self.broader, self.ids)

    def _columns(self, language: str | None) -> list[list[str]]:
        """The names of labels: first those in this language, then those in English, in none, in any."""
        own = [] if language is None else [served_by(language, self.names)]
        tags = dict.fromkeys((*own, *PREFERRED, *self.names))
        return [self.names[tag] for tag in tags if tag in self.names]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.ids)}

    @cached_property
    def _parents(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for child, parent in self.broader.tolist():
            found.setdefault(child, []).append(parent)
        return found

    @cached_property
    def _last(self) -> dict[str, tuple[Any, Hierarchy]]:
        """The labels that rules were last asked for, and their hierarchy; copies of the set share it."""
        return {}


def _by_language(entries: Sequence[Label]) -> dict[str, list[str]]:
    """The names of labels, "" where one has none; two of a label in the same language are refused."""
    tags = {tag: normalise_tag(tag) for entry in entries for tag in entry.names}
    names = {language: [""] * len(entries) for language in sorted(set(tags.values()))}
    for place, entry in enumerate(entries):
        first: dict[str, str] = {}
        for tag, name in entry.names.items():
            if name and entry.names[first.setdefault(tags[tag], tag)] != name:
                both = f"{quoted(first[tags[tag]])} and {quoted(tag)}"
                raise InputError(
                    f"label {quoted(entry.id)}: {both} are one language, with two names. Keep one."
                )
            names[tags[tag]][place] = names[tags[tag]][place] or name
    return names
