"""Options of a run, and a run compared with its plan: residuals, planned times, waits; several runs."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.conftest import Server
from tests.page.app.test_axe import violations
from tests.support.page.queries import FORGET, Open, middle, pixel, reload, settle, state, wait

pytestmark = pytest.mark.one_document

LANES = "bubbleline.state().lanes.map(({ id }) => id).join()"
OVER = "bubbleline.state().run === 'finished'"


def colour_of(page: Page, lane: str, op: str) -> tuple[int, int, int]:
    """The colour of an op a little beside its label."""
    box = page.evaluate(f"bubbleline.box('{lane}', '{op}')")
    return pixel(page, box["x"] + 2, box["y"] + box["h"] / 2)


def test_the_tab_lists_the_devices_and_says_why_an_option_is_not_available(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=1f1b&p=2&m=4&tab=run", url=live_server.url)
    wait(page, "document.querySelector('#run-where').textContent.includes('CPU core')")
    page.locator("#run-devices summary").click()
    expect(page.locator("#run-devices table").first).to_contain_text("GB")
    expect(page.locator("#run-devices table").last).to_contain_text("each op is held to its planned time")
    gpu = page.locator("#run-device option[value=cuda]")
    expect(gpu).to_have_text("GPU: none here")
    expect(gpu).to_be_disabled()
    page.select_option("#run-mode", "free")
    expect(page.locator("#run-unit")).to_be_disabled()


def test_a_run_has_the_chosen_options_is_compared_with_its_plan_and_its_link_restores_both(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=1f1b&p=2&m=4&tab=run", url=live_server.url, forgive="status of 400")
    page.select_option("#run-mode", "paced")
    page.fill("#run-unit", "15")
    page.select_option("#run-dtype", "bfloat16")
    page.fill("#run-steps", "2")
    page.click("#run")
    wait(page, OVER)
    panel = page.locator("#panel-run")
    for words in (
        "bfloat16, 2 steps",
        "3.1 × 10⁻² allowed",
        "Paced, as asked.",
        "one unit is 15 ms",
        "Loss of each step",
    ):
        expect(panel).to_contain_text(words)
    expect(page.locator(".lane-head[data-lane=run]")).to_contain_text("paced · cpu · bfloat16 · 2 steps")
    expect(page.locator("#figures tr:has(th:text('Measured peak')) td")).to_contain_text("B")
    largest_deviations_are_listed_and_the_card_of_an_op_has_its_planned_time(page)
    the_plan_is_drawn_under_the_run_and_ops_are_coloured_by_lateness(page)
    page.evaluate(FORGET)
    reload(page)
    wait(page, OVER)
    its_options_are_restored_and_an_illegal_one_is_refused_with_the_nearest(page)


def largest_deviations_are_listed_and_the_card_of_an_op_has_its_planned_time(page: Page) -> None:
    page.click(".run-details > summary")
    first = page.locator(".residuals section").first.get_by_role("button").first
    first.click()
    assert state(page)["view"]["sel"] == f"{first.get_attribute('data-op')}@run"
    page.keyboard.press("Escape")
    idle = page.evaluate("bubbleline.point('run', 1, 0.4)")
    page.mouse.move(idle["x"], idle["y"])
    expect(page.locator("#card")).to_contain_text(re.compile("Measured: .*predecessors"))
    page.mouse.move(*middle(page, "run", "0B0"))
    expect(page.locator("#card")).to_contain_text("planned:")
    page.mouse.move(0, 0)


def the_plan_is_drawn_under_the_run_and_ops_are_coloured_by_lateness(page: Page) -> None:
    settle(page)
    plain = colour_of(page, "run", "0F0")
    whole = page.evaluate("bubbleline.box('run', '0F0').h")
    page.click("#show-planned")
    wait(page, f"bubbleline.box('run', '0F0').h < {whole}")
    plan, run = (page.evaluate(f"bubbleline.box('{lane}', '1B3')") for lane in ("a", "run"))
    below = pixel(page, plan["x"] + plan["w"] / 2, run["y"] + run["h"] + 3)
    assert below == colour_of(page, "a", "1B3"), "at the planned time of the op"
    page.click("#show-late")
    wait(page, "location.search.includes('late=1')")
    assert colour_of(page, "run", "0F0") != plain
    assert violations(page, "#stage", "#figures", "#drawer") == []


def its_options_are_restored_and_an_illegal_one_is_refused_with_the_nearest(page: Page) -> None:
    expect(page.locator("#run-dtype")).to_have_value("bfloat16")
    assert [page.input_value(f"#run-{name}") for name in ("mode", "unit", "steps")] == ["paced", "15", "2"]
    expect(page.locator("#show-late")).to_have_attribute("aria-pressed", "true")
    settle(page)  # a click while the run is drawn anew would end on another button than it began on
    page.fill("#run-steps", "101")
    page.get_by_role("button", name="Run again", exact=True).click()
    expect(page.locator("#panel-run")).to_contain_text("steps must be from 1 to 100")
    expect(page.locator("#run-nearest")).to_have_text("Use steps 100")


def run_all(page: Page, done: int) -> Locator:
    """Run all schedules on the screen, paced; the rows of their table once `done` runs have finished."""
    page.select_option("#run-mode", "paced")
    page.fill("#run-unit", "15")
    page.click("#run-all")
    wait(page, f"[...document.querySelectorAll('.sweep-box .run-word.good')].length === {done}", 60)
    return page.locator(".sweep-box tbody tr")


def test_all_schedules_on_the_screen_run_each_under_its_plan_and_calibrating_one_leaves_the_other_plans(
    open_page: Open, live_server: Server
) -> None:
    # Anew: the last test has chosen other options.
    page = open_page("?family=1f1b&p=2&m=4&b.family=gpipe&tab=run", url=live_server.url, anew=True)
    rows = run_all(page, 2)
    wait(page, f"{LANES} === 'a,run,b,run2'")
    for at, name, makespan in ((0, "1F1B", "15"), (1, "GPipe", "15")):
        cells = rows.nth(at).locator("th, td").all_inner_texts()
        assert cells[0].startswith(name)
        assert cells[2] == makespan, "predicted"
        assert float(cells[3]) > 10, "measured; a first op that begins late makes it shorter"
        assert all(cell.endswith("%") for cell in (cells[4], *cells[5:9], cells[10]))
    expect(page.locator("#cancel-all")).to_be_hidden()
    assert violations(page, "#stage", "#figures", "#drawer") == []
    page.locator(".which.runs button").nth(1).click()
    page.click("#calibrate")
    expect(page.locator(".run-text[role=status]")).to_contain_text("Bubble in the global window")
    wait(page, "bubbleline.state().plans[1].figures.makespan !== 15")
    plans = state(page)["plans"]
    assert [plan["asked"]["family"] for plan in plans] == ["1f1b", "gpipe"]
    assert plans[0]["figures"]["makespan"] == 15


def test_a_schedule_whose_run_is_refused_says_why_and_the_others_run(open_page: Open, live_server: Server) -> None:
    page = open_page("?family=1f1b&p=2&m=4&b.family=zb-h1&tab=run", url=live_server.url, forgive="429")

    def refuse(route: Route) -> None:
        body = route.request.post_data_json
        if route.request.method == "POST" and body["spec"]["family"] == "zb-h1":
            error = {"field": "queue", "value": 8, "message": "8 runs of yours wait already; try again soon"}
            route.fulfill(status=429, body=json.dumps({"error": error}), content_type="application/json")
        else:
            route.continue_()

    page.route("**/api/runs", refuse)
    rows = run_all(page, 1)
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("8 runs of yours wait already")
    wait(page, f"{LANES} === 'a,run,b'")


def test_cancelling_all_runs_cancels_also_those_that_wait_and_one_whose_state_has_not_arrived(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=1f1b&p=2&m=4&b.family=gpipe&c.family=zb-h1&tab=run", url=live_server.url)
    seen: list[str] = []
    held: list[Route] = []

    def hold_second(route: Route) -> None:
        run = route.request.url.split("/")[-1].split("?")[0]
        if run not in seen:
            seen.append(run)
        if seen.index(run) == 1 and not cancelled:
            held.append(route)
        else:
            route.continue_()

    cancelled = False
    page.route("**/api/runs/*?rows=*", hold_second)
    page.select_option("#run-mode", "paced")
    page.fill("#run-unit", "200")
    page.click("#run-all")
    wait(page, "bubbleline.state().run === 'running'")
    page.click("#cancel-all")
    cancelled = True
    assert held
    for route in held:
        route.continue_()
    expect(page.locator(".sweep-box tbody tr .run-word")).to_have_text(["cancelled"] * 3)
