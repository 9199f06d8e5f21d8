"""Tables as comma-separated values that a spreadsheet opens without running anything."""

import csv
import io

from funnelling.formats.parquet import defused
from funnelling.report.tables import Table, full_header


def comma_separated(table: Table) -> str:
    r"""A table as CSV, titles of groups before those of their columns.

    >>> comma_separated(Table(["language", "Naive"], [["=1+1", "-.5"]], [("F1", 1)]))
    "language,F1 Naive\r\n'=1+1,-.5\r\n"
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    for row in [full_header(table), *table.rows]:
        writer.writerow([defused(cell) for cell in row])
    return stream.getvalue()
