"""Where PyTorch works, what happens where it or a GPU is missing, and that PyTorch is left as it was."""

import builtins
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.runtime.threads import repeatable, require_device

torch = pytest.importorskip("torch")


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "torch":
            raise ImportError(name)
        return real_import(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


class TestRequireDevice:
    @pytest.mark.usefixtures("gpu")
    def test_a_gpu_is_taken_where_there_is_one(self) -> None:
        names = ("auto", "cpu", "cuda")
        assert [require_device(name, "mle-lstm") for name in names] == ["cuda", "cpu", "cuda"]

    @pytest.mark.usefixtures("no_gpu")
    def test_a_gpu_that_is_not_there_is_refused(self) -> None:
        assert require_device("auto", "mle-lstm") == "cpu"
        with pytest.raises(
            InputError,
            match=r"^device is 'cuda', and PyTorch finds no GPU here\. Set device to auto or cpu\.$",
        ):
            require_device("cuda", "mle-lstm")

    @pytest.mark.usefixtures("no_torch")
    @pytest.mark.parametrize("name", ["auto", "cpu", "cuda"])
    def test_without_torch_every_device_is_refused(self, name: str) -> None:
        with pytest.raises(InputError, match=r"^mle-lstm needs PyTorch: pip install 'funnelling\[neural\]'$"):
            require_device(name, "mle-lstm")

    def test_other_names_are_refused(self) -> None:
        with pytest.raises(InputError, match=r"^device must be one of auto, cpu, cuda, not 'tpu'\.$"):
            require_device("tpu", "mle-lstm")


def test_pytorch_is_left_as_it_was() -> None:
    threads = torch.get_num_threads()
    with repeatable("cpu"):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == threads
