"""
Finding wrong labels
====================

You inherit a catalogue that people have labelled by hand for years. Some labels are slips. Nobody can look
through all of it again, but somebody can look through a hundred documents, if they are the right hundred. A
model that has not learned from a document is a second opinion on it: where it is sure, and the label says
otherwise, look there first.

To see how well that works, wrong labels are planted here, so that it is known where they are.
"""

# %%
# Planting
# --------
#
# In one training document of twenty, one of its labels is replaced by one that it does not have.

import numpy as np

from funnelling import read_sample

train = read_sample().split("train")
train = train.select([len(labels) > 0 for labels in train.labels])
classes = train.label_set()
given = train.label_matrix(classes).astype(int)

random = np.random.default_rng(0)
planted = np.zeros(len(train), dtype=bool)
planted[random.choice(len(train), size=len(train) // 20, replace=False)] = True
for row in np.flatnonzero(planted):
    taken, put = random.choice(np.flatnonzero(given[row])), random.choice(np.flatnonzero(given[row] == 0))
    given[row, [taken, put]] = 0, 1
print(f"{planted.sum()} of {len(train)} documents have a wrong label, and lack a right one")

# %%
# A second opinion
# ----------------
#
# :func:`funnelling.audit` judges every document by a model that was fitted without it. Documents of one
# group, translations or versions of one text, are held out together: a translation with the same slip would
# vouch for it. It then asks which labels go together, and ranks the documents by how much they look like ones
# with a label changed.

from dataclasses import replace

from funnelling import audit

lists = [tuple(classes[column] for column in np.flatnonzero(row)) for row in given]
frame = audit(replace(train, labels=lists))

place = {name: row for row, name in enumerate(train.ids)}
suspects = np.array([place[name] for name in frame["id"]])
frame["planted"] = planted[suspects]
print(frame[["id", "kind", "doubted", "rather", "planted"]].head(8).to_string(index=False))

# %%
# Those that came so are not all false alarms: the sample is a real catalogue, and a sure contradiction
# deserves a look whoever made it. What is counted below, planted labels alone, is the least that is found.
#
# By the text alone
# -----------------
#
# Confident learning asks whether the probability of a label contradicts it by the standards of that label.
# Its library is cleanlab, which takes probabilities from any model, and label lists as numbers. Here they
# come from scikit-learn's ``cross_val_predict``; the fit gets languages and groups, and ``predict_proba``
# detects languages.

rankings = {"audit": suspects}
try:
    from cleanlab.multilabel_classification import get_label_quality_scores
except ImportError:
    print("cleanlab is not installed (pip install cleanlab): this part is left out")
else:
    import sklearn
    from sklearn.model_selection import GroupKFold, cross_val_predict

    from funnelling import FunnellingClassifier

    with sklearn.config_context(enable_metadata_routing=True):
        model = FunnellingClassifier.from_paper("tat", meta_C=1.0, random_state=0)
        model.set_fit_request(languages=True, groups=True)
        probabilities = cross_val_predict(
            model,
            train.texts,
            given,
            cv=GroupKFold(5, shuffle=True, random_state=0),
            method="predict_proba",
            params={"languages": train.languages, "groups": train.groups},
        )
    numbers = [np.flatnonzero(row).tolist() for row in given]
    rankings["cleanlab"] = np.argsort(get_label_quality_scores(numbers, probabilities), kind="stable")

# %%
# How many are found
# ------------------
#
# Whoever looks through the first *k* suspects finds so many planted labels:

for name, ranking in rankings.items():
    found = planted[ranking].cumsum()
    line = ", ".join(f"{found[k - 1]} in the first {k}" for k in (20, 50, 100, 200))
    print(f"{name}: {line}")
expected = 100 * planted.mean()
print(f"at random: {expected:.0f} in 100")

# %%

import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
looked_at = np.arange(1, 401)
for name, ranking in rankings.items():
    found = planted[ranking].cumsum()[: len(looked_at)]
    left.plot(looked_at, found / looked_at, label=name)
    right.plot(looked_at, found / planted.sum(), label=name)
left.axhline(planted.mean(), color="0.7", linestyle="--", label="at random")
right.plot(looked_at, looked_at / len(train), color="0.7", linestyle="--", label="at random")
left.set(xlabel="documents looked at", ylabel="share that is planted", ylim=(0, 1))
right.set(xlabel="documents looked at", ylabel="share of planted ones found", ylim=(0, 1))
right.legend(loc="upper left")
plt.show()

# %%
# Corrections go back as a file of ids and labels: :doc:`/in-use` shows how a model takes them.
