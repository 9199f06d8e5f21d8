"""Which words are close to a word, in every language: a look at whether vectors work."""

import difflib
import os

import numpy as np

from funnelling.embeddings.vectors import Matrix, find_vectors, read_vectors
from funnelling.errors import InputError
from funnelling.formats.document import quoted
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
    """The nearest words of a word in each language of a folder of vectors, with their cosines.

    Of each language the ``most`` frequent words are looked at.
    """
    files = find_vectors(folder)
    code = served_by(normalise_tag(language), files)
    if code not in files:
        raise InputError(f"{folder}: no vectors of {quoted(language)}, only of {', '.join(files)}.")
    wanted = lower(word, code)
    found = read_vectors(files[code], wanted={wanted})
    if not found.words:
        known = read_vectors(files[code], limit=most).words
        close = difflib.get_close_matches(wanted, known, n=3)
        cure = f"Try {' or '.join(close)}." if close else "Try another word."
        raise InputError(f"{files[code]}: no vector of {quoted(wanted)}. {cure}")
    direction = found.matrix[0] / _lengths(found.matrix)[0]
    nearest = {}
    for other, path in watched(list(files.items()), "neighbours", shown, "languages"):
        vectors = read_vectors(path, limit=most)
        cosines = vectors.matrix @ direction / _lengths(vectors.matrix)
        if other == code:
            cosines[[known == wanted for known in vectors.words]] = -np.inf
        best = np.argsort(-cosines, kind="stable")[:count]
        nearest[other] = [(vectors.words[row], float(cosines[row])) for row in best if cosines[row] > -np.inf]
    return nearest


def _lengths(matrix: Matrix) -> Matrix:
    lengths: Matrix = np.linalg.norm(matrix, axis=1)
    return np.maximum(lengths, np.finfo(np.float32).tiny)
