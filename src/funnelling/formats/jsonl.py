"""JSON Lines: one object per line, the canonical form of documents."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn

from funnelling.errors import InputError
from funnelling.formats.files import reading, shown_name, text_lines, writing


def read(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """Each object with the number of its line; blank lines are passed over."""
    name = shown_name(path)
    with reading(path) as stream:
        for number, line in text_lines(stream, name):
            if line and not line.isspace():
                yield number, _parse(line.rstrip(), f"{name}:{number}")


def write(path: str | os.PathLike[str], records: Iterable[Mapping[str, object]], force: bool) -> None:
    """One object per line, characters of every script as themselves."""
    with writing(path, force) as stream:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _parse(line: str, place: str) -> dict[str, object]:
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{place}: not JSON ({error.msg}, column {error.colno}). "
            "Write one object per line, as jq -c does."
        ) from None
    except RecursionError:
        raise InputError(f"{place}: JSON nested too deeply. Write one flat object per line.") from None
    except ValueError as error:
        # A constant that JSON lacks, or a number with more digits than Python accepts.
        raise InputError(f"{place}: not JSON ({error}). Write null, or quote the number.") from None
    if not isinstance(value, dict):
        raise InputError(f'{place}: not a JSON object. Write {{"text": …}}, one object per line.')
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"it has no {constant}")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
