"""
Coming from SetFit
==================

You have few labelled documents, a dataset with the columns ``text`` and ``label``, and a SetFit model: a
pretrained encoder that learns from pairs of documents, and a logistic regression on top. This takes the
dataset over, trains a funnel on the same documents, and keeps the encoder that you have, as one view among
others.
"""

# %%
# What you have
# -------------
#
# In the embedded sample: descriptions of programs, and the one programming language that each is written in.
# Eight documents or fewer per label and language are for training, which is where SetFit is at home.

from dataclasses import replace

import numpy as np
from sklearn.metrics import accuracy_score, f1_score

from funnelling import read_sample

KINDS = ["implemented-in::c", "implemented-in::c++", "implemented-in::perl", "implemented-in::python"]
corpus = read_sample()
corpus = corpus.select([len(set(labels) & set(KINDS)) == 1 for labels in corpus.labels])
kinds = [tuple(set(labels) & set(KINDS)) for labels in corpus.labels]
corpus = replace(corpus, labels=kinds, one_label=True)

train, test = corpus.split("train"), corpus.split("test")
cells = np.array([f"{language} {label}" for language, label in zip(train.languages, train.y, strict=True)])
few = train.select(np.concatenate([np.flatnonzero(cells == cell)[:8] for cell in np.unique(cells)]))
print(f"{len(few)} documents to learn from, {len(test)} to measure on")

# %%
# As SetFit wants them, a dataset of texts and numbers. The encoder should be one that was pretrained on many
# languages, ``SetFitModel.from_pretrained("owner/name", labels=KINDS)``. This page is made without a network,
# so it makes a small one: vectors of word pieces that start at random and know nothing. *What SetFit reaches
# with it says nothing of what it reaches with a good encoder*, which on documents as few as these is its
# strength.

import contextlib
import io
import time
from pathlib import Path
from tempfile import TemporaryDirectory

workplace = TemporaryDirectory()
predicted = {}

try:
    import torch
    from datasets import Dataset, disable_progress_bars
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from setfit import SetFitModel, Trainer, TrainingArguments
    from sklearn.linear_model import LogisticRegression
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
except ImportError as error:
    SetFitModel = None
    print(f"SetFit is not installed (pip install setfit: {error}): its side is left out")


def small_encoder(texts):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=4000, special_tokens=["[UNK]"], show_progress=False)
    )
    torch.manual_seed(0)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=64)], device="cpu")


encoder = None
if SetFitModel:
    disable_progress_bars()
    dataset = Dataset.from_dict({"text": few.texts, "label": [KINDS.index(label) for label in few.y]})
    theirs = SetFitModel(model_body=small_encoder(train.texts), model_head=LogisticRegression(), labels=KINDS)
    arguments = TrainingArguments(
        output_dir=workplace.name,
        batch_size=32,
        max_steps=150,
        body_learning_rate=0.03,  # vectors that start at random have a long way to go
        report_to="none",
        save_strategy="no",
        seed=0,
    )
    start = time.perf_counter()
    told = io.StringIO()  # a line for every step
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        Trainer(model=theirs, args=arguments, train_dataset=dataset).train()
    print(f"SetFit: trained in {time.perf_counter() - start:.1f} s")
    predicted["SetFit, encoder that knows nothing"] = np.array(theirs.predict(test.texts))
    encoder = Path(workplace.name, "encoder")
    theirs.model_body.save(str(encoder))

# %%
# The same with a funnel
# ----------------------
#
# A dataset's columns go into ``fit`` as they are, and so do its numbers, which come back as they went in.
# Names are nicer. With a flat list of labels the model gives one label per document.

from funnelling import Encoder, FunnellingClassifier

if SetFitModel:
    texts, labels = dataset["text"], [KINDS[number] for number in dataset["label"]]
else:
    texts, labels = few.texts, few.y

start = time.perf_counter()
ours = FunnellingClassifier(views=["own", "mixed"], final_estimator="odds", random_state=0)
ours.fit(texts, labels, languages=few.languages)
print(f"funnel: trained in {time.perf_counter() - start:.1f} s")
predicted["funnel"] = ours.predict(test.texts, languages=test.languages)
for label, probability in zip(ours.classes_, ours.predict_proba(test.texts[:1])[0], strict=True):
    print(f"{probability:.2f}  {label}")

# %%
# Keeping your encoder
# --------------------
#
# SetFit's body is a folder of sentence-transformers, and such a folder can be a view: the funnel weighs what
# the encoder says against words and runs of characters. This one has seen the labels of the training
# documents, so it probably looks better on them than it is and is given too much weight; the table shows what
# that does.
# Give the encoder as it was before SetFit, or let ``Encoder(…, epochs=1)`` teach it the labels, which keeps
# held-out documents out.

if encoder:
    both = FunnellingClassifier(
        views=["own", "mixed", Encoder(encoder)], final_estimator="odds", random_state=0
    )
    both.fit(texts, labels, languages=few.languages)
    predicted["funnel with that encoder"] = both.predict(test.texts, languages=test.languages)

# %%
# Side by side
# ------------
#
# Where one label is much more frequent than others, macro-F1 says more than accuracy does.

import pandas as pd

truth = test.y
predicted["always the most frequent"] = np.full(len(test), pd.Series(few.y).mode()[0], dtype=object)
table = pd.DataFrame(
    {
        name: {
            "accuracy": accuracy_score(truth, found),
            "macro-F1": f1_score(truth, found, average="macro", zero_division=0),
        }
        for name, found in predicted.items()
    }
)
print(table.T.round(3).to_string())

# %%

import matplotlib.pyplot as plt

axes = table.T[::-1].plot.barh(figsize=(8, 3), xlim=(0, 1))
axes.legend(loc="lower right")
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
#    * - SetFit
#      - here
#    * - ``Trainer(model, train_dataset=…).train()``
#      - ``fit(texts, flat list of labels, languages=…)``
#    * - ``multi_target_strategy="one-vs-rest"``
#      - ``fit(texts, lists of labels, languages=…)``
#    * - ``model.predict(texts)``
#      - ``predict(texts)``
#    * - ``model.predict_proba(texts)``
#      - ``predict_proba(texts)``, columns as in ``classes_``
#    * - ``save_pretrained``, ``from_pretrained``
#      - ``model.save(folder)``, ``load_model(folder)``
#    * - the encoder
#      - ``views=[…, Encoder(folder)]``
#
# :doc:`/choosing` says when an encoder is worth its time, and measures it.
