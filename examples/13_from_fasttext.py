"""
Coming from fastText
====================

You have a file of ``__label__`` lines, a script that trains on it, and a service that asks the model. This
takes each of them over, and puts both models side by side on the same documents. Whether to move is then your
decision: on your own file the figures will be others.
"""

# %%
# What you have
# -------------
#
# The file is made of the embedded sample here. fastText reads one document per line; labels stand in front.

from pathlib import Path
from tempfile import TemporaryDirectory

from funnelling import read_sample

corpus = read_sample()
train, test = corpus.split("train"), corpus.split("test")
workplace = TemporaryDirectory()
lines = Path(workplace.name, "train.txt")
with lines.open("w", encoding="utf-8") as file:
    for labels, text in zip(train.labels, train.texts, strict=True):
        print(*(f"__label__{label}" for label in labels), " ".join(text.split()), file=file)
with lines.open(encoding="utf-8") as file:
    print(file.readline()[:110], "…")

# %%
# Training and predicting with fastText, several labels per document: a loss per label, and a label where its
# probability is above .5. How many passes it takes is chosen on every third line of the training file, held
# out. ``predict`` gets a list of texts, for with NumPy 2 the package's ``predict`` of a single text fails.

import time

try:
    import fasttext
except ImportError:
    fasttext = None
    print(
        "fastText is not installed (pip install fasttext, which needs a C++ compiler): its side is left out"
    )


def train_theirs(path, passes):
    settings = {"loss": "ova", "dim": 20, "minn": 3, "maxn": 5, "bucket": 100_000, "thread": 1, "verbose": 0}
    for rate in (0.2, 0.1, 0.05):  # where it meets NaN, which it says by an error, a lower one
        try:
            return fasttext.train_supervised(str(path), epoch=passes, lr=rate, **settings)
        except RuntimeError:
            print(f"fastText does not converge in {passes} passes at a rate of {rate}")
    raise SystemExit("fastText does not converge")


def ask_theirs(model, texts):
    found, _ = model.predict([" ".join(text.split()) for text in texts], k=-1, threshold=0.5)
    return [[label.removeprefix("__label__") for label in labels] for labels in found]


def micro_f1(truth, found):
    pairs = list(zip(truth, found, strict=True))
    both = sum(len({*given} & {*labels}) for given, labels in pairs)
    return 2 * both / max(1, sum(len(given) + len(labels) for given, labels in pairs))


assigned = {}
if fasttext:
    whole = lines.read_text(encoding="utf-8").splitlines(keepends=True)
    rest = Path(workplace.name, "rest.txt")
    rest.write_text("".join(line for row, line in enumerate(whole) if row % 3), encoding="utf-8")
    held_out = train.select(range(0, len(train), 3))
    scores = {
        passes: micro_f1(held_out.labels, ask_theirs(train_theirs(rest, passes), held_out.texts))
        for passes in (25, 50, 100)
    }
    print("micro-F1 held out, by passes:", {passes: round(score, 3) for passes, score in scores.items()})
    start = time.perf_counter()
    theirs = train_theirs(lines, max(scores, key=scores.get))
    print(f"fastText: trained in {time.perf_counter() - start:.1f} s")
    assigned["fastText"] = ask_theirs(theirs, test.texts)

# %%
# Reading your file
# -----------------
#
# The lines become documents. They name no language, so it is detected, among those that you know to be there.
# Written once as JSON Lines, the file is one that every command reads: ``funnelling train documents.jsonl -o
# model``.

from funnelling import Document, read_corpus, write_documents


def read_lines(path):
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            words = line.split()
            labels = [word.removeprefix("__label__") for word in words if word.startswith("__label__")]
            yield Document(str(number), " ".join(words[len(labels) :]), labels=tuple(labels))


documents = Path(workplace.name, "documents.jsonl")
write_documents(documents, read_lines(lines))
taken_over = read_corpus(documents, among=["da", "de", "en", "es", "fr", "it", "pt"])
right = sum(map(str.__eq__, taken_over.languages, train.languages))
print(taken_over)
print(f"languages detected rightly: {right} of {len(train)}")

# %%
# The same with a funnel
# ----------------------
#
# Two views are named, so that training takes seconds; ``FunnellingClassifier()`` would try several.

from funnelling import FunnellingClassifier

start = time.perf_counter()
ours = FunnellingClassifier(views=["own", "mixed"], random_state=0)
ours.fit(taken_over.texts, taken_over.labels, languages=taken_over.languages)
print(f"funnel: trained in {time.perf_counter() - start:.1f} s")
labels, probabilities = ours.predict(test.texts), ours.predict_proba(test.texts)  # languages are detected
assigned["funnel"] = [ours.classes_[row == 1].tolist() for row in labels]

# %%
# ``predict(text, k=3)`` of fastText, its labels and probabilities:

import numpy as np

best = np.argsort(-probabilities[0])[:3]
print([(str(ours.classes_[column]), round(float(probabilities[0, column]), 3)) for column in best])

# %%
# Side by side
# ------------

import pandas as pd
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

binarizer = MultiLabelBinarizer(classes=train.label_set())
truth = binarizer.fit_transform(test.labels)
indicators = {name: binarizer.transform(found) for name, found in assigned.items()}
table = pd.DataFrame(
    {
        name: {
            average: f1_score(truth, found, average=average, zero_division=0)
            for average in ("micro", "macro")
        }
        for name, found in indicators.items()
    }
)
print(table.T.add_suffix("-F1").round(3))

# %%

import matplotlib.pyplot as plt

by_language = pd.DataFrame(
    {
        name: {
            language: f1_score(truth[rows], found[rows], average="micro")
            for language, rows in test.by_language().items()
        }
        for name, found in indicators.items()
    }
)
axes = by_language.plot.bar(
    figsize=(7, 3), rot=0, ylim=(0, 1), ylabel="micro-F1", color=["0.7", "tab:blue"][-len(indicators) :]
)
axes.legend(loc="upper center", ncols=2)
axes.figure.tight_layout()
plt.show()
workplace.cleanup()

# %%
# What is called what
# -------------------
#
# .. list-table::
#    :header-rows: 1
#
#    * - fastText
#      - here
#    * - ``train_supervised(file, loss="ova")``
#      - ``fit(texts, lists of labels, languages=…)``
#    * - ``train_supervised(file)``, one label
#      - ``fit(texts, flat list of labels, languages=…)``
#    * - ``predict(texts, k=-1, threshold=.5)``
#      - ``predict(texts)``, with a threshold per label
#    * - ``predict(texts, k=3)``
#      - ``predict_proba(texts)``, the highest three
#    * - ``save_model(file)``, ``load_model``
#      - ``model.save(folder)``, ``load_model``
#    * - ``test(file)``
#      - ``funnelling evaluate model documents.jsonl``
#
# What you leave behind: a program that is made for speed and for far larger files. What you get:
# probabilities that are calibrated, thresholds :doc:`for a goal </in-use>`, reasons, and languages that help
# each other. Of fastText's other settings, and the funnel's, none was searched for.
