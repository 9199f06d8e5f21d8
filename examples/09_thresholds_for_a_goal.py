"""
Thresholds for a goal
=====================

A distribution wants its packages tagged. Editors look through what the model proposes, so a label that is
missing costs more than one that is too many: they ask that eight labels of ten be found. The web shop next
door takes labels as they are, and asks the opposite: what is assigned must be right. One model serves both,
for a model gives probabilities, and what is assigned is a matter of thresholds. :doc:`/in-use` has the same
from the command line.
"""

# %%
# One model
# ---------
#
# The paper's funnel, which trains in a moment. It assigns a label where its score is above 0.

from funnelling import FunnellingClassifier, read_sample

corpus = read_sample()
train, test = corpus.split("train"), corpus.split("test")
model = FunnellingClassifier.from_paper("tat", meta_C=1.0, random_state=0)
model.fit(train.texts, train.labels, languages=train.languages)

# %%
# ``tune`` sets thresholds for another goal. Nothing is trained: the model keeps its scores of training
# documents that were held out from both tiers, and chooses by them. What it gives back says what changes,
# measured on the same documents, each fold by thresholds that the other folds gave.

import pandas as pd

goals = ["micro-f1", "macro-f1", "recall=.8", "precision=.8"]
changes = {goal: model.tune(goal) for goal in goals}

rows = {"score above 0": changes["micro-f1"].total()["before"]}
rows |= {goal: change.total()["after"] for goal, change in changes.items()}
print(pd.DataFrame(rows).T.round(3))

# %%
# A goal that is out of reach is not passed over in silence.

impossible = model.tune("precision=.99", per_label=True)
print(*impossible.unreached())

# %%
# Before and after, on new documents
# ----------------------------------
#
# What was promised, and what comes of it on documents that the model has never seen:

from sklearn.metrics import precision_recall_fscore_support

truth = test.label_matrix(model.classes_)
seen = {}
for goal in goals:
    model.tune(goal)
    predicted = model.predict(test.texts, languages=test.languages)
    precision, recall, f1, _ = precision_recall_fscore_support(truth, predicted, average="micro")
    seen[goal] = {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "labels_per_document": predicted.sum(axis=1).mean(),
    }
print(pd.DataFrame(seen).T.round(3))

# %%
# The curve they lie on
# ---------------------
#
# One threshold for all labels, moved from 1 to 0, draws a curve. Each goal is a point with a threshold *per
# label*, so it need not lie on the curve; circles are what held-out training documents promised, crosses what
# test documents gave.

import matplotlib.pyplot as plt
from sklearn.metrics import precision_recall_curve

probabilities = model.predict_proba(test.texts, languages=test.languages)
precision, recall, _ = precision_recall_curve(truth.ravel(), probabilities.ravel())
figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
axes.plot(recall, precision, color="0.6", label="one threshold for all labels")
for number, goal in enumerate(goals):
    promised, found = changes[goal].total()["after"], seen[goal]
    colour = f"C{number}"
    axes.plot(
        [promised["recall"], found["recall"]], [promised["precision"], found["precision"]], "-", color=colour
    )
    axes.plot(promised["recall"], promised["precision"], "o", color=colour, fillstyle="none")
    axes.plot(found["recall"], found["precision"], "x", color=colour, label=goal)
axes.axvline(0.8, color="0.9", zorder=0)
axes.axhline(0.8, color="0.9", zorder=0)
axes.set(xlabel="recall", ylabel="precision", xlim=(0.3, 1), ylim=(0.3, 1))
axes.legend(loc="lower left")
plt.show()

# %%
# Some labels only
# ----------------
#
# Editors can do without most labels, but never without ``use::gameplaying``, which keeps games out of
# servers. A goal for some labels leaves the thresholds of all others alone.

model.tune("micro-f1")
before = model.thresholds_["it"]
change = model.tune("recall=.9", labels=["use::gameplaying"])
after = model.thresholds_["it"]
print("labels whose threshold moved:", *model.classes_[before != after])
(row,) = change.per_label()
for when in ("before", "after"):
    limit, figures = row["threshold"][when], row[when]
    print(f"{when}: above {limit:.2f}, recall {figures['recall']:.2f}, precision {figures['precision']:.2f}")

games = model.classes_.tolist().index("use::gameplaying")
predicted = model.predict(test.texts, languages=test.languages)[:, games]
recall, precision = predicted[truth[:, games]].mean(), truth[predicted == 1, games].mean()
print(f"on test documents: recall {recall:.2f}, precision {precision:.2f}")

# %%
# The last games are dear. Of a label with few documents, a goal near 1 is reached by assigning it wherever it
# is not out of the question: look at the precision before you put such a goal to use.
