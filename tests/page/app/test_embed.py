"""An embed in a page of another site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Frame, Page, expect

from tests.conftest import Server
from tests.support.page.queries import Open, settle, state, wait
from tests.support.page.site import site_of

DRAWN = "window.bubbleline && bubbleline.samples.firstPaint() > 0"
ALL_CONTROLS = ("#plot", "#transport", "#scrub", "#speed", "#minimap", "#legend", "#embed-open")
SEEN = "(node => node !== null && node.getClientRects().length > 0)(document.querySelector('{}'))"


@pytest.fixture(scope="module")
def elsewhere(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page of another site that frames ours: an embed, and the whole page, which may not be framed."""
    folder = tmp_path_factory.mktemp("elsewhere")
    frames = [f"{server.url}/embed?family=zb-h1&p=4&m=8&t0=2&t1=20&sel=2F3&theme=light", f"{server.url}/?p=3"]
    shown = "".join(
        f'<iframe name="f{k}" src="{url}" width="320" height="300"></iframe>' for k, url in enumerate(frames)
    )
    (folder / "index.html").write_text(f"<!doctype html><title>A lesson</title>{shown}".replace("&", "&amp;"))

    with site_of(folder) as address:
        yield address


def test_a_deck_that_is_opened_from_a_disk_may_frame_the_embed(bare_page: Page, server: Server, tmp_path: Path):
    deck = tmp_path / "deck.html"
    deck.write_text(f'<!doctype html><title>A deck</title><iframe name="f" src="{server.url}/embed?p=3"></iframe>')
    bare_page.goto(deck.as_uri())
    wait(framed(bare_page, "f"), DRAWN)


def seen(page: Page, selector: str) -> bool:
    return bool(page.evaluate(SEEN.format(selector)))


def framed(page: Page, name: str) -> Frame:
    frame = page.frame(name)
    assert frame is not None
    return frame


def test_only_the_embed_may_be_framed_by_another_site(reader: FlaskClient):
    whole, embed = (reader.get(path).headers["Content-Security-Policy"] for path in ("/", "/embed"))
    assert whole.endswith("frame-ancestors 'self'")
    assert whole.rpartition(";")[0] == embed


def test_unknown_appearances_are_ignored(reader: FlaskClient):
    for query in ("?theme=pink&controls=%22%3E%3Cscript%3E", "?controls=all", ""):
        assert 'data-theme="auto" data-controls="full"' in reader.get(f"/embed{query}").text, query


def test_in_a_narrow_frame_of_another_site_the_embed_is_drawn_and_played_by_keys(bare_page: Page, elsewhere: str):
    page = bare_page
    page.goto(elsewhere)
    frame = framed(page, "f0")
    frame.wait_for_selector(".lane-head strong")
    frame.locator("#plot").focus()
    before = frame.evaluate("bubbleline.state()")
    assert (before["spec"]["family"], before["window"], before["view"]["sel"]) == ("zb-h1", {"t0": 2, "t1": 20}, "2F3")
    page.keyboard.press("w")
    page.keyboard.press(".")
    after = frame.evaluate("bubbleline.state()")
    assert after["window"]["t1"] - after["window"]["t0"] < 18
    assert after["view"]["sel"] != "2F3"
    assert frame.evaluate("document.documentElement.scrollWidth") == 320
    assert framed(page, "f1").evaluate("typeof bubbleline") == "undefined"  # the whole page is not shown in a frame


def test_the_full_view_opens_in_the_current_state_of_the_embed(open_page: Open, server: Server):
    page = open_page("embed?family=zb-h1&p=4&m=8&b.family=1f1b&controls=minimal&theme=dark")
    assert [name for name in ALL_CONTROLS if seen(page, name)] == ["#plot", "#transport", "#scrub", "#embed-open"]
    page.focus("#plot")
    for key in ("w", ".", ".", "ArrowRight"):
        page.keyboard.press(key)
    here = state(page)
    with page.context.expect_page() as opened:
        page.click("#embed-open")
    full = opened.value
    wait(full, DRAWN)
    assert urlsplit(full.url).path == "/"
    assert "controls" not in full.url
    there = state(full)
    for key in ("spec", "others", "at"):
        assert there[key] == here[key], key
    assert (there["view"]["sel"], there["view"]["theme"]) == (here["view"]["sel"], "dark")
    assert there["window"] == pytest.approx(here["window"], rel=1e-6)


def test_an_embed_without_controls_is_the_timeline_alone(open_page: Open):
    page = open_page("embed?family=gpipe&controls=none", width=720, height=420)
    assert [name for name in ALL_CONTROLS if seen(page, name)] == ["#plot", "#embed-open"]


def test_the_embed_has_all_controls_plays_on_a_click_and_does_not_change_the_address(open_page: Open):
    page = open_page("embed?family=gpipe&p=4&m=8&controls=full", width=720, height=420)
    assert [name for name in ALL_CONTROLS if not seen(page, name)] == []
    address = page.url
    page.get_by_role("button", name="Play").click()
    wait(page, "bubbleline.state().playing && bubbleline.state().at > 0")
    page.get_by_role("button", name="Pause").click()
    wait(page, "!bubbleline.state().playing")
    settle(page)  # no timer is left that would write the address
    assert page.url == address


def test_costs_from_a_model_are_loaded_before_the_embed_is_drawn(open_page: Open):
    page = open_page("embed?p=8&m=16&m.model=llama3-70b&m.tp=8")
    assert state(page)["spec"]["costs"]["F"][0] > 10


def test_a_measured_run_and_a_bad_link_are_explained_in_the_embed(open_page: Open):
    page = open_page("embed?p=3&run=0f3a9c2e", width=720)
    expect(page.locator("#embed-foot")).to_contain_text("run is in the full view")
    page = open_page("embed?p=zero", width=720)
    expect(page.locator("#embed-foot")).to_contain_text("p must be", ignore_case=True)


def test_a_spec_that_cannot_be_drawn_is_explained_with_one_that_can(open_page: Open):
    page = open_page("embed?family=dualpipe&p=4&m=7", drawn=False)
    page.get_by_role("button", name=re.compile("Use m = ")).click()
    wait(page, DRAWN)
    wait(page, "bubbleline.state().plans[0].error === null")
