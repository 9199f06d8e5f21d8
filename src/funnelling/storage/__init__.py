"""Model folders: ``model.json`` and one file of arrays, or two. Loading one runs no code of its author.

``model.json`` says what the model is (method, parameters, languages, labels, scores) and holds it as a
tree, whose classes its annotations name; arrays, long lists of words and scikit-learn
estimators (in skops' form) stand in the arrays file, whose name is its content's hash. Replacing
``model.json`` is therefore the one step that changes a model: a save that is interrupted or killed before it
leaves the old model whole. Pages about the old model go before that step, those about the new one come after.
What changes later without the rest, such as thresholds, goes to a second file of arrays.
"""

from funnelling.storage.folders import check_writable
from funnelling.storage.models import save, save_changes, save_model
from funnelling.storage.places import (
    Pushed,
    describe_model,
    load,
    load_model,
    load_to_change,
    pull_model,
    push_model,
)

__all__ = [
    "Pushed",
    "check_writable",
    "describe_model",
    "load",
    "load_model",
    "load_to_change",
    "pull_model",
    "push_model",
    "save",
    "save_changes",
    "save_model",
]
