"""Descriptions of Debian packages that carry no debtags: one group per source package.

Labelled corpora are made of the packages with tags. What is here is of other sources altogether, so that
no text of a test set, nor one much like it, is read beforehand.
"""

from collections.abc import Sequence
from pathlib import Path

from funnelling.reproduction.corpora.aligned_groups import documents_of, groups_in_all, none_left, too_short
from funnelling.reproduction.corpora.builders import BuiltCorpus, normal_languages, omissions_in_words
from funnelling.reproduction.corpora.debian_index import (
    Key,
    Package,
    indices_for,
    one_per_source,
    read_descriptions,
    read_packages,
    same_wording,
)
from funnelling.runtime.progress import progress_bar

LANGUAGES = ("da", "de", "en", "fr", "it")
MIN_WORDS = 5

_ENGLISH = "en"


def build_debian_untagged(
    languages: Sequence[str] = LANGUAGES,
    sources: Sequence[Path] = (),
    min_words: int = MIN_WORDS,
    verbose: int = 0,
) -> BuiltCorpus:
    """A description of each source none of whose packages is tagged, where one is in all languages.

    ``sources`` are folders of index files; without any, apt fetches them.
    """
    languages = normal_languages(languages)
    with (
        indices_for(sorted({*languages, _ENGLISH}), sources, verbose) as indices,
        progress_bar("read indices", None, bool(verbose), "packages") as advance,
    ):
        packages = read_packages(indices, advance)
        candidates = _untagged(packages)
        english = read_descriptions(indices, _ENGLISH, advance)
        texts: dict[str, dict[Key, str]] = {}
        for language in languages:
            descriptions = english if language == _ENGLISH else read_descriptions(indices, language, advance)
            texts[language] = {
                key: text
                for key, text in descriptions.items()
                if key in candidates
                and (language == _ENGLISH or not same_wording(text, english.get(key, "")))
            }
    complete = groups_in_all(texts, min_words)
    representatives = one_per_source(candidates[key] for key in complete)
    if not representatives:
        raise none_left("untagged package", languages, min_words)
    by_source = {
        language: {source: descriptions[package.key] for source, package in representatives.items()}
        for language, descriptions in texts.items()
    }
    keys = {package.key for package in packages}
    return BuiltCorpus(
        documents_of("debian", sorted(representatives), by_source),
        omissions_in_words(
            (len(keys) - len(candidates), "package", "of sources with tags"),
            (len(candidates) - len(complete), "package", too_short(min_words)),
            (len(complete) - len(representatives), "package", "beside another one of the source"),
        ),
    )


def _untagged(packages: Sequence[Package]) -> dict[Key, Package]:
    tagged = {package.source for package in packages if package.tags}
    return {package.key: package for package in packages if package.source not in tagged}
