"""Earlier runs on the page: found again, compared, named, deleted, exported; their costs in the plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from playwright.sync_api import Locator, Page, expect

from backend.schedule.families.registry import order, read
from backend.schedule.interop.traces import chrome_export
from backend.schedule.simulation.simulate import simulate
from tests.conftest import PATIENCE_S, Server, launch, until
from tests.page.app.test_axe import violations
from tests.page.conftest import lasting
from tests.support.page.queries import Open, frames, state, wait

pytestmark = pytest.mark.one_document  # anew=True where the list is looked at, which a page reads once


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of these tests, which see each other's runs below their own."""
    with lasting(launch(tmp_path_factory.mktemp("history"))) as made:
        yield made


def put(server: Server, **given: Any) -> str:
    """A complete run from elsewhere, stored by the server, with the times of its plan."""
    spec = read({"family": "1f1b", "p": 3, "m": 4} | given)
    trace = chrome_export.trace(simulate(order(spec), spec.timing, spec.v), "x")
    return str(requests.post(f"{server.url}/api/runs/import", json=trace, timeout=PATIENCE_S).json()["id"])


def failed(server: Server) -> str:
    """A run that the fake runner fails."""
    run_id = requests.post(f"{server.url}/api/runs", json={"spec": {"m": 105}}, timeout=PATIENCE_S).json()["id"]
    until(lambda: requests.get(f"{server.url}/api/runs/{run_id}", timeout=PATIENCE_S).json()["status"] == "failed")
    return str(run_id)


def row(page: Page, run_id: str) -> Locator:
    return page.locator(f".run-list tr[data-row='{run_id}']")


def test_without_a_run_the_tab_explains_itself_and_names_the_devices_for_a_run(own: Server, open_page: Open) -> None:
    page = open_page("?tab=run&p=4", url=own.url)
    expect(page.locator(".run-none")).to_contain_text("No run yet")
    expect(page.locator("#run-where")).to_have_text(
        "2 CPU cores for 4 ranks: paced, since ranks that share a core would hold each other up."
    )
    page.select_option("#run-mode", "free")
    expect(page.locator("#run-where")).to_contain_text("free, as chosen")
    page.fill("#field-p", "2")
    page.keyboard.press("Enter")
    page.select_option("#run-mode", "auto")
    expect(page.locator("#run-where")).to_have_text("2 CPU cores for 2 ranks: free, since each rank has its own.")
    assert violations(page, "#drawer") == []


def test_the_table_shows_the_outcome_of_every_run_a_name_given_by_keyboard_and_cards_on_a_phone(
    own: Server, open_page: Open
) -> None:
    good, bad = put(own), failed(own)
    page = open_page("?tab=run&theme=dark", url=own.url, has_touch=True, anew=True)
    expect(row(page, good)).to_contain_text("not verified here")
    expect(row(page, good)).to_contain_text("p 3 · m 4")
    expect(row(page, good)).to_contain_text("18 ms")
    expect(row(page, bad)).to_contain_text("rank 1 ran out of memory", ignore_case=True)
    expect(row(page, bad).locator("input[type=checkbox]")).to_have_count(0)
    assert [each.get_attribute("data-row") for each in page.locator(".run-list tbody tr").all()][:2] == [bad, good]
    row(page, good).get_by_role("button", name="Rename").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("before lunch")
    page.keyboard.press("Enter")
    expect(row(page, good).locator("b")).to_have_text("before lunch")
    assert page.evaluate("document.activeElement.textContent") == "Rename"
    assert requests.get(f"{own.url}/api/runs/{good}", timeout=PATIENCE_S).json()["name"] == "before lunch"
    page.keyboard.press("Enter")
    page.keyboard.type("something else")
    page.keyboard.press("Escape")
    expect(row(page, good).locator("b")).to_have_text("before lunch")
    page.set_viewport_size({"width": 360, "height": 740})
    frames(page)
    for each in (good, bad):
        row(page, each).scroll_into_view_if_needed()
        box = row(page, each).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        deed = row(page, each).get_by_role("button", name="Rename").bounding_box()
        assert deed is not None
        assert deed["height"] >= 40
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page, "#drawer") == []


def test_a_row_of_a_run_in_progress_changes_with_its_run_and_a_new_page_has_the_names_of_others(
    own: Server, open_page: Open
) -> None:
    named = put(own)
    requests.patch(f"{own.url}/api/runs/{named}", json={"name": "before lunch"}, timeout=PATIENCE_S).raise_for_status()
    body = {"spec": {"p": 1, "m": 108}}  # which the fake runner warms up until it is cancelled
    run_id = requests.post(f"{own.url}/api/runs", json=body, timeout=PATIENCE_S).json()["id"]
    page = open_page("?tab=run", url=own.url, anew=True)
    expect(row(page, named)).to_contain_text("before lunch")
    expect(row(page, run_id)).not_to_contain_text("cancelled")
    requests.post(f"{own.url}/api/runs/{run_id}/cancel", timeout=PATIENCE_S).raise_for_status()
    expect(row(page, run_id)).to_contain_text("cancelled")


def test_two_chosen_runs_open_as_two_lanes_and_a_third_is_added(own: Server, open_page: Open) -> None:
    ids = [put(own, m=m) for m in (4, 5, 6)]
    page = open_page("?tab=run&p=3&m=4", url=own.url, anew=True)
    button = page.locator("#runs-compare")
    expect(button).to_be_disabled()
    row(page, ids[0]).locator("input").check()
    expect(button).to_be_disabled()
    row(page, ids[1]).locator("input").check()
    button.click()
    wait(page, "bubbleline.state().lanes.length === 3")
    assert [lane["ops"] for lane in state(page)["lanes"]] == [24, 24, 30]
    row(page, ids[2]).get_by_role("button", name="Add").click()
    wait(page, "bubbleline.state().lanes.length === 4")
    expect(row(page, ids[2])).to_contain_text("on the timeline")
    row(page, ids[2]).locator("input").check()
    for each in ids:
        expect(row(page, each).locator("input")).to_be_checked()


def test_a_run_is_deleted_after_confirmation_and_removed_from_the_timeline(own: Server, open_page: Open) -> None:
    gone, stays = put(own), put(own, m=5)
    page = open_page(f"?tab=run&p=3&m=4&run={gone}", url=own.url, anew=True)
    wait(page, "bubbleline.state().lanes.length === 2")
    page.locator(".run-more summary").click()
    row(page, gone).get_by_role("button", name="Delete").click()
    assert violations(page, "#drawer") == [], "the question"
    row(page, gone).get_by_role("button", name="Keep it").click()
    row(page, gone).get_by_role("button", name="Delete").click()
    row(page, gone).get_by_role("button", name="Delete for good").click()
    wait(page, "bubbleline.state().lanes.length === 1")
    expect(row(page, gone)).to_have_count(0)
    expect(row(page, stays)).to_be_visible()
    assert page.evaluate("document.activeElement.closest('tr').dataset.row")
    assert requests.get(f"{own.url}/api/runs/{gone}", timeout=PATIENCE_S).status_code == 404


def test_older_runs_are_loaded_on_request(own: Server, open_page: Open) -> None:
    ids = [put(own, p=2, m=2) for _ in range(13)]
    page = open_page("?tab=run", url=own.url, anew=True)
    rows = page.locator(".run-list tbody tr")
    expect(rows).to_have_count(12)
    page.click("#runs-more")
    expect(row(page, ids[0])).to_be_visible()
    assert [each.get_attribute("data-row") for each in rows.all()][:13] == ids[::-1]
    assert len(rows.all()) == len(requests.get(f"{own.url}/api/runs?limit=100", timeout=PATIENCE_S).json()["runs"])
    expect(page.locator("#runs-more")).to_be_hidden()


def test_the_exported_trace_of_a_run_imports_back_as_the_same_lane(own: Server, open_page: Open, tmp_path) -> None:
    run_id = put(own)
    page = open_page(f"?tab=run&p=3&m=4&run={run_id}", url=own.url)
    wait(page, "bubbleline.state().lanes.length === 2")
    with page.expect_download() as download:
        page.click("#run-chrome-trace")
    assert download.value.suggested_filename.endswith(f"-run-{run_id}.trace.json")
    download.value.save_as(tmp_path / "trace.json")
    page.click("#tab-compare")
    page.click("#compare-import")
    page.set_input_files("#import-file", tmp_path / "trace.json")
    page.click("#import-take")
    wait(page, "bubbleline.state().lanes.length === 3")
    boxes = page.evaluate("['run', 'run2'].map((lane) => ['0F3', '2B3'].map((op) => bubbleline.box(lane, op)?.x))")
    assert boxes[0] == pytest.approx(boxes[1])
    with page.expect_download() as download:
        page.click("#run-json")
    exported = json.loads(download.value.path().read_text())
    assert len(exported["ops"]) == 24


def test_a_calibrated_plan_matches_its_run_op_by_op_and_back_restores_the_old_plan(
    own: Server, open_page: Open
) -> None:
    costs = {"F": [1, 1.5, 1], "I": [1, 1, 2], "W": [1, 1, 1], "comm": 0.25}
    run_id = put(own, costs=costs)
    page = open_page(f"?tab=run&p=3&m=4&run={run_id}", url=own.url)
    wait(page, "bubbleline.state().lanes.length === 2")
    assert state(page)["plans"][0]["figures"]["makespan"] == 18
    page.click("#calibrate")
    expect(page.locator(".run-text[role=status]")).to_contain_text("the schedule explains the run")
    wait(page, "bubbleline.state().plans[0].shown.costs.F.length === 3")
    assert state(page)["plans"][0]["asked"]["costs"]["F"] == [1, 1.5, 1]
    for op in ("0F0", "1F2", "2B3", "0B3"):
        plan, run = (
            f"bubbleline.box('{lane}', '{op}')" for lane in ("a", "run")
        )  # drawn a frame after they are planned
        wait(page, f"['x', 'w'].every((side) => Math.abs({plan}[side] - {run}[side]) <= 2)")
    page.go_back()
    wait(page, "bubbleline.state().plans[0].figures?.makespan === 18")
    expect(page.locator(".run-text[role=status]")).to_have_count(0)


def test_the_card_of_a_measured_op_shows_its_deviation_from_the_plan(own: Server, open_page: Open) -> None:
    run_id = put(own, costs={"F": [1, 1.5, 1], "I": [1, 1, 1], "W": [1, 1, 1], "comm": 0.25})
    page = open_page(
        f"?p=3&m=4&F=1.167&run={run_id}&sel=1F0%40run", url=own.url
    )  # the run's mean costs: one axis, in ms
    card = page.locator("#card")
    expect(card.locator(".planned")).to_contain_text("start 1.167")
    expect(card.locator(".planned b")).to_have_text(["+0.083", "+0.333", "+0.416"], use_inner_text=True)
    expect(card).to_contain_text("start 1.25")
