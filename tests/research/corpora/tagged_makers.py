"""Archives of packages with tags, in the layout of Debian's indices."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.research.corpora.makers import stanza, write_indices


class Made(NamedTuple):
    """A package to write, its languages in a string such as "en it"; its source is its name unless given."""

    name: str
    tags: str
    languages: str
    source: str = ""
    md5: str = ""

    @property
    def key(self) -> dict[str, str]:
        return {"Package": self.name, "Description_md5": self.md5 or f"md5-{self.name}"}


def text_of(name: str, language: str) -> str:
    return f"{name} in words of {language}"


def write_archive(
    folder: Path,
    packages: Sequence[Made],
    languages: str = "",
    order: Callable[[list[str]], Iterable[str]] = iter,
) -> Path:
    """The indices of packages; order may shuffle their stanzas. Languages without any get an empty index."""
    codes = {"en", *languages.split(), *(code for package in packages for code in package.languages.split())}
    entries = [
        stanza(
            Package=package.name,
            Source=package.source or package.name,
            Version="1",
            Description_md5=package.key["Description_md5"],
            **({"Tag": package.tags} if package.tags else {}),
        )
        for package in packages
    ]
    translations = {
        code: order(
            [
                stanza(**package.key, **{f"Description_{code}": text_of(package.name, code)})
                for package in packages
                if code in package.languages.split()
            ]
        )
        for code in sorted(codes)
    }
    return write_indices(folder, order(entries), translations)


def comparable_packages(number: int = 300) -> list[Made]:
    """Packages of which all are described in English, three in four in Italian, half in French.

    Every third source has two packages. Each package has a role, one of four fields, one of three
    interfaces, and a tag of its own.
    """
    packages = []
    for i in range(number):
        languages = ("en", "en it fr", "en it", "en it fr")[i % 4]
        tags = f"role::program, field::{{f{i % 4},own{i}}}, interface::i{i % 3}"
        packages.append(Made(f"p{i:03}", tags, languages))
        if i % 3 == 0:
            packages.append(Made(f"p{i:03}-data", tags, languages, source=f"p{i:03} (1.{i})"))
    return packages
