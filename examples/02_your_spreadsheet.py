"""
Your spreadsheet
================

A colleague keeps a catalogue of software in three languages. Last year's entries come as a table that an
old Windows program has exported: semicolons between the cells, another encoding, title and description
apart, several topics in one cell, columns that nobody needs. This year's come as an Excel file without
topics, and are to go back to her with topics beside her own columns. Nothing is converted by hand.

:doc:`/own-data` lists what is understood. Excel files need ``pip install 'funnelling[spreadsheet]'``.
"""

# %%
# Two files as people have them
# -----------------------------
#
# They are made here, from descriptions of software that come with the package: what follows knows only the
# files.

import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from funnelling import read_sample

here = TemporaryDirectory()
folder = Path(here.name)

NAMES = {"de": "Deutsch", "fr": "Französisch", "it": "Italienisch"}
TOPICS = {
    "use::gameplaying": "Spiele",
    "works-with::audio": "Audio",
    "works-with::image": "Bilder",
    "works-with::text": "Texte",
    "interface::graphical": "grafisch",
    "interface::commandline": "Kommandozeile",
}


def as_table(documents):
    """The documents as her export has them, those without a topic left out."""
    rows = []
    for document in documents:
        topics = [TOPICS[label] for label in document.labels if label in TOPICS]
        title, _, description = document.text.partition("\n")
        if document.language in NAMES and topics:
            row = {
                "Nummer": 1000 + len(rows),
                "Sprache": NAMES[document.language],
                "Kurztext": title,
                "Beschreibung": description,
                "Thema": ", ".join(topics),
                "Kürzel": "mb",
            }
            rows.append(row)
    return pd.DataFrame(rows)


corpus = read_sample()
old = as_table(corpus.split("train"))
old.to_csv(folder / "catalogue.csv", sep=";", encoding="cp1252", errors="replace", index=False)
new = as_table(corpus.split("test"))
new.drop(columns="Thema").to_excel(folder / "new.xlsx", index=False, engine="xlsxwriter")
print((folder / "catalogue.csv").read_bytes()[:300])

# %%
# Look first
# ----------
#
# ``funnelling inspect`` says how it reads a file, and what is odd in it. Here it runs from Python;
# you would type what stands behind the ``$``.


def run(command):
    """Run a command as in a terminal, in the folder of the files, and show what it prints."""
    print(f"$ {command}", flush=True)
    words = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    done.check_returncode()
    print(done.stdout)


run("funnelling inspect catalogue.csv")


# %%
# Say what it cannot know
# -----------------------
#
# It found the semicolons, the encoding, the languages, which she writes as words, and the text. That
# ``Thema`` means topics it does not know, and it does not guess: three options say what is what.
# ``fun-tat`` is the paper's method and quick; without ``--method``, training tries several, takes longer
# and mostly ends with a better model.

COLUMNS = "--text-column Kurztext,Beschreibung --labels-column Thema --id-column Nummer"
run(f"funnelling train catalogue.csv -o model --method fun-tat {COLUMNS}")

# %%
# No row was set aside for measuring, so the table comes from five outer folds: no document is measured by a
# model that has seen it.
#
# This year's entries
# -------------------
#
# The model remembers what the columns are called. The name of the output says what it is to be, here an
# Excel file.

run("funnelling predict model new.xlsx -o labelled.xlsx")

labelled = pd.read_excel(folder / "labelled.xlsx", engine="calamine")
print("columns:", ", ".join(labelled.columns))
print()
print(labelled[["Nummer", "Kurztext", "labels", "best_label", "probability"]].head(8).to_string(index=False))

# %%
# Where to look twice
# -------------------
#
# She will not read all of them again. Sorted by ``probability``, the doubtful rows come first. Was the most
# probable topic one of those that she would have given? Here we know, for her topics were only left out of
# the file.

import matplotlib.pyplot as plt

answers = zip(labelled["best_label"], new["Thema"], strict=True)
right = [best in topics.split(", ") for best, topics in answers]
bounds = {0.5: "below .5", 0.7: ".5 to .7", 0.9: ".7 to .9", 1: "above .9"}
bands = pd.cut(labelled["probability"], [0, *bounds], labels=bounds.values())
share = pd.Series(right).groupby(bands, observed=True).agg(["mean", "size"])
print(share.rename(columns={"mean": "right", "size": "rows"}).round(2))

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
bars = axes.bar(share.index, share["mean"], color="tab:blue")
axes.bar_label(bars, [f"{size} rows" for size in share["size"]])
axes.set(ylim=(0, 1.1), xlabel="probability of the best topic", ylabel="share that is right")
plt.show()

here.cleanup()

# %%
# The same from Python: ``Corpus.from_frame(frame, text=["Kurztext", "Beschreibung"], labels="Thema",
# language="Sprache")`` takes a data frame, and :doc:`/python-api` goes on from there.
