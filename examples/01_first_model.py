"""
A first model
=============

You maintain a catalogue of software. Its descriptions are in seven languages, its labels are one set, and
in each language there are only some hundred descriptions that somebody has labelled. Is it worth learning
all languages together, and what does a model tell you about its answers?

The catalogue comes with the package, so this runs as it stands. :doc:`/first-model` does the same from the
command line.
"""

# %%
# The documents
# -------------
#
# Each document has a text, a language and several labels, and stands on one side of a split: to learn from,
# or to measure on.

from funnelling import read_sample

corpus = read_sample()
train, test = corpus.split("train"), corpus.split("test")
print("to learn from:", train)
print("to measure on:", test)
print()
print(train.languages[0], train.labels[0])
print(train.texts[0])

# %%
# Two ways to learn
# -----------------
#
# ``NaiveClassifier`` is what one has without funnelling: a classifier per language, which knows nothing of
# the others. The funnel here sees each language's own words, and words and runs of characters that
# languages share; a second tier learns from the documents of all of them. ``thresholds`` are tuned so
# that rare labels are found too. ``FunnellingClassifier()`` would do both by itself: it chooses views that
# suit the documents, which takes several times as long. ``groups`` tells which documents have the same
# content, so that none is judged by what learned from its copy.

from funnelling import FunnellingClassifier, ThresholdTuning
from funnelling.research import NaiveClassifier

models = {
    "one per language": NaiveClassifier(random_state=0),
    "funnel": FunnellingClassifier(views=["own", "mixed"], thresholds=ThresholdTuning(), random_state=0),
}
for model in models.values():
    model.fit(train.texts, train.labels, languages=train.languages, groups=train.groups)

# %%
# What each language gains
# ------------------------
#
# Micro-F1 counts every decision alike, so frequent labels dominate it; macro-F1 counts every label alike,
# and the rare ones are where a language needs help. :doc:`/reading-the-table` says more.

import pandas as pd

from funnelling.evaluation import measure_languages

MEASURES = {"micro-F1": "micro_f1", "macro-F1": "macro_f1"}
measured = {}
for name, model in models.items():
    predicted = model.predict(test.texts, languages=test.languages)
    truth = test.label_matrix(model.classes_)
    rows = measure_languages(truth, predicted, test.languages)["languages"]
    for measure, key in MEASURES.items():
        measured[measure, name] = {language: row[key] for language, row in rows.items()}

table = pd.DataFrame(measured).sort_index(axis="columns", level=0, sort_remaining=False, ascending=False)
print(table.round(3).to_string())
print()
print(table.mean().round(3).to_string())

# %%
# The same as a figure: each line is a language, from what it has alone to what it has with the others.

import matplotlib.pyplot as plt

figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for panel, measure in zip(panels, MEASURES, strict=True):
    values = table[measure]
    panel.hlines(values.index, *(values[name] for name in models), color="0.8", linewidth=3, zorder=1)
    for name, colour in {"one per language": "tab:gray", "funnel": "tab:blue"}.items():
        panel.scatter(values[name], values.index, color=colour, label=name, zorder=2)
    panel.set(title=measure, xlim=(0, 1))
panels[0].invert_yaxis()
panels[0].legend(loc="lower left")
plt.show()

# %%
# Ask it
# ------
#
# A new text. Its language is detected among those that the model knows, and the answer is a probability for
# each label.

import numpy as np

model = models["funnel"]
text = "Un lettore di musica leggero per il desktop GNOME, con scaletta e testi delle canzoni"
probabilities = model.predict_proba([text])[0]
for column in np.argsort(-probabilities)[:5]:
    print(f"{probabilities[column]:.2f}  {model.classes_[column]}")

# %%
# Why this label?
# ---------------
#
# Tier 1 is linear: each word, and each run of characters, adds to the score of a label or takes from it.
# Tier 2 looks at what tier 1 says of *all* labels: a label that often comes with another is helped by it,
# whatever the language in which that was seen.

(explanation,) = model.explain([text], labels=["uitoolkit::gtk"], top=4)
why = explanation["labels"]["uitoolkit::gtk"]


def as_line(contributions):
    return ", ".join(f"{name.strip()} {amount:+.2f}" for name, amount in contributions)


for view, seen in {why["tier_one"]["view"]: why["tier_one"], **why["other_views"]}.items():
    print(f"what the view {view!r} sees: {as_line(seen['words'])}")
print(f"what tier 2 makes of it: {as_line(why['tier_two']['labels'])}")

# %%
# Keep it
# -------
#
# A model is a folder without code: loading one runs nothing that its author wrote.

from pathlib import Path
from tempfile import TemporaryDirectory

from funnelling import load_model

with TemporaryDirectory() as folder:
    model.save(Path(folder) / "model")
    again = load_model(Path(folder) / "model")
    print("the same answers:", (again.predict_proba([text])[0] == probabilities).all())

# %%
# Next: :doc:`your own documents </own-data>`, and :doc:`which method suits them </choosing>`.
