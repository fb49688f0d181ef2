"""The digests that the page's own generators are compared with are those of the server's orders as they are now."""

from __future__ import annotations

from tests.support.page import orders


def test_the_digests_for_the_page_are_those_of_the_servers_orders():
    assert orders.GOLDEN.read_text() == orders.written(), "run: python -m tests.support.page.orders"
