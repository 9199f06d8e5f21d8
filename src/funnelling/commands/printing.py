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


def origin(command: str) -> dict[str, str]:
    """What JSON begins with: the command and the version that gave it."""
    from importlib.metadata import version

    return {"command": command, "version": version("funnelling")}


def print_json(value: Any) -> None:
    """Print a result as JSON, in UTF-8 whatever the terminal speaks."""
    from funnelling.formats.files import STANDARD, writing

    with writing(STANDARD) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_scores(scores: Any, paper: bool = False, *further: str) -> None:
    """Print the measures of a model by language, what its marks mean, and a line on its probabilities and
    its errors, with ``further`` sentences.
    """
    from funnelling.report.labels import calibration, most_often_missed
    from funnelling.report.measures import languages_table, notes
    from funnelling.report.tables import plain

    print(plain(languages_table(scores, paper)))
    sentences = [calibration(scores), *further, most_often_missed(scores)]
    lines = [*notes(scores, paper), " ".join(filter(None, sentences))]
    print("\n".join(["", *filter(None, lines)]))


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
