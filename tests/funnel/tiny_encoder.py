"""An encoder of a few thousand weights, drawn at random, in the layout of sentence-transformers."""

import string
from pathlib import Path


def make_encoder(folder: Path, seed: int = 0) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = string.ascii_lowercase + string.digits
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    plain = folder / "plain"
    plain.mkdir(parents=True)
    (plain / "vocab.txt").write_text("\n".join(pieces))
    BertTokenizerFast(vocab_file=str(plain / "vocab.txt")).save_pretrained(plain)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(plain)
    SentenceTransformer(str(plain)).save(str(folder / "encoder"))
    return folder / "encoder"
