"""The search in the page: its certificate, a better order while it runs, and a link that gives the same order again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.support.page.queries import GO, Open, hold, release, reload, settle, wait, wait_until

BOTH_WAYS = "?family=chimera-auto&p=2&m=4&memory=2&F=18.5&I=18.1&W=9.3&comm=0.6"
PROVED = "?family=v-auto&p=4&m=8&memory=3&F=18.5&I=18.1&W=9.3&comm=0.6"  # the best order found meets the bound
OF_SIZES = "?family=zb-auto&p=4&m=8&memory=3&sizes=lognormal:.3:3&injection=mountain&recompute=full&recompute_at=ahead"
HARD = "?family=v-auto&p=6&m=14&memory=3&F=18.5&I=18.1&W=9.3&comm=0.6"


def span(page: Page) -> float:
    return page.evaluate("bubbleline.state().plans[0].figures.longestStage")


# However little a busy machine searches in the seconds that the page asks for, it finds what these tests wait for.
TAKE_TEN_MINUTES = """(() => {
  for (const { prototype } of [WebSocket, XMLHttpRequest]) {
    const { send } = prototype;
    prototype.send = function (data) {
      send.call(this, typeof data === "string" ? data.replace(/"seconds":[0-9]+/, '"seconds":600') : data);
    };
  }
})()"""


@pytest.fixture
def open_patient(open_page: Open) -> Open:
    """Open a view whose searches may take ten minutes."""

    def opened(link: str, once: bool = False, forgive: str = "") -> Page:
        page = open_page(link, once=once, forgive=forgive)
        page.evaluate(TAKE_TEN_MINUTES)
        return page

    return opened


@pytest.mark.parametrize(
    ("link", "to_the_end"),
    [(PROVED, True), (BOTH_WAYS, True), (OF_SIZES, False)],
    ids=["v-auto", "chimera-auto", "zb-auto of sizes"],
)
def test_a_search_improves_the_order_and_the_link_reproduces_it(
    open_patient: Open, link: str, to_the_end: bool
) -> None:
    page = open_patient(link)
    expect(page.locator("#search-verdict")).to_contain_text("above the bound")
    constructed = span(page)
    page.locator("#search-go").click()
    if not to_the_end:
        expect(page.locator("#search-stop")).to_be_visible()
        wait(page, f"bubbleline.state().plans[0].figures.longestStage < {constructed}")  # while it runs
        page.locator("#search-stop").click()
    expect(page.locator("#search-stop")).to_be_hidden()
    expect(page.locator("#search-status")).to_contain_text("The link gives the same order again")
    expect(page.locator("#search-verdict")).to_contain_text("optimal" if to_the_end else "above the bound")
    wait(page, "location.search.includes('effort=')")
    settle(page)  # the address has the effort of the last improvement
    found = span(page)
    assert found < constructed
    reload(page, "window.bubbleline && bubbleline.state().plans[0]?.figures")
    assert span(page) == found


def test_stopping_keeps_the_best_order_so_far_and_any_change_discards_it(open_patient: Open) -> None:
    page = open_patient(HARD)
    page.locator("#search-auto").uncheck()
    page.locator("#search-longer").click()
    wait(page, "location.search.includes('effort=')")
    page.locator("#search-stop").click()
    expect(page.locator("#search-go")).to_be_visible()
    assert re.search(r"effort=\d+", page.url)
    page.fill("#field-m", "12")
    page.press("#field-m", "Enter")
    wait(page, "bubbleline.state().plans[0].shown?.m === 12")
    wait(page, "!location.search.includes('effort=')")
    expect(page.locator("#search-status")).to_contain_text("Constructed without a search")
    page.fill("#field-m", "14")
    page.press("#field-m", "Enter")
    page.locator("#search-auto").check()
    searching = "!document.querySelector('#search-stop').hidden"
    wait(page, f"{searching} || location.search.includes('effort=')")  # it searches, or has by now


def test_after_a_change_the_search_starts_automatically_when_the_reader_is_idle(open_patient: Open) -> None:
    page = open_patient("?family=zb-auto&p=4&m=9&memory=3&F=18.5&I=18.1&W=9.3&comm=0.6")
    expect(page.locator("#search-status")).to_contain_text("Constructed without a search")  # no search yet
    held = hold(page, "**/api/schedule?*")
    page.fill("#field-memory", "2.4")
    page.press("#field-memory", "Enter")
    wait(page, "location.search.includes('memory=2.4')")
    wait(page, "pendingWork() === 1")  # the rest before a search is over, and the schedule is not there yet
    assert "effort=" not in page.url
    release(page, held)
    wait(page, "location.search.includes('effort=')")


def test_a_bound_that_arrives_before_the_order_is_timed_does_not_keep_a_search_from_starting(
    open_patient: Open,
) -> None:
    page = open_patient("?family=zb-auto&p=4&m=9&memory=3&F=18.5&I=18.1&W=9.3&comm=0.6")  # shorter than at 2.4
    orders, bounds = hold(page, "**/api/schedule?*"), hold(page, "**/api/bound?*")
    page.fill("#field-memory", "2.4")
    page.press("#field-memory", "Enter")
    wait_until(page, lambda: orders and bounds)
    wait(page, "pendingWork() === 2")  # the rest before a search is over
    page.evaluate("[window.kept, window.draw] = [[], requestAnimationFrame]")
    page.evaluate("void (window.requestAnimationFrame = (run) => kept.push(run))")
    for route in orders:
        route.continue_()
    wait(page, "bubbleline.state().plans[0].shown.memory === 2.4")
    release(page, bounds)
    wait(page, "pendingWork() === 0")
    page.evaluate("window.requestAnimationFrame = draw; for (const run of kept) draw(run)")
    wait(page, "location.search.includes('effort=')")


def test_a_search_without_a_connection_ends_and_one_whose_connection_is_lost_starts_again_with_the_next_one(
    open_patient: Open,
) -> None:
    page = open_patient(HARD, once=True, forgive="Failed to load resource")
    page.route("**/socket.io.esm*", lambda route: route.abort())
    page.locator("#search-go").click()
    expect(page.locator("#search-status")).to_have_text("The server does not answer.")
    expect(page.locator("#search-go")).to_be_visible()
    page.unroute("**/socket.io.esm*")
    lines: list[WebSocketRoute] = []
    page.route_web_socket("**/socket.io/*", lambda line: lines.append(line) or line.connect_to_server())
    page.locator("#search-longer").click()
    wait(page, "location.search.includes('effort=')")
    lines[0].close()
    expect(page.locator("#search-status")).to_have_text("The server does not answer.")
    expect(page.locator("#search-status")).to_contain_text("orders simulated")
    assert len(lines) == 2
    page.locator("#search-stop").click()
    expect(page.locator("#search-go")).to_be_visible()


def test_the_last_improvement_and_the_end_of_its_search_may_come_apart(open_patient: Open) -> None:
    page = open_patient(PROVED, once=True)
    ends: list[str] = []

    def line(client: WebSocketRoute) -> None:
        """Pass messages on, the last one of a search twice: as an improvement, with its order, and as the end."""
        server = client.connect_to_server()

        def take(message: str | bytes) -> None:
            if isinstance(message, str) and '"status":"finished"' in message:
                ends.append(message)
            elif ends and isinstance(message, bytes):
                end = ends.pop()
                for part in (end.replace("finished", "running"), message, end, message):
                    client.send(part)
            else:
                client.send(message)

        server.on_message(take)

    page.route_web_socket("**/socket.io/*", line)
    page.locator("#search-go").click()
    expect(page.locator("#search-stop")).to_be_hidden()
    expect(page.locator("#search-status")).to_contain_text("The link gives the same order again")
    wait(page, "location.search.includes('effort=')")
    assert not ends


def test_an_optimal_order_needs_no_search_one_order_has_no_certificate_and_an_odd_size_in_two_directions_is_refused(
    open_patient: Open,
) -> None:
    page = open_patient("?family=zb-auto&p=4&m=8&memory=4")
    expect(page.locator("#search-verdict")).to_have_text("optimal")
    expect(page.locator("#search-status")).to_have_text("Constructed without a search; no order is better.")
    expect(page.locator("#search-go")).to_be_hidden()
    page.evaluate(GO, "?family=zb-h1&p=4&m=8")
    expect(page.locator("#search")).to_be_hidden()
    page.evaluate(GO, "?family=chimera-auto&p=4&m=8")
    page.fill("#field-m", "9")
    page.press("#field-m", "Enter")
    expect(page.locator("#field-m-problem")).to_contain_text(
        "Chimera-auto needs an even number of micro-batches; 10 is the nearest"
    )


def test_the_second_schedule_is_searched_where_only_that_one_can_be(open_patient: Open) -> None:
    page = open_patient("?family=zb-h1&p=4&m=9&F=18.5&I=18.1&W=9.3&comm=0.6&b.family=zb-auto&b.memory=2.4")
    expect(page.locator("#search-verdict")).to_contain_text("above the bound")
    page.locator("#search-go").click()
    wait(page, "location.search.includes('b.effort=')")
    assert "&effort=" not in page.url
