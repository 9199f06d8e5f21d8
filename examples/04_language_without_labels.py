"""
A language without labels
=========================

Six languages of your catalogue have labels. Now descriptions in Portuguese arrive, and nobody has labelled
one. What do you get before anybody does, and how many labelled documents are worth the effort?
"""

# %%
# Portuguese is taken away
# ------------------------
#
# The embedded catalogue has seven languages. The model learns from six; Portuguese is kept aside, and its
# test documents tell how good the answers are.

import numpy as np

from funnelling import read_sample

NEW = "pt"
corpus = read_sample()
train, test = corpus.split("train"), corpus.split("test")
is_new = np.array(train.languages) == NEW
known, portuguese = train.select(~is_new), train.select(is_new)
test = test.select(np.array(test.languages) == NEW)
print("known:", known)
print("Portuguese to measure on:", test)

# %%
# A view that all languages share
# -------------------------------
#
# The view ``mixed`` sees words, and runs of characters, in one space for all languages, so names, loan
# words and the spelling of relatives carry over (:doc:`/choosing` lists other views). A model that sees
# only the own words of each language assigns no label to documents in a further one.

from funnelling import FunnellingClassifier

model = FunnellingClassifier(views=["mixed"], random_state=0)
model.fit(known.texts, known.labels, languages=known.languages, groups=known.groups)
print("serves Portuguese:", model.supports(NEW))

few = known.select(range(0, len(known), 5))
own = FunnellingClassifier.from_paper(random_state=0).fit(few.texts, few.labels, languages=few.languages)
print(own.predict_labels(test.texts[:2], languages=test.languages[:2]))

# %%
# A document in a language without training documents must name it, for languages are detected among those
# that the model has learned from.

for text, row in zip(test.texts[:3], model.predict(test.texts[:3], languages=[NEW] * 3), strict=True):
    print(text.splitlines()[0])
    print("   ", ", ".join(model.classes_[row == 1]))

# %%
# How far does that go?
# ---------------------
#
# Now somebody labels Portuguese documents, 10, then 40, then 200 more. ``update`` adds them, and the model
# becomes the one that is trained on everything at once. Beside it stands a classifier that learns from the
# Portuguese ones alone.
#
# They are drawn at random. That matters: the catalogue is sorted, its first documents are much alike, and a
# model that sees only those of a language takes what they have in common for what the language is about.

import pandas as pd

from funnelling.evaluation import measure_indicators
from funnelling.research import NaiveClassifier

labels = train.label_set()


def measures_of(fitted):
    predicted = pd.DataFrame(fitted.predict(test.texts, languages=test.languages), columns=fitted.classes_)
    predicted = predicted.reindex(columns=labels, fill_value=0)  # it never gives a label that it never saw
    values = measure_indicators(test.label_matrix(labels), predicted)
    return {"micro-F1": values["micro_f1"], "macro-F1": values["macro_f1"]}


portuguese = portuguese.select(np.random.default_rng(0).permutation(len(portuguese)))
results = {("with six others", 0): measures_of(model)}
learned = 0
for count in (10, 50, 250):
    more = portuguese.select(range(learned, count))
    model.update(more.texts, more.labels, languages=more.languages, groups=more.groups)
    results["with six others", count] = measures_of(model)
    so_far = portuguese.select(range(count))
    alone = NaiveClassifier(random_state=0).fit(so_far.texts, so_far.labels, languages=so_far.languages)
    results["alone", count] = measures_of(alone)
    learned = count

table = pd.DataFrame(results).T.unstack(0)
print(table.round(3).to_string(na_rep="-"))

# %%
# As a figure, with the documents on a scale that gives the first ones room:

import matplotlib.pyplot as plt

figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for panel, measure_name in zip(panels, ["micro-F1", "macro-F1"], strict=True):
    for way, values in table[measure_name].items():
        panel.plot(values.index, values, marker="o", label=way)
    panel.set_xscale("symlog", linthresh=10)
    panel.set_xticks([0, 10, 50, 250], ["0", "10", "50", "250"])
    panel.set(title=measure_name, xlabel="labelled documents in Portuguese", ylim=(0, 1))
panels[0].legend(loc="lower right")
plt.show()

# %%
# How good this is depends on what the new language shares with the old ones: Portuguese has relatives among
# these six. ``funnelling compare documents.jsonl --methods pooled,fun-zero-shot --hold-out it`` takes a
# language away from your own documents and measures it. Languages that share few words can be brought
# together by word vectors (:doc:`/resources`) or by an encoder (:doc:`/choosing`).
