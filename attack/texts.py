"""Texts of all shapes of Unicode: labelled and explained in a time that grows no faster than they do."""

import time
from pathlib import Path

from attack.campaign import Outcome, Round, judged
from attack.material import saved
from funnelling import load_model
from tests.storage.saved_models import LANGUAGES
from tests.text.pathological import SHAPES

CASES = ("fun-tat", "odds", "words-and-characters")
SIZES = (200_000, 1_000_000, 50_000)  # bytes
SECONDS = 1.0  # for a text of any size, on a core that others use too
SECONDS_PER_BYTE = 1e-5
TRIES = 2  # the machine may be busy


class Texts:
    """Times what a model says of one text, by the clock of this process alone."""

    def __init__(self, home: Path) -> None:
        self._models = {case: load_model(saved(home, case)) for case in CASES}
        for model in self._models.values():
            for language in (*model.languages_, None):  # what the first text would wait for
                model.explain(["warm up"], [language])

    def attempt(self, turn: Round) -> Outcome:
        draw = turn.draw("texts")
        name, case = shape_of(turn.number), draw.choice(CASES)
        size = SIZES[turn.number // len(SHAPES) % len(SIZES)]
        text, model = SHAPES[name](size), self._models[case]
        language = draw.choice((*set(LANGUAGES), None))
        question = draw.choice((model.predict, model.explain))
        what = f"{question.__name__} {size:,} bytes of {name} by {case}"
        turn.announce(what)
        budget = SECONDS + SECONDS_PER_BYTE * size
        for _ in range(TRIES):
            started = time.process_time()
            outcome = judged(what, lambda: question([text], [language]))
            seconds = time.process_time() - started
            if outcome.is_found or seconds <= budget:
                return outcome
        return Outcome("hung", what, f"took {seconds:.1f} s, not {budget:.1f} s")

    def close(self) -> None:
        pass


def shape_of(number: int) -> str:
    """The shape that a round tries: few rounds stride through the list, in which neighbours are alike."""
    return list(SHAPES)[number * 37 % len(SHAPES)]
