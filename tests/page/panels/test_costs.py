"""The page in a browser: costs from a model and a machine, their arithmetic, balanced layers, memory limits."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.spec import Spec
from tests.support.page.queries import Open, figure, hold, middle, release, settle, state, wait, wait_until, wait_url

pytestmark = pytest.mark.one_document

MODEL = "m.model=llama3-70b&m.tp=8"
BARE = f"{MODEL}&m.heads=0"
COSTS = "bubbleline.state().spec.costs"


def apply(page: Page, model: str = "llama3-70b", tp: str = "8") -> None:
    """Choose a model as a reader does, and wait until the costs are its own."""
    page.click("#pricing > summary")
    page.select_option("#preset-model", model)
    page.select_option("#preset-tp", tp)
    page.uncheck("#preset-heads")
    page.click("#preset-apply")
    wait(page, f"{COSTS}.F !== 1")


def from_server(page: Page, path: str) -> dict:
    found: dict = page.request.get(page.evaluate("location.origin") + path).json()
    return found


def enter(page: Page, field: str, text: str) -> None:
    page.fill(f"#field-{field}", text)
    page.keyboard.press("Enter")


def test_applying_a_model_sets_the_costs_in_milliseconds_with_a_note(open_page: Open) -> None:
    page = open_page()
    expect(page.locator("#preset-model")).to_be_hidden()
    apply(page)
    asked = from_server(page, "/api/costs?model=llama3-70b&tp=8&p=4&v=1&heads=0")
    costs = state(page)["spec"]["costs"]
    for name in ("F", "I", "W", "comm"):
        assert abs(costs[name] / asked["costs"][name] - 1) < 1e-3
    assert abs(state(page)["spec"]["w_share"] - asked["w_share"]) < 1e-3
    expect(page.locator("#pricing > summary")).to_contain_text("Llama 3 70B on H100, ms")
    expect(figure(page, "Step time")).to_have_text(re.compile(r"^[\d.]{3,8} (ms|s)$"))
    expect(figure(page, "Throughput")).to_have_text(re.compile(r"/ s$"))


def test_before_apply_a_choice_changes_nothing_and_requests_no_costs(open_page: Open) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.click("#pricing > summary")
    expect(page.locator("#preset-model")).to_have_value(re.compile(r"\w+"))
    page.select_option("#preset-model", "qwen2-72b")
    assert state(page)["spec"]["costs"]["F"] == 1
    assert not [url for url in asked if "/api/costs" in url]


def test_a_link_with_a_model_reloads_to_the_same_costs_choices_and_unit(open_page: Open) -> None:
    page = open_page()
    apply(page)
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
    page = open_page()
    apply(page)
    before = state(page)["spec"]["costs"]
    enter(page, "F", "50")
    wait(page, f"{COSTS}.F === 50")
    assert state(page)["spec"]["costs"] == before | {"F": 50}
    settle(page)
    assert "m.model" not in page.url
    expect(page.locator("#pricing > summary")).not_to_contain_text("H100")
    expect(page.locator("#preset-apply")).to_be_visible()
    expect(figure(page, "Step time")).not_to_contain_text("ms")


def test_another_p_or_v_computes_the_costs_anew_and_never_shows_an_error(open_page: Open) -> None:
    page = open_page(f"?{MODEL}&m.heads=1&family=interleaved&p=4&m=16")
    wait(page, f"{COSTS}.F.length === 8")
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


def test_a_second_schedule_gets_the_costs_of_its_own_stages(open_page: Open) -> None:
    page = open_page(f"?{MODEL}&m.heads=1&p=4&m=8&b.family=interleaved")
    wait(page, f"{COSTS}.F.length === 4 && bubbleline.state().others[0].costs.F.length === 8")
    wait(page, "bubbleline.state().plans.every(plan => plan.figures && !plan.stale)")


def test_back_takes_the_model_away_again(open_page: Open) -> None:
    page = open_page(anew=True)
    apply(page)
    settle(page)
    page.go_back()
    wait(page, f"{COSTS}.F === 1")
    expect(page.locator("#preset-apply")).to_be_visible()
    page.go_forward()
    wait(page, f"{COSTS}.F > 1")


def test_the_arithmetic_shows_formula_numbers_and_value_of_every_step(open_page: Open) -> None:
    page = open_page(f"?{BARE}&tab=costs")
    rows = page.locator("#arithmetic tbody tr")
    expect(rows.first).to_be_visible()
    asked = from_server(page, "/api/costs?model=llama3-70b&tp=8&p=4&v=1&heads=0")
    expect(rows).to_have_count(len(asked["arithmetic"]))
    message = page.locator("#arithmetic tr:has(th:text('bytes of a message'))")
    expect(message).to_contain_text("M = 2 × s × b × h / u")
    expect(message).to_contain_text("16.8 MB")
    assert not re.search(r"\d\.\d{7,}|e\+", page.locator("#panel-costs").inner_text())
    expect(page.locator("#vocabulary-ratio")).to_contain_text("1.23")


def test_memory_compares_the_schedules_peak_with_the_machines_capacity(open_page: Open) -> None:
    gpipe = open_page(f"?{MODEL}&family=gpipe&m=32&tab=costs").locator("#bytes")
    expect(gpipe).to_contain_text("activations, 32 held")
    expect(gpipe).to_contain_text("Does not fit")
    small = open_page("?m.model=zb-1.5b&tab=costs")
    expect(small.locator("#bytes")).to_contain_text("Fits, with")
    small.click("#pricing > summary")
    expect(small.locator("#preset-fits")).to_contain_text("of 80 GB on device 0")


def test_the_costs_tab_without_a_model_leads_to_the_choice(open_page: Open) -> None:
    page = open_page("?tab=costs")
    page.get_by_role("button", name="Choose a model and a machine").click()
    expect(page.locator("#preset-model")).to_be_visible()


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


def test_a_phone_shows_choices_and_arithmetic_without_overflow(open_page: Open) -> None:
    page = open_page(f"?{MODEL}&m.heads=1&tab=costs", width=360, height=740, has_touch=True)
    expect(page.locator("#arithmetic")).to_be_visible()
    page.click("#controls > summary")
    page.click("#pricing > summary")
    expect(page.locator("#preset-fits")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
