"""A real browser, for the tests that look at pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@contextmanager
def chromium(*logs: str, downloads: Path | None = None) -> Iterator[Any]:
    """Chromium, with what its console says and further logs; a test without it is skipped."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs Selenium: pip install selenium")
    program = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium here: install chromium and chromium-driver to look at pages")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", dict.fromkeys(("browser", *logs), "ALL"))
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()
