"""Docstrings as the site shows them: which ones, and parameters as we write them."""

import re
from typing import Any

# What other modules of ours call on a model, and nobody else has to.
INNER = (
    *("algorithm", "check", "copied", "learner", "model_", "parameters", "run"),
    "yes_above",
    *("get_metadata_routing", "set_fit_request", "set_predict_request", "set_predict_proba_request"),
    *("set_decision_function_request", "set_score_request"),  # scikit-learn's, and described there
    *("choice_", "classes_", "documents_", "label_set_", "languages_"),  # stand among the attributes
)

PARAMETER = re.compile(r"(\*{0,2}\w+(?:, \w+)*) : (.+)")


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _describe_parameters, priority=400)  # before napoleon
    app.connect("autodoc-process-signature", _shorten)
    return {"parallel_read_safe": True}


def _describe_parameters(*event: Any) -> None:
    """Make "name : what it is" a name and its description, where napoleon would take that for a type."""
    lines = event[-1]
    for i, line in reversed(list(enumerate(lines))):
        following = lines[i + 1].strip() if i + 1 < len(lines) and lines[i + 1].startswith(" ") else ""
        if (parameter := PARAMETER.fullmatch(line)) and not following[:1].isupper():
            text = f"{parameter[2][:1].upper()}{parameter[2][1:]}"
            lines[i : i + 1] = [parameter[1], f"    {text}"]


def _shorten(*event: Any) -> tuple[str | None, str | None]:
    """Show a layout that says nothing as such."""
    signature, returns = event[-2:]
    return signature and re.sub(r"Layout\(text=.*before=None\)", "Layout()", signature), returns
