"""
Coming from spaCy
=================

You have annotated documents in a ``DocBin``, a pipeline with ``textcat_multilabel``, and code that reads
``doc.cats``. This reads the same file, trains a funnel on it, and ends with a component that puts its answers
into ``doc.cats``, so that the code behind it need not change.
"""

# %%
# What you have
# -------------
#
# The file is made of the embedded sample here: one ``Doc`` per document, each label with 1 or 0. A pipeline
# for all languages, ``xx``, needs no download.

import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from funnelling import read_sample

try:
    import spacy
    from spacy.language import Language
    from spacy.tokens import DocBin
    from spacy.training import Example
    from spacy.util import fix_random_seed, minibatch
except ImportError:
    spacy = None
    print("spaCy is not installed (pip install spacy): its side is left out")

corpus = read_sample()
train, test = corpus.split("train"), corpus.split("test")
classes = train.label_set()

workplace = TemporaryDirectory()
file = Path(workplace.name, "train.spacy")
if spacy:
    nlp = spacy.blank("xx")
    annotated = DocBin(store_user_data=True)
    for text, labels, language in zip(train.texts, train.labels, train.languages, strict=True):
        doc = nlp.make_doc(text)
        doc.cats = {label: float(label in labels) for label in classes}
        doc.user_data["language"] = language
        annotated.add(doc)
    annotated.to_disk(file)

# %%
# Training and predicting with spaCy: the bag of words, its quickest architecture, and six passes, which is
# what a page like this has time for.

assigned = {}
if spacy:
    fix_random_seed(0)
    bag_of_words = {
        "@architectures": "spacy.TextCatBOW.v3",
        "exclusive_classes": False,
        "ngram_size": 1,
        "no_output_layer": False,
        "length": 16384,
    }
    nlp.add_pipe("textcat_multilabel", config={"model": bag_of_words})
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in DocBin().from_disk(file).get_docs(nlp.vocab)]
    start = time.perf_counter()
    optimizer = nlp.initialize(lambda: examples)
    shuffled = random.Random(0)
    for _ in range(6):
        shuffled.shuffle(examples)
        for batch in minibatch(examples, 32):
            nlp.update(batch, sgd=optimizer)
    print(f"spaCy: trained in {time.perf_counter() - start:.1f} s")
    assigned = {
        "spaCy": [[label for label in classes if doc.cats[label] > 0.5] for doc in nlp.pipe(test.texts)]
    }

# %%
# Reading your file
# -----------------
#
# A ``DocBin`` gives its documents back: texts, labels, and whatever you have kept beside them. Without
# languages, leave them out, and they are detected.


texts, labels, languages = train.texts, train.labels, train.languages
if spacy:
    docs = list(DocBin(store_user_data=True).from_disk(file).get_docs(nlp.vocab))
    texts = [doc.text for doc in docs]
    labels = [[label for label, value in doc.cats.items() if value > 0.5] for doc in docs]
    languages = [doc.user_data["language"] for doc in docs]

# %%
# The same with a funnel
# ----------------------
#
# Two views are named, so that training takes seconds; ``FunnellingClassifier()`` would try several.

from funnelling import FunnellingClassifier

start = time.perf_counter()
ours = FunnellingClassifier(views=["own", "mixed"], random_state=0)
ours.fit(texts, labels, languages=languages)
print(f"funnel: trained in {time.perf_counter() - start:.1f} s")
found = ours.predict(test.texts, languages=test.languages)
assigned["funnel"] = [ours.classes_[row == 1].tolist() for row in found]

# %%
# A component
# -----------
#
# What reads ``doc.cats`` goes on to do so. ``funnelling.load_model`` would stand where the model of this page
# does.


if spacy:

    @Language.component("funnel")
    def give_labels(doc):
        probabilities = ours.predict_proba([doc.text])[0]
        doc.cats = dict(zip(ours.classes_.tolist(), probabilities.tolist(), strict=True))
        return doc

    pipeline = spacy.blank("xx")
    pipeline.add_pipe("funnel")
    doc = pipeline("Un lettore di musica per il desktop GNOME, con scaletta e testi delle canzoni")
    for label in sorted(doc.cats, key=doc.cats.get, reverse=True)[:3]:
        print(f"{doc.cats[label]:.2f}  {label}")

# %%
# A component sees one document at a time. Where there are many, ``predict_proba`` of a list is far quicker.
#
# Side by side
# ------------
#
# spaCy assigns a label above .5 here, and the funnel where its score is above 0.

import pandas as pd
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

binarizer = MultiLabelBinarizer(classes=classes)
truth = binarizer.fit_transform(test.labels)
indicators = {name: binarizer.transform(found) for name, found in assigned.items()}
table = pd.DataFrame(
    {
        name: {
            f"{average}-F1": f1_score(truth, found, average=average, zero_division=0)
            for average in ("micro", "macro")
        }
        for name, found in indicators.items()
    }
)
print(table.T.round(3))

# %%
# The labels themselves, from rare ones on the left to frequent ones on the right. Rare labels are where
# languages that learn together gain most.

import matplotlib.pyplot as plt

frequencies = binarizer.transform(train.labels).sum(axis=0)
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
for name, found in indicators.items():
    f1s = f1_score(truth, found, average=None, zero_division=0)
    axes.plot(frequencies, f1s, "o", color={"spaCy": "0.6"}.get(name), label=name)
axes.set(xlabel="training documents with the label", ylabel="F1", xscale="log", ylim=(-0.03, 1))
axes.legend(loc="lower right")
plt.show()
workplace.cleanup()

# %%
# What is called what
# -------------------
#
# .. list-table::
#    :header-rows: 1
#
#    * - spaCy
#      - here
#    * - ``textcat_multilabel``
#      - ``fit(texts, lists of labels, languages=…)``
#    * - ``textcat``
#      - ``fit(texts, flat list of labels, languages=…)``
#    * - ``doc.cats``
#      - a row of ``predict_proba``, columns as in ``classes_``
#    * - ``threshold`` in the configuration
#      - a threshold per label, tuned by ``tune``
#    * - ``nlp.to_disk``, ``spacy.load``
#      - ``model.save(folder)``, ``load_model(folder)``
#    * - ``spacy evaluate``
#      - ``funnelling evaluate model documents.jsonl``
#
# spaCy goes on to do what this package does not, tokens, entities, parses; the funnel takes the place of one
# component.
