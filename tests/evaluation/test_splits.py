"""Which documents a trial learns from and measures on."""

from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funnelling import Corpus, Document, InputError
from funnelling.evaluation.splits import hold_out, outer_folds, trial_split


def _corpus(rows: list[tuple[str, str | None, str | None]]) -> Corpus:
    """Documents of (language, group, split), labelled by turns."""
    return Corpus.from_documents(
        Document(
            str(i),
            f"text {i}",
            language=language,
            labels=(("a",), ("b",), ())[i // 2 % 3],
            split=split,
            group=group,
        )
        for i, (language, group, split) in enumerate(rows)
    )


def _sizes(corpus: Corpus) -> Counter[str | None]:
    return Counter(corpus.languages)


PLAIN = _corpus([(language, None, None) for language in ("en", "it") for _ in range(40)])
SPLIT = _corpus(
    [
        (language, f"{language}{i // 2}" if i % 3 else None, "test" if i % 10 < 4 else "train")
        for language, size in (("en", 100), ("it", 50))
        for i in range(size)
    ]
)


class TestWithoutSplits:
    def test_thirty_per_cent_of_each_language_are_for_test(self) -> None:
        train, test, _ = trial_split(PLAIN, 0, seed=0)
        assert _sizes(test) == {"en": 12, "it": 12}
        assert sorted(train.ids + test.ids) == sorted(PLAIN.ids)

    def test_seed_and_trial_draw_others(self) -> None:
        drawn = [
            tuple(trial_split(PLAIN, trial, seed)[1].ids) for trial, seed in [(0, 0), (1, 0), (0, 1), (0, 0)]
        ]
        assert len(set(drawn)) == 3
        assert drawn[0] == drawn[3]

    def test_every_document_has_its_chance_whatever_its_group(self) -> None:
        # 20 groups of 3 and 60 single documents: about 30 % of either are drawn.
        grouped = [("en", f"g{i // 3}", None) for i in range(60)]
        corpus = _corpus([*grouped, *[("en", None, None)] * 60])
        drawn = Counter(
            "grouped" if group else "single"
            for seed in range(40)
            for group in trial_split(corpus, 0, seed)[1].groups
        )
        shares = {kind: count / (40 * 60) for kind, count in drawn.items()}
        assert shares["grouped"] == pytest.approx(0.3, abs=0.04)
        assert shares["single"] == pytest.approx(0.3, abs=0.04)

    def test_unlabelled_documents_are_on_no_side(self) -> None:
        documents = [*PLAIN, *(Document(f"u{i}", "x", language="en") for i in range(20))]
        train, test, _ = trial_split(Corpus.from_documents(documents), 0, seed=0)
        assert len(train) + len(test) == len(PLAIN)


class TestWithSplits:
    def test_the_first_trial_is_the_files(self) -> None:
        train, test, _ = trial_split(SPLIT, 0, seed=5)
        assert (train.ids, test.ids) == (SPLIT.split("train").ids, SPLIT.split("test").ids)

    @pytest.mark.parametrize("trial", [1, 2, 7])
    def test_others_redraw_the_same_sizes_with_groups_on_one_side(self, trial: int) -> None:
        train, test, _ = trial_split(SPLIT, trial, seed=0)
        assert _sizes(test) == _sizes(SPLIT.split("test"))
        assert _sizes(train) == _sizes(SPLIT.split("train"))
        assert not set(train.groups) & set(test.groups) - {None}
        assert test.ids != SPLIT.split("test").ids

    def test_rows_without_a_split_are_on_no_side(self) -> None:
        corpus = _corpus([("en", None, split) for split in ["train", "test", None] * 10])
        for trial in (0, 1):
            train, test, _ = trial_split(corpus, trial, seed=0)
            assert None not in {*train.splits, *test.splits}
            assert (len(train), len(test)) == (10, 10)

    @settings(max_examples=40)
    @given(
        st.lists(
            st.tuples(st.sampled_from(["en", "it"]), st.sampled_from([None, "g", "h", "i", "j"])),
            min_size=12,
            max_size=40,
        ),
        st.integers(0, 5),
    )
    def test_laws(self, rows: list[tuple[str, str | None]], seed: int) -> None:
        corpus = _corpus([(*row, "test" if i % 3 == 0 else "train") for i, row in enumerate(rows)])
        try:
            train, test, _ = trial_split(corpus, 1, seed)
        except InputError:  # all in groups too large for test, or nothing left to learn
            return
        assert sorted([*train.ids, *test.ids]) == sorted(corpus.ids)
        assert not set(train.groups) & set(test.groups) - {None}
        # Never more test documents than the file has; fewer only where groups leave no choice.
        assert all(
            _sizes(test)[language] <= _sizes(corpus.split("test"))[language] for language in ("en", "it")
        )


class TestParallel:
    LANGUAGES = ("de", "en", "it")

    @pytest.fixture
    def corpus(self) -> Corpus:
        """30 training groups in one language each, the others parallel; 5 test groups in all languages."""
        rows: list[tuple[str, str | None, str | None]] = []
        for group in range(30):
            for number, language in enumerate(self.LANGUAGES):
                rows.append((language, f"g{group}", "train" if group % 3 == number else "parallel"))
        rows += [(language, f"t{group}", "test") for group in range(5) for language in self.LANGUAGES]
        return _corpus(rows)

    def test_no_trial_learns_from_two_versions(self, corpus: Corpus) -> None:
        for trial in range(4):
            train, test, _ = trial_split(corpus, trial, seed=0)
            assert Counter(train.groups) == {f"g{group}": 1 for group in range(30)}
            assert test.ids == corpus.split("test").ids

    def test_languages_are_redrawn(self, corpus: Corpus) -> None:
        languages = [tuple(trial_split(corpus, trial, seed=0)[0].languages) for trial in (0, 1, 2, 1)]
        assert len(set(languages)) == 3
        assert languages[1] == languages[3]
        together = Counter(language for drawn in languages for language in drawn)
        assert min(together[language] for language in self.LANGUAGES) > 20

    def test_all_documents_of_the_drawn_language_stay_together(self) -> None:
        rows: list[tuple[str, str | None, str | None]] = [
            (language, f"g{group}", "train" if language == "en" else "parallel")
            for group in range(12)
            for language in ("en", "it")
            for _ in range(2)
        ]
        corpus = _corpus([*rows, ("en", "t", "test"), ("it", "t", "test"), ("en", None, None)])
        train, _, _ = trial_split(corpus, 1, seed=0)
        by_group = Counter(zip(train.groups, train.languages, strict=True))
        assert len(by_group) == 12
        assert set(by_group.values()) == {2}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([("en", None, "train")] * 4, 'no labelled document to test on. Mark some with "split": "test"'),
        ([("en", None, "test")] * 4, "no labelled document to train on"),
        ([("en", None, None)], "no labelled document to test on"),
        ([("en", "g", None)] * 10, "no labelled document to test on"),
        ([("en", None, "train"), ("en", None, "test"), ("en", None, "test")], "nothing to learn, all 1"),
    ],
)
def test_what_leaves_nothing_to_do(rows: list[tuple[str, str | None, str | None]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        trial_split(_corpus(rows), 0, seed=0)


class TestOuterFolds:
    def test_are_even_in_every_language(self) -> None:
        folds = outer_folds(PLAIN, 5, seed=0)
        for rows in PLAIN.by_language().values():
            assert set(Counter(folds[rows].tolist()).values()) == {8}

    def test_keep_groups_together_across_languages(self) -> None:
        corpus = _corpus([(language, f"g{i}", None) for i in range(20) for language in ("en", "it")])
        folds = outer_folds(corpus, 5, seed=0)
        assert all(folds[2 * i] == folds[2 * i + 1] for i in range(20))
        assert len(np.unique(folds)) > 2

    def test_are_refused_at_once_where_a_document_has_no_language(self) -> None:
        documents = [Document(str(i), "text", "en" if i else None, ("a",)) for i in range(10)]
        with pytest.raises(InputError, match=r'^document "0" has no language'):
            outer_folds(Corpus.from_documents(documents), 5, seed=0)

    @pytest.mark.parametrize("documents", [0, 1, 2, 7])
    def test_may_be_more_than_the_documents_of_a_language(self, documents: int) -> None:
        rows: list[tuple[str, str | None, str | None]] = [("en", None, None)] * documents
        sizes = np.bincount(outer_folds(_corpus(rows), 5, seed=0), minlength=5)
        assert sizes.sum() == documents
        assert sizes.max() - sizes.min() <= 1


class TestHoldOut:
    ROWS: ClassVar[list[tuple[str, str | None, str | None]]] = [
        (language, None, split)
        for language in ("en", "it", "pt", "pt_BR")
        for split in ("train", "train", "test", "parallel")
    ]

    def test_a_language_is_measured_without_having_been_learned(self) -> None:
        train, test, parallel = hold_out(trial_split(_corpus(self.ROWS), 0, seed=0), ["it"])
        assert set(train.languages) == set(parallel.languages) == {"en", "pt", "pt_BR"}
        assert test.languages == ["it"]

    def test_regional_variants_go_with_their_language_and_not_the_other_way_round(self) -> None:
        trial = trial_split(_corpus(self.ROWS), 0, seed=0)
        train, test, _ = hold_out(trial, ["pt"])
        assert (set(train.languages), set(test.languages)) == ({"en", "it"}, {"pt", "pt_BR"})
        train, test, _ = hold_out(trial, ["pt_BR"])
        assert (set(train.languages), set(test.languages)) == ({"en", "it", "pt"}, {"pt_BR"})

    def test_scripts_too(self) -> None:
        rows: list[tuple[str, str | None, str | None]] = [
            (language, None, "test" if i % 3 == 0 else "train")
            for language in ("en", "sr", "sr_Latn")
            for i in range(12)
        ]
        trial = trial_split(_corpus(rows), 0, seed=0)
        train, test, _ = hold_out(trial, ["sr"])
        assert (set(train.languages), set(test.languages)) == ({"en"}, {"sr", "sr_Latn"})
        train, test, _ = hold_out(trial, ["sr_Latn"])
        assert (set(train.languages), set(test.languages)) == ({"en", "sr"}, {"sr_Latn"})

    def test_what_cannot_be_held_out_is_named(self) -> None:
        trial = trial_split(_corpus(self.ROWS), 0, seed=0)
        with pytest.raises(InputError, match=r"^no test document is in 'fr', which is to be held out\.$"):
            hold_out(trial, ["it", "fr"])
        with pytest.raises(InputError, match="nothing is left to learn from"):
            hold_out(trial, ["en", "it", "pt"])


def test_further_versions_of_training_documents_are_kept_apart() -> None:
    rows: list[tuple[str, str | None, str | None]] = [
        (language, f"g{group}", "train" if (language == "en") == (group % 2 == 0) else "parallel")
        for group in range(8)
        for language in ("en", "it")
    ]
    corpus = _corpus([*rows, ("en", "t", "test"), ("it", "t", "test")])
    for number in range(3):
        train, _, parallel = trial_split(corpus, number, seed=0)
        assert sorted(train.ids + parallel.ids) == sorted(corpus.select(range(16)).ids)
        assert Counter(parallel.groups) == Counter(train.groups)


def test_copies_of_a_text_are_in_one_fold_and_on_one_side() -> None:
    corpus = Corpus.from_documents(
        Document(str(i), f"Text {i % 30} " if i < 30 else f"text  {i % 30}", "en", (("a",), ("b",))[i % 2])
        for i in range(90)
    )
    for sides in (outer_folds(corpus, 5, 0).tolist(), _sides(corpus)):
        assert all(len({sides[i], sides[i + 30], sides[i + 60]}) == 1 for i in range(30))


def _sides(corpus: Corpus) -> list[bool]:
    test = set(trial_split(corpus, 0, 0).test.ids)
    return [name in test for name in corpus.ids]
