"""Runs on the page: from the button to the verdict, with the real runner; and the messages of failures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Server
from tests.support import slowness
from tests.support.page.queries import Open, figure, reload, state, wait

pytestmark = pytest.mark.one_document

NOTE_COUNTS = """() => {
  window.counts = new Set();
  const note = () => window.counts.add(Number(document.querySelector('.meter')?.getAttribute('aria-valuenow') ?? 0));
  new MutationObserver(note).observe(document.body, {subtree: true, attributeFilter: ['aria-valuenow']});
}"""  # the ops done that the page has shown
PACED = "?family=zb-h1&p=2&m=8&tab=run"
OPS = 48


def start_paced(page: Page, unit_ms: int = 15) -> None:
    """Start a run that the page can follow however slow the machine is now."""
    page.select_option("#run-mode", "paced")
    page.fill("#run-unit", str(round(unit_ms * slowness())))
    page.click("#run")


def ended(page: Page) -> str:
    over = "(s => ['finished', 'failed', 'cancelled'].includes(s) && s)(bubbleline.state().run)"
    found: str = wait(page, over)
    return found


def test_a_run_appears_op_by_op_under_the_plan_and_ends_verified(open_page: Open, live_server: Server) -> None:
    page = open_page(PACED, url=live_server.url)
    page.evaluate(NOTE_COUNTS)
    start_paced(page, unit_ms=50)  # late starts push the run away from the plan, on a busy machine by many ms
    assert ended(page) == "finished"
    counts = page.evaluate("[...window.counts]")
    assert len([n for n in counts if 0 < n < OPS]) >= 3, "ops come one after another, not all at the end"
    delays = page.evaluate("bubbleline.samples.ops()")  # bench/page.py prints how long they are
    assert len(delays) > 0.8 * OPS
    assert min(delays) >= 0
    panel = page.locator("#panel-run")
    for words in ("verified", "paced", "cpu", "Bubble, measured", "predicted", "Largest deviation from the plan"):
        expect(panel).to_contain_text(words)
    plan, run = (page.evaluate(f"bubbleline.box('{lane}', '0F7')") for lane in ("a", "run"))
    end = page.evaluate("bubbleline.point('run', 0, bubbleline.state().lanes[1].end)")
    assert plan["x"] - 1 < run["x"] < end["x"], "on one axis: a paced op is not earlier than planned"
    assert run["w"] > plan["w"] - 1


def test_a_reader_who_pans_keeps_the_view_of_a_live_run_and_a_reload_continues_to_watch_it(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=1f1b&p=2&m=32&tab=run", url=live_server.url)
    start_paced(page)
    wait(page, "bubbleline.state().lanes.some(lane => lane.id === 'run')")
    page.focus("#plot")
    page.keyboard.press("w")
    page.keyboard.press("a")
    window, ops = state(page)["window"], state(page)["lanes"][1]["ops"]
    wait(page, f"bubbleline.state().lanes[1].ops >= {min(ops + 32, 128)}")
    assert state(page)["window"] == window
    reload(page, "window.bubbleline && bubbleline.state().run")
    assert ended(page) == "finished"
    assert state(page)["lanes"][1]["ops"] == 128
    expect(page.locator(".lane-head[data-lane=run] .badge")).to_have_text("verified")


def test_a_run_whose_pairs_did_not_overlap_has_a_note_and_opens_by_its_link_once_it_is_finished(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=dualpipev&p=2&m=4", url=live_server.url)
    page.click("#run")
    assert ended(page) == "finished"
    again = open_page(page.url[page.url.index("?") :], url=live_server.url)
    assert ended(again) == "finished"
    for each in (page, again):
        for words in ("verified", "not overlapped"):
            expect(each.locator("#panel-run")).to_contain_text(words)
        expect(each.locator(".lane-head[data-lane=run]")).to_contain_text("not overlapped")
    again.get_by_role("button", name="Close the run").click()
    wait(again, "bubbleline.state().lanes.length === 1")
    assert "run=" not in again.url


def test_the_focus_stays_on_a_button_while_the_run_gets_on_and_cancel_ends_it_with_a_note(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=gpipe&p=2&m=48&tab=run", url=live_server.url)
    start_paced(page)
    expect(page.locator("#cancel")).to_be_visible()
    expect(page.locator("#run")).to_be_focused()
    page.focus("#cancel")
    wait(page, "bubbleline.state().run === 'running' && document.querySelector('.meter').ariaValueNow > 0")
    expect(page.locator("#cancel")).to_be_focused()
    assert page.evaluate("document.getAnimations().length") == 0, "this reader has asked for less motion"
    page.keyboard.press("Enter")
    assert ended(page) == "cancelled"
    expect(page.locator("#panel-run")).to_contain_text("The run was cancelled")
    expect(page.locator("#panel-run")).to_be_focused()


def test_a_failing_run_is_explained_in_a_sentence(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=105&tab=run")  # the fake runner fails at m = 105
    page.click("#run")
    assert ended(page) == "failed"
    expect(page.locator("#panel-run")).to_contain_text("rank 1 ran out of memory")


def test_a_link_to_an_unknown_run_is_reported_and_the_plan_is_kept(open_page: Open) -> None:
    page = open_page("?run=nosuchrun&tab=run", forgive="status of 404")  # the browser's own note of it
    expect(page.locator("#panel-run")).to_contain_text("no run of that name")
    expect(figure(page, "Step time")).to_have_text("33")


def test_without_the_server_the_page_keeps_its_last_searched_schedule_and_constructs_others(
    open_page: Open, start: Callable[..., Server]
) -> None:
    server = start()
    page = open_page("?family=zb-auto", url=server.url, forgive="net::ERR_")  # searched, so by the server
    server.stop()
    page.fill("#field-m", "17")
    page.keyboard.press("Enter")
    expect(page.locator("#banner")).to_contain_text("does not answer")
    assert state(page)["plans"][0]["shown"]["m"] == 8
    expect(page.locator(".lane-head[data-lane=a] .badge")).to_contain_text("last schedule")
    page.click("#family")
    page.click("#family-1f1b")
    page.fill("#field-m", "8")
    page.keyboard.press("Enter")
    page.fill("#field-F", "2")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().plans[0].figures.makespan === 44")
