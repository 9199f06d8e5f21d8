"""The kinds of labels: how many columns each has, and what scores decide under it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from funnelling.corpus.labels import LabelSpace
from funnelling.matrices import Scored

KINDS = [(1, False), (2, False), (3, False), (2, True), (3, True)]  # how many labels; one per document?


def space_of(labels: int, single: bool, **further: Any) -> LabelSpace:
    return LabelSpace(
        np.array([f"label {number}" for number in range(labels)], dtype=object), single, **further
    )


@pytest.mark.parametrize(("labels", "single"), KINDS)
def test_only_two_single_labels_share_a_column(labels: int, single: bool) -> None:
    space = space_of(labels, single)
    assert space.has_one_column == (single and labels == 2)
    assert space.columns == (1 if single and labels == 2 else labels)
    assert space_of(labels, single, sparse=True).columns == labels


@given(st.sampled_from(KINDS), st.data())
def test_targets_lose_nothing_on_their_way_to_a_learner_and_back(kind: tuple[int, bool], data: Any) -> None:
    labels, single = kind
    space = space_of(labels, single)
    if single:
        own = np.array(data.draw(st.lists(st.integers(0, labels - 1), min_size=1)))
        targets = own[:, None] == np.arange(labels)
    else:
        row = st.lists(st.booleans(), min_size=labels, max_size=labels)
        targets = np.array(data.draw(st.lists(row, min_size=1)))
    learned = space.learned(targets)
    assert learned.shape[1] == space.columns
    assert space.by_class({"en": learned})["en"].tolist() == targets.tolist()
    known = np.ones(len(targets), dtype=bool)
    answers = space.answers(Scored(np.where(learned, 1.0, -1.0), known))
    assert np.asarray(space.indicators(answers)).tolist() == targets.tolist()


@pytest.mark.parametrize(("labels", "single"), KINDS)
def test_a_document_of_which_nothing_is_known_has_no_label_unless_it_must(labels: int, single: bool) -> None:
    space = space_of(labels, single)
    unknown = Scored(np.ones((1, space.columns)), np.zeros(1, dtype=bool))
    assert space.indicators(space.answers(unknown)).sum() == (1 if single else 0)


def test_single_labels_of_sparse_targets_keep_their_columns() -> None:
    space = space_of(2, True, sparse=True)
    targets = sparse.csr_array(np.eye(2, dtype=bool))
    assert space.learned(targets) is targets
    assert space.by_class({"en": targets})["en"] is targets
    assert space.indicators(np.array(["label 1", "label 0"], dtype=object)).toarray().tolist() == [
        [0, 1],
        [1, 0],
    ]


@pytest.mark.parametrize(("labels", "single"), KINDS)
def test_documents_without_a_label_teach_only_where_there_may_be_none(labels: int, single: bool) -> None:
    targets = np.zeros((3, labels), dtype=bool)
    targets[1, 0] = True
    assert space_of(labels, single).learnable(targets).tolist() == ([1] if single else [0, 1, 2])


def test_probabilities_of_two_single_labels_sum_to_one() -> None:
    space = space_of(2, True)
    assert space.probabilities(np.array([[0.25]])).tolist() == [[0.75, 0.25]]
    assert space.squeeze(np.array([[0.5], [-0.5]])).tolist() == [0.5, -0.5]
    assert space_of(2, False).squeeze(np.ones((1, 2))).shape == (1, 2)
