"""How commands answer: results on standard output, what is going on on standard error."""

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from funnelling.tasks.growing import GrownModel


def say(line: str) -> None:
    """Say what is going on; standard output is for results."""
    print(line, file=sys.stderr, flush=True)


def program() -> str:
    """The command as it can be typed: by name where the shell finds it, else as it was typed."""
    import shutil

    typed = sys.argv[0]
    known = shutil.which("funnelling") or os.path.basename(typed) != "funnelling"
    return "funnelling" if known else typed


def print_json(value: Any) -> None:
    """Print a result as JSON, in UTF-8 whatever the terminal speaks."""
    from funnelling.formats.files import STANDARD, writing

    with writing(STANDARD) as stream:
        stream.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_scores(scores: Any, how: str = "") -> None:
    """Print the measures of a model by language, how they were measured, and what stands beside them."""
    from funnelling.report.measure_tables import languages_table, most_often_confused, notes, rates
    from funnelling.report.tables import plain

    print(plain(languages_table(scores)))
    if how:
        print(how)
    print("\n".join([*notes(scores), *most_often_confused(scores)]))
    if "recall" in scores:
        print(rates(scores))


def print_growth(growth: "GrownModel", folder: str) -> None:
    """Print what has changed since a model learned on."""
    from funnelling.report.measure_tables import change_table
    from funnelling.report.tables import plain
    from funnelling.wording import counted

    if growth.test_documents:
        print(f"On {counted(growth.test_documents, 'test document')}, before and after:")
        print(plain(change_table(*growth.on_test)))
    print("On training documents that were held out, before and after:")
    print(plain(change_table(*growth.on_held_out)))
    if growth.corrected:
        print(f"Known already, with the labels given now: {counted(growth.corrected, 'document')}")
    if growth.new_labels:
        print(f"New labels: {growth.new_labels}")
    if growth.model.shared_views_:
        print(f"Views that all languages share stay as they were: {', '.join(growth.model.shared_views_)}")
    if growth.model.zero_shot is not None:
        print("Languages without training documents are labelled as before.")
    print(f"Model: {folder}")
