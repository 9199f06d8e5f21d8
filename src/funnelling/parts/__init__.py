"""Corpora larger than memory: folders of Parquet parts, learned from and labelled part by part.

The words of each part are counted once and kept in a work folder; vocabularies are merged from these counts,
and vectors stand on the disk, mapped into memory. What is finished stays, so work that was interrupted goes
on where it stopped.
"""
