"""Access on the page: what a reader without a token sees, the link with one, and runs of other browsers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests
from playwright.sync_api import Locator, Page, expect

from tests.conftest import Server, launch
from tests.page.app.test_axe import violations
from tests.page.conftest import lasting
from tests.support import PATIENCE_S
from tests.support.page.queries import Open, wait

TOKEN = "token-of-the-class"
WARM = 108  # micro-batches of a run that the fake runner keeps warming up until it is cancelled
ENTER = f"?token={TOKEN}&tab=run&p=2"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server behind a proxy, so that tokens are needed; a client has one connection."""
    with lasting(
        launch(
            tmp_path_factory.mktemp("access"), BUBBLELINE_PROXIES="1", BUBBLELINE_TOKEN=TOKEN, BUBBLELINE_SOCKETS="1"
        )
    ) as made:
        yield made


def row(page: Page, run_id: str) -> Locator:
    return page.locator(f".run-list tr[data-row='{run_id}']")


def test_without_a_token_the_page_says_how_to_get_one_where_a_run_would_be_started(
    shared: Server, open_page: Open
) -> None:
    page = open_page("?tab=run&p=2", url=shared.url, fresh=True, forgive="401")
    expect(page.locator("#run-access")).to_contain_text("needs the link that the server printed")
    assert violations(page, "#drawer") == []
    page.click("#run")
    expect(page.locator(".run-panel [role=alert]")).to_contain_text(
        "Starting runs and searches, and opening a class, needs a token here"
    )


def test_the_link_with_a_token_lets_its_browser_run_and_another_one_sees_the_run_but_cannot_change_it(
    shared: Server, open_page: Open
) -> None:
    mine = open_page(f"{ENTER}&m={WARM}", url=shared.url, fresh=True)
    assert "token" not in mine.url
    expect(mine.locator("#run-access")).to_have_count(0)
    mine.click("#run")
    wait(mine, "bubbleline.state().run === 'warming'")
    run_id = str(mine.evaluate("new URLSearchParams(location.search).get('run')"))
    expect(mine.locator("#cancel")).to_be_visible()
    other = open_page(f"{ENTER}&m={WARM}&run={run_id}", url=shared.url, fresh=True, forgive="403")
    wait(other, "bubbleline.state().run === 'warming'")
    expect(other.locator("#panel-run .steps")).to_be_visible()
    expect(other.locator("#cancel")).to_have_count(0)
    answer = other.evaluate(
        f"fetch('/api/runs/{run_id}/cancel', {{method: 'POST'}}).then(async (x) => [x.status, await x.json()])"
    )
    assert (answer[0], answer[1]["error"]["code"]) == (403, "access.not_yours")
    mine.click("#cancel")
    wait(mine, "bubbleline.state().run === 'cancelled'")
    other.locator(".run-more summary").click()
    # the list of the first page was open from the beginning, because there was no run
    expect(row(other, run_id).get_by_role("button", name="Copy link")).to_be_visible()
    for act in ("Rename", "Delete"):
        expect(row(other, run_id).get_by_role("button", name=act)).to_have_count(0)
        expect(row(mine, run_id).get_by_role("button", name=act)).to_be_visible()


def test_a_page_whose_connection_is_refused_says_why_and_connects_when_it_may(shared: Server, open_page: Open) -> None:
    runs, bearer = f"{shared.url}/api/runs", {"Authorization": f"Bearer {TOKEN}"}
    run_id = requests.post(runs, json={"spec": {"m": WARM}}, headers=bearer, timeout=PATIENCE_S).json()["id"]
    first = open_page(f"?run={run_id}", url=shared.url, fresh=True)
    wait(first, "bubbleline.state().run === 'warming'")
    second = open_page(f"?run={run_id}", url=shared.url, fresh=True)
    expect(second.locator("#banner")).to_contain_text("connections of yours are open already")
    expect(second.locator("#panel-run")).to_contain_text("The connection to the server is lost")
    first.goto("about:blank")
    expect(second.locator("#panel-run")).not_to_contain_text("The connection to the server is lost")
    requests.post(f"{runs}/{run_id}/cancel", headers=bearer, timeout=PATIENCE_S)
    wait(second, "bubbleline.state().run === 'cancelled'")


def test_a_page_over_its_pace_says_so_and_reads_again_by_itself(open_page: Open, server: Server) -> None:
    page = open_page("?p=4", fresh=True, forgive="429")
    text = "More than 60 requests a minute came from you; try again in 1 s."
    body = (
        '{"error": {"code": "access.too_many_requests", "params": {"most": 60, "seconds": 1}, "field": "requests", '
        f'"value": 60, "message": "{text}", "limit": 60}}}}'
    )
    refused = []

    def refuse_once(route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=429, headers={"Retry-After": "1"}, content_type="application/json", body=body)

    page.route("**/api/runs?**", refuse_once)
    page.click("#tab-run")
    expect(page.locator("#banner")).to_contain_text(f"{text} The page tries again by itself.")
    expect(page.locator(".run-list, .run-none").first).to_be_attached()
    listed = requests.get(f"{server.url}/api/runs?limit=12", timeout=PATIENCE_S).json()["runs"]
    if listed:
        expect(row(page, listed[0]["id"])).to_be_visible()
    else:
        expect(page.locator(".run-none")).to_be_visible()
