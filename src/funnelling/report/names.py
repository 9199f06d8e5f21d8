"""Names of blocks as files and as places on the page: safe, and no two the same."""

import re
from collections.abc import Iterator

from funnelling.report.content import Block, Report, Section

_UNSAFE = re.compile(r"[^a-z0-9]+")


class Names:
    """Hands out names of lower-case letters, digits and hyphens, no two the same.

    >>> names = Names()
    >>> names.give("Per language"), names.give("per-language"), names.give("../ü")
    ('per-language', 'per-language-2', 'part')
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def give(self, wish: str) -> str:
        base = _UNSAFE.sub("-", wish.lower())[:80].strip("-") or "part"
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}-{count}"
        self._names.add(name)
        return name


def named_sections(report: Report) -> Iterator[tuple[str, Section, list[tuple[str, Block]]]]:
    """The sections of a report with the names of each and of its blocks, which are the same at every call."""
    sections, blocks = Names(), Names()
    for section in report.sections:
        yield (
            sections.give(section.name or section.title),
            section,
            [(blocks.give(block.name or block.title), block) for block in section.blocks],
        )
