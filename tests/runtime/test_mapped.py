"""Models whose arrays stay on the disk: the same answers, and the same refusals."""

import mmap
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from funnelling import InputError, load_model
from funnelling.runtime.files import arrays_in
from funnelling.storage import save_model
from tests.artificial import text_corpus
from tests.funnels import any_funnel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts, labels, languages = text_corpus()
    save_model(any_funnel(views=None, random_state=0).fit(texts, labels, languages), tmp_path / "model")
    return tmp_path / "model"


def test_a_mapped_model_answers_with_the_same_bits(folder: Path) -> None:
    texts, _, languages = text_corpus(seed=1)
    copied, mapped = load_model(folder), load_model(folder, mapped=True)
    answers = [model.predict_proba(texts, languages=languages) for model in (copied, mapped)]
    assert np.array_equal(*answers)


def test_its_arrays_cannot_be_written_to(folder: Path) -> None:
    model = load_model(folder, mapped=True)
    with pytest.raises(ValueError, match="read-only"):
        model.model_.fitted.learned.tier_two.scorer.support[0, 0] = 1


def test_it_can_still_learn_on(folder: Path) -> None:
    model = load_model(folder, mapped=True)
    model.update(["ein Hund", "eine Katze"] * 6, [["dog"], ["cat"]] * 6, ["de"] * 12)
    assert "de" in model.languages_


def test_damage_is_refused_as_ever(folder: Path) -> None:
    (arrays,) = folder.glob("arrays-*")
    arrays.write_bytes(arrays.read_bytes()[:-1] + b"!")
    with pytest.raises(InputError, match="is not the file that was saved"):
        load_model(folder, mapped=True)
    arrays.write_bytes(b"")
    with pytest.raises(InputError, match="damaged"):
        load_model(folder, mapped=True)


def test_every_type_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = ("?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8")
    made = {kind: (100 * rng.random((2, 3))).astype(kind) for kind in kinds} | {"empty": np.empty((0, 4))}
    (tmp_path / "x").write_bytes(save(made))

    with open(tmp_path / "x", "rb") as file:
        found = arrays_in(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    assert set(found) == set(made)
    for name, array in made.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
