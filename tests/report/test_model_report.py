"""The report on one model: what it says, that no text becomes markup, and that it is always the same."""

from typing import Any

import numpy as np
import pytest

from funnelling import Corpus, Document
from funnelling.evaluation.errors import measure_with_errors
from funnelling.evaluation.measuring import model_scores
from funnelling.methods.learning import Method
from funnelling.report.content import Report, Section, Texts
from funnelling.report.model import NO_TEXTS, model_report, model_sections, model_summary
from funnelling.report.rendering import html_page, markdown_page
from funnelling.research import NaiveClassifier
from funnelling.storage import describe_model, save
from tests.evaluation.mistakes import mislabelled
from tests.funnels import any_funnel

from .reading import read_page

HOSTILE = "<script>alert(1)</script> \"'>&amp; | = loan"


def _described(tmp_path: Any, model: Any, result: dict[str, Any]) -> dict[str, Any]:
    save(model, tmp_path / "model", scores=model_scores(result))
    return describe_model(tmp_path / "model")


@pytest.fixture
def measured(tmp_path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The description of a model and its measures in full."""
    test = mislabelled()
    model = Method.of(any_funnel(random_state=0)).fit(test)
    test.texts[6] = HOSTILE  # one of those with wrong labels
    result = measure_with_errors(model, test)
    return _described(tmp_path, model, result), {**result, "evaluated_on": "Measured on itself."}


def _titles(sections: list[Section]) -> list[str]:
    return [section.name for section in sections]


class TestAMeasuredModel:
    def test_every_question_has_its_section(self, measured: Any) -> None:
        assert _titles(model_sections(*measured)) == [
            "measures",
            "labels",
            "confused",
            "probabilities",
            "errors",
            "choice",
            "training",
        ]

    def test_the_summary_says_how_good_it_is(self, measured: Any) -> None:
        summary = model_report(*measured).summary
        assert list(summary)[:2] == ["What was measured", "micro-F1"]
        assert summary["Better than a constant?"].startswith("Yes: ")
        assert "Better than a baseline?" in summary

    def test_the_worst_label_comes_first(self, measured: Any) -> None:
        (labels,) = [section for section in model_sections(*measured) if section.name == "labels"]
        table, bars = labels.blocks[0], labels.blocks[1]
        assert [row[0] for row in table.table.rows] == [row["label"] for row in measured[1]["by_label"]]  # type: ignore[union-attr]
        assert list(bars.categories) == [row["label"] for row in measured[1]["by_label"]]  # type: ignore[union-attr]

    def test_all_candidates_are_shown_and_the_one_that_was_chosen(self, measured: Any) -> None:
        (choice,) = [section for section in model_sections(*measured) if section.name == "choice"]
        rows = choice.blocks[0].table.rows  # type: ignore[union-attr]
        assert len(rows) == 7
        (chosen,) = [row[0] for row in rows if row[1] == "chosen"]
        assert f"Chose {chosen}" in choice.paragraphs[0]

    def test_texts_are_shown_as_they_are_with_their_words_marked(self, measured: Any) -> None:
        page = read_page(html_page(model_report(*measured)))
        assert page.all("script") == []
        texts = ["".join(text.text.split()) for text in page.all("p") if "marked" in text.classes]
        assert "".join(HOSTILE.split()) in texts
        marks = [mark for mark in page.all("mark") if mark.text in ("loan", "game", "bank", "ball")]
        assert marks
        assert all({"for", "against"} & set(mark.classes) and mark.attributes["title"] for mark in marks)

    def test_the_page_names_no_time_and_no_place(self, measured: Any) -> None:
        report = model_report(*measured)
        assert not {"Date", "Time", "Machine", "Command"} & set(report.facts)
        assert html_page(report) == html_page(model_report(*measured))

    def test_in_markdown_the_errors_are_a_table(self, measured: Any) -> None:
        text = markdown_page(model_report(*measured))
        assert "| document | language |" in text
        (errors,) = [each for each in model_sections(*measured) if each.name == "errors"]
        header = errors.blocks[0].table().header  # type: ignore[operator]
        assert len(set(header)) == len(header)  # as data frames want it
        assert "<script>" not in text.replace("\\<script", "")


def test_without_texts_the_report_says_where_they_are(measured: Any) -> None:
    description, details = measured
    del details["errors"]
    (section,) = [each for each in model_sections(description, details) if each.name == "errors"]
    assert section.paragraphs == [NO_TEXTS]
    assert "loan" not in html_page(Report("", sections=model_sections(description, details)))


def test_a_model_that_was_not_measured(tmp_path: Any) -> None:
    model = Method.of(NaiveClassifier(C=1, random_state=0)).fit(mislabelled())
    save(model, tmp_path / "model")
    report = model_report(describe_model(tmp_path / "model"), {"evaluated_on": "Not measured."})
    assert _titles(list(report.sections)) == ["training"]
    assert report.summary == {}
    assert "Not measured." in html_page(report)


def test_a_model_without_errors(tmp_path: Any) -> None:
    train = Corpus.from_documents(
        Document(f"{i}", word, language="en", labels=(label,))
        for i in range(20)
        for word, label in (("loan", "money"), ("game", "sport"))
    )
    model = Method.of(NaiveClassifier(C=10, random_state=0)).fit(train)
    result = measure_with_errors(model, train)
    sections = model_sections(_described(tmp_path, model, result), result)
    (section,) = [each for each in sections if each.name == "errors"]
    assert section.paragraphs == ["Nothing that was measured is wrong."]


def test_one_label_per_document_has_a_matrix(tmp_path: Any) -> None:
    train = mislabelled(one_label=True)
    model = Method.of(NaiveClassifier(C=10, random_state=0)).fit(train)
    result = measure_with_errors(model, train)
    described = _described(tmp_path, model, result)
    constant = model_summary(described["scores"], result)["Better than a constant?"]
    assert constant.startswith("Yes: ")
    assert constant.endswith(" for all")
    sections = {each.name: each for each in model_sections(described, result)}
    matrix = sections["confused"].blocks[0]
    assert np.sum(matrix.values) == len(train)  # type: ignore[union-attr]
    texts = sections["errors"].blocks[0]
    assert isinstance(texts, Texts)
    assert all({"Wrong", "Missed"} <= set(text.facts) for text in texts.texts)
