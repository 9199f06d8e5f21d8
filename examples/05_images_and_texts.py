"""
Images and texts under one set of labels
========================================

A postal archive has numbers in three forms: scans of handwriting, traces of an old machine that only
counted dark points per row and column, and remarks that clerks wrote, in five languages. All are filed
under the same headings. A funnel never compares the features of two languages, so a *language* may be any
kind of data, and each heading is learned from all three.

:doc:`/other-data` measures such a funnel with several seeds, and says where it does not help.
"""

# %%
# One set of headings
# -------------------
#
# What is filed under *eight* is also *even* and has a *loop*: headings go together, and that is what one
# kind of data can teach about another. No scan belongs to a trace or a remark.

DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
PROPERTIES = {
    "even": {0, 2, 4, 6, 8},
    "odd": {1, 3, 5, 7, 9},
    "prime": {2, 3, 5, 7},
    "square": {0, 1, 4, 9},
    "loop": {0, 6, 8, 9},
    "straight": {1, 4, 7},
}


def headings_of(digit):
    return [DIGITS[digit], *(name for name, digits in PROPERTIES.items() if digit in digits)]


print(8, headings_of(8))

# %%
# Three kinds of data
# -------------------
#
# The scans are scikit-learn's, eight by eight points. A trace has sixteen numbers, the sums of a scan's
# rows and columns. A remark names the digit among words that say nothing, and one in ten is about another
# digit.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer

NAMES = (
    "zero one two three four five six seven eight nine",
    "nulla uno due tre quattro cinque sei sette otto nove",
    "rien un deux trois quatre cinq six sept huit neuf",
    "null eins zwei drei vier fünf sechs sieben acht neun",
    "nolla yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän",
)
WORDS = [names.split() for names in NAMES]
FILLERS = [f"filler{number}" for number in range(300)]
rng = np.random.default_rng(0)


def remark_on(digit):
    named = digit if rng.random() < 0.9 else rng.integers(10)
    words = [WORDS[rng.integers(len(WORDS))][named], *rng.choice(FILLERS, 10)]
    return " ".join(rng.permutation(words))


pixels, digits = load_digits(return_X_y=True)
order = rng.permutation(len(digits))
scans, scan_digits = pixels[order[:700]] / 16, digits[order[:700]]
squares = pixels[order[700:1400]].reshape(-1, 8, 8) / 128
traces, trace_digits = np.hstack([squares.sum(axis=1), squares.sum(axis=2)]), digits[order[700:1400]]
remark_digits = rng.integers(10, size=900)
remarks = [remark_on(digit) for digit in remark_digits]
print(remark_digits[0], remarks[0])

# %%
# Of each kind, 300 documents are kept to measure on. X maps the kind to its matrix, whose columns mean
# something only within the kind; y maps it to lists of headings.

HELD = 300
tfidf = TfidfVectorizer(sublinear_tf=True).fit(remarks[:-HELD])
vectors = {"scans": scans, "traces": traces, "remarks": tfidf.transform(remarks)}
answers = {
    kind: [headings_of(digit) for digit in those]
    for kind, those in {"scans": scan_digits, "traces": trace_digits, "remarks": remark_digits}.items()
}
train = {kind: matrix[:-HELD] for kind, matrix in vectors.items()}
test = {kind: matrix[-HELD:] for kind, matrix in vectors.items()}
for kind, matrix in train.items():
    print(f"{kind:8} {matrix.shape[0]} documents of {matrix.shape[1]} features")

# %%
# Each kind alone, and all together
# ---------------------------------
#
# ``NaiveClassifier`` learns each kind apart, with one tier. A funnel per kind has two tiers, but sees one
# kind. The difference between the last two is what the kinds teach each other.

import pandas as pd
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from funnelling import FunnellingClassifier
from funnelling.research import NaiveClassifier

y = {kind: lists[:-HELD] for kind, lists in answers.items()}
binarizer = MultiLabelBinarizer().fit(answers["scans"])
truth = {kind: binarizer.transform(lists[-HELD:]) for kind, lists in answers.items()}


def only(kinds, mapping):
    return {kind: mapping[kind] for kind in kinds}


def micro_f1(method, together):
    """The micro-F1 of each kind, with one model for all of them or one for each."""
    predicted = {}
    for kinds in [list(test)] if together else [[kind] for kind in test]:
        fitted = method.fit(only(kinds, train), only(kinds, y))
        predicted |= fitted.predict(only(kinds, test))
    return {kind: f1_score(truth[kind], predicted[kind], average="micro") for kind in test}


funnel = FunnellingClassifier.from_paper(random_state=0)  # the paper's: vectors have no words to look at
results = {
    "one tier per kind": micro_f1(NaiveClassifier(random_state=0), together=True),
    "one funnel per kind": micro_f1(funnel, together=False),
    "one funnel for all": micro_f1(
        funnel, together=True
    ),  # the last fit: the funnel is this one from here on
}
table = pd.DataFrame(results).T
print(table.round(3).to_string())

# %%
# What it says of a scan
# ----------------------
#
# The funnel was last fitted on all three kinds. To predict, one kind alone will do.

import matplotlib.pyplot as plt

shown = test["scans"][:8]
assigned = funnel.predict({"scans": shown})["scans"]
figure, panels = plt.subplots(2, 4, figsize=(8, 4.4), layout="constrained")
for panel, image, row in zip(panels.flat, shown, assigned, strict=True):
    panel.imshow(image.reshape(8, 8), cmap="gray_r")
    given = funnel.classes_[row == 1]
    panel.set_title("\n".join([", ".join(given[:2]), ", ".join(given[2:])]), fontsize=9)
    panel.set_axis_off()
plt.show()

# %%
# And the three ways side by side:

figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
table.T.plot.bar(ax=axes, rot=0, color=["0.7", "tab:cyan", "tab:blue"])
axes.set(ylim=(0, 1), ylabel="micro-F1")
axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
plt.show()

# %%
# Here the second tier brings most of the gain, for it learns how headings go together; the remarks gain a
# little more from the other kinds. Compare like this before you funnel kinds of data of your own: a kind
# with few documents can also lose.
