"""Folders of results: what a killed process left there does not stand in the way of the next."""

from collections.abc import Callable
from pathlib import Path

import pytest

from funnelling.errors import InputError
from funnelling.evaluation.pieces import check_report_folder, check_results_folder
from funnelling.runtime.files import draft_in


@pytest.mark.parametrize("check", [check_report_folder, check_results_folder])
def test_a_folder_with_an_abandoned_draft_is_empty(
    check: Callable[[Path, bool], None], tmp_path: Path
) -> None:
    Path(draft_in(tmp_path)).write_text("half of a report")
    check(tmp_path, False)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").touch()
    with pytest.raises(InputError, match="Choose another path or add --force"):
        check(tmp_path, False)
