"""Documents to learn from, made of labels alone or of what else a test is about."""

from collections.abc import Mapping
from typing import Any

from funnelling.corpus.blocks import Block
from funnelling.corpus.labels import MULTILABEL
from funnelling.methods.training_set import TrainingSet


def made_training(
    targets: Mapping[str, Any],
    content: Mapping[str, Any] | None = None,
    groups: Mapping[str, Any] | None = None,
    **given: Any,
) -> TrainingSet:
    """Documents with these labels, whose ids are numbers; nothing else is known of them without content."""
    blocks = {
        tag: Block.of(
            list(map(str, range(len(rows)))),
            None if groups is None else groups[tag],
            rows,
            content=None if content is None else content[tag],
        )
        for tag, rows in targets.items()
    }
    return TrainingSet(**{"blocks": blocks, "kind": "none", "labels": MULTILABEL, **given})
