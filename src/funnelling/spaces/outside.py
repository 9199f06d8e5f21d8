"""Views from outside: a sentence encoder in a folder of the user's, or the user's transformer or function."""

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError

from funnelling.errors import InputError
from funnelling.matrices import (
    Floats,
    Matrix,
    Targets,
    by_language,
    check_vectors,
    is_sparse,
    length,
    sizes_of,
    stacked,
)
from funnelling.plain import clone
from funnelling.randomness import stream
from funnelling.spaces.base import Documents, Resources, Space, are_texts, check_one_width, check_texts
from funnelling.state import ANY_ARRAY, MAX_COLUMNS, Between, Count, Seed, empty_row, expect, filled_row
from funnelling.text.characters import Vectorizer
from funnelling.text.languages import is_language

HEAD_RATE = 1e-3  # of the layer on top, which starts from nothing
ENCODER_HINT = "The encoder view needs sentence-transformers. pip install 'funnelling[neural]'"


logger = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class EncoderSpace(Space):
    """Documents as the encoder's vectors, of unit length.

    The encoder is read from ``folder`` and nowhere else, without running code that comes with it. A model
    remembers the folder and the hash of what is in it, and refuses to go on with another encoder. It stays
    as it is, or learns the labels for some ``epochs``, which wants a GPU; its new weights are kept in the
    model. A text is encoded beside others, whose lengths may change the last bits of its vector: this is
    the only view of which that is true.
    """

    folder: Annotated[str | os.PathLike[str] | None, str | None] = None
    epochs: Count = 0
    rate: float = 5e-5
    batch: Annotated[int, Between(1, MAX_COLUMNS)] = 32
    random_state: Seed = 0
    verbose: int = 0
    digest_: str = field(init=False)
    weights_: dict[str, Annotated[npt.NDArray[Any], ANY_ARRAY]] | None = field(init=False)

    @classmethod
    def as_view(cls, resources: Resources, seed: int) -> "EncoderSpace":
        folder = None if resources.encoder is None else str(resources.encoder)
        space = cls(folder, resources.encoder_epochs, random_state=seed, verbose=resources.verbose)
        return space if resources.encodings is None else space.knowing(resources.encodings)

    @property
    def supervised(self) -> bool:
        return self.epochs > 0

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        check_texts(documents, "encoder", "sentences")
        self.__dict__.pop("_loaded", None)  # an earlier fit may have tuned it
        self.digest_ = encoder_digest(find_encoder(self.folder))
        self.weights_ = None
        if self.epochs:
            texts = [text for each in documents.values() for text in each]
            labels = np.vstack(list(targets.values()))
            self.weights_ = self._tuned(texts, labels)
            return {language: self._encoded(each) for language, each in documents.items()}
        known = self.__dict__.get("_known", {})
        known.update(self._read(text for each in documents.values() for text in each))
        return {language: np.array([known[text] for text in each]) for language, each in documents.items()}

    def knowing(self, vectors: dict[str, Floats]) -> "EncoderSpace":
        """Reuse these vectors, and add those of other texts until they are cleared; a tuned one does not."""
        self._known = vectors
        return self

    def vectors(self, language: str, documents: Documents) -> Matrix:
        known = self.__dict__.get("_known")
        if not known or self.epochs:
            return self._encoded(documents)
        known.update(self._read(documents))
        return np.array([known[text] for text in documents])

    def _read(self, texts: Iterable[str]) -> dict[str, Floats]:
        """The vectors of those texts that are not known."""
        known = self.__dict__.get("_known", {})
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        return dict(zip(missing, self._encoded(missing), strict=True))

    def check_space(self, languages: Sequence[str], features: int | None) -> None:
        """Only the encoder itself, which is elsewhere, tells how long a vector is."""
        expect(features is None, "the encoder of a space")

    def serves(self, language: str) -> bool:
        return is_language(language)

    def found_at(self, folder: str | os.PathLike[str]) -> None:
        """The encoder is in another folder now; it must be the same one."""
        if str(folder) != str(self.folder):
            self.folder = str(folder)
            self.__dict__.pop("_loaded", None)

    def find(self, folder: str | os.PathLike[str] | None) -> Path:
        """The folder of the encoder that the model was trained with; any other is refused."""
        if folder is None:
            raise InputError(
                "A model from the Hub has no encoder with it. Copy the model with funnelling pull --encoder "
                "DIR, or in Python name its folder by an Encoder in views."
            )
        path = find_encoder(folder)
        if encoder_digest(path) != self.digest_:
            raise InputError(f"{path}: not the encoder that the model was trained with. Put that one back.")
        return path

    def _tuned(self, texts: Sequence[str], labels: Targets) -> dict[str, npt.NDArray[Any]]:
        return tune_encoder(
            self._encoder(), texts, labels, self.epochs, self.rate, self.batch, self.random_state
        )

    def _encoded(self, texts: Sequence[str]) -> Floats:
        if not len(texts):
            return np.zeros((0, 1), dtype=np.float32)
        vectors: Any = self._encoder().encode(
            list(texts),
            batch_size=self.batch,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return np.asarray(vectors, dtype=np.float32)

    def _encoder(self) -> Any:
        encoder = getattr(self, "_loaded", None)
        if encoder is None:
            path = self.find(self.folder)
            encoder = self._loaded = _load(path)
            if self.weights_ is not None:
                import torch

                try:
                    encoder.load_state_dict({name: torch.tensor(w) for name, w in self.weights_.items()})
                except RuntimeError as error:
                    del self._loaded
                    raise InputError(
                        f"{path}: the model's weights are not those of this encoder. Train anew."
                    ) from error
        return encoder


def find_encoder(folder: str | os.PathLike[str] | None) -> Path:
    """The folder of an encoder; refused where it holds none."""
    if folder is None:
        raise InputError("No encoder was given. Give encoder, or --encoder DIR.")
    path = Path(folder)
    if not (path / "modules.json").is_file() and not (path / "config.json").is_file():
        raise InputError(f"{path}: no model of sentence-transformers in it. Check the path.")
    _check_modules(path / "modules.json")
    return path


def _check_modules(path: Path) -> None:
    """Refuse parts that are not sentence-transformers' own: to load one would run code from elsewhere."""
    if not path.is_file():
        return
    try:
        kinds = [str(module["type"]) for module in json.loads(path.read_bytes())]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: lists no parts of an encoder. Download it again.") from error
    for kind in kinds:
        if not kind.startswith("sentence_transformers."):
            raise InputError(
                f"{path}: {kind!r} is none of sentence-transformers' own. Choose another encoder."
            )


def _load(path: Path) -> Any:
    """The encoder in a folder, on a GPU where there is one."""
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise InputError(ENCODER_HINT) from error
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(str(path), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise InputError(f"{path}: cannot be read as a model of sentence-transformers ({error}).") from error


def tune_encoder(
    encoder: Any, texts: Sequence[str], labels: Targets, epochs: int, rate: float, batch: int, seed: int
) -> dict[str, npt.NDArray[Any]]:
    """Teach an encoder the labels, through a linear layer that is dropped afterwards; its weights.

    Binary cross-entropy and AdamW, the rate rising for a tenth of the way, then falling to 0; half precision
    on a GPU.
    """
    import torch

    device = encoder.device
    if device.type == "cpu":
        logger.warning(
            "The encoder learns on the CPU, which takes a long time. A GPU would be used if there were one."
        )
    torch.manual_seed(seed)
    targets = torch.tensor(labels, dtype=torch.float32)
    head = torch.nn.Linear(encoder.encode(texts[:1]).shape[1], labels.shape[1]).to(device)
    encoder.train()
    rates = [
        {"params": encoder.parameters(), "lr": rate},
        {"params": head.parameters(), "lr": HEAD_RATE},
    ]
    optimizer = torch.optim.AdamW(rates, fused=device.type == "cuda")
    steps = epochs * -(-len(texts) // batch)
    rising = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rising, (steps - step) / max(1, steps - rising))
    )
    prepare = getattr(encoder, "preprocess", None) or encoder.tokenize
    rng = stream(seed, "encoder")
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(texts)), -(-len(texts) // batch)):
            inputs = {
                name: tensor.to(device) if hasattr(tensor, "to") else tensor
                for name, tensor in prepare([texts[row] for row in rows]).items()
            }
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
                scores = head(encoder(inputs)["sentence_embedding"])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                scores.float(), targets[rows].to(device)
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    encoder.eval()
    return {name: weights.detach().cpu().numpy() for name, weights in encoder.state_dict().items()}


def encoder_digest(path: Path) -> str:
    """The hash of a folder's weights and settings."""
    mark = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.suffix in {".json", ".safetensors", ".bin", ".model", ".txt"}:
            mark.update(str(file.relative_to(path)).encode())
            with open(file, "rb") as content:
                mark.update(hashlib.file_digest(content, "sha256").digest())
    return mark.hexdigest()


class TransformedSpace(Space):
    """Documents as a transformer, or a function, makes vectors of them: of texts, or of the user's vectors.

    A transformer is cloned and fitted on the documents of all languages together; where it draws at random
    and has no seed of its own, it gets one. A function is called as it is and never copied: what it belongs
    to may hold a lock, or a GPU.
    """

    texts_: bool
    transformer_: Vectorizer | None
    columns_: Count

    def __init__(
        self, view: Annotated[Any, Vectorizer | None] = None, name: str = "", random_state: Seed = 0
    ) -> None:
        self.view = view
        self.name = name
        self.random_state = random_state

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> Mapping[str, Matrix]:
        self.texts_ = are_texts(documents)
        sizes = sizes_of(documents)
        everything = self._together(documents)
        self.transformer_ = None
        if hasattr(self.view, "transform"):
            self.transformer_ = seeded(clone(self.view), self.random_state, self.name)
            both = getattr(self.transformer_, "fit_transform", None)
            vectors = both(everything) if both else self.transformer_.fit(everything).transform(everything)
        else:
            vectors = self.view(everything)
        X = self._checked(vectors, sum(sizes.values()))
        self.columns_ = int(X.shape[1])
        return by_language(X, sizes)

    def _together(self, documents: Mapping[str, Documents]) -> Documents:
        if self.texts_:
            return [text for texts in documents.values() for text in texts]
        check_one_width(documents, f"The view {self.name!r}")
        return stacked(documents)

    def vectors(self, language: str, documents: Documents) -> Matrix:
        transform = self.view if self.transformer_ is None else self.transformer_.transform
        X = self._checked(transform(documents), length(documents))
        if X.shape[1] != self.columns_:
            raise InputError(
                f"The view {self.name!r} gives {X.shape[1]} columns, and gave {self.columns_} when the model "
                "was trained. It must always give as many."
            )
        return X

    def check_space(self, languages: Sequence[str], features: int | None) -> Matrix:
        """What a transformer holds, only it knows: it is asked about a document."""
        expect(self.texts_ == (features is None), "a view of your own")
        document = ["a"] if features is None else filled_row(empty_row(features, dense=True))
        return self.vectors(languages[0] if languages else "", document)

    def _checked(self, vectors: Any, count: int) -> Matrix:
        X = vectors if is_sparse(vectors) else np.asarray(vectors)
        if X.ndim != 2 or X.shape[0] != count:
            raise InputError(
                f"The view {self.name!r} gives an array of shape {X.shape} for {count} documents. "
                "It must give a row each."
            )
        try:
            matrix: Matrix = check_vectors(X)
        except ValueError as error:
            raise InputError(f"The view {self.name!r} gives vectors that are no finite numbers.") from error
        return matrix

    def feature_names(self) -> Sequence[str] | None:
        transformer: Any = self.transformer_
        try:
            return list(transformer.get_feature_names_out())
        except (AttributeError, ValueError):  # one of a pipeline's steps may have none
            return None

    def serves(self, language: str) -> bool:
        # Vectors of the user's own may come from a language of any name, and mean anything.
        return is_language(language) and getattr(self, "texts_", True)


def seeded(transformer: Any, *keys: object) -> Any:
    """A transformer whose random choices, and those of its parts, follow from the keys where none are set.

    >>> from sklearn.decomposition import TruncatedSVD
    >>> seeded(TruncatedSVD(), 0).random_state == seeded(TruncatedSVD(), 0).random_state
    True
    """
    for name, value in sorted(transformer.get_params().items()):
        if value is None and name.rpartition("__")[2] == "random_state":
            transformer.set_params(**{name: int(stream(*keys, name).integers(2**31))})
    return transformer
