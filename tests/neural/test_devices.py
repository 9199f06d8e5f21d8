"""Where PyTorch runs, and that it is left as it was."""

import pytest
import torch

from funnelling.errors import InputError
from funnelling.neural.devices import choose_device, repeatable


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") == "cpu"
    with pytest.raises(InputError, match=r"^device is 'cuda', and PyTorch finds no GPU here\. Set device "):
        choose_device("cuda")


def test_a_gpu_is_taken_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [choose_device(name) for name in ("auto", "cpu", "cuda")] == ["cuda", "cpu", "cuda"]


def test_pytorch_is_left_as_it_was() -> None:
    threads = torch.get_num_threads()
    with repeatable("cpu"):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == threads
