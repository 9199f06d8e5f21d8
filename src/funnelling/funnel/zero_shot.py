"""Languages without training documents: the space they are served through, and the folds that mimic them.

The paper adds one base classifier in a space that all languages share, and feeds its posteriors to tier 2
along with those of the languages' own classifiers. It saw the two kinds interfere: languages with training
documents no longer gained from each other. Here tier 2 is told the two apart, so that nothing is left of
that: each kind has a meta-classifier of its own, and languages with training documents get what Fun(TAT)
gives them, to the bit.

The shared classifiers' folds are languages instead of documents. Sigmoids are fitted to scores of languages
that the classifier had not seen, which is what it will be asked about, and C is chosen by them.
"""

import os

import numpy as np
import numpy.typing as npt

from funnelling.corpus.reference import Reference
from funnelling.funnel.views import Given, make_space
from funnelling.method.training_set import Training
from funnelling.spaces import Space
from funnelling.text.languages import primary

SPACES = ("auto", "pooled", "embeddings", "clesa")


def unseen_space(
    name: str,
    embeddings: str | os.PathLike[str] | None,
    reference: Reference | None,
    seed: int,
    verbose: int,
) -> Space:
    """The shared space of a name; "auto" is embeddings where those are given, else the pooled vocabulary."""
    if name == "clesa":
        from funnelling.spaces.clesa import CLESASpace

        return CLESASpace(reference, random_state=seed, verbose=verbose)
    if name == "auto":
        name = "pooled" if embeddings is None else "embeddings"
    return make_space(name, Given(embeddings, reference, seed=seed, verbose=verbose))


def language_folds(training: Training) -> npt.NDArray[np.intp]:
    """One fold a language, its regional variants with it; the folds of documents if there is only one."""
    languages = [primary(language) for language in training.targets]
    if len(set(languages)) < 2:
        return training.stacked_folds()
    numbers = {language: number for number, language in enumerate(sorted(set(languages)))}
    sizes = map(len, training.targets.values())
    return np.repeat([numbers[language] for language in languages], list(sizes))
