"""Sets of labels as people have them: names in several languages, parents, and labels to leave out."""

from funnelling.labelsets.label_set import Label, LabelSet
from funnelling.labelsets.reading import read_label_set

__all__ = ["Label", "LabelSet", "read_label_set"]
