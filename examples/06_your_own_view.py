"""
A view of your own
==================

Nobody knows your documents as you do. In descriptions of software, ``Config::Identity`` is the name of a Perl
module, ``libfoo`` is a library, ``--verbose`` belongs to a command line, and all of that means the same in
every language. Words that are cut at each sign lose it. You can give such knowledge to a funnel as a *view*:
a further way to see a document, with base classifiers of its own, beside the words that it sees anyway.
"""

# %%
# The documents
# -------------

from funnelling import read_sample

corpus = read_sample()
train, test = corpus.split("train"), corpus.split("test")
print(train)

# %%
# A function of texts
# -------------------
#
# The simplest view is a function: a list of texts in, a matrix out, one row per text and always the same
# columns. Here each column is a sign that an expert looks for. The numbers are 0 and 1, so that none
# outweighs the others.

import re

import numpy as np

SIGNS = {
    "Perl module": r"\w::\w",
    "library": r"\blib\w|-dev\b",
    "option": r"(?<!\S)--?\w",
    "GTK": r"GTK|GNOME|Gtk",
    "Qt": r"\bQt|KDE",
    "C++": r"C\+\+",
    "Python": r"[Pp]ython",
    "terminal": r"[Cc]urses|[Tt]erminal",
    "file ending": r"(?<!\w)\.[a-z]{1,4}\b",
    "function": r"\w\(\)",
}
PATTERNS = [re.compile(pattern) for pattern in SIGNS.values()]


def signs(texts):
    return np.array([[float(bool(pattern.search(text))) for pattern in PATTERNS] for text in texts])


for name, share in zip(SIGNS, signs(train.texts).mean(axis=0), strict=True):
    print(f"{share:6.1%} of the documents have: {name}")

# %%
# A transformer of scikit-learn
# -----------------------------
#
# Or give any transformer of texts. It is fitted on the documents of all languages together. This one keeps
# names whole, with their capitals: words that have a capital inside, a digit, or a sign between letters.

from sklearn.feature_extraction.text import TfidfVectorizer

names = TfidfVectorizer(
    token_pattern=r"\w+(?:(?:::|[-./_+])\w+)+|\w*[a-z][A-Z]\w*|\w*\d\w*|[A-Z]{2,}|C\+\+",
    lowercase=False,
    min_df=2,
    sublinear_tf=True,
)
print(names.fit(train.texts).get_feature_names_out()[::60])

# %%
# Do they help?
# -------------
#
# Each funnel sees the own words of each language; the others see one or both of the new views as well.

import pandas as pd

from funnelling import FunnellingClassifier
from funnelling.evaluation import measure_languages

FUNNELS = {
    "own words": ["own"],
    "own words, signs": ["own", signs],
    "own words, names": ["own", names],
    "own words, both": ["own", signs, names],
}
truth, results, models, predicted = test.label_matrix(train.label_set()), {}, {}, {}
for title, views in FUNNELS.items():
    model = FunnellingClassifier(views=views, random_state=0)
    model.fit(train.texts, train.labels, languages=train.languages, groups=train.groups)
    predicted[title] = model.predict(test.texts, languages=test.languages)
    measured = measure_languages(truth, predicted[title], test.languages)["average"]
    results[title] = {"micro-F1": measured["micro_f1"], "macro-F1": measured["macro_f1"]}
    models[title] = model

table = pd.DataFrame(results).T
print(table.round(3).to_string())

# %%
# Which labels gain?
# ------------------
#
# F1 of each label, over the test documents of all languages, without the two views and with them.

import matplotlib.pyplot as plt
from sklearn.metrics import f1_score

by_label = {title: f1_score(truth, decisions, average=None) for title, decisions in predicted.items()}
by_label = pd.DataFrame(by_label, index=model.classes_)
gain = (by_label["own words, both"] - by_label["own words"]).sort_values()

figure, axes = plt.subplots(figsize=(7, 6.5), layout="constrained")
axes.barh(gain.index, gain, color=np.where(gain < 0, "tab:orange", "tab:blue"))
axes.axvline(0, color="black", linewidth=0.8)
axes.set(xlabel="gain in F1")
axes.margins(y=0.01)
plt.show()

# %%
# What can be saved
# -----------------
#
# A model folder holds no code. A transformer of scikit-learn is data and goes into it; a function is code, so
# a model with one lives in memory only, and ``save`` says so. What your function does can often be said
# as a transformer, as ``names`` was.

from pathlib import Path
from tempfile import TemporaryDirectory

from funnelling import InputError, load_model

with TemporaryDirectory() as folder:
    path = Path(folder) / "model"
    models["own words, names"].save(path)
    again = load_model(path)
    text = "Perl-Modul, das Config::Identity mit GnuPG 2.1 liest"
    print("loaded:", ", ".join(again.classes_[again.predict([text], languages=["de"])[0] == 1]))
    try:
        models["own words, both"].save(path, force=True)
    except InputError as error:
        print("refused:", error)

# %%
# The views that come with the package are listed in :doc:`/choosing`; ``mixed`` among them sees words and
# runs of characters in one space, and needs nobody's expertise. Base classifiers of your own are possible
# too: :doc:`/python-api`.
