"""The embedded corpus: descriptions of Debian packages, enough to see every method and command work."""

from importlib.resources import as_file, files

from funnelling.corpus.corpus import Corpus, read_corpus

FILE = "sample.jsonl.gz"


def read_sample() -> Corpus:
    """The embedded corpus, with splits train and test.

    >>> corpus = read_sample()
    >>> len(corpus), len(corpus.by_language()), len(corpus.label_set()), sorted(set(corpus.splits))
    (2450, 7, 32, ['test', 'train'])
    """
    with as_file(files("funnelling.corpus") / FILE) as path:
        return read_corpus(path)
