"""Options on top of families, in the page: activation recomputation, and PipeDream's weight versions."""

# ruff: noqa: F401, F811  (fixtures are imported, and named by the tests that want them)

from __future__ import annotations

from playwright.sync_api import expect

from tests.page_fixtures import Open, browser, figure, middle, open_page, state, wait


def test_recomputation_takes_time_frees_memory_and_stays_in_the_link(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8")
    assert (figure(page, "Makespan"), figure(page, "Peak memory")) == ("33", "4")
    page.select_option("#recompute", "full")
    wait(page, "document.querySelector('#figures').innerText.includes('44')")
    assert figure(page, "Makespan") == "44"
    assert figure(page, "Peak memory").startswith("1.17")
    expect(page.locator("#law")).to_contain_text("exact here")
    assert "recompute=full" in page.url
    page.reload()
    wait(page, "window.bubbleline && bubbleline.state().plans[0]?.figures?.makespan === 44")
    expect(page.locator("#recompute")).to_have_value("full")
    page.go_back()
    wait(page, "document.querySelector('#recompute').value === 'none'")


def test_pipedream_says_which_weights_an_op_uses_and_what_staleness_costs(open_page: Open) -> None:
    page = open_page("?family=pipedream&p=3&m=6")
    expect(page.locator("#meaning")).to_contain_text("keeps p − s weight versions")
    page.mouse.move(*middle(page, "a", "0B3"))
    expect(page.locator("#card")).to_contain_text("weights: version 1 as its forward, 2 updates late")
    assert state(page)["lanes"][0]["ops"] == 36
