"""The language tags that a model takes, as a pattern that a client can check."""

from string import ascii_lowercase

from funnelling.method.base import Method

LONGEST_TAG = 40
ANY_TAG = r"^(|[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)$"


def tag_pattern(model: Method) -> str:
    """A pattern of the tags that a model serves, in either case, plain or with subtags, or empty."""
    if model.serves("qaa"):  # a code that no language has: it serves all
        return ANY_TAG
    codes = [a + b for a in ascii_lowercase for b in ascii_lowercase]
    if any(model.serves(code) for code in codes if code not in model.languages_):
        return ANY_TAG
    return f"^(|{'|'.join(map(_spellings, model.languages_))})$"


def _spellings(tag: str) -> str:
    letters = "".join("[-_]" if c == "_" else f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in tag)
    return letters if "_" in tag else f"{letters}([-_][A-Za-z0-9]{{1,8}})*"
