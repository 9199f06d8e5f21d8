"""Asking the Hub: its library shows bars where lines are wanted, and nowhere else; who waits is told."""

import sys
import time

import pytest

from funnelling.hub.addresses import HubAddress
from funnelling.hub.client import asking
from funnelling.runtime.messages import Style, speaking

utils = pytest.importorskip("huggingface_hub.utils", reason="needs the Hub: pip install 'funnelling[hub]'")


@pytest.mark.parametrize(
    ("terminal", "style", "shown"),
    [
        (True, Style(), True),
        (True, Style(quiet=True), False),
        (True, Style(as_json=True), False),
        (False, Style(), False),
    ],
)
def test_bars(terminal: bool, style: Style, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    utils.enable_progress_bars()  # whatever other libraries did to them
    with speaking(style), asking(HubAddress("owner/name")):
        assert utils.are_progress_bars_disabled() is not shown
    assert not utils.are_progress_bars_disabled()


@pytest.mark.parametrize(("patience", "lines"), [(30, []), (0.01, ["hf://owner/name: waiting for the Hub"])])
def test_who_waits_is_told(
    patience: float, lines: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("funnelling.hub.client.PATIENCE", patience)
    caplog.set_level("INFO", "funnelling")
    with asking(HubAddress("owner/name")):
        time.sleep(0.3)
    assert [message.partition(",")[0] for message in caplog.messages] == lines
