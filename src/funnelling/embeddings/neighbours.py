"""Which words are close to a word, in every language, which shows whether vectors work."""

import difflib
import os

import numpy as np

from funnelling.embeddings.vectors import find_vectors, read_vectors
from funnelling.errors import InputError
from funnelling.formats.document import quoted
from funnelling.matrices import Floats
from funnelling.text.languages import normalise_tag, served_by
from funnelling.text.tokens import lower
from funnelling.work.progress import watched


def nearest_words(
    folder: str | os.PathLike[str],
    language: str,
    word: str,
    count: int = 5,
    most: int = 50_000,
    shown: bool = False,
) -> dict[str, list[tuple[str, float]]]:
    """The words nearest to a word in each language of a folder of vectors, with their cosines.

    Only the ``most`` frequent words of each language are searched.
    """
    files = find_vectors(folder)
    code = served_by(normalise_tag(language), files)
    if code not in files:
        raise InputError(f"{folder}: no vectors of {quoted(language)}, only of {', '.join(files)}.")
    word = lower(word, code)
    own = read_vectors(files[code], wanted={word})
    if not own.words:
        close = difflib.get_close_matches(word, read_vectors(files[code], limit=most).words, n=3)
        cure = f"Try {' or '.join(close)}." if close else "Try another word."
        raise InputError(f"{files[code]}: no vector of {quoted(word)}. {cure}")
    direction = own.matrix[0] / _lengths(own.matrix)[0]
    nearest = {}
    for other, path in watched(list(files.items()), "neighbours", shown, "languages"):
        vectors = read_vectors(path, limit=most)
        cosines = vectors.matrix @ direction / _lengths(vectors.matrix)
        if other == code:
            cosines[[other_word == word for other_word in vectors.words]] = -np.inf
        best = np.argsort(-cosines, kind="stable")[:count]
        nearest[other] = [(vectors.words[row], float(cosines[row])) for row in best if cosines[row] > -np.inf]
    return nearest


def _lengths(matrix: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(matrix, axis=1)
    return np.maximum(lengths, np.finfo(np.float32).tiny)
