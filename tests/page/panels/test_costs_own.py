"""The page in a browser: a custom model and machine, links that stay short, and balanced layers."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.gestures import phone
from tests.support.page.queries import (
    GO,
    Open,
    figure,
    hold,
    release,
    reload,
    settle,
    state,
    wait,
    wait_until,
    wait_url,
)

pytestmark = pytest.mark.one_document("panels")  # anew: links that must say all, and first visits

WHOLE = "m.model=llama3-70b&m.tp=8"  # with embeddings and the output layer: another cost for each stage
MODEL = f"{WHOLE}&m.heads=0"
COSTS = "bubbleline.state().spec.costs"
DRAWN = "bubbleline.state().plans.every(plan => plan.figures && !plan.stale)"


def link(page: Page) -> str:
    """The query of the view, after the address has stopped changing."""
    settle(page)
    return page.url[page.url.index("?") :] if "?" in page.url else ""


def keys(page: Page) -> dict[str, str]:
    return dict(parse_qsl(link(page).removeprefix("?")))


def own(page: Page, part: str = "model") -> None:
    """Open the fields of a custom model, as a reader does."""
    if not page.locator("#preset-model").is_visible():
        page.click("#pricing > summary")
    page.select_option(f"#preset-{part}", "own")


def enter(page: Page, field: str, text: str) -> None:
    page.fill(f"#own-{field}", text)
    page.keyboard.press("Enter")


def asked(page: Page, query: str) -> dict:
    found: dict = page.request.get(f"{page.evaluate('location.origin')}/api/costs?{query}").json()
    return found


def test_a_custom_model_starts_as_the_preset_and_its_link_has_only_the_differences_from_it(open_page: Open) -> None:
    page = open_page(f"?{MODEL}&p=8")
    own(page)
    expect(page.locator("#own-hidden")).to_have_value("8192")
    expect(page.locator("#own-ffn")).to_have_value("28672")
    expect(page.locator("#own-experts")).to_have_value("")
    expect(page.locator(".choice:has(#preset-sequence)")).to_be_hidden()
    assert keys(page) == {"p": "8", "m.model": "llama3-70b", "m.tp": "8", "m.heads": "0"}, "nothing differs yet"
    enter(page, "hidden", "5120")
    enter(page, "layers", "48")
    enter(page, "sequence", "4,096")
    mine = {"m.layers": "48", "m.hidden": "5120", "m.sequence": "4096"}
    assert keys(page) == {"p": "8", "m.model": "llama3-70b", "m.tp": "8", "m.heads": "0"} | mine
    priced = asked(page, "model=llama3-70b&tp=8&heads=0&p=8&hidden=5120&layers=48&sequence=4096")
    wait(page, f"{COSTS}.F === {priced['costs']['F']:.6g}")
    expect(page.locator("#pricing > summary")).to_contain_text("Own model on H100, ms")
    again = open_page(link(page), anew=True)
    assert state(again)["spec"] == state(page)["spec"]
    again.click("#pricing > summary")
    expect(again.locator("#own-layers")).to_have_value("48")
    again.get_by_role("button", name="Back to Llama 3 70B").click()
    assert keys(again) == {"p": "8", "m.model": "llama3-70b", "m.tp": "8", "m.heads": "0", "m.sequence": "4096"}
    enter(page, "hidden", "8192")
    assert "m.hidden" not in keys(page), "a number that is the preset's again"


def test_experts_latents_and_what_memory_counts_are_entered_and_in_the_link(open_page: Open) -> None:
    page = open_page("?m.model=deepseek-v3&m.data=64&p=8")
    own(page)
    page.click("text=Experts, latent attention, further tokens")
    for field, text in (("experts", "256"), ("kv_rank", "512"), ("dense_layers", "3"), ("mtp", "0")):
        expect(page.locator(f"#own-{field}")).to_have_value(text)
    enter(page, "mtp", "1")
    page.click("#preset-shared > summary")
    expect(page.locator("#own-sequence_parallel")).not_to_be_checked()
    enter(page, "expert", "7")
    problem = page.locator(".own-field:has(#own-expert) .problem")
    expect(problem).to_contain_text("must divide the 256 experts")
    problem.get_by_role("button", name="Use Expert parallel = 4").click()
    enter(page, "gradient_bytes", "2")
    enter(page, "reserve", "4.5")
    page.select_option("#preset-tp", "8")
    expect(page.locator("#own-sequence_parallel")).to_be_checked()
    settle(page)
    page.uncheck("#own-sequence_parallel")
    shared = {"m.ep": "4", "m.gradients": "2", "m.reserve": "4.5e9", "m.sp": "0", "m.mtp": "1"}
    assert keys(page).items() >= shared.items()
    again = open_page(link(page))
    assert state(again)["spec"] == state(page)["spec"]
    page.get_by_role("button", name="Back to the usual choices").click()
    assert not keys(page).keys() & (shared.keys() - {"m.mtp"})


def test_costs_that_arrive_do_not_overwrite_a_number_that_is_being_typed(open_page: Open) -> None:
    page = open_page(f"?{MODEL}&p=8")
    own(page)
    held = hold(page, "**/api/costs?*")
    enter(page, "hidden", "5248")  # no other test's, whose costs the page has already
    wait_until(page, lambda: held)
    page.fill("#own-layers", "48")
    before = state(page)["spec"]["costs"]["F"]
    release(page, held)
    wait(page, f"{COSTS}.F !== {before}")
    expect(page.locator("#own-layers")).to_have_value("48")
    page.keyboard.press("Enter")
    assert keys(page)["m.layers"] == "48"


def test_a_custom_machine_is_entered_in_the_usual_units_and_fits_a_phone(open_page: Open) -> None:
    page = open_page(f"?{MODEL}")
    own(page, "machine")
    expect(page.locator("#own-flops")).to_have_value("989")
    for field, text in (("flops", "400"), ("efficiency", "52.5"), ("memory", "64"), ("inter_latency", "7.5")):
        enter(page, field, text)
    mine = {"m.efficiency": "0.525", "m.flops": "4e14", "m.memory": "6.4e10", "m.inter_s": "7.5e-6"}
    assert keys(page) == {"m.model": "llama3-70b", "m.tp": "8", "m.heads": "0"} | mine
    priced = asked(page, "model=llama3-70b&tp=8&heads=0&p=4&flops=4e14&efficiency=0.525")
    wait(page, f"{COSTS}.F === {priced['costs']['F']:.6g}")
    expect(page.locator("#preset-fits")).to_contain_text("of 64 GB")
    expect(page.locator("#pricing > summary")).to_contain_text("Llama 3 70B on own machine")
    with phone(page):
        expect(page.locator("#own-inter_latency")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.evaluate("document.querySelector('#own-flops').getBoundingClientRect().height") >= 40


def test_arrow_keys_step_a_number_and_bad_input_names_its_field_and_offers_the_nearest_legal_value(
    open_page: Open,
) -> None:
    page = open_page(f"?{MODEL}")
    own(page)
    page.focus("#own-hidden")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#own-hidden")).to_have_value("8191")
    expect(page.locator(".own-hint").first).to_have_text("Hidden size: 1 to 1,048,576.")
    page.fill("#own-hidden", "x")
    page.keyboard.press("Escape")
    expect(page.locator("#own-hidden")).to_have_value("8191")
    settle(page)
    before = state(page)["spec"]
    field = page.locator(".own-field:has(#own-layers)")
    for text, message, button, value in (
        ("9000", "Layers must be 1 to 4,096.", "Use Layers = 4096", "4096"),
        ("many", "Layers must be a whole number, 1 to 4,096.", "Use Layers = 4096", "4096"),
    ):
        enter(page, "layers", text)
        expect(field.locator(".problem")).to_contain_text(message)
        expect(page.locator("#own-layers")).to_have_attribute("aria-invalid", "true")
        field.get_by_role("button", name=button).click()
        expect(field.locator(".problem")).to_be_hidden()
        expect(page.locator("#own-layers")).to_have_value(value)
        expect(page.locator("#own-layers")).to_be_focused()
    wait(page, f"{COSTS}.F !== {before['costs']['F']}")


def test_an_error_that_only_the_server_detects_is_shown_at_its_field_too(open_page: Open) -> None:
    page = open_page(f"?{MODEL}")
    own(page)
    enter(page, "attention_heads", "60")
    field = page.locator(".own-field:has(#own-kv_heads)")
    expect(field.locator(".problem")).to_contain_text("Key/value heads must divide attention heads, 60 here.")
    expect(page.locator("#preset-problem")).to_be_hidden()
    again = open_page(link(page))
    expect(again.locator("#pricing > summary")).to_contain_text("not possible")
    expect(figure(again, "Step time"), "the plain costs that are drawn are no milliseconds").not_to_contain_text("ms")
    field.get_by_role("button", name="Use Key/value heads = 6").click()
    expect(field.locator(".problem")).to_be_hidden()
    assert keys(page)["m.kv"] == "6"


def test_before_apply_custom_numbers_change_nothing(open_page: Open) -> None:
    page = open_page(anew=True)
    page.click("#pricing > summary")
    page.select_option("#preset-model", "zb-1.5b")
    page.uncheck("#preset-heads")
    own(page)
    enter(page, "layers", "48")
    assert (state(page)["spec"]["costs"]["F"], link(page)) == (1, "?family=1f1b")
    page.click("#preset-apply")
    wait(page, f"{COSTS}.F > 1")
    assert keys(page) == {"m.model": "zb-1.5b", "m.heads": "0", "m.layers": "48"}


def test_two_schedules_of_32_stages_stay_under_300_characters_and_are_restored_bit_for_bit_also_with_a_cost_by_hand(
    open_page: Open,
) -> None:
    page = open_page(f"?{WHOLE}&family=dualpipev&p=16&m=32&b.family=zb-h1&b.p=32&m.layers=30*2,10,10")
    wait(page, DRAWN)
    page.focus("#plot")
    for key in ("w", "w", "."):
        page.keyboard.press(key)
    query = link(page)
    assert len(f"http://127.0.0.1:5000/{query}") < 300
    assert "m.layers=" in query
    assert "F=" not in query, "costs follow from the model"
    assert len(set(state(page)["spec"]["costs"]["F"])) > 2
    again = open_page(query, anew=True)
    wait(again, DRAWN)
    for part in ("spec", "others"):
        assert state(again)[part] == state(page)[part], part
    assert state(again)["window"] == pytest.approx(state(page)["window"], rel=1e-6)
    assert [each["end"] for each in state(again)["lanes"]] == [each["end"] for each in state(page)["lanes"]]
    page.click("#pricing > summary")
    page.fill("#field-comm", "0.5")
    page.keyboard.press("Enter")
    wait(page, f"{COSTS}.comm === 0.5")
    query = link(page)
    assert len(query) < 200
    assert {"comm", "m.off"} <= set(keys(page))
    assert "F" not in keys(page)
    again.evaluate(GO, query)
    settle(again)
    for part in ("spec", "others"):
        assert state(again)[part] == state(page)[part], part
    assert link(again) == query
    expect(again.locator("#pricing > summary")).not_to_contain_text("H100")
    again.click("#pricing > summary")
    expect(again.locator("#preset-model")).to_have_value("llama3-70b")
    again.click("#preset-apply")
    wait(again, f"{COSTS}.comm !== 0.5")
    assert "m.off" not in keys(again)


def test_the_first_schedule_drawn_from_a_link_has_the_models_costs_already(open_page: Open) -> None:
    page = open_page(f"?{MODEL}&at=900&t0=500&t1=1000")
    assert state(page)["spec"]["costs"]["F"] > 1
    assert (state(page)["window"]["t0"], state(page)["at"]) == (500, 900)


def test_an_old_link_with_a_model_and_its_costs_shows_the_times_that_it_showed(open_page: Open) -> None:
    old = f"?F=271.83&I=290&W=260.5&comm=1.5&{MODEL}"
    page = open_page(old)
    assert state(page)["spec"]["costs"].items() >= {"F": 271.83, "I": 290, "W": 260.5, "comm": 1.5, "FB": None}.items()
    page.keyboard.press("?")
    assert link(page) == f"{old}&tab=keys"
    page.fill("#field-p", "8")
    page.keyboard.press("Enter")
    wait(page, f"{COSTS}.F !== 271.83 && {COSTS}.comm !== 1.5")
    assert keys(page) == {"p": "8", "m.model": "llama3-70b", "m.tp": "8", "m.heads": "0", "tab": "keys"}


def test_after_a_reload_a_step_back_to_costs_changed_by_hand_brings_the_others_from_their_model(
    open_page: Open,
) -> None:
    page = open_page(f"?{WHOLE}&p=4&m=8&comm=0.5&m.off=1")
    first = state(page)["spec"]["costs"]
    assert (first["comm"], len(first["F"])) == (0.5, 4)
    page.click("#family")
    page.click("#family-interleaved")
    wait_url(page, "family=interleaved")
    reload(page)
    page.go_back()
    wait(page, f"{COSTS}.F.length === 4")
    assert state(page)["spec"]["costs"] == first


def test_costs_that_a_link_could_not_distinguish_from_the_models_are_in_it_in_full_and_changed_lists_without_a_model(
    open_page: Open,
) -> None:
    page = open_page(f"?{WHOLE}&p=8")
    modelled = state(page)["spec"]["costs"]["comm"]
    page.fill("#field-comm", "0")  # the same as in a link without comm
    page.keyboard.press("Enter")
    wait(page, f"{COSTS}.comm === 0")
    query = link(page)
    assert "*" in query
    assert "m." not in query
    assert state(open_page(query))["spec"] == state(page)["spec"]
    page.go_back()
    wait(page, f"{COSTS}.comm === {modelled}")
    assert "m.model" in keys(page)
    for field in ("F", "I", "W"):
        page.fill(f"#field-{field}", "2")
        page.keyboard.press("Enter")
    wait(page, f"{COSTS}.W === 2")
    assert not [key for key in keys(page) if key.startswith("m.")]


def test_back_and_forward_restore_the_costs_of_their_model(open_page: Open) -> None:
    page = open_page(f"?{MODEL}")
    first = state(page)["spec"]
    page.click("#pricing > summary")
    page.select_option("#preset-model", "qwen2-72b")
    wait(page, f"{COSTS}.F !== {first['costs']['F']}")
    second = state(page)["spec"]
    settle(page)
    page.go_back()
    wait(page, f"{COSTS}.F === {first['costs']['F']}")
    assert state(page)["spec"] == first
    page.go_forward()
    wait(page, f"{COSTS}.F === {second['costs']['F']}")
    assert state(page)["spec"] == second


def test_layers_are_balanced_for_the_schedule_that_is_chosen(open_page: Open) -> None:
    page = open_page(f"?{WHOLE}&p=4&m=8&family=zb-h1&b.family=interleaved")
    page.click("#pricing > summary")
    page.click(".balance [data-slot='1']")
    page.click("#balance")
    result = page.locator("#balance-result")
    expect(result).to_contain_text("A keeps even layers.")
    even = state(page)["spec"]["costs"]["F"]
    assert even[1] == even[2]
    wait(page, "new Set(bubbleline.state().others[0].costs.F).size > 2")  # requested once the layers are known
    again = open_page(link(page))
    again.click("#pricing > summary")
    expect(again.locator(".balance [data-slot='1']")).to_have_attribute("aria-pressed", "true")
    expect(again.locator("#balance")).to_have_text("Even layers again")
    again.click(".balance [data-slot='0']")
    expect(again.locator("#balance")).to_have_text("Balance the layers")
    again.click("#balance")
    expect(again.locator("#balance-result")).to_contain_text("B keeps even layers.")


def test_layers_balanced_for_other_settings_are_labelled(open_page: Open) -> None:
    page = open_page("?m.model=gemma2-27b&m.heads=1&p=8&m=8&b.family=gpipe&m.layers=6,6,6,6,6,6,6,4")
    page.click("#pricing > summary")
    expect(page.locator("#balance-result")).to_contain_text("balanced for other settings")
    page.get_by_role("button", name="Even layers again").click()
    assert "m.layers" not in link(page)
