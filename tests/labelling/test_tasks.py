"""Documents on a desk: one goes to one person at a time, and what is decided is written down and kept."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from funnelling.formats.document import Document
from funnelling.formats.journal import Decision, Journal
from funnelling.labelling.tasks import (
    MAX_ANNOTATORS,
    TASK_LEASE_S,
    TaskLockedError,
    TaskQueue,
    TooManyAnnotatorsError,
    key_of,
)

DOCUMENTS = [Document(str(number), f"text {number}", "en") for number in range(5)]
KEYS = [key_of(document) for document in DOCUMENTS]

now = 0.0


@pytest.fixture
def open_desk(tmp_path: Path) -> Iterator[Callable[[], TaskQueue]]:
    """Opens a desk over the journal as it is now."""
    global now
    now = 0.0
    journals: list[Journal] = []

    def begin() -> TaskQueue:
        while journals:
            journals.pop().close()
        journals.append(Journal(tmp_path / "journal.jsonl"))
        return TaskQueue(DOCUMENTS, journals[-1], clock=lambda: now)

    yield begin
    journals.pop().close()


def labelled(number: int, *labels: str, suggested: tuple[str, ...] = ()) -> Decision:
    return Decision("label", Document(str(number), f"text {number}", "en", labels), suggested=suggested)


def test_two_people_never_have_the_same(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    taken = []
    for number in range(5):
        session = f"s{number % 2}"
        key = desk.assign(session)
        assert key == desk.assign(session)  # a page that is loaded again shows it again
        taken.append(key)
        if number > 0:
            other = f"s{(number + 1) % 2}"
            before = taken[-2]
            assert before is not None
            desk.submit(other, before, labelled(KEYS.index(before), "a"))
    assert sorted(map(str, taken)) == sorted(KEYS)
    assert desk.assign("s1") is None
    assert desk.progress("s0") == {"documents": 5, "labelled": 4, "skipped": 0, "left": 1, "yours": 2}


def test_a_document_of_somebody_who_left_comes_back(open_desk: Callable[[], TaskQueue]) -> None:
    global now
    desk = open_desk()
    assert desk.assign("ada") == KEYS[0]
    assert desk.assign("bob") == KEYS[1]
    now = TASK_LEASE_S - 1
    desk.heartbeat("ada")
    now = TASK_LEASE_S + 1
    assert desk.assign("eve") == KEYS[1]  # bob gave no sign of life
    with pytest.raises(TaskLockedError):
        desk.submit("bob", KEYS[1], labelled(1, "a"))
    desk.submit("ada", KEYS[0], labelled(0, "a"))
    with pytest.raises(TaskLockedError):  # decided already
        desk.submit("eve", KEYS[0], labelled(0, "b"))


def test_a_crowd_is_kept_out_until_some_have_left(open_desk: Callable[[], TaskQueue]) -> None:
    global now
    desk = open_desk()
    for number in range(MAX_ANNOTATORS):
        desk.heartbeat(f"session {number}")
    with pytest.raises(TooManyAnnotatorsError):
        desk.assign("one more")
    now = 2 * TASK_LEASE_S
    assert desk.assign("one more") == KEYS[0]


def test_who_was_away_may_decide_as_long_as_nobody_has_it(open_desk: Callable[[], TaskQueue]) -> None:
    global now
    desk = open_desk()
    desk.assign("ada")
    now = 2 * TASK_LEASE_S
    desk.submit("ada", KEYS[0], labelled(0, "a"))
    assert desk.labelled == 1


def test_who_comes_back_has_the_document_again_unless_others_have_it(
    open_desk: Callable[[], TaskQueue],
) -> None:
    global now
    desk = open_desk()
    for session in ("ada", "bob"):
        desk.assign(session)
    now = 2 * TASK_LEASE_S
    assert desk.assign("eve") == KEYS[0]  # so that the other two are absent
    for session, key in (("ada", KEYS[0]), ("bob", KEYS[1]), ("eve", KEYS[2])):
        desk.heartbeat(session, key)
    assert desk.assign("sam") == KEYS[2]  # eve has but one, and ada none
    assert desk.assign("bob") == KEYS[1]
    assert desk.assign("ada") == KEYS[3]
    now = 4 * TASK_LEASE_S
    assert desk.assign("tom") == KEYS[0]
    desk.correct_language("bob", KEYS[1], "it")
    assert desk.assign("bob") == KEYS[1]


def test_what_is_decided_holds_after_a_restart(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    desk.assign("ada")
    desk.submit("ada", KEYS[0], labelled(0, "a"))
    desk.submit("ada", KEYS[1], Decision("skip", DOCUMENTS[1], note="what is it?"))
    desk.submit("ada", KEYS[2], Decision("note", DOCUMENTS[2], note="long"))
    desk = open_desk()
    assert [document.id for document in desk.waiting()] == ["2", "3", "4", "1"]
    assert desk.note_of(KEYS[1]) == "what is it?"
    assert desk.note_of(KEYS[2]) == "long"
    assert desk.progress()["labelled"] == 1


def test_what_was_skipped_comes_last_and_to_others(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    assert desk.assign("ada") == KEYS[0]
    desk.submit("ada", KEYS[0], Decision("skip", DOCUMENTS[0]))
    desk.reorder(KEYS)
    for number in range(1, 5):
        assert desk.assign("ada") == KEYS[number]
        desk.submit("ada", KEYS[number], labelled(number, "a"))
    assert desk.assign("ada") is None
    assert desk.assign("bob") == KEYS[0]
    for _ in range(4):
        assert desk.undo("ada", "") is not None
    with pytest.raises(TaskLockedError):  # bob has it
        desk.undo("ada", "")


def test_undo(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    assert desk.undo("ada", "Ada") is None
    desk.assign("ada")
    desk.submit("ada", KEYS[0], labelled(0, "a"))
    assert desk.assign("ada") == KEYS[1]
    taken_back = desk.undo("ada", "Ada")
    assert taken_back is not None
    assert taken_back.document.labels == ("a",)
    assert desk.assign("ada") == KEYS[0]
    assert desk.assign("bob") == KEYS[1]
    assert desk.progress("ada")["yours"] == 0
    assert [document.id for document in open_desk().waiting()] == ["1", "2", "3", "4", "0"]


def test_a_note_can_be_emptied_with_a_label(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    desk.assign("a")
    desk.submit("a", KEYS[0], Decision("note", DOCUMENTS[0], note="sure"))
    desk.submit("a", KEYS[0], labelled(0, "x"))
    assert desk.note_of(KEYS[0]) == open_desk().note_of(KEYS[0]) == ""


def test_a_skip_taken_back_is_that_of_one_person(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    for session in "ab":
        desk.submit(session, KEYS[0], Decision("skip", DOCUMENTS[0]))
    desk.undo("b", "")
    assert desk.progress()["skipped"] == 1


def test_a_skip_counts_again_where_a_label_is_taken_back(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    desk.submit("ada", KEYS[0], Decision("skip", DOCUMENTS[0]))
    desk.submit("bob", KEYS[0], labelled(0, "a"))
    assert desk.progress()["skipped"] == 0
    desk.undo("bob", "")
    desk.submit("bob", KEYS[0], Decision("skip", DOCUMENTS[0]))
    for number in range(1, 5):
        desk.submit("ada", KEYS[number], labelled(number, "a"))
    assert desk.assign("ada") is None


def test_another_order(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    desk.reorder([KEYS[3], "gone", KEYS[1]])
    assert [document.id for document in desk.waiting()] == ["3", "1", "0", "2", "4"]


def test_what_the_last_labels_changed(open_desk: Callable[[], TaskQueue]) -> None:
    desk = open_desk()
    desk.submit("ada", KEYS[0], labelled(0, "a", suggested=("a",)))
    desk.submit("ada", KEYS[1], labelled(1, "a", suggested=("b",)))
    desk.submit("ada", KEYS[2], labelled(2, suggested=("b",)))
    assert desk.recent_changes() == {
        "documents": 3,
        "changed": 2,
        "labels": [{"label": "b", "added": 0, "removed": 2}, {"label": "a", "added": 1, "removed": 0}],
    }
