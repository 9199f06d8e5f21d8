"""Tables as comma-separated values that a spreadsheet opens without running anything."""

import csv
import io
import re

from funnelling.report.tables import Table, full_header

_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?%?", re.ASCII)
_COMMANDS = ("=", "+", "-", "@", "\t", "\r")


def is_number(cell: str) -> bool:
    """Whether a cell is a number and nothing else.

    >>> is_number("-.05"), is_number("1e-6"), is_number(".5 ± .1"), is_number("")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(cell) is not None


def comma_separated(table: Table) -> str:
    r"""A table as CSV, titles of groups before those of their columns.

    >>> comma_separated(Table(["language", "Naive"], [["=1+1", "-.5"]], [("F1", 1)]))
    "language,F1 Naive\r\n'=1+1,-.5\r\n"
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    for row in [full_header(table), *table.rows]:
        writer.writerow([_defused(cell) for cell in row])
    return stream.getvalue()


def _defused(cell: str) -> str:
    """A cell that a spreadsheet does not take for a formula."""
    return f"'{cell}" if cell.startswith(_COMMANDS) and not is_number(cell) else cell
