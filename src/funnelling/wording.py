"""Phrases that messages and tables share."""


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "label"), counted(2_000, "label")
    ('1 label', '2,000 labels')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
