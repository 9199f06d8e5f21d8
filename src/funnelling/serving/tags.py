"""The language tags that a model serves: as a pattern for clients, and as a check."""

from collections.abc import Callable
from functools import lru_cache
from string import ascii_lowercase
from typing import Any

from pydantic_core import PydanticCustomError

from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.methods.model import Model
from funnelling.serving.schema import MAX_TAG_CHARACTERS
from funnelling.text.languages import is_language, is_served, normalise_tag

ANY_TAG = r"^(|[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)$"
_SUBTAGS = "([-_][A-Za-z0-9]{1,8})*"


def tag_pattern(model: Model) -> str:
    """A pattern of the tags that a model serves, in either case, plain or with subtags, or empty."""
    if model.serves("qaa"):  # a code that no language has: it serves all
        return ANY_TAG
    codes = [a + b for a in ascii_lowercase for b in ascii_lowercase]
    if any(model.serves(code) for code in codes if not is_served(code, model.languages)):
        return ANY_TAG
    return f"^(|{'|'.join(_spellings(tag, model) for tag in model.languages)})$"


def _spellings(tag: str, model: Model) -> str:
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


def tag_schema(pattern: str) -> dict[str, Any]:
    """Tags of a pattern, as OpenAPI has them."""
    return {"type": "string", "pattern": pattern, "maxLength": MAX_TAG_CHARACTERS}


def tag_check(model: Model) -> Callable[[str], str]:
    """A validator of tags that a model serves."""
    known = ", ".join(model.languages)

    @lru_cache(maxsize=1_024)
    def serves(tag: str) -> bool:
        try:
            return tag == tag.strip() and model.serves(normalise_tag(tag))
        except InputError:
            return False

    def check(tag: str) -> str:
        if tag and (len(tag) > MAX_TAG_CHARACTERS or not serves(tag)):
            raise PydanticCustomError(
                "language", f"the model does not know the language {quoted(tag)}, only {known}"
            )
        return tag

    return check
