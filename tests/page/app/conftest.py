"""Pages that are not the server's: of another site, or a file on a disk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support.page.queries import PATIENCE_S


@pytest.fixture
def bare_page(browser: Browser) -> Iterator[Page]:
    """A page that may be on a disk or another site; the test itself checks its requests."""
    context = browser.new_context(viewport={"width": 900, "height": 640}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert problems == []
