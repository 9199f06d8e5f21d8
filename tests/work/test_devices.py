"""Where PyTorch works, what happens where a GPU is missing, and that PyTorch is left as it was."""

import builtins
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from funnelling.errors import InputError
from funnelling.work.devices import pick_device, repeatable, require_device

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


class TestPickDevice:
    """For work that the CPU does as well."""

    @pytest.fixture(autouse=True)
    def _afresh(self) -> Iterator[None]:
        pick_device.cache_clear()
        yield
        pick_device.cache_clear()

    @pytest.mark.usefixtures("no_torch")
    def test_the_cpu_needs_no_torch(self) -> None:
        assert pick_device("cpu") == "cpu"

    @pytest.mark.usefixtures("gpu")
    def test_a_gpu_is_taken_where_there_is_one(self) -> None:
        assert pick_device("cuda") == "cuda"

    @pytest.mark.usefixtures("no_gpu")
    def test_without_a_gpu_the_cpu_does_the_work(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            assert [pick_device("cuda"), pick_device("cuda")] == ["cpu", "cpu"]
        assert caplog.messages == ["PyTorch finds no GPU here, so the CPU is used."]  # once

    @pytest.mark.usefixtures("no_torch")
    def test_without_torch_the_cpu_does_the_work(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            assert pick_device("cuda") == "cpu"
        assert caplog.messages == ["PyTorch is missing, so the CPU is used: pip install 'funnelling[neural]'"]

    @pytest.mark.parametrize("name", ["tpu", "auto"])
    def test_other_names_are_refused(self, name: str) -> None:
        with pytest.raises(InputError, match=rf"^device must be one of cpu, cuda, not '{name}'\.$"):
            pick_device(name)


class TestRequireDevice:
    """For work that only PyTorch does."""

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
