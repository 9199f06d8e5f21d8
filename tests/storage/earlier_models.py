"""Models as versions of funnelling saved them, each with what it said of some documents.

python -m tests.storage.earlier_models     keep those of this version; a release that changes the format does

`earlier/VERSION/CASE.tar.xz` is a model folder, `earlier/VERSION/CASE.json` what was asked and answered.
"""

import json
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from funnelling import load_model, save_model
from funnelling.storage.models import describe_model
from tests.artificial import text_corpus

from .saved_models import fitted

EARLIER = Path(__file__).parent / "earlier"
CASES = ("fun-auto", "fun-tat", "naive", "pooled", "odds", "odds of one label", "words-and-characters")
ASKED = 10  # documents that no case was fitted on


def keep(case: str, folder: Path) -> None:
    """Save a model of this version, and what it says."""
    model = folder / case
    save_model(fitted(case), model)
    version = EARLIER / describe_model(model)["funnelling"]
    version.mkdir(parents=True, exist_ok=True)
    with tarfile.open(version / f"{case}.tar.xz", "w:xz") as archive:
        for path in sorted(model.iterdir()):
            entry = tarfile.TarInfo(path.name)  # no time, no owner: the same model gives the same bytes
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(entry, content)
    texts, _, languages = text_corpus(documents=ASKED, seed=1)
    loaded, described = load_model(model), describe_model(model)
    answered = {
        "format": described["format"],
        "readable_by": described["readable_by"],
        "texts": texts,
        "languages": languages,
        "labels": loaded.classes_.tolist(),
        "probabilities": loaded.predict_proba(texts, languages=languages).round(7).tolist(),
    }
    text = json.dumps(answered, indent=1) + "\n"
    (version / f"{case}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        for case in CASES:
            keep(case, Path(folder))
