"""Options of a run, and a run compared with its plan: residuals, planned times, waits; several runs."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, Route, expect

from tests.conftest import Server
from tests.page.app.test_axe import violations
from tests.support.page.queries import Open, middle, pixel, state, wait

OVER = "bubbleline.state().run === 'finished'"


def colour_of(page: Page, lane: str, op: str) -> tuple[int, int, int]:
    """The colour of an op a little beside its label."""
    box = page.evaluate(f"bubbleline.box('{lane}', '{op}')")
    return pixel(page, box["x"] + 2, box["y"] + box["h"] / 2)


def devices_are_listed(page: Page) -> None:
    wait(page, "document.querySelector('#run-where').textContent.includes('CPU core')", 30)
    page.locator("#run-devices summary").click()
    expect(page.locator("#run-devices table").first).to_contain_text("GB")
    expect(page.locator("#run-devices table").last).to_contain_text("each op is held to its planned time")


def test_a_run_has_the_chosen_options_and_its_lane_is_compared_with_the_plan(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=1f1b&p=2&m=4&tab=run", url=live_server.url)
    devices_are_listed(page)
    gpu = page.locator("#run-device option[value=cuda]")
    expect(gpu).to_have_text("GPU: none here")
    expect(gpu).to_be_disabled()
    page.select_option("#run-mode", "free")
    expect(page.locator("#run-unit")).to_be_disabled()
    page.select_option("#run-mode", "paced")
    page.fill("#run-unit", "15")
    page.select_option("#run-dtype", "bfloat16")
    page.fill("#run-steps", "2")
    page.click("#run")
    wait(page, OVER, 60)
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

    plain = colour_of(page, "run", "0F0")
    whole = page.evaluate("bubbleline.box('run', '0F0').h")
    page.click("#show-planned")
    wait(page, f"bubbleline.box('run', '0F0').h < {whole}")
    plan, run = (page.evaluate(f"bubbleline.box('{lane}', '1B3')") for lane in ("a", "run"))
    below = pixel(page, plan["x"] + plan["w"] / 2, run["y"] + run["h"] + 3)
    assert below == colour_of(page, "a", "1B3"), "the plan is drawn under the run, at the planned time of the op"
    page.click("#show-late")
    wait(page, "location.search.includes('late=1')")
    assert colour_of(page, "run", "0F0") != plain

    first = page.locator(".residuals section").first.get_by_role("button").first
    op = first.get_attribute("data-op")
    first.click()
    assert state(page)["view"]["sel"] == f"{op}@run"
    page.keyboard.press("Escape")
    idle = page.evaluate("bubbleline.point('run', 1, 0.4)")
    page.mouse.move(idle["x"], idle["y"])
    expect(page.locator("#card")).to_contain_text(re.compile("Measured: .*messages"))
    page.mouse.move(*middle(page, "run", "0B0"))
    expect(page.locator("#card")).to_contain_text("planned:")
    page.mouse.move(5, 5)
    assert violations(page) == []

    again = open_page(page.url[page.url.index("?") :], url=live_server.url, forgive="status of 400")
    expect(again.locator("#run-dtype")).to_have_value("bfloat16")
    assert [again.input_value(f"#run-{name}") for name in ("mode", "unit", "steps")] == ["paced", "15", "2"]
    expect(again.locator("#show-late")).to_have_attribute("aria-pressed", "true")
    again.fill("#run-steps", "101")
    again.get_by_role("button", name="Run again", exact=True).click()
    expect(again.locator("#panel-run")).to_contain_text("steps must be from 1 to 100")
    expect(again.locator("#run-nearest")).to_have_text("Use steps 100")


def test_all_schedules_on_the_screen_run_one_after_the_other_each_under_its_plan(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=1f1b&p=2&m=4&b.family=gpipe&c.family=zb-h1&tab=run", url=live_server.url, forgive="429")

    def refuse(route: Route) -> None:
        body = route.request.post_data_json
        if route.request.method == "POST" and body["spec"]["family"] == "zb-h1":
            error = {
                "field": "queue",
                "value": 8,
                "message": "8 runs of yours wait already; try again soon",
            }
            route.fulfill(status=429, body=json.dumps({"error": error}), content_type="application/json")
        else:
            route.continue_()

    page.route("**/api/runs", refuse)
    page.select_option("#run-mode", "paced")
    page.click("#run-all")
    rows = page.locator(".sweep tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(2)).to_contain_text("8 runs of yours wait already")
    wait(page, "[...document.querySelectorAll('.sweep .run-word.good')].length === 2", 60)
    assert [lane["id"] for lane in state(page)["lanes"]] == ["a", "run", "b", "run2", "c"]
    for at, name, makespan in ((0, "1F1B", "15"), (1, "GPipe", "15")):
        cells = rows.nth(at).locator("th, td").all_inner_texts()
        assert cells[0].startswith(name)
        assert cells[2] == makespan, "predicted"
        assert float(cells[3]) > 10, "measured; a first op that begins late makes it shorter"
        assert all(cell.endswith("%") for cell in (cells[4], *cells[5:9], cells[10]))
    expect(page.locator("#cancel-all")).to_be_hidden()
    assert violations(page) == []
    page.locator(".which.runs button").nth(1).click()
    page.click("#calibrate")
    expect(page.locator(".run-calibrated")).to_contain_text("Bubble in the global window")
    wait(page, "bubbleline.state().plans[1].figures.makespan !== 15")
    assert [plan["asked"]["family"] for plan in state(page)["plans"]] == ["1f1b", "gpipe", "zb-h1"]
    assert state(page)["plans"][0]["figures"]["makespan"] == 15, "the schedule that was run has the costs, no other"
    page.unroute("**/api/runs")
    page.fill("#run-unit", "200")
    page.click("#run-all")
    wait(page, "bubbleline.state().run === 'running'", 30)
    page.click("#cancel-all")
    expect(rows.locator(".run-word")).to_have_text(["cancelled"] * 3, timeout=30_000)
