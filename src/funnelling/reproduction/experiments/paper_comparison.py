"""Tables that set the paper's figures beside ours."""

from collections.abc import Mapping

from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES
from funnelling.methods.registry import title
from funnelling.report.content import TableBlock
from funnelling.report.tables import Table, number
from funnelling.reproduction.experiments.paper import KINDS, PaperScores


def compare_with_paper(
    name: str,
    ours: Mapping[str, Mapping[str, float]],
    theirs: PaperScores,
    corpus: str,
    titles: Mapping[str, str] | None = None,
) -> list[TableBlock]:
    """A table of what both have, with the difference; none where nothing is in both."""
    shared = [key for key in ours if key in theirs]
    if not shared:
        return []
    rows = []
    for key in shared:
        cells = [(titles or {}).get(key) or title(key)]
        for measure, value in zip(PAPER_MEASURES, theirs[key], strict=True):
            difference = ours[key][measure] - value
            cells += [
                number(ours[key][measure]),
                number(value),
                f"{'+' if difference >= 0 else ''}{number(difference)}",
            ]
        rows.append(cells)
    header = ["method", *(["here", "paper", "difference"] * len(PAPER_MEASURES))]
    groups = [(MEASURES[measure].title, 3) for measure in PAPER_MEASURES]
    note = (
        f"The paper's figures are for {corpus}, its {KINDS[corpus]} corpus. On other documents levels "
        "differ; what can be compared is which method is above which."
    )
    return [TableBlock(name, "Beside the paper", Table(header, rows, groups), [note])]
