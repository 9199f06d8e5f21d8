"""Corpora in memory: labelled documents, reference corpora, the embedded sample, and descriptions of them."""

from funnelling.corpus.corpus import Corpus, make_corpus, name_languages, read_corpus

__all__ = ["Corpus", "make_corpus", "name_languages", "read_corpus"]
