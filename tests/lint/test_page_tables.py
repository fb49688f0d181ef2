"""The tables that the page shares with the server are those of the server."""

from __future__ import annotations

from tests.support.page_tables import PAGE_TABLES, page_tables


def test_the_pages_tables_are_written_from_the_servers():
    assert PAGE_TABLES.read_text() == page_tables(), "run: python -m tests.support.page_tables"
