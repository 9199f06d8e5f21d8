"""The pattern of language tags that clients can check is what the service takes."""

import re

import pytest

from funnelling.errors import InputError
from funnelling.methods.model import Model
from funnelling.serving.tags import ANY_TAG, tag_pattern
from funnelling.text.languages import normalise_tag
from tests.funnels import any_funnel

TAGS = (
    *("de", "DE", "deu", "ger", "deu_Latn", "de-AT", "ger_at", "dee", "den", "d", "de_", "x"),
    *("sr", "srp", "srp-Cyrl", "sr_Latn", "sr_RS", "sh", "hr"),
    *("pt", "por", "pt_BR", "por-br", "pt_PT", "br"),
    *("quy", "quy_Latn", "qu", "xx", "xx_Latn", "nonesuch"),
)


def _model(*languages: str) -> Model:
    texts, labels = ["cat", "dog"] * 4, [["cat"], ["dog"]] * 4
    X, y = dict.fromkeys(languages, texts), dict.fromkeys(languages, labels)
    return any_funnel(views=None, random_state=0).fit(X, y).model_


def _serves(model: Model, tag: str) -> bool:
    try:
        return model.serves(normalise_tag(tag))
    except InputError:
        return False


@pytest.mark.parametrize(
    "languages", [("de", "pt_BR", "quy"), ("deu_Latn", "sr_Latn"), ("pt", "xx", "sr"), ("pt", "pt_BR")]
)
def test_the_pattern_has_the_tags_that_a_model_serves(languages: tuple[str, ...]) -> None:
    model = _model(*languages)
    pattern = re.compile(tag_pattern(model))
    assert [tag for tag in TAGS if pattern.search(tag)] == [tag for tag in TAGS if _serves(model, tag)]
    assert pattern.search("")
    assert pattern.pattern != ANY_TAG
