"""Values of options, as they are typed: what each kind may be."""

import argparse
from typing import TypeVar

from funnelling.errors import InputError, did_you_mean

Number = TypeVar("Number", int, float)


def seed(text: str) -> int:
    """A number that all random choices start from."""
    from funnelling.randomness import is_seed

    value = _parse(int, text, "a whole number")
    if not is_seed(value):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 0 to 2^64 - 1")
    return value


def count(text: str) -> int:
    """A number of something: 1 or more."""
    value = _parse(int, text, "a whole number")
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def probability(text: str) -> float:
    """A number from 0 to 1."""
    value = _parse(float, text, "a number")
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def shares(text: str) -> list[float]:
    """Numbers above 0, at most 1, with commas between them.

    >>> shares(".25,.5,1")
    [0.25, 0.5, 1.0]
    """
    values = [_parse(float, each, "a number") for each in text.split(",")]
    if not all(0 < value <= 1 for value in values):
        raise argparse.ArgumentTypeError(f"{text}: each share is above 0 and at most 1, such as .25,.5,1")
    return values


def model_folder(text: str) -> str:
    """The folder of a model that is here, and no address on the Hub."""
    from funnelling.storage.folders import folder_here

    try:
        folder_here(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from None
    return text


def journal(text: str) -> str:
    """The file of a journal, whose name tells other commands what it is."""
    if not text.endswith(".jsonl"):
        raise argparse.ArgumentTypeError(f"{text}: a journal is JSON Lines. Use a name that ends in .jsonl")
    return text


def languages(text: str) -> list[str]:
    """Language tags with commas between them."""
    from funnelling.text.languages import normalise_tag

    try:
        return [normalise_tag(tag) for tag in text.split(",")]
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from None


def known_languages(text: str) -> list[str]:
    """Tags or names of languages, with commas between them."""
    from funnelling.text.detection import undetectable

    tags = [known_language(tag) for tag in names(text)]
    if len(tags) > 1 and (unknown := undetectable(tags)):
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)} cannot be detected. Leave it out, and give such documents their language"
        )
    return tags


def known_language(text: str) -> str:
    """The tag or the name of a language that a standard knows."""
    from funnelling.text.languages import is_language, language_names, normalise_tag

    try:
        tag = normalise_tag(text)
    except InputError:
        tag = ""
    if tag and is_language(tag):
        return tag
    hint = did_you_mean(text.lower(), language_names())
    example = ". Write a code such as en or pt_BR, or a name such as German"
    raise argparse.ArgumentTypeError(f"no language {text!r}{hint or example}")


def language(text: str) -> str:
    """One language tag."""
    from funnelling.text.languages import normalise_tag

    try:
        return normalise_tag(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from None


def names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _parse(kind: type[Number], text: str, name: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {name}") from None
