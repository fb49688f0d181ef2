"""The page in a browser: costs from a model and a machine, their arithmetic, balanced layers, memory limits."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.spec import Spec
from tests.support.page.gestures import phone
from tests.support.page.queries import (
    GO,
    Open,
    figure,
    hold,
    middle,
    release,
    settle,
    state,
    wait,
    wait_until,
    wait_url,
)

pytestmark = pytest.mark.one_document("panels")

MODEL = "m.model=llama3-70b&m.tp=8"
BARE = f"{MODEL}&m.heads=0"
COSTS = "bubbleline.state().spec.costs"


def from_server(page: Page, path: str) -> dict:
    found: dict = page.request.get(page.evaluate("location.origin") + path).json()
    return found


def enter(page: Page, field: str, text: str) -> None:
    page.fill(f"#field-{field}", text)
    page.keyboard.press("Enter")


def test_a_model_sets_the_costs_once_it_is_applied_back_takes_it_away_and_a_link_brings_it_with_its_choices(
    open_page: Open,
) -> None:
    page = open_page("?tab=costs", anew=True)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    expect(page.locator("#preset-model")).to_be_hidden()
    page.get_by_role("button", name="Choose a model and a machine").click()
    expect(page.locator("#preset-model")).to_have_value(re.compile(r"\w+"))
    page.select_option("#preset-model", "llama3-70b")
    page.select_option("#preset-tp", "8")
    page.uncheck("#preset-heads")
    assert state(page)["spec"]["costs"]["F"] == 1
    assert not [url for url in requests if "/api/costs" in url], "before it is applied a choice changes nothing"
    page.click("#preset-apply")
    wait(page, f"{COSTS}.F !== 1")
    asked = from_server(page, "/api/costs?model=llama3-70b&tp=8&p=4&v=1&heads=0")
    costs = state(page)["spec"]["costs"]
    for name in ("F", "I", "W", "comm"):
        assert abs(costs[name] / asked["costs"][name] - 1) < 1e-3
    assert abs(state(page)["spec"]["w_share"] - asked["w_share"]) < 1e-3
    expect(page.locator("#pricing > summary")).to_contain_text("Llama 3 70B on H100, ms")
    expect(figure(page, "Step time")).to_have_text(re.compile(r"^[\d.]{3,8} (ms|s)$"))
    expect(figure(page, "Throughput")).to_have_text(re.compile(r"/ s$"))
    settle(page)
    page.go_back()
    wait(page, f"{COSTS}.F === 1")
    expect(page.locator("#preset-apply")).to_be_visible()
    page.go_forward()
    wait(page, f"{COSTS}.F > 1")
    page.select_option("#preset-sequence", "4096")
    page.check("#preset-heads")
    wait(page, f"Array.isArray({COSTS}.F)")
    wait_url(page, "m.sequence=4096")
    assert "m.heads" not in page.url
    assert "m.machine" not in page.url, "only what differs from what the server takes by itself"
    again = open_page(page.url[page.url.index("?") :])
    wait(again, "bubbleline.state().plans[0].figures !== null")
    assert state(again)["spec"] == state(page)["spec"]
    expect(again.locator("#pricing > summary")).to_contain_text("Llama 3 70B on H100, ms")
    again.click("#pricing > summary")
    expect(again.locator("#preset-sequence")).to_have_value("4096")
    expect(again.locator("#preset-heads")).to_be_checked()


def test_a_link_that_names_only_a_model_gets_its_costs(open_page: Open) -> None:
    page = open_page("?p=8&m.model=mixtral-8x7b&m.machine=a100&m.heads=0")
    asked = from_server(page, "/api/costs?model=mixtral-8x7b&machine=a100&p=8&v=1&heads=0")
    wait(page, f"Math.abs({COSTS}.F / {asked['costs']['F']} - 1) < 1e-3")
    wait(page, f"Math.abs({COSTS}.comm / {asked['costs']['comm']} - 1) < 1e-3")
    page.locator("#options > summary").click()
    page.select_option("#streams", "rank")  # the hop is then its latency, the bytes are on a stream
    wait(page, f"Math.abs({COSTS}.wire / {asked['options']['wire']} - 1) < 1e-3")
    wait_url(page, "streams=rank")
    assert "wire" not in page.url, "it follows from the model"
    server, _ = Preset.of({"model": "mixtral-8x7b", "machine": "a100", "heads": False}).costs(
        Spec("1f1b", 8, 8, streams="rank")
    )
    shown = state(page)["spec"]["costs"]
    assert (shown["comm"], shown["wire"]) == (server.comm, server.wire)


def test_a_cost_changed_by_hand_detaches_the_model_quietly(open_page: Open) -> None:
    page = open_page(f"?{BARE}")
    page.click("#pricing > summary")
    expect(page.locator("#preset-apply")).to_be_hidden()
    before = state(page)["spec"]["costs"]
    enter(page, "F", "50")
    wait(page, f"{COSTS}.F === 50")
    assert state(page)["spec"]["costs"] == before | {"F": 50}
    settle(page)
    assert "m.model" not in page.url
    expect(page.locator("#pricing > summary")).not_to_contain_text("H100")
    expect(page.locator("#preset-apply")).to_be_visible()
    expect(figure(page, "Step time")).not_to_contain_text("ms")


def test_another_p_or_v_computes_the_costs_anew_without_an_error_and_each_schedule_has_those_of_its_own_stages(
    open_page: Open,
) -> None:
    page = open_page(f"?{MODEL}&m.heads=1&family=interleaved&p=4&m=16&b.family=1f1b")
    wait(page, f"{COSTS}.F.length === 8 && bubbleline.state().others[0].costs.F.length === 4")
    wait(page, "bubbleline.state().plans.every(plan => plan.figures && !plan.stale)")
    errors = "document.querySelectorAll('.problem:not([hidden])').length"
    for field, value, stages in (("p", "8", 16), ("v", "4", 32), ("p", "2", 8)):
        enter(page, field, value)
        assert page.evaluate(errors) == 0
        wait(page, f"{COSTS}.F.length === {stages} && !bubbleline.state().plans[0].stale")
        assert page.evaluate(errors) == 0


def test_costs_that_arrive_do_not_overwrite_a_size_that_is_being_typed(open_page: Open) -> None:
    page = open_page(f"?{MODEL}&m.heads=1&p=4&m=16", anew=True)  # an earlier test may have these costs already
    wait(page, f"{COSTS}.F.length === 4")
    held = hold(page, "**/api/costs?*")
    enter(page, "p", "8")
    wait_until(page, lambda: held)
    page.fill("#field-m", "24")
    release(page, held)
    wait(page, f"{COSTS}.F.length === 8")
    expect(page.locator("#field-m")).to_have_value("24")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().spec.m === 24")


def test_the_costs_tab_has_every_step_of_the_arithmetic_and_each_ranks_memory_as_a_bar_of_parts_also_on_a_phone(
    open_page: Open,
) -> None:
    page = open_page(f"?{BARE}&m=8&tab=costs")
    rows = page.locator("#arithmetic tbody tr")
    expect(rows.first).to_be_visible()
    asked = from_server(page, "/api/costs?model=llama3-70b&tp=8&p=4&v=1&heads=0")
    expect(rows).to_have_count(len(asked["arithmetic"]))
    message = page.locator("#arithmetic tr:has(th:text('bytes of a message'))")
    expect(message).to_contain_text("M = 2 × s × b × h / u")
    expect(message).to_contain_text("16.8 MB")
    assert not re.search(r"\d\.\d{7,}|e\+", page.locator("#panel-costs").inner_text())
    expect(page.locator("#vocabulary-ratio")).to_contain_text("1.23")
    bars = page.locator(".bytes-bar")
    expect(bars).to_have_count(4)
    memory = page.locator("#bytes")
    expect(memory.locator("h3")).to_have_text("Memory of the fullest device, rank 0")
    bars.nth(3).press("Enter")
    expect(memory.locator("h3")).to_have_text("Memory of rank 3")
    gradients = memory.locator("dl > div").nth(1)
    expect(gradients.locator("details span")).to_be_hidden()
    gradients.locator("summary").click()
    expect(gradients.locator("details span")).to_have_text(re.compile(r"^4 B × [\d.]+ G parameters$"))
    page.evaluate(GO, f"?{MODEL}&family=gpipe&m=32&tab=costs")
    expect(memory).to_contain_text("activations, 32 held")
    expect(memory).to_contain_text("Does not fit")
    page.evaluate(GO, "?m.model=zb-1.5b&tab=costs")
    expect(memory).to_contain_text("Fits, with")
    page.click("#pricing > summary")
    expect(page.locator("#preset-fits")).to_contain_text("of 80 GB on device 0")
    with phone(page):
        expect(page.locator("#arithmetic")).to_be_visible()
        expect(page.locator("#preset-fits")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_balance_shows_before_and_after_and_applies_the_balanced_layers(open_page: Open) -> None:
    page = open_page("?m.model=gemma2-9b&m.heads=1&m.sequence=4096&p=4&m=8")
    page.click("#pricing > summary")
    page.click("#balance")
    result = page.locator("#balance-result")
    expect(result).to_contain_text("become")
    asked = from_server(page, "/api/balance?model=gemma2-9b&heads=1&sequence=4096&p=4&v=1&m=8&family=1f1b")
    wait(page, f"Math.abs(bubbleline.state().plans[0].figures.makespan / {asked['after']['makespan']} - 1) < 1e-4")
    steps = result.locator("tr:has(th:text('Step, ms')) td").all_inner_texts()
    assert float(steps[1]) < float(steps[0])
    bubble = result.locator("tr:has(th:text('Bubble')) td").last.inner_text()
    assert bubble == page.locator("#figures tr.lead td").first.inner_text()
    wait_url(page, "m.layers=")
    page.click("#balance")
    wait(page, f"Math.abs(bubbleline.state().plans[0].figures.makespan / {asked['before']['makespan']} - 1) < 1e-4")


def test_a_model_with_fewer_layers_than_stages_is_explained_with_a_fix(open_page: Open) -> None:
    page = open_page("?m.model=llama3-7b&p=32")
    page.click("#pricing > summary")
    enter(page, "p", "40")
    problem = page.locator("#preset-problem")
    expect(problem).to_contain_text("more than the model's 32 layers")
    problem.get_by_role("button", name="Use p = 32").click()
    expect(problem).to_be_hidden()
    wait(page, "bubbleline.state().plans[0].shown.p === 32")


def test_costs_of_each_stage_are_shown_as_a_range_and_can_be_reset_to_one_number(open_page: Open) -> None:
    page = open_page("?F=1,1.5,2,3.5")
    field = page.locator(".field:has(#field-F)")
    expect(field.locator(".stages")).to_contain_text("1–3.5")
    expect(page.locator("#field-F-slider")).to_be_hidden()
    page.mouse.move(*middle(page, "a", "3F0"))
    expect(page.locator("#card")).to_contain_text("takes 3.5")
    field.get_by_role("button").click()
    wait(page, f"{COSTS}.F === 2")
    expect(page.locator("#field-F-slider")).to_be_visible()


def test_a_memory_limit_in_the_link_is_checked_for_any_family(open_page: Open) -> None:
    page = open_page("?family=gpipe&m=8&memory=4&b.family=1f1b")
    cap = page.locator("#cap")
    expect(cap).to_contain_text("GPipe: holds 8, may hold 4: over the limit")
    expect(cap).to_contain_text("1F1B: holds 4, may hold 4: within the limit")
    enter(page, "memory", "")
    wait(page, "bubbleline.state().spec.memory === null")
    expect(page.locator("#field-memory")).to_be_hidden()


def test_the_limit_appears_by_the_families_own_list_of_fields(open_page: Open) -> None:
    page = open_page()
    families = from_server(page, "/api/families")
    families["families"][0]["fields"].append("memory")
    name = families["families"][0]["name"]
    page.route(
        "**/api/families", lambda route: route.fulfill(body=json.dumps(families), content_type="application/json")
    )
    expect(page.locator("#field-memory")).to_be_hidden()
    page.goto(page.url.split("?")[0] + f"?family={name}")
    expect(page.locator("#field-memory")).to_be_visible()
    expect(page.locator("#field-memory")).to_have_attribute("placeholder", "its own")
    page.goto("about:blank")  # the next test has the usual families


def test_the_scale_does_not_change_while_a_large_cost_is_dragged(open_page: Open) -> None:
    page = open_page("?F=20")
    box = page.locator("#field-F-slider").bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8 + 20 / 32 * (box["width"] - 16), y)
    page.mouse.down()
    page.mouse.move(box["x"] + 8 + 0.25 * (box["width"] - 16), y, steps=5)
    assert abs(state(page)["spec"]["costs"]["F"] - 8) < 1
    page.mouse.move(box["x"] + box["width"] - 8, y, steps=5)
    assert state(page)["spec"]["costs"]["F"] == 32
    page.mouse.up()
