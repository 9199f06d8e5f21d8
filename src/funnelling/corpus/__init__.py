"""Corpora in memory: labelled documents, label sets, reference corpora, the embedded sample, findings."""

from funnelling.corpus.corpus import Corpus, make_corpus, name_languages, read_corpus

__all__ = ["Corpus", "make_corpus", "name_languages", "read_corpus"]
