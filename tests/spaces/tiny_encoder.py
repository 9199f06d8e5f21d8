"""An encoder of a few thousand weights, drawn at random, in the layout of sentence-transformers."""

import string
from pathlib import Path


def make_encoder(folder: Path, seed: int = 0) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    letters = string.ascii_lowercase + string.digits
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    plain = folder / "plain"
    words = BertWordPieceTokenizer({piece: number for number, piece in enumerate(pieces)})
    PreTrainedTokenizerFast(
        tokenizer_object=words._tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=64
    ).save_pretrained(plain)
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
