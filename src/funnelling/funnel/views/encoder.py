"""The view of a multilingual encoder: a model of sentence-transformers from a folder of the user's."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from funnelling.errors import InputError
from funnelling.spaces.base import Documents, Space, Targets, check_texts
from funnelling.svm.kernels import Floats, Matrix
from funnelling.text.languages import is_language

MISSING = "The encoder view needs sentence-transformers. pip install 'funnelling[neural]'"


class EncoderSpace(Space):
    """Documents as the encoder's vectors, of unit length; the encoder stays as it is.

    It is read from ``folder`` and nowhere else, without running code that comes with it. A model remembers
    the folder and the hash of its weights, and refuses to go on with another encoder. A text is encoded
    beside others, whose lengths may change the last bits of its vector: the only view of which this is true.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        batch: int = 32,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        self.folder = folder
        self.batch = batch
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, documents: Mapping[str, Documents], targets: Mapping[str, Targets]) -> dict[str, Matrix]:  # noqa: ARG002
        check_texts(documents, "encoder", "sentences")
        self.digest_ = _digest(self._path())
        return {language: self._encoded(part) for language, part in documents.items()}

    def vectors(self, language: str, documents: Documents) -> Matrix:  # noqa: ARG002
        return self._encoded(documents)

    def serves(self, language: str) -> bool:
        return is_language(language)

    def _path(self) -> Path:
        if self.folder is None:
            raise InputError("No encoder was given. Give encoder, or --encoder DIR.")
        path = Path(self.folder)
        if not (path / "config.json").is_file() and not (path / "modules.json").is_file():
            raise InputError(f"{path}: no model of sentence-transformers in it. Check the path.")
        return path

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
        found = getattr(self, "_loaded", None)
        if found is None:
            if _digest(self._path()) != self.digest_:
                raise InputError(f"{self.folder}: another encoder than the model was trained with.")
            found = self._loaded = load_encoder(self._path())
        return found


def load_encoder(path: Path) -> Any:
    """The encoder in a folder, on a GPU where there is one."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise InputError(MISSING) from error
    try:
        return SentenceTransformer(str(path), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: cannot be read as a model of sentence-transformers ({error}).") from error


def _digest(path: Path) -> str:
    """The hash of a folder's weights and settings."""
    found = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.suffix in {".json", ".safetensors", ".bin", ".model", ".txt"}:
            found.update(str(file.relative_to(path)).encode())
            with open(file, "rb") as content:
                found.update(hashlib.file_digest(content, "sha256").digest())
    return found.hexdigest()
