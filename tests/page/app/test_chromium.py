"""The page in the whole of Chromium where the other tests run in its headless shell: it opens, follows and explains."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, expect

from tests.support.page.browser import full_chromium, launch_browser
from tests.support.page.other_machines import OtherMachines
from tests.support.page.queries import Open, middle, state, wait

CHROMIUM = full_chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="every test of the page runs in this browser already")


@pytest.fixture(scope="module")
def browser(playwright: Playwright, outside: OtherMachines) -> Iterator[Browser]:
    """The whole browser, in place of the shell."""
    started = launch_browser(playwright, CHROMIUM, flags=[outside.flag])
    yield started
    started.close()


def test_a_schedule_is_drawn_and_follows_a_number_box(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=8")
    page.fill("#field-m", "12")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.box('a', '0F11')")
    assert state(page)["plans"][0]["shown"]["m"] == 12


def test_hovering_an_op_explains_it(open_page: Open) -> None:
    page = open_page()
    page.mouse.move(*middle(page, "a", "2F0"))
    expect(page.locator("#card")).to_contain_text("1F0 on rank 1")


def test_play_moves_the_playhead(open_page: Open) -> None:
    page = open_page()
    page.click("[aria-label=Play]")
    wait(page, "bubbleline.state().at > 0.3")
    page.focus("#plot")
    page.keyboard.press(" ")
    assert not state(page)["playing"]


def test_an_embed_draws_its_schedule(open_page: Open) -> None:
    page = open_page("embed?family=zb-h1&p=4&m=8")
    wait(page, "bubbleline.box('a', '0F0')")


def test_a_run_is_verified(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=2&m=2&tab=run")
    page.click("#run")
    wait(page, "['finished', 'failed', 'cancelled'].includes(bubbleline.state().run)")
    assert state(page)["run"] == "finished"
    expect(page.locator("#panel-run")).to_contain_text("verified")
