"""Forward-only schedules on the page, and the facts beside the formulas."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.page.queries import GO, Open, figure, middle, reload, state, wait

pytestmark = pytest.mark.one_document("panels")


def test_the_option_drops_all_backwards_and_stays_in_the_link(open_page: Open) -> None:
    page = open_page("?family=interleaved&p=4&m=8&recompute=full")
    page.locator("#options > summary").click()
    page.get_by_label("Forward only (inference)").check()
    wait(page, "bubbleline.state().plans[0]?.figures?.makespan === 9.5")
    expect(figure(page, "Bubble")).to_have_text("15.8 %")
    expect(figure(page, "Peak memory")).to_have_text("0")
    expect(page.locator("[data-law=share-global] .verdict")).to_have_text("matches the simulation")
    expect(page.locator("#meaning")).to_contain_text("There is no B")
    for gone in ("#field-I", "#field-W", "#recompute", "#vocabulary"):
        expect(page.locator(gone)).to_be_hidden()
    wait(page, "location.search.includes('forward_only=true') && !location.search.includes('recompute')")
    reload(page, "window.bubbleline && bubbleline.state().plans[0]?.figures?.makespan === 9.5")
    expect(page.get_by_label("Forward only (inference)")).to_be_checked()
    assert state(page)["lanes"][0]["ops"] == 64
    page.mouse.move(*middle(page, "a", "3F0"))
    expect(page.locator("#card")).to_contain_text("2F0")


def test_a_family_without_a_forward_only_schedule_says_why_and_offers_a_way_out(open_page: Open) -> None:
    page = open_page("?family=dualpipe&p=4&m=8&forward_only=1")
    problem = page.locator("#other-problem")
    expect(problem).to_contain_text("without backwards use 1f1b")
    problem.get_by_role("button", name="Use forward_only = false").click()
    wait(page, "bubbleline.state().plans[0]?.figures && !bubbleline.state().plans[0].error")
    expect(problem).to_be_hidden()


def test_the_textbook_formula_has_the_lesson_figures_beside_it(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=16")
    table = page.locator("#bubble-table")
    table.locator("summary").click()
    row = table.get_by_role("row", name="4p 16")
    expect(row.get_by_role("cell")).to_have_text(["15.8 %", "18.8 %"])
    expect(row).to_have_attribute("aria-current", "true")
    expect(table).to_contain_text("m = 4p gives 20.0 % of the step, 25.0 % of the work")


def test_what_crosses_the_boundaries_is_counted_for_the_schedule_on_the_screen(open_page: Open) -> None:
    page = open_page("?family=1f1b")
    section = page.locator("#boundaries")
    for query, facts in (
        ("?family=1f1b", ["m = 8 messages per step in each direction", "takes 6 messages", "not all-reduced"]),
        ("?family=interleaved", ["2(pv − 1) = 14", "2(p − 1) = 6: 2.33 times", "2(v − 1) = 2 of them"]),
        ("?family=v-zb", ["takes 12 messages over 7 boundaries: 1 of these"]),
        ("?family=dualpipe", ["Every stage is on two devices, such as 0 and 3"]),
        ("?family=1f1b&forward_only=1", ["m = 8 messages per step: the activations", "there are no gradients"]),
        ("?family=1f1b&vocabulary=parallel-1", ["broadcast of the last stage's output and two all-reduces"]),
        ("?family=1f1b&m.model=llama3-7b", ["2·b·s·h = 67.1 MB, so 537 MB per step and direction"]),
    ):
        page.evaluate(GO, query)
        section.locator("summary").click()
        for fact in facts:
            expect(section).to_contain_text(fact)


def test_a_searched_schedule_says_what_is_proved_and_links_the_papers_program_by_its_title(open_page: Open) -> None:
    page = open_page("?family=zb-auto&p=3&m=6")
    proof = page.locator("#proof")
    proof.locator("summary").click()
    expect(proof).to_contain_text("lower bound")
    link = proof.get_by_role("link", name="Zero Bubble Pipeline Parallelism")
    expect(link).to_have_attribute("href", "https://doi.org/10.48550/arXiv.2401.10241")
    page.evaluate(GO, "?family=1f1b&p=3&m=6")
    expect(page.locator("#proof")).to_be_hidden()
