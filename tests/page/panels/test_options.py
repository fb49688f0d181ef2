"""Options on top of families, in the page: activation recomputation, and PipeDream's weight versions."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from tests.support.page.queries import GO, Open, figure, middle, reload, settle, state, wait, wait_url

pytestmark = pytest.mark.one_document("panels")


def test_recomputation_takes_time_frees_memory_runs_ahead_of_the_gradient_and_stays_in_the_link(
    open_page: Open,
) -> None:
    page = open_page("?family=1f1b&p=4&m=8")
    expect(figure(page, "Step time")).to_have_text("33")
    expect(figure(page, "Peak memory")).to_have_text("4")
    page.select_option("#recompute", "full")
    expect(figure(page, "Step time")).to_have_text("44")
    expect(figure(page, "Peak memory")).to_have_text(re.compile(r"^1\.17"))
    expect(page.locator("#law")).to_contain_text("matches the simulation")
    wait_url(page, "recompute=full")
    page.go_back()
    wait(page, "document.querySelector('#recompute').value === 'none'")
    page.go_forward()
    page.select_option("#recompute-at", "ahead")
    expect(figure(page, "Step time")).to_have_text("41")
    expect(page.locator("#law")).to_contain_text("matches the simulation")
    wait_url(page, "recompute_at=ahead")
    page.select_option("#recompute-at", "backward")
    page.fill("#field-spared", "4")
    page.press("#field-spared", "Enter")
    expect(figure(page, "Step time")).to_have_text("33")  # no device holds more than four
    wait_url(page, "spared=4")
    reload(page, "window.bubbleline && bubbleline.state().plans[0]?.figures?.makespan === 33")
    expect(page.locator("#recompute")).to_have_value("full")
    expect(page.locator("#field-spared")).to_have_value("4")
    page.select_option("#recompute-at", "bubble")
    expect(page.locator("#field-spared")).to_be_hidden()
    wait_url(page, "recompute_at=bubble")
    page.select_option("#recompute", "none")
    expect(figure(page, "Step time")).to_have_text("33")
    wait(page, "!/recompute|spared/.test(location.search)")


def test_recomputation_is_chosen_chunk_by_chunk_stays_in_the_link_and_chunks_keep_their_part_of_the_model(
    open_page: Open,
) -> None:
    page = open_page("?family=interleaved&p=4&m=8&v=2")
    page.select_option("#recompute", "per-chunk")
    expect(page.get_by_role("group", name="recomputation of each chunk")).to_be_visible()
    assert "recompute" not in page.url  # nothing is chosen yet
    page.locator("#recompute-0").focus()
    page.keyboard.press("End")
    wait(page, "location.search.includes('recompute=full,none')")
    wait(page, "bubbleline.state().plans[0]?.figures?.makespan === 34")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "recompute-1"
    page.keyboard.press("End")
    wait(page, "/recompute=full(&|$)/.test(location.search)")  # one word for what is the same everywhere
    expect(page.locator("#recompute-1")).to_have_value("full")  # the chunks stay open
    page.go_back()
    wait(page, "location.search.includes('recompute=full,none')")
    reload(page, "window.bubbleline && bubbleline.state().plans[0]?.figures?.makespan === 34")
    expect(page.locator("#recompute")).to_have_value("per-chunk")
    expect(page.locator("#recompute-0")).to_have_value("full")
    expect(page.locator("#recompute-1")).to_have_value("none")
    page.locator("#field-v").fill("4")
    page.keyboard.press("Enter")
    wait(page, "location.search.includes('recompute=2*full,2*none')")
    expect(page.locator("#recompute-chunks select")).to_have_count(4)
    page.locator("#family").click()
    page.locator("[data-family='1f1b']").click()
    wait(page, "/recompute=full(&|$)/.test(location.search)")
    expect(page.locator("#recompute option[value=per-chunk]")).to_be_disabled()
    page.select_option("#recompute", "none")
    wait(page, "!location.search.includes('recompute')")
    expect(page.locator("#recompute-chunks")).to_be_hidden()


def test_offload_is_chosen_chunk_by_chunk_and_a_copied_chunk_is_not_recomputed_in_full(open_page: Open) -> None:
    page = open_page("?family=gis&p=4&m=16&v=4&recompute=3*full,none")
    page.locator("#options > summary").click()
    page.select_option("#offload", "per-chunk")
    page.select_option("#offload-2", "full")
    wait(page, "location.search.includes('offload=2*none,full,none')")
    wait(page, "location.search.includes('recompute=2*full,2*none')")
    expect(page.locator("#offload-means")).to_contain_text("1 of 4 chunks are copied, so up to k = 4")
    wait(page, "bubbleline.state().plans[0]?.shown?.offload[2] === 'full'")
    expect(page.locator(".lane-head, #lane-heads, main").first).to_contain_text("offload 2×none/full/none")


def test_pipedream_shows_which_weights_an_op_uses_and_the_cost_of_staleness(open_page: Open) -> None:
    page = open_page("?family=pipedream&p=3&m=6")
    expect(page.locator("#meaning")).to_contain_text("keeps p − s weight versions")
    page.mouse.move(*middle(page, "a", "0B3"))
    expect(page.locator("#card")).to_contain_text("weights: version 1 as its forward, 2 updates late")
    assert state(page)["lanes"][0]["ops"] == 36


def test_a_sharded_output_layer_is_chosen_in_the_group_of_options_and_its_law_holds(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8")
    page.locator("#options > summary").click()
    page.select_option("#vocabulary", "parallel-1")
    wait(page, "bubbleline.state().plans[0]?.figures?.makespan === 39")  # 8 (1 + 2 + 1/4 + 1/2) + 3 (1 + 2)
    expect(figure(page, "Peak in flight")).to_have_text("6")
    expect(page.locator("[data-law=makespan-global] .verdict")).to_have_text("matches the simulation")
    for part in ("vocabulary=parallel-1", "S=0.25", "T=0.5"):
        wait(page, f"location.search.includes('{part}')")
    page.select_option("#vocabulary", "plain")  # the same work is now the last stage's
    wait(page, "bubbleline.state().plans[0]?.figures?.makespan === 57")
    reload(page, "window.bubbleline && bubbleline.state().plans[0]?.figures?.makespan === 57")
    expect(page.locator("#vocabulary")).to_have_value("plain")
    expect(page.locator("#field-S")).to_have_value("0.25")


def test_the_choice_also_sets_the_costs_of_the_schedule_beside_it(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8&b.family=gpipe")
    page.locator("#options > summary").click()
    page.select_option("#vocabulary", "parallel-2")
    for plan, makespan in enumerate((39, 57)):
        wait(page, f"bubbleline.state().plans[{plan}]?.figures?.makespan === {makespan}")


def test_offload_frees_memory_and_shows_k_and_a_shared_link_makes_compute_wait(open_page: Open) -> None:
    page = open_page("?family=gis&p=4&m=16&v=2")
    expect(figure(page, "Peak memory")).to_have_text("4")
    page.locator("#options > summary").click()
    page.select_option("#offload", "selective")
    wait(page, r"/Peak memory\D*2\s/.test(document.querySelector('#figures').innerText)")
    expect(page.locator("#offload-means")).to_contain_text("k = 1")
    page.select_option("#offload", "full")
    page.locator("#shared-link").check()
    expect(page.locator("#offload-means")).to_contain_text("k = 2")
    expect(page.locator("#offload-means")).to_contain_text("Above k = 1 compute waits")
    wait(page, "location.search.includes('shared_link=true')")
    page.locator("#family").click()
    page.locator("[data-family=gpipe]").click()
    wait(page, "bubbleline.state().plans[0]?.shown?.family === 'gpipe'")
    wait(page, "!location.search.includes('offload')")
    expect(page.locator("#offload")).to_be_hidden()


@pytest.mark.parametrize(
    ("spec", "slider"),
    [
        ({"family": "interleaved", "p": "4", "m": "16", "v": "2", "offload": "full"}, "F"),
        ({"family": "1f1b", "p": "4", "m": "16", "vocabulary": "parallel-1", "comm": "0.1"}, "I"),
    ],
)
def test_a_cost_slider_with_offload_or_a_sharded_output_layer_needs_no_request_and_shows_what_the_server_computes(
    open_page: Open, spec: dict[str, str], slider: str
) -> None:
    page = open_page(f"?{urlencode(spec)}")
    settle(page)
    before = page.evaluate("bubbleline.state().plans[0].figures.makespan")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/schedule" in request.url else None)
    field = page.locator(f"#field-{slider}-slider")
    field.focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    wait(page, f"bubbleline.state().plans[0].figures.makespan > {before}")
    wait(page, f"location.search.includes('{slider}=')")
    settle(page)
    assert asked == []
    query = dict(parse_qsl(urlsplit(page.url).query))
    shown = page.evaluate("bubbleline.state().plans[0].figures.makespan")
    fields = {key: query.get(key, value) for key, value in (spec | {slider: ""}).items()}
    answer = page.request.get(
        f"{page.url.partition('?')[0]}api/schedule?{urlencode(fields)}", headers={"Accept": "application/json"}
    )
    assert shown == answer.json()["makespan"]


def test_layers_are_typed_for_each_stage_or_once_for_all(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8")
    page.locator("#options > summary").click()
    page.fill("#field-layers", "5,5,5,1")
    page.press("#field-layers", "Enter")
    wait(page, "bubbleline.state().plans[0]?.figures?.makespan === 37.5")
    wait(page, "location.search.includes('layers=3*5,1')")
    page.fill("#field-layers", "2")
    page.press("#field-layers", "Enter")
    wait(page, "bubbleline.state().plans[0]?.figures?.makespan === 33")
    page.fill("#field-layers", "2,2")
    page.press("#field-layers", "Enter")
    expect(page.locator("#field-layers-problem")).to_contain_text("one entry per stage: 4 here, not 2")
    page.locator("#field-layers-problem button").click()
    wait(page, "location.search.includes('layers=4*1')")  # the same two layers' worth, cut evenly into four stages
    page.fill("#field-layers", "")
    page.press("#field-layers", "Enter")
    wait(page, "!location.search.includes('layers')")
    page.fill("#field-F", "1,2,3")
    page.press("#field-F", "Enter")
    expect(page.locator("#field-F-problem button")).to_have_text("Use f = 1,2,3,3")
    page.locator("#field-F-problem button").click()
    wait(page, "location.search.includes('F=1,2,3,3') || location.search.includes('F=1,2,2*3')")


def test_frozen_stages_lose_their_gradients_and_a_layout_of_megatron_gives_layers_and_further_tokens(
    open_page: Open,
) -> None:
    page = open_page("?family=1f1b&p=4&m=8")
    page.click("#options > summary")
    page.fill("#field-frozen", "0")
    page.keyboard.press("Enter")
    wait(page, "JSON.stringify(bubbleline.state().spec.frozen) === '[0]' && !bubbleline.state().plans[0].stale")
    wait_url(page, "frozen=1*0")
    page.fill("#field-frozen", "9")
    page.keyboard.press("Enter")
    expect(page.locator("#field-frozen")).to_have_value("9")
    expect(page.locator(".problem:not([hidden])").first).to_be_visible()
    page.fill("#field-frozen", "")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().spec.frozen === null && !bubbleline.state().plans[0].stale")
    page.fill("#field-layers", "Ett|ttt|ttx|L")
    page.keyboard.press("Enter")
    expect(page.locator("#field-layers-problem")).to_contain_text("at position 11 (x): the signs are E, t, m, L and |")
    page.fill("#field-layers", "Ett|ttt|ttm|L")
    page.keyboard.press("Enter")
    wait_url(page, "layers=2,3,3,0")  # without a model a further token is as a layer
    expect(page.locator("#field-layers-problem")).to_be_hidden()
    page.evaluate(GO, "?family=1f1b&p=4&m=8&m.model=deepseek-v3&tab=costs")
    settle(page)
    page.click("#options > summary")
    page.fill("#field-layers", "Ett|ttt|ttm|L")
    page.keyboard.press("Enter")
    wait_url(page, "m.layers=2,3,2,0")
    wait_url(page, "m.mtp_stage=2")
    wait(page, "bubbleline.state().spec.costs.F[2] > 1.5 * bubbleline.state().spec.costs.F[3]")
    page.fill("#field-frozen", "0")
    page.keyboard.press("Enter")
    expect(figure(page, "Peak memory")).to_contain_text("GB")
    assert page.evaluate("bubbleline.state().plans[0].error") is None


def test_micro_batches_that_differ_are_drawn_by_size_and_their_order_of_entry_is_chosen(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=6")
    page.click("#options > summary")
    page.click("#draw-sizes")
    wait_url(page, "sizes=lognormal:0.3:1")
    page.fill("#field-sizes", "1,2,.5,1.5,.5,.5")
    page.keyboard.press("Enter")
    wait_url(page, "sizes=1,2,0.5,1.5,2*0.5")
    expect(page.locator("#injection-means")).to_have_text(
        "Sizes from 0.5 to 2. A step takes 34 as given, 31 as a mountain (−8.8 %)."
    )
    expect(figure(page, "Step time")).to_have_text("34")
    page.select_option("#injection", "searched")
    wait_url(page, "injection=2,0,1,3,5,4")
    expect(page.locator("#injection")).to_have_value("listed")
    expect(page.locator("#injection-means")).to_contain_text("as a mountain (−8.8 %). As listed: 30.5 (−10.3 %).")
    expect(figure(page, "Step time")).to_have_text("30.5")
    page.select_option("#injection", "mountain")
    expect(figure(page, "Step time")).to_have_text("31")
    page.locator("#field-fixed").fill("50")
    page.keyboard.press("Enter")
    wait_url(page, "fixed=0.5", "injection=mountain")
    reload(page, "window.bubbleline && bubbleline.state().plans[0]?.figures?.makespan === 28")
    page.evaluate("document.querySelector('#plot').focus()")
    page.keyboard.press(".")
    expect(page.locator("#card")).to_contain_text("micro-batch of size 0.5, the data's 2")
    page.keyboard.press("Escape")
    page.locator("#field-m").fill("8")
    page.keyboard.press("Enter")
    wait_url(page, "sizes=1,2,0.5,1.5,2*0.5,1,2")
    page.fill("#field-sizes", "1,x")
    page.keyboard.press("Enter")
    expect(page.locator("#field-sizes-problem")).to_contain_text("Sizes must be a number for each micro-batch")
    page.fill("#field-sizes", "")
    page.keyboard.press("Enter")
    wait(page, "!/sizes|fixed|injection/.test(location.search)")


def test_messages_on_streams_are_drawn_explained_and_stay_in_the_link(open_page: Open) -> None:
    page = open_page("?family=interleaved&p=4&m=8&v=2")
    expect(figure(page, "Step time")).to_have_text("28.5")
    expect(page.locator("#receives")).to_be_hidden()
    page.locator("#options > summary").click()
    page.select_option("#streams", "rank")
    expect(figure(page, "Step time")).to_have_text("33.5")
    expect(page.locator("#streams-mean")).to_contain_text("+17.5 %")
    page.select_option("#receives", "placed")
    expect(figure(page, "Step time")).to_have_text("28.5")
    wait_url(page, "receives=placed")
    reload(page, "window.bubbleline && bubbleline.state().plans[0]?.figures?.makespan === 28.5")
    expect(page.locator("#streams")).to_have_value("rank")
    page.select_option("#receives", "deferred")
    expect(page.get_by_text("rank 0 waits at 0SEND_F3 for 1RECV_F3 on rank 1")).to_be_visible()
    page.select_option("#streams", "none")
    expect(figure(page, "Step time")).to_have_text("28.5")
    expect(page.locator("#receives")).to_be_hidden()
    assert "receives" not in page.url


def test_a_forward_runs_again_in_the_bubble_in_front_of_another_backward(open_page: Open) -> None:
    page = open_page("?family=interleaved&p=4&m=8&v=2&recompute=full&recompute_at=bubble&sel=0B2")
    expect(figure(page, "Step time")).to_have_text("28.5")  # as without recomputation
    expect(figure(page, "Peak memory")).to_have_text("4.0882")
    expect(page.locator("#card")).to_contain_text("Runs 0F4 again first, for 0.5.")
    expect(page.locator("#legend")).to_contain_text("forward that runs again")
    page.select_option("#recompute-at", "backward")
    expect(page.locator("#card")).to_contain_text("Runs 0F2 again first, for 0.5.")


def test_replicas_wait_for_the_slowest_and_a_click_on_one_shows_it(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=2&m=2&sizes=4,4,1,1&replicas=2")
    expect(figure(page, "Step time")).to_have_text("36")
    expect(page.locator("#replicas-mean")).to_contain_text("37.5 % of all device time")
    page.locator("#replica-ends span").nth(1).click()
    expect(figure(page, "Step time")).to_have_text("9")
    wait_url(page, "replica=1")
    page.select_option("#deal", "longest")
    expect(page.locator("#replica-ends span")).to_have_count(2)
    wait_url(page, "deal=longest")
    reload(page, "window.bubbleline && bubbleline.state().plans[0]?.figures")
    expect(page.locator("#deal")).to_have_value("longest")
