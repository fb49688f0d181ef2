"""Orders and traces from elsewhere on the page: by text, file and drop, in the link, beside the planned ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from backend.jobs.imports import run_of_trace
from backend.schedule.diagnosis.calibrate import calibrate
from backend.schedule.families.registry import order, read
from backend.schedule.interop import torch_csv
from backend.schedule.interop.traces import chrome_export
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import Timeline, replay, simulate
from tests.conftest import Server
from tests.page.app.test_axe import violations
from tests.support.page.gestures import phone
from tests.support.page.queries import Open, figure, held_timers, middle, pixel, settle, state, wait, wait_url

pytestmark = pytest.mark.one_document("panels")

BAD = "0F0,0F1,0B0,0B1\n1F0,1B0,1F0,1B1\n"
GOOD = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"
REFUSED = "status of 400"  # the browser's own note of it


def csv_of(**spec: Any) -> str:
    return torch_csv.dump(order(read(spec)))


def trace_of(path: Path, **spec: Any) -> Path:
    built = read(spec)
    path.write_text(json.dumps(chrome_export.trace(simulate(order(built), built.timing, built.v), "x")))
    return path


def bring(page: Page, text: str, where: str = "") -> None:
    """Import a text through the dialog, opened from the family picker."""
    page.click("#family")
    page.click("[data-family=imported]")
    page.fill("#import-text", text)
    if where:
        page.select_option("#import-where", where)
    page.click("#import-take")


def boxes(page: Page, lane: str, ops: list[str]) -> list[list[float]]:
    found: list[list[float]] = page.evaluate(
        "([lane, ops]) => ops.map((op) => { const b = bubbleline.box(lane, op); return [b.x, b.y, b.w, b.h]; })",
        [lane, ops],
    )
    return found


def test_a_bad_file_is_explained_in_a_sentence_and_a_good_one_replaces_the_schedule_with_its_sizes_locked(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page("?family=1f1b&p=8&theme=dark", forgive=REFUSED)
    bring(page, BAD)
    wrong = page.locator("#import-wrong")
    expect(wrong).to_have_text("Line 2, cell 3: rank 1 does 1F0 twice.")
    expect(page.locator("#import-text")).to_have_value(BAD)
    assert violations(page, "dialog[open]") == [], "a refusal in the dialog"
    (tmp_path / "nothing.json").write_text("\n")
    page.set_input_files("#import-file", tmp_path / "nothing.json")
    expect(wrong).to_have_text("nothing.json is empty.")
    path = trace_of(tmp_path / "t.json", family="1f1b", p=2, m=4)
    trace = json.loads(path.read_text())
    path.write_text(json.dumps([event for event in trace["traceEvents"] if event["name"] != "1B2"]))
    page.set_input_files("#import-file", path)
    page.click("#import-take")
    expect(wrong).to_contain_text("never does 1B2")
    assert "run=" not in page.url
    assert state(page)["plans"][0]["asked"]["family"] == "1f1b"
    page.fill("#import-text", GOOD)
    page.select_option("#import-where", "replace")
    page.click("#import-take")
    expect(page.locator("#import-dialog")).to_be_hidden()
    wait(page, "bubbleline.state().plans[0].shown?.family === 'imported'")
    expect(figure(page, "Step time")).to_have_text("9")
    wait(page, "location.search.startsWith('?family=imported&p=2&m=2&order=l')")
    page.go_back()
    wait(page, "bubbleline.state().plans[0].shown?.family === '1f1b'")
    page.go_forward()
    wait(page, "bubbleline.state().plans[0].shown?.family === 'imported'")
    for name in ("p", "m", "v"):
        assert page.evaluate(f"document.querySelector('#field-{name}').readOnly")
        expect(page.locator(f"#field-{name}-slider")).to_be_disabled()
        assert "locked" in str(page.get_attribute(f"#field-{name}", "aria-describedby"))
    expect(page.locator("#locked")).to_be_visible()
    assert violations(page, "#locked", "#controls .field") == [], "locked sizes"
    page.fill("#field-F", "2")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().plans[0].figures.makespan === 12")
    page.click("#family")
    page.click("[data-family='zb-h1']")
    wait(page, "bubbleline.state().plans[0].shown?.family === 'zb-h1'")
    wait_url(page, "family=zb-h1")
    assert "order=" not in page.url
    expect(page.locator("#locked")).to_be_hidden()
    assert not page.evaluate("document.querySelector('#field-p').readOnly")


def test_stages_on_any_ranks_are_drawn_where_they_are_and_their_costs_are_set_one_by_one(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=4")
    bring(page, "0F0,1F0,1B0,0B0\n2F0,3F0,4F0,4B0,3B0,2B0\n")
    wait(page, "bubbleline.state().plans[0].shown?.family === 'imported'")
    expect(figure(page, "Step time")).to_have_text("5")
    wait(page, "location.search.includes('&order=c5-')")
    boxes_of_rank_1 = boxes(page, "a", ["2F0", "3F0", "4F0", "3B0"])
    assert len({top for _, top, _, _ in boxes_of_rank_1}) == 1
    assert boxes(page, "a", ["0F0"])[0][1] < boxes_of_rank_1[0][1]
    page.evaluate("document.getElementById('controls').setAttribute('open', '')")
    page.click("#stage-costs > summary")
    page.fill('#stage-costs [data-at="F-4"]', "2.5")
    page.keyboard.press("Enter")
    wait(page, "Array.isArray(bubbleline.state().spec.costs.F)")
    expect(figure(page, "Step time")).to_have_text("7.1667")
    assert len(state(page)["spec"]["costs"]["F"]) == 5


def test_the_page_names_the_dialect_of_a_file_and_what_its_messages_may_do(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=4")
    rank_0 = "0F0\t0SEND_F0\t0F1\t0SEND_F1\t0RECV_B0\t0B0\t0RECV_B1\t0B1"
    rank_1 = "1RECV_F0\t1F0\t1B0\t1SEND_B0\t1RECV_F1\t1F1\t1B1\t1SEND_B1"
    file = {"name": "o.txt", "mimeType": "text/plain", "buffer": f"{rank_0}\r\n{rank_1}\r\n".encode("utf-16")}
    page.click("#family")
    page.click("[data-family=imported]")
    page.set_input_files("#import-file", [file])  # type: ignore[list-item]
    expect(page.locator("#import-status")).to_contain_text("an order in torch's CSV")
    with held_timers(page, 6000):
        page.click("#import-take")
        notice = page.get_by_text("with messages (compute_comms)")
        expect(notice).to_contain_text("rank 0 waits at 0SEND_F1 for 1RECV_F1 on rank 1")
        wait(page, "bubbleline.state().plans[0].shown?.family === 'imported'")
        expect(notice).to_be_visible()


def test_an_exported_order_is_imported_as_the_same_picture(open_page: Open) -> None:
    page = open_page("?family=v-half&p=4&m=8&F=18.5&I=18.1&W=9.3&comm=0.6")
    ops = ["0F0", "3F2", "4F0", "7I1", "2W7"]
    settle(page)  # the legend, which is written after the ops, may take one line more
    before, colours = boxes(page, "a", ops), [pixel(page, *middle(page, "a", op)) for op in ops]
    span = state(page)["plans"][0]["figures"]["makespan"]
    bring(page, csv_of(family="v-half", p=4, m=8, costs={"F": 18.5, "I": 18.1, "W": 9.3, "comm": 0.6}))
    wait(page, "bubbleline.state().plans[0].shown?.family === 'imported'")
    assert state(page)["plans"][0]["figures"]["makespan"] == span
    wait(page, f"Math.abs(bubbleline.box('a', '2W7').x - {before[-1][0]}) < 0.01")
    settle(page)
    assert boxes(page, "a", ops) == before
    assert [pixel(page, *middle(page, "a", op)) for op in ops] == colours


def test_a_link_with_an_imported_order_beside_a_planned_one_opens(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4")
    bring(page, csv_of(family="1f1b", p=4, m=8), "add")
    wait(page, "bubbleline.state().lanes.length === 2")
    wait_url(page, "b.order=", "b.family=imported")
    again = open_page(page.url[page.url.index("?") :])
    assert [plan["shown"]["family"] for plan in state(again)["plans"]] == ["zb-h1", "imported"]
    assert [lane["end"] for lane in state(again)["lanes"]] == [27, 33]
    again.fill("#field-m", "12")  # shared by all except the order with a fixed m
    again.keyboard.press("Enter")
    wait(again, "bubbleline.state().plans[0].shown?.m === 12")
    assert state(again)["plans"][1]["shown"]["m"] == 8


def test_a_file_dropped_on_the_page_opens_the_dialog_with_it(open_page: Open) -> None:
    page = open_page("?family=1f1b")
    page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "order.csv", {type: "text/csv"}));
          const at = {bubbles: true, cancelable: true, dataTransfer: data};
          document.querySelector('#plot').dispatchEvent(new DragEvent('dragover', at));
          document.querySelector('#plot').dispatchEvent(new DragEvent('drop', at));
        }""",
        GOOD,
    )
    expect(page.locator("#import-status")).to_contain_text("order.csv: an order in torch's CSV")
    expect(page.locator("#import-text")).to_have_value(GOOD)
    page.keyboard.press("Enter")  # the focus is on the button
    wait(page, "bubbleline.state().lanes.length === 2")


def test_a_trace_becomes_a_measured_lane_on_the_plans_axis_by_a_dialog_that_works_by_keyboard_and_at_360_px(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page("?family=zb-h1&p=4&m=8&tab=compare")
    page.click("#compare-import")
    costs = {"F": 20.0, "I": 20.0, "W": 20.0}
    page.set_input_files("#import-file", trace_of(tmp_path / "trace.json", family="zb-h1", p=4, m=8, costs=costs))
    expect(page.locator("#import-status")).to_contain_text("a measured lane")
    page.click("#import-take")
    wait(page, "bubbleline.state().lanes.length === 2")
    head = page.locator(".lane-head[data-lane=run]")
    expect(head).to_contain_text("not verified here")
    assert state(page)["lanes"][1]["end"] == 27  # in the plan's unit, not in ms
    plan, run = boxes(page, "a", ["3W7"]), boxes(page, "run", ["3W7"])
    assert [round(x, 3) for x in plan[0][:1] + plan[0][2:3]] == [round(x, 3) for x in run[0][:1] + run[0][2:3]]
    page.click("#tab-compare")
    row = page.locator(".difference-table tr[data-plan=run]")
    expect(row).to_contain_text("Imported trace")
    expect(row).to_contain_text("±0 %")
    page.fill("#field-F", "2")  # the axis has another unit now
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().lanes[1].end > 30")
    head.locator(".lane-close").click()
    wait(page, "bubbleline.state().lanes.length === 1 && !location.search.includes('run=')")
    with phone(page):
        settle(page)  # the comparison is drawn again when its figures arrive
        page.focus("#compare-import")
        page.keyboard.press("Enter")
        expect(page.locator("#import-dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#import-dialog")).to_be_hidden()
        assert page.evaluate("document.activeElement.id") == "compare-import"
        page.keyboard.press("Enter")
        box = page.locator("#import-take").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.keyboard.press("Escape")  # it would cover the next view


def test_a_trace_can_provide_its_order_and_its_costs_too(open_page: Open, tmp_path: Path) -> None:
    page = open_page("?family=gpipe&p=3&theme=dark")
    page.click("#tab-compare")
    page.click("#compare-import")
    costs = {"F": 3.0, "I": 4.0, "W": 2.0}
    page.set_input_files("#import-file", trace_of(tmp_path / "t.json", family="dualpipe", p=4, m=8, costs=costs))
    page.select_option("#import-where", "replace")
    page.click("#import-take")
    wait(page, "bubbleline.state().lanes.length === 2 && bubbleline.state().plans[0].shown?.family === 'dualpipe'")
    shown = state(page)["plans"][0]["shown"]
    assert (shown["p"], shown["m"], shown["costs"]["F"]) == (4, 8, 3)
    lanes = state(page)["lanes"]
    assert abs(lanes[0]["end"] - lanes[1]["end"]) < 1e-6
    page.locator(".run-more summary").click()
    expect(page.locator(".run-list tbody tr").first).to_be_visible()
    assert violations(page, ".lane-head", "#panel-run") == [], "a measured lane, the list of runs"


def uneven_trace() -> tuple[dict[str, Any], Timeline]:
    """A trace of interleaved 1F1B of 336.9 ms, whose ops vary and whose stage 5 is three times slower."""
    built = read({"family": "interleaved", "p": 4, "m": 8, "v": 2})
    slow = tuple(3.0 if stage == 5 else 1.0 for stage in range(8))
    plain = simulate(order(built), Costs(slow, slow, slow), 2)
    spent = (plain.end - plain.start) * np.random.default_rng(3).lognormal(0.0, 0.25, len(plain.end))
    unit = 336.9 / float(replay(plain.order, spent, Costs()).end.max())
    ran = replay(plain.order, spent * unit, Costs())
    return chrome_export.trace(ran, "x"), ran


def test_a_run_in_ms_is_compared_in_ms_before_and_after_its_costs_are_in_the_plan(
    open_page: Open, tmp_path: Path
) -> None:
    trace, ran = uneven_trace()
    page = open_page("")
    (tmp_path / "t.json").write_text(json.dumps(trace))
    page.click("#open")
    page.set_input_files("#import-file", tmp_path / "t.json")
    page.click("#import-take")
    wait(page, "bubbleline.state().lanes.length === 2")

    def deviation(costs: Costs) -> str:
        late = ran.end - simulate(ran.order, costs, 2).end
        return f"{late[np.argmax(np.abs(late))]:+.3g} ms".replace("-", "−")

    run = run_of_trace(2**24, "", bytearray(json.dumps(trace).encode()))[0]
    first = page.locator(".residuals li small").first
    expect(first).to_have_text(deviation(read(run.spec).timing))
    expect(page.locator(".run-facts")).to_contain_text("38.2 % at the mean times of its ops")
    expect(page.locator(".run-facts")).to_contain_text("predecessors")
    page.click("#calibrate")
    wait(page, "bubbleline.state().plans[0].shown?.family === 'interleaved'")
    lanes = state(page)["lanes"]
    assert lanes[1]["end"] == pytest.approx(336.9)
    expect(first).to_have_text(deviation(calibrate(ran, 2).costs))


def test_names_of_ones_own_and_the_unit_are_given_in_the_dialog_that_a_button_in_the_header_opens(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page("?family=1f1b&p=2&m=2", forgive=REFUSED)
    path = trace_of(tmp_path / "t.json", family="1f1b", p=2, m=4)
    path.write_text(path.read_text().replace('"0F', '"s0 fwd ').replace('"1F', '"s1 fwd ').replace("B", " bwd "))
    page.click("#open")
    expect(page.locator("#import-text")).to_be_visible()
    expect(page.locator("#import-naming")).to_be_hidden()
    page.set_input_files("#import-file", path)
    page.click("#import-take")
    events = len(json.loads(path.read_text())["traceEvents"])
    expect(page.locator("#import-wrong")).to_contain_text(f"None of the {events} events is an op")
    page.click("#import-naming summary")
    page.fill("#import-names", r"(?P<stage>\d) (?P<kind>\w+) (?P<micro>\d)")
    page.select_option("#import-unit", "ms")
    assert violations(page, "dialog[open]") == []
    page.click("#import-take")
    wait(page, "bubbleline.state().lanes.length === 2")


def test_three_measured_lanes_share_the_axis_and_each_can_be_removed(
    open_page: Open, server: Server, tmp_path: Path
) -> None:
    page = open_page("?family=1f1b&p=2&m=4")
    for m in (4, 5, 6):
        page.click("#tab-compare")
        page.click("#compare-import")
        page.set_input_files("#import-file", trace_of(tmp_path / f"{m}.json", family="1f1b", p=2, m=m))
        page.click("#import-take")
        wait(page, f"bubbleline.state().lanes.length === {m - 2}")
    assert [lane["id"] for lane in state(page)["lanes"]] == ["a", "run", "run2", "run3"]
    wait(page, "new URLSearchParams(location.search).get('run').split(',').length === 3")
    again = open_page(page.url[page.url.index("?") :])
    wait(again, "bubbleline.state().lanes.length === 4")
    ends = [lane["end"] for lane in state(again)["lanes"]]
    assert ends[:2] == [15, 15]
    assert ends[1] < ends[2] < ends[3]
    again.locator(".lane-head[data-lane=run] .lane-close").click()
    wait(again, "bubbleline.state().lanes.length === 3")
    assert [lane["ops"] for lane in state(again)["lanes"]] == [16, 20, 24]
    expect(again.locator(".which.runs button")).to_have_count(2)
    again.locator(".run-more summary").click()
    expect(again.locator(".run-list tbody tr").first).to_be_visible()


def test_an_imported_order_runs_and_the_run_has_its_lane(open_page: Open) -> None:
    page = open_page("?family=1f1b")
    bring(page, GOOD)
    wait(page, "bubbleline.state().plans[0].shown?.family === 'imported'")
    page.click("#run")
    wait(page, "bubbleline.state().run === 'finished'")
    wait(page, "bubbleline.state().lanes.length === 2")
    assert [lane["ops"] for lane in state(page)["lanes"]] == [8, 8]
