"""Cut the embedded corpus out of a corpus of Debian package descriptions.

    python scripts/cut_sample.py debian-comparable-11.jsonl.gz src/funnelling/datasets/sample.jsonl.gz

Seven languages, 250 training and 100 test documents each, the 32 labels most frequent among them. The
documents of a language are drawn in the order of a hash of their ids, so the cut depends on nothing else.
"""

import hashlib
import sys
from collections import Counter
from dataclasses import replace

from funnelling.formats import Document, read_documents, write_documents

LANGUAGES = ("da", "de", "en", "es", "fr", "it", "pt")
SIZES = {"train": 250, "test": 100}
LABELS = 32


def cut(source: str, target: str) -> None:
    """Write the sample of a corpus."""
    chosen: list[Document] = []
    documents = sorted(read_documents(source), key=lambda d: hashlib.md5(d.id.encode()).digest())
    for language in LANGUAGES:
        for split, size in SIZES.items():
            chosen += [d for d in documents if (d.language, d.split) == (language, split)][:size]
    frequent = Counter(label for d in chosen if d.split == "train" for label in d.labels or ())
    kept = {label for label, _ in frequent.most_common(LABELS)}
    cut_down = [replace(d, labels=tuple(label for label in d.labels or () if label in kept)) for d in chosen]
    cut_down.sort(key=lambda d: (d.split != "train", d.language, d.id))
    write_documents(target, cut_down, force=True)


if __name__ == "__main__":
    cut(*sys.argv[1:])
