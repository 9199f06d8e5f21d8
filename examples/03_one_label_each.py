"""
One label for each document
===========================

Every incoming entry goes to exactly one desk: programs, libraries for developers, shared libraries,
documentation, plug-ins, data. You want to know how often the right desk gets it, which desks are mixed up,
and which entries can go there without anybody looking.
"""

# %%
# One label, said by the form of y
# --------------------------------
#
# The embedded catalogue has several labels per document; those that begin with ``role::`` are the desks
# here, and documents that have exactly one of them are kept. A flat list as ``y`` means one label each: the
# most probable label is given, and probabilities sum to 1. (``funnelling train`` notices it by itself: see
# :doc:`/own-data`.)

from collections import Counter

from funnelling import read_sample


def desks_of(labels):
    return [label.removeprefix("role::") for label in labels if label.startswith("role::")]


corpus = read_sample()
corpus = corpus.select([len(desks_of(labels)) == 1 for labels in corpus.labels])
train, test = corpus.split("train"), corpus.split("test")
train_desks = [desks_of(labels)[0] for labels in train.labels]
test_desks = [desks_of(labels)[0] for labels in test.labels]
for desk, count in Counter(train_desks).most_common():
    print(f"{count:5} {desk}")

# %%
# Train
# -----
#
# ``final_estimator="odds"`` suits documents with one label: its second tier is a logistic regression, which
# learns how far each view is to be trusted and how often each label occurs in each language.
# ``FunnellingClassifier()`` would have found that out, in several times the time (:doc:`/choosing`).

from funnelling import FunnellingClassifier

model = FunnellingClassifier(views=["own", "mixed"], final_estimator="odds", random_state=0)
model.fit(train.texts, train_desks, languages=train.languages, groups=train.groups)
predicted = model.predict(test.texts, languages=test.languages)
probabilities = model.predict_proba(test.texts, languages=test.languages)
print("sum of the first document's probabilities:", probabilities[0].sum().round(6))

# %%
# How often is it right?
# ----------------------
#
# scikit-learn's own measures take these answers as they are. The frequent desk alone would give the
# accuracy in the last line, so the one above it has to be read beside that.

from sklearn.metrics import accuracy_score, classification_report

print(classification_report(test_desks, predicted, zero_division=0))
most_frequent = Counter(train_desks).most_common(1)[0][0]
print(f"accuracy {accuracy_score(test_desks, predicted):.3f}")
print(f"accuracy of {most_frequent!r} for all {test_desks.count(most_frequent) / len(test):.3f}")

# %%
# Which desks are mixed up?
# -------------------------
#
# Each row is a desk, and says where its documents went.

import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay

figure, axes = plt.subplots(figsize=(6.5, 5), layout="constrained")
ConfusionMatrixDisplay.from_predictions(
    test_desks,
    predicted,
    normalize="true",
    values_format=".2f",
    cmap="Blues",
    xticks_rotation=45,
    im_kw={"vmin": 0, "vmax": 1},
    ax=axes,
)
axes.set(xlabel="given", ylabel="right")
plt.show()

# %%
# What needs nobody's eyes?
# -------------------------
#
# Send on by itself what the model is sure of, and look at the rest. The higher the bar, the fewer mistakes
# pass and the more is left to do.

import numpy as np

sure = probabilities.max(axis=1)
right = predicted == np.array(test_desks)
print("bar   sent on   of these right")
for bar in (0.5, 0.7, 0.8, 0.9, 0.95):
    passed = sure >= bar
    print(f"{bar:.2f}  {passed.mean():7.1%}   {right[passed].mean():.1%}")

# %%
# Choose the bar on documents that you have not learned from, as here. What a model is most wrong about, and
# the words that misled it, ``funnelling evaluate`` shows: :doc:`/own-data`.
