"""The encoder view, frozen and taught the labels, beside the views that need no GPU.

    python benchmarks/encoder.py documents.jsonl.gz --encoder multilingual-model/
    python benchmarks/encoder.py documents.jsonl.gz --epochs 10

Without --encoder one is made on the spot: twelve layers of width 384 with random weights and a vocabulary of
word pieces learned from the training texts. It knows nothing, so only what it learns from the labels counts.
Learns from rows with split train and measures on rows with split test.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from funnelling import FunnellingClassifier
from funnelling.corpus import Corpus, read_corpus
from funnelling.evaluation.measuring import evaluate_classifier
from funnelling.evaluation.registry import MEASURES, PAPER_MEASURES
from funnelling.evaluation.splits import sides_of
from funnelling.methods.learning import Method
from funnelling.report.tables import Table, number, plain
from funnelling.spaces.outside import EncoderSpace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--encoder", help="folder of a sentence-transformers model (one is made)")
    parser.add_argument("--epochs", type=int, default=10, help="how long the encoder learns the labels (10)")
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    trial = sides_of(read_corpus(arguments.data).labelled())
    with tempfile.TemporaryDirectory() as folder:
        encoder = arguments.encoder or str(make_encoder(Path(folder), trial.train.texts))
        rate = 5e-5 if arguments.encoder else 1e-4  # what knows nothing has far to go
        frozen, taught = (EncoderSpace(encoder, epochs, rate) for epochs in (0, arguments.epochs))
        rows = []
        for title, views in {
            "pooled + characters": ["pooled", "characters"],
            "encoder, frozen": [frozen],
            "encoder, taught": [taught],
            "pooled + characters + encoder, taught": ["pooled", "characters", taught],
        }.items():
            model = FunnellingClassifier(views=views, random_state=0, n_jobs=arguments.jobs)
            rows.append([title, *measure(model, trial.train, trial.test)])
            print(*rows[-1], flush=True)
    titles = [MEASURES[name].title for name in PAPER_MEASURES]
    print(plain(Table(["views", *titles, "fit s", "predict s"], rows)))


def measure(model: Any, train: Corpus, test: Corpus) -> list[str]:
    start = time.perf_counter()
    fitted = Method.of(model).fit(train)
    middle = time.perf_counter()
    result = evaluate_classifier(fitted, test)
    seconds = middle - start, time.perf_counter() - middle
    return [*(number(result["average"][name]) for name in PAPER_MEASURES), *(f"{s:.1f}" for s in seconds)]


def make_encoder(folder: Path, texts: list[str]) -> Path:
    """An encoder in the shape of the small multilingual ones, its weights drawn at random."""
    import torch
    from sentence_transformers import SentenceTransformer
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(texts, vocab_size=30_000, show_progress=False)
    plain_folder = folder / "plain"
    PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=256
    ).save_pretrained(plain_folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=pieces.get_vocab_size(),
        hidden_size=384,
        num_hidden_layers=12,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=256,
    )
    BertModel(config).save_pretrained(plain_folder)
    SentenceTransformer(str(plain_folder)).save(str(folder / "encoder"))
    return folder / "encoder"


if __name__ == "__main__":
    main()
