"""Toy corpora in which every language says the same with words of its own."""

import numpy as np

from funnelling.corpus.reference import Reference

TOPICS = 4
WORDS = 6  # of a topic


def word(language: str, topic: int, number: int) -> str:
    """A word of a topic that no other language has."""
    return f"{language}word{'abcdef'[number]}{'wxyz'[topic]}"


def text(language: str, topic: int, rng: np.random.Generator, length: int = 8) -> str:
    """A text about a topic, with a word of another one."""
    numbers = rng.integers(0, WORDS, length)
    other = word(language, int(rng.integers(TOPICS)), int(rng.integers(WORDS)))
    return " ".join([word(language, topic, int(number)) for number in numbers] + [other])


def reference(languages: tuple[str, ...] = ("en", "it", "fr"), groups: int = 60) -> Reference:
    """Groups about one topic each, the same words in all languages."""
    texts = {}
    for language in languages:
        rng = np.random.default_rng(1)
        texts[language] = [text(language, group % TOPICS, rng) for group in range(groups)]
    return Reference([f"page {group}" for group in range(groups)], texts)


def corpus(
    languages: tuple[str, ...] = ("en", "it"), documents: int = 40, seed: int = 0
) -> tuple[list[str], list[list[str]], list[str]]:
    """Texts, their topic as the only label, and their languages."""
    rng = np.random.default_rng(seed)
    rows = [(language, int(rng.integers(TOPICS))) for language in languages for _ in range(documents)]
    return (
        [text(language, topic, rng) for language, topic in rows],
        [[f"topic {topic}"] for _, topic in rows],
        [language for language, _ in rows],
    )
