"""The language tags that a model takes, as a pattern that a client can check."""

from string import ascii_lowercase

from funnelling.methods.model import Method
from funnelling.text.languages import is_language, is_served, normalise_tag

LONGEST_TAG = 40
ANY_TAG = r"^(|[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)$"
_SUBTAGS = "([-_][A-Za-z0-9]{1,8})*"


def tag_pattern(model: Method) -> str:
    """A pattern of the tags that a model serves, in either case, plain or with subtags, or empty."""
    if model.serves("qaa"):  # a code that no language has: it serves all
        return ANY_TAG
    codes = [a + b for a in ascii_lowercase for b in ascii_lowercase]
    if any(model.serves(code) for code in codes if not is_served(code, model.languages_)):
        return ANY_TAG
    return f"^(|{'|'.join(_spellings(tag, model) for tag in model.languages_)})$"


def _spellings(tag: str, model: Method) -> str:
    """A pattern of a language by each of its codes; one that is served as such may have any subtags."""
    if not is_language(tag):
        return _in_any_case(tag) + ("" if "_" in tag else _SUBTAGS)
    language, *subtags = normalise_tag(tag).split("_")
    codes = "|".join(map(_in_any_case, _codes(language)))
    if model.serves(language):
        return f"({codes}){_SUBTAGS}"
    return "[-_]".join([f"({codes})", *map(_in_any_case, subtags)])


def _codes(language: str) -> list[str]:
    """The codes of a language in ISO 639-1 and -2."""
    from langcodes import Language

    longer = {Language.get(language).to_alpha3(variant) for variant in "TB"}
    return [language, *sorted(code for code in longer - {language} if normalise_tag(code) == language)]


def _in_any_case(tag: str) -> str:
    return "".join("[-_]" if c == "_" else f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in tag)
