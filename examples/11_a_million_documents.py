"""
A million documents
===================

An archive exports its records every night as Parquet, some ten thousand documents to a file. The folder is
larger than the memory of the machine that is to learn from it. :doc:`/scale` tells how that is done and what
it costs; this shows it, with a folder as large as you like::

    FUNNELLING_EXAMPLE_DOCUMENTS=1000000 python examples/11_a_million_documents.py
"""

# %%
# A folder of parts
# -----------------
#
# Documents are drawn, for no corpus of a million comes with a package: four languages, twenty labels, forty
# words per document, of which some are typical of its labels and most are not. They are written part by part,
# so this script holds one part at a time as well.

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from funnelling import Document, write_documents

DOCUMENTS = int(os.environ.get("FUNNELLING_EXAMPLE_DOCUMENTS", "3000"))
PART = min(10_000, max(1, DOCUMENTS // 6))
LANGUAGES = ["de", "en", "fr", "it"]
LABELS = [f"label-{number:02}" for number in range(20)]
VOCABULARY, TYPICAL, WORDS = 20_000, 200, 40

SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


def spelt(number):
    """The word of a number: no word of any language, but one that is read like a word."""
    word = ""
    while number:
        number, syllable = divmod(number, len(SYLLABLES))
        word += SYLLABLES[syllable]
    return word


# A language's words are its own: what one learns of a label helps another only through tier 2.
words = {
    language: np.array([spelt(4 * (70 + number) + offset) for number in range(VOCABULARY)], dtype=object)
    for offset, language in enumerate(LANGUAGES)
}
frequencies = 1 / np.arange(10, VOCABULARY + 10)
frequencies /= frequencies.sum()


def draw_part(number, size):
    random = np.random.default_rng([0, number])
    typical = np.random.default_rng(0).integers(VOCABULARY, size=(len(LABELS), TYPICAL))
    ranks = random.choice(VOCABULARY, size=(size, WORDS), p=frequencies)
    for row in range(size):
        language = LANGUAGES[random.integers(len(LANGUAGES))]
        labels = random.choice(len(LABELS), size=random.integers(1, 4), replace=False)
        ranks[row, :8] = typical[random.choice(labels, size=8), random.integers(TYPICAL, size=8)]
        text = " ".join(words[language][ranks[row]])
        yield Document(f"{number}-{row}", text, language, tuple(LABELS[label] for label in sorted(labels)))


workplace = TemporaryDirectory()
folder = Path(workplace.name)


def draw_folder(documents):
    parts = folder / f"documents-{documents}"
    parts.mkdir()
    for number, start in enumerate(range(0, documents, PART)):
        part = draw_part(number, min(PART, documents - start))
        write_documents(parts / f"part-{number:05}.parquet", part)
    return parts


sizes = [DOCUMENTS // 4, DOCUMENTS // 2, DOCUMENTS]
folders = {size: draw_folder(size) for size in sizes}
for size, parts in folders.items():
    files = list(parts.iterdir())
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    print(f"{size:,} documents: {len(files)} parts, {megabytes:.1f} MB")

# %%
# Training
# --------
#
# A folder is given where a file would be. Each command runs in a process of its own, so that its memory can
# be told from that of this script: ``train`` and the processes that it starts.

import sys
import time
from tempfile import TemporaryFile

import psutil


def memory_of(process):
    """The bytes that a process and those that it started hold; what they share counts for each."""
    try:
        return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])
    except psutil.Error:  # one of them has just ended
        return 0


def run(*arguments):
    """Run a command: what it prints, its seconds, and the most memory that was seen at once, in GB."""
    start, peak = time.perf_counter(), 0
    command = [sys.executable, "-m", "funnelling", *arguments]
    with TemporaryFile("w+") as output:
        process = psutil.Popen(command, stdout=output, cwd=folder)
        while process.poll() is None:
            peak = max(peak, memory_of(process))
            time.sleep(0.05)
        if process.returncode:
            raise SystemExit(process.returncode)
        output.seek(0)
        return output.read(), time.perf_counter() - start, peak / 1e9


measured = {}
for size, parts in folders.items():
    model = f"model-{size}"
    table, seconds, gigabytes = run("train", parts.name, "-o", model, "--method", "fun-tat")
    measured[size] = seconds, gigabytes
    print(f"{size:,} documents: {seconds:.1f} s, {gigabytes:.2f} GB")
print(table)

# %%
# Vocabularies, vectors and labels of all parts meet in files that are mapped into memory, not in memory
# itself. What is held at once is one language's tier 1, and a tier 2 whose teachers are bounded:

import matplotlib.pyplot as plt

figure, panels = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for panel, values, name in zip(panels, zip(*measured.values(), strict=True), ("seconds", "GB"), strict=True):
    panel.plot(sizes, values, "o-")
    panel.set(xlabel="documents", ylabel=name, xlim=(0, None), ylim=(0, None))
    panel.ticklabel_format(style="plain")
figure.suptitle("funnelling train, by the size of the folder")
plt.show()

# %%
# Labelling
# ---------
#
# A part of predictions for each part of documents, with the documents' own columns in front.

_, seconds, gigabytes = run("predict", model, parts.name, "-o", "predictions")
print(f"{DOCUMENTS:,} documents labelled in {seconds:.1f} s, with {gigabytes:.2f} GB")
files = sorted(folder.glob("predictions/*.parquet"))
print(f"{len(files)} parts")

import pandas as pd

first = pd.read_parquet(files[0])
print(first.dtypes.to_string())
print(first.loc[0].astype(str).str.slice(0, 60).to_string())

# %%
# A run that is cut short begins where it stopped. Here a part is lost, and comes back without the others
# being touched:

times = {file: file.stat().st_mtime_ns for file in files}
files[0].unlink()
run("predict", model, parts.name, "-o", "predictions")
again = [file.name for file in files if file.stat().st_mtime_ns != times[file]]
print("labelled again:", *again)

workplace.cleanup()
