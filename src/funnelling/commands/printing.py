"""How commands answer: results on standard output, what is going on on standard error."""

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from funnelling.evaluation.change import BeforeAfterMetrics

MIN_WIDTH, MAX_WIDTH = 60, 110  # of lines of text


def program() -> str:
    """The command as it can be typed: by name where the shell finds it, else as it was typed."""
    typed = sys.argv[0]
    known = shutil.which("funnelling") or os.path.basename(typed) != "funnelling"
    return "funnelling" if known else typed


def text_width() -> int:
    """How wide lines of text are: as the terminal, within bounds."""
    return min(max(MIN_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 0)).columns), MAX_WIDTH)


def print_json(value: Any) -> None:
    """Print a result as JSON, in UTF-8 whatever the terminal speaks."""
    from funnelling.formats.files import STANDARD, writing

    with writing(STANDARD) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_scores(scores: Any, how: str = "") -> None:
    """Print the measures of a model by language, how they were measured, and what stands beside them."""
    from funnelling.report.measures import languages_table, most_often_confused, notes, rates
    from funnelling.report.tables import plain

    print(plain(languages_table(scores)))
    if how:
        print(how)
    print("\n".join([*notes(scores), *most_often_confused(scores)]))
    if "recall" in scores:
        print(rates(scores))


def print_change(change: "BeforeAfterMetrics") -> None:
    """Print a model's metrics before and after a change, on documents unseen by both."""
    from funnelling.report.measures import change_table
    from funnelling.report.tables import plain

    if not change.after:
        print("Not measured: there are no test documents, and the model stores no out-of-fold scores.")
        return
    print("Before and after, on the same documents, unseen by both models:")
    averages = (change.average_before, change.average_after) if len(change.before) > 1 else None
    print(plain(change_table(change.before, change.after, averages, change.on)))
