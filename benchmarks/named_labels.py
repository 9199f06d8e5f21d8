"""What names of labels are worth to `fun-many`: help pages under the entries of their index, in 11 languages.

``python benchmarks/named_labels.py FOLDER`` reads Debian's packages ``libreoffice-help-XX`` (da, de, en-us,
es, fi, fr, hu, it, nl, pt, sv; `apt-get download`). A page's labels are the main entries that its English
index has for it. What an entry is called in another language is read off the indices: the entry there that
most often stands for the same places. Three pages in ten are for test, in all languages; each of the others
is learned from in one language. Printed are measures of rankings without a label set and with it, and recall
among the first ten labels, for those that some training document has and for those that none has.
"""

import argparse
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import measuring
from funnelling import Corpus, Document
from funnelling.corpus.label_set import Label, LabelSet
from funnelling.errors import InputError
from funnelling.evaluation.ranking import RankedHits, rank
from funnelling.evaluation.registry import RANKED_MEASURES, measure_ranked
from funnelling.funnel.estimator import ManyLabelsClassifier
from funnelling.research.corpora.apt import files_in
from funnelling.research.corpora.libreoffice import LANGUAGES, build_libreoffice_help

MEASURES = ("p_at_1", "p_at_3", "p_at_5", "ndcg_at_5", "r_at_10")
ALIKE = 0.6  # how alike the places of two entries have to be, by Dice's coefficient, to be each other's names
ENTRY = re.compile(r'\{url:"([^"]*)", app:"[^"]*", text:"(.*?)"\}')

Index = dict[tuple[str, str], set[str]]  # the main entries of each place: a page, and a mark in it


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the packages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    indices = {tag: _index(given.folder, tag) for tag in LANGUAGES}
    documents = list(_documents(given.folder, indices["en"]))
    train, test = (
        Corpus.from_documents(each for each in documents if each.split == split)
        for split in ("train", "test")
    )
    labels = {label for each in documents for label in each.labels or ()}
    names = _names(indices, labels)
    results = {
        "documents": {"train": len(train), "test": len(test)},
        "labels": {"train": len(train.label_set()), "test alone": len(labels) - len(train.label_set())},
        "without names": _measured(train, test, None, given),
        "with names": _measured(train, test, names, given),
    }
    print(json.dumps(results, indent=1) if given.json else _shown(results))


def _index(folder: Path, language: str) -> Index:
    """The main entries of a language's index: what stands before the dash."""
    code = "en-us" if language == "en" else language
    packages = sorted(folder.glob(f"libreoffice-help-{code}_*.deb"))
    if not packages:
        raise InputError(f"{folder}: no package libreoffice-help-{code}. Download it with apt-get download.")
    found: Index = defaultdict(set)
    for _, content in files_in(packages[0], lambda name: name.endswith("/bookmarks.js")):
        for address, text in ENTRY.findall(content.decode()):
            page, _, mark = address.partition("/text/")[2].partition("?")
            found[page.removesuffix(".html"), mark.partition("#")[2]].add(text.split(" -- ")[0].strip())
    return found


def _documents(folder: Path, index: Index) -> Iterator[Document]:
    """The pages that the index leads to: those for test in all languages, each of the others in one."""
    entries: dict[str, set[str]] = defaultdict(set)
    for (page, _), own in index.items():
        entries[page] |= own
    for each in build_libreoffice_help(sources=[folder]).documents:
        page = str(each.group)
        number = int(hashlib.md5(page.encode(), usedforsecurity=False).hexdigest(), 16)
        is_test = number % 10 < 3
        if page in entries and (is_test or LANGUAGES[(number // 10) % len(LANGUAGES)] == each.language):
            split = "test" if is_test else "train"
            yield Document(each.id, each.text, each.language, tuple(sorted(entries[page])), split, page)


def _names(indices: Mapping[str, Index], labels: set[str]) -> LabelSet:
    """What labels are called in each language."""
    english = indices["en"]
    names = {label: {"en": label} for label in labels}
    places = Counter(entry for own in english.values() for entry in own)
    for language in set(LANGUAGES) - {"en"}:
        theirs = indices[language]
        times = Counter(entry for own in theirs.values() for entry in own)
        both = Counter(
            (entry, other)
            for place, own in theirs.items()
            for entry in english.get(place, ())
            for other in own
        )
        for (entry, other), shared in sorted(both.items(), key=lambda item: (item[1], item[0])):
            alike = 2 * shared / (places[entry] + times[other])
            if entry in labels and alike >= ALIKE and other != entry:
                names[entry][language] = other
    return LabelSet.of(Label(label, names[label]) for label in sorted(labels))


def _measured(
    train: Corpus, test: Corpus, names: LabelSet | None, given: argparse.Namespace
) -> dict[str, Any]:
    model = ManyLabelsClassifier(label_set=names, random_state=given.seed, n_jobs=given.jobs)
    model.fit(train.texts, train.labels, train.languages, groups=train.groups)
    answers = model.predict_proba(test.texts, test.languages)
    learned = model.classes_.tolist()
    classes = [*learned, *sorted(set(test.label_set()) - set(learned))]
    wide = sparse.csr_array((answers.data, answers.indices, answers.indptr), (len(test), len(classes)))
    truth, ranked = test.sparse_label_matrix(classes), rank(wide)
    shares = measure_ranked(RankedHits.of(truth, ranked))
    rows, columns = truth.nonzero()
    found = (ranked[rows, :10] == columns[:, None]).any(axis=1)
    seen = np.isin(columns, [classes.index(label) for label in train.label_set()])
    return {
        **{name: shares[name].of(slice(None)) for name in MEASURES},
        "seen": float(found[seen].mean()),
        "unseen": float(found[~seen].mean()),
    }


def _shown(results: Mapping[str, Any]) -> str:
    titles = [*(RANKED_MEASURES[name].title for name in MEASURES), "seen", "unseen"]
    lines = [json.dumps({name: results[name] for name in ("documents", "labels")})]
    lines.append(f"{'':16}" + "".join(f"{title:>9}" for title in titles))
    for name in ("without names", "with names"):
        lines.append(f"{name:16}" + "".join(f"{value:9.4f}" for value in results[name].values()))
    return "\n".join(lines)


if __name__ == "__main__":
    measuring.run(main)
