"""
An encoder as a view
====================

A multilingual encoder has read much before it sees your documents; a funnel knows your documents alone. You
need not choose: an encoder of sentence-transformers can be one of the views of a funnel, beside the words. It
needs ``pip install 'funnelling[neural]'``, and stays as it is, so a CPU will do.
"""

# %%
# An encoder in a folder
# ----------------------
#
# funnelling reads an encoder from a folder of yours, and never from the network. With a model of the Hugging
# Face Hub, this is done once:
#
# .. code-block:: python
#
#    from sentence_transformers import SentenceTransformer
#
#    SentenceTransformer("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2").save("encoder")
#
# So that this page needs no network, it makes a small encoder itself: a vocabulary of 4,000 pieces of words,
# learned from the training texts, and a vector for each, such that pieces of the same documents are close. A
# text is the mean of its pieces. It has read 1,750 documents, and a real encoder far more: take the figures
# below for what this one brings, not for what yours will.

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.extmath import randomized_svd
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from funnelling import read_sample


def make_encoder(texts, folder, pieces=4000, dimensions=128):
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(vocab_size=pieces, special_tokens=["[UNK]", "[PAD]"], show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)

    encoded = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    rows = np.repeat(np.arange(len(texts)), [len(ids) for ids in encoded])
    counts = sparse.csr_matrix(
        (np.ones(len(rows)), (rows, np.concatenate(encoded))), shape=(len(texts), tokenizer.get_vocab_size())
    )
    weighing = TfidfTransformer(sublinear_tf=True)
    _, strengths, directions = randomized_svd(weighing.fit_transform(counts), dimensions, random_state=0)
    vectors = (weighing.idf_ * directions * np.sqrt(strengths)[:, None]).T
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, vectors.astype(np.float32))]).save(str(folder))


here = TemporaryDirectory()
encoder = Path(here.name) / "encoder"
corpus = read_sample()
train, test = corpus.split("train"), corpus.split("test")
make_encoder(train.texts, encoder)
print("in the folder:", ", ".join(sorted(path.name for path in encoder.iterdir())))

# %%
# What it sees
# ------------
#
# Test documents by the two directions in which their vectors differ most. An encoder suits you if documents
# of one label are close in all languages, and documents of one language are not. This one, which only knows
# what pieces stand together, keeps most languages apart; within a language it sees what a document is about.

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

LABELS = ["implemented-in::perl", "use::gameplaying", "uitoolkit::gtk"]
vectors = SentenceTransformer(str(encoder)).encode(test.texts, normalize_embeddings=True)
points = PCA(2, random_state=0).fit_transform(vectors)

figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for language, rows in test.by_language().items():
    panels[0].scatter(*points[rows].T, s=12, label=language)
panels[1].scatter(*points.T, s=6, color="0.85")
for label in LABELS:
    panels[1].scatter(*points[[label in labels for labels in test.labels]].T, s=12, label=label)
for panel, title in zip(panels, ["languages", "labels"], strict=True):
    panel.set(title=title, xticks=[], yticks=[])
    panel.legend(fontsize=8)
plt.show()

# %%
# Beside other views
# ------------------
#
# ``Encoder`` names the folder, and is a view like any other. (With ``views=["auto", Encoder(…)]`` a funnel
# tries the encoder alone and with others, and keeps it only if that helps on held-out documents.)

import pandas as pd

from funnelling import Encoder, FunnellingClassifier
from funnelling.evaluation import measure_languages

FUNNELS = {
    "encoder": [Encoder(encoder)],
    "own and shared words": ["own", "pooled"],
    "own and shared words, encoder": ["own", "pooled", Encoder(encoder)],
}
results = {}
for title, views in FUNNELS.items():
    model = FunnellingClassifier(views=views, random_state=0)
    model.fit(train.texts, train.labels, languages=train.languages, groups=train.groups)
    predicted = model.predict(test.texts, languages=test.languages)
    measured = measure_languages(test.label_matrix(model.classes_), predicted, test.languages)["average"]
    results[title] = {"micro-F1": measured["micro_f1"], "macro-F1": measured["macro_f1"]}

table = pd.DataFrame(results).T
print(table.round(3).to_string())

# %%
# A model and its encoder
# -----------------------
#
# The encoder does not go into the model's folder. The model remembers where it was and what it was, and
# refuses another one. Where it has moved, say so.

from funnelling import InputError, load_model

saved = Path(here.name) / "model"
model.save(saved)
encoder = encoder.rename(Path(here.name) / "elsewhere")

again = load_model(saved)
try:
    again.predict(["Un lecteur de musique pour GNOME"], languages=["fr"])
except InputError as error:
    print(str(error).replace(here.name, "…"))
again.set_params(views=["own", "pooled", Encoder(encoder)])
print(again.classes_[again.predict(["Un lecteur de musique pour GNOME"], languages=["fr"])[0] == 1])

here.cleanup()

# %%
# From the command line: ``funnelling train documents.jsonl -o model --encoder encoder``. :doc:`/choosing`
# says when a fine-tuned encoder is the better choice, and how the view can learn your labels on a GPU.
