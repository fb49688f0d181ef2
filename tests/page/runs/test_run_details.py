"""The result of a run, and what is measured besides times: messages, bytes, live activations, loaded when shown."""

from __future__ import annotations

import re

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.conftest import Server
from tests.page.runs.test_run import ended, start_paced
from tests.support import PATIENCE_S
from tests.support.page.queries import Open, middle, pixel, settle, state, wait

pytestmark = pytest.mark.one_document

RESULT = re.compile(r"^Verified\. \S+ m?s, (\S+ % (over|under) plan|as planned); bubble \S+ %, predicted \S+ %\.$")


def beside(page: Page, rank: int, t: float, below: float) -> tuple[float, float]:
    """A position under the run's row of a rank at a time."""
    point = page.evaluate(f"bubbleline.point('run', {rank}, {t})")
    return point["x"], point["y"] + point["h"] / 2 + below


def longest_wait(page: Page, server: Server) -> list[float]:
    """The row of the message with the longest wait, its times in units of the plan."""
    run = requests.get(f"{server.url}/api/runs/{state(page)['view']['run']}", timeout=PATIENCE_S).json()
    row = max(run["messages"], key=lambda row: row[7] - row[6])
    return [*row[:5], *(time / 1e6 / run["unit_ms"] for time in row[5:8]), row[8]]


def test_the_result_of_a_run_is_one_sentence_and_its_details_are_loaded_once_for_card_strip_and_messages(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=zb-h1&p=2&m=4&tab=run&theme=light", url=live_server.url)
    asked: list[str] = []
    page.on("request", lambda request: asked.extend([request.url] if "rows=bytes" in request.url else []))
    start_paced(page)
    assert ended(page) == "finished"
    check_result(page)
    assert not asked, "ops are enough until somebody looks"
    card = page.locator("#card")
    page.mouse.move(*middle(page, "run", "1F0"))
    expect(card).to_contain_text("activations alive after it")
    expect(card).to_contain_text("received")
    page.focus("#plot")
    page.keyboard.press("h")
    check_strip(page)
    page.keyboard.press("h")  # the strips away, the messages there
    page.keyboard.press("l")
    check_longest_wait(page, live_server)
    assert len(asked) == 1
    page.click("#run-replay")
    wait(page, "bubbleline.state().playing")


def check_result(page: Page) -> None:
    """The result is one sentence; the facts are folded behind it."""
    expect(page.locator("#run-result")).to_have_text(RESULT)
    facts = page.locator(".run-facts")
    expect(facts).to_be_hidden()
    page.click(".run-details > summary")
    expect(facts).to_be_visible()
    expect(facts).to_contain_text("in a single process")
    expect(page.locator("#legend")).to_contain_text("late start")
    plan, run = state(page)["lanes"]
    assert (plan["lateStarts"], run["lateStarts"] > 0) == (0, True)


def check_strip(page: Page) -> None:
    """The memory strip has what was measured and what the plan counts."""
    wait(page, "bubbleline.point('run', 1, 0, 'strip').h > 0")
    expect(page.locator("#legend")).to_contain_text("measured")
    expect(page.locator("#legend")).to_contain_text("as the plan counts")
    foot = page.evaluate("bubbleline.point('run', 0, 1.5, 'strip')")
    page.mouse.move(foot["x"], foot["y"])
    expect(page.locator("#card")).to_contain_text("Rank 0 holds")
    expect(page.locator("#card")).to_contain_text("The line is what the plan counts")


def check_longest_wait(page: Page, server: Server) -> None:
    """A message that a rank waited for is drawn and named."""
    source, rank, _, _, _, _, begun, taken, size = longest_wait(page, server)
    settle(page)
    waited = beside(page, rank, (begun + taken) / 2, 9)
    _, green, blue = pixel(page, *waited)
    assert blue < 40 < 120 < green, "a rank waits: gold in its lane of what it receives"
    page.mouse.move(*waited)
    card = page.locator("#card")
    expect(card).to_contain_text(f"on rank {source} to")
    expect(card).to_contain_text(f"{size / 1000:g} kB")
    expect(card).to_contain_text(f"Rank {rank} waited")


def test_messages_and_memory_of_a_run_under_way_arrive_with_its_ops(open_page: Open, live_server: Server) -> None:
    page = open_page("?family=1f1b&p=2&m=24&tab=run&lane=comm&mem=1", url=live_server.url)
    start_paced(page)
    wait(page, "bubbleline.state().lanes.some((lane) => lane.details && lane.live)")
    ops = "bubbleline.state().lanes.find((lane) => lane.id === 'run').ops"
    assert ended(page) == "finished"
    assert page.evaluate(ops) == 96
    page.mouse.move(*middle(page, "run", "1B23"))
    expect(page.locator("#card")).to_contain_text("activations alive after it 0 B")
    done = page.evaluate("document.querySelector('.meter')?.getAttribute('aria-valuenow') ?? '96'")
    assert (int(done), state(page)["run"]) == (96, "finished"), "no op is counted twice"
