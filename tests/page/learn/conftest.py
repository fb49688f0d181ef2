"""A server with the lessons of the tests, as a lecturer's folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from tests.conftest import Server, launch
from tests.lessons.support import SAMPLES
from tests.support.page.queries import DRAWN, Open, wait

OpenLesson = Callable[..., Page]


@pytest.fixture(scope="package")
def lessons_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = launch(tmp_path_factory.mktemp("lessons"), BUBBLELINE_LESSONS=str(SAMPLES))
    yield server
    server.stop()
    assert server.process.stdout is not None
    server.process.stdout.close()


@pytest.fixture
def open_lesson(open_page: Open, lessons_server: Server) -> OpenLesson:
    """Open a lesson: open_lesson("bubble#fill") waits until its timeline is drawn."""

    def open_it(address: str, **options: object) -> Page:
        page = open_page(f"learn/{address}", url=lessons_server.url, drawn=False, **options)
        if options.get("java_script_enabled", True):
            wait(page, DRAWN)
        return page

    return open_it
