"""
Pipelines and searches
======================

Your team builds everything as a scikit-learn pipeline: a step that prepares, a step that learns, a search
around both, folds that nobody may touch. The new classifier has to go in there like any other, although it
needs something that others do not: the language of each text. :doc:`/python-api` has the rules; this is a
session that follows them.
"""

# %%
# The documents
# -------------
#
# Three languages of the embedded sample, so that a search takes seconds. scikit-learn's tools know several
# labels per document only as a matrix of 0 and 1.

import numpy as np
from sklearn.preprocessing import MultiLabelBinarizer

from funnelling import read_sample

corpus = read_sample()
corpus = corpus.select(np.isin(corpus.languages, ["es", "fr", "it"]))
train, test = corpus.split("train"), corpus.split("test")
binarizer = MultiLabelBinarizer().fit(corpus.labels)
y_train, y_test = binarizer.transform(train.labels), binarizer.transform(test.labels)
print(train)

# %%
# A pipeline
# ----------
#
# A colleague holds that the first words of a description say it all. A step before the funnel cuts the rest
# off.

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from funnelling import FunnellingClassifier


def beginnings(texts, words):
    return [" ".join(text.split()[:words]) for text in texts]


funnel = FunnellingClassifier.from_paper("tat", meta_C=1.0, random_state=0)
beginning = FunctionTransformer(beginnings, kw_args={"words": 40})
pipeline = Pipeline([("beginning", beginning), ("funnel", funnel)])

# %%
# Languages travel beside the texts, as *metadata* in scikit-learn's words. The funnel says once which of its
# methods ask for them; from then on every pipeline, search and cross-validation around it hands them on, cut
# into the same folds as the texts.

import sklearn

sklearn.set_config(enable_metadata_routing=True)
funnel.set_fit_request(languages=True)
funnel.set_predict_request(languages=True)
funnel.set_predict_proba_request(languages=True)
funnel.set_score_request(languages=True)

pipeline.fit(train.texts, y_train, languages=train.languages)
probabilities = pipeline.predict_proba(test.texts[:1], languages=test.languages[:1])[0]
print(test.texts[0].splitlines()[0])
for column in np.argsort(-probabilities)[:3]:
    print(f"{probabilities[column]:.2f}  {binarizer.classes_[column]}")

# %%
# Cross-validation
# ----------------
#
# The sample is sorted by language: folds that are cut as it stands would leave a whole language out. These
# have the same share of each. ``params`` is what is to be handed on. The score is the classifier's own, the
# share of documents whose labels are *all* right, which is a hard measure where a document has four labels.

from sklearn.model_selection import StratifiedKFold, cross_val_score

folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(train.texts, train.languages))
languages = {"languages": train.languages}
accuracies = cross_val_score(pipeline, train.texts, y_train, cv=folds, params=languages)
print(
    f"all labels right: {accuracies.mean():.3f}, folds from {accuracies.min():.3f} to {accuracies.max():.3f}"
)

# %%
# A scorer that scikit-learn makes, such as ``"f1_micro"``, hands metadata to its measure and not to
# ``predict``. The languages of the documents that it measures are then detected, among those that the fit has
# seen; on texts of more than a few words that costs nothing to speak of.

f1s = cross_val_score(pipeline, train.texts, y_train, cv=folds, scoring="f1_micro", params=languages)
print(f"micro-F1, languages detected: {f1s.mean():.3f}")

# %%
# A search
# --------
#
# A parameter has the name of its step before it: how many words are kept, which C tier 2 has, and which
# variant of the paper it is.

from sklearn.model_selection import GridSearchCV

lengths = {"beginning__kw_args": [{"words": 20}, {"words": 1000}]}
search = GridSearchCV(
    pipeline,
    [
        {**lengths, "funnel__meta_C": [1.0, 10.0, 100.0]},
        {**lengths, "funnel__variant": ["kfcv"], "funnel__folds": [3]},
    ],
    scoring="f1_micro",
    cv=folds,
)
search.fit(train.texts, y_train, languages=train.languages)

import pandas as pd

results = pd.DataFrame(search.cv_results_)
results["words"] = [f"{kept['words']} words" for kept in results["param_beginning__kw_args"]]
results["funnel"] = np.where(
    results["param_funnel__variant"] == "kfcv",
    "Fun(KFCV), C = 1",
    "Fun(TAT), C = " + results["param_funnel__meta_C"].astype(str),
)
table = results.pivot(index="funnel", columns="words", values="mean_test_score")
print(table.round(3))

# %%
# They do not. Which C is best is less clear: where folds disagree by as much as candidates do, a table of
# means hides it. Each dot is a fold, each stroke the mean of three.

import matplotlib.pyplot as plt

scores = results.filter(regex=r"split\d_test_score").to_numpy()
names = results["funnel"] + ", " + results["words"]
order = np.argsort(scores.mean(axis=1))
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(scores[order].mean(axis=1), names.iloc[order], "|", color="0.4", markersize=16)
for column in scores[order].T:
    axes.plot(column, names.iloc[order], "o", color="tab:blue", markersize=4)
axes.set(xlabel="micro-F1 on the fold that was left out")
plt.show()

# %%
# The best of them, on documents that no fold has seen. It is the pipeline inside that takes languages:
# ``predict`` of a search takes texts alone.

from sklearn.metrics import f1_score

predicted = search.best_estimator_.predict(test.texts, languages=test.languages)
print("chosen:", names.iloc[search.best_index_])
print(f"micro-F1: {f1_score(y_test, predicted, average='micro'):.3f}")

# %%
# Without a search of your own, ``FunnellingClassifier()`` searches by itself: :doc:`/choosing` says what it
# tries. C of tier 2 is chosen by default, too; it is given here only because the search is about it.

sklearn.set_config(enable_metadata_routing=False)
