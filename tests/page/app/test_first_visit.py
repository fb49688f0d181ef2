"""The first visit, its line and the three ways on; the tour; the help."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.page.queries import Open, wait

FAMILIES = "[bubbleline.state().spec, ...bubbleline.state().others].map((spec) => spec.family).join()"


def first_visit(open_page: Open, query: str = "", **options: object) -> Page:
    page = open_page(query, first_visit=True, anew=True, **options)
    page.evaluate("localStorage.clear()")
    page.reload()
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    return page


def test_a_first_visit_shows_gpipe_above_1f1b_with_its_line_and_figures_that_follow(open_page: Open) -> None:
    page = first_visit(open_page)
    assert page.evaluate(FAMILIES) == "gpipe,1f1b"
    line = page.locator("#welcome")
    expect(line).to_contain_text("Grey is wasted GPU time. Drag p and m.")
    expect(line).to_contain_text("Both waste 27.3 % of the step; GPipe holds 8 micro-batches in memory, 1F1B 4.")
    assert page.url.endswith("/"), "the address stays short"
    page.locator("#field-m").fill("16")
    page.locator("#field-m").press("Enter")
    expect(line).to_contain_text("15.8 %")
    expect(line).to_contain_text("holds 16")
    wait(page, "location.search === '?family=gpipe&m=16&b.family=1f1b'")
    page.go_back()
    wait(page, "location.search === '' && bubbleline.state().spec.m === 8")


def test_a_first_visit_plays_unless_the_link_asks_for_something_or_motion_is_reduced(open_page: Open) -> None:
    moving = "document.querySelector('#transport [aria-label=Pause]') !== null"
    page = first_visit(open_page, reduced_motion="no-preference")
    wait(page, moving)
    page = open_page("?tab=compare", anew=True, reduced_motion="no-preference")
    assert not page.evaluate(moving)
    page = open_page("", first_visit=True, anew=True)
    assert not page.evaluate(moving)


def test_the_line_is_closed_for_good_and_goes_with_its_schedules(open_page: Open) -> None:
    page = first_visit(open_page)
    page.locator(".lane-close").first.click()
    expect(page.locator("#welcome")).to_be_hidden()
    wait(page, "location.search === '?family=1f1b'")
    page.reload()
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    assert page.evaluate(FAMILIES) == "1f1b", "a view that was chosen is not the first visit's"
    page = first_visit(open_page)
    page.click("#welcome-close")
    expect(page.locator("#welcome")).to_be_hidden()
    page.reload()
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    expect(page.locator("#welcome")).to_be_hidden()


def test_teach_opens_the_share_dialog_and_plan_a_model_on_a_machine(open_page: Open) -> None:
    page = first_visit(open_page)
    page.click("#welcome-teach")
    expect(page.locator("#share-dialog")).to_be_visible()
    expect(page.locator("#share-link")).to_have_value(re.compile(r"/\?family=gpipe&b\.family=1f1b$"))
    page.keyboard.press("Escape")
    page.click("#welcome-plan")
    expect(page.locator("#panel-plan")).to_be_visible()
    expect(page.locator("#plan-model")).to_have_value("llama3-70b")
    expect(page.locator("#plan-find")).to_be_enabled()


def test_the_tour_goes_through_its_views_by_keys_with_computed_figures_and_gives_the_view_back(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=6&m=12&theme=dark")
    page.keyboard.press("?")
    page.locator("#tour-start").press("Enter")
    card = page.locator("#tour")
    expect(card).to_contain_text("1 of 9")
    seen = []
    for step in range(1, 10):
        expect(page.locator(".tour-count")).to_have_text(f"{step} of 9")
        wait(page, "/^[^{}–]+$/.test(document.querySelector('#tour p').textContent)")
        seen.append(page.locator("#tour p").inner_text())
        if step < 9:
            page.locator("#tour-next").press("Enter")
    assert len(set(seen)) == 9
    assert "42.9 %" in seen[1], "(4 - 1) / (4 + 4 - 1)"
    assert "15.8 %" in seen[2]
    assert "rise to 16" in seen[2]
    assert "stay at 4 instead of 16" in seen[3]
    assert "8.6 % instead of 15.8 %" in seen[4]
    assert page.evaluate("bubbleline.state().view.theme") == "dark"
    page.locator("#tour-back").click()
    expect(page.locator(".tour-count")).to_have_text("8 of 9")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    wait(page, "location.search.includes('family=zb-h1&p=6&m=12')")
    expect(page.locator(".tour-marked")).to_have_count(0)


def test_the_help_names_terms_papers_with_their_doi_and_shortcuts(open_page: Open) -> None:
    page = open_page("")
    page.click("#help")
    panel = page.locator("#panel-keys")
    expect(panel.locator("dt").filter(has_text=re.compile("^Bubble$"))).to_be_visible()
    link = panel.get_by_role("link", name="GPipe: Efficient Training of Giant Neural Networks using Pipeline").first
    expect(link).to_have_attribute("href", "https://doi.org/10.48550/arXiv.1811.06965")
    expect(panel).to_contain_text("doi:10.48550/arXiv.1811.06965")
    expect(panel.locator("kbd").first).to_be_attached()
    for view in panel.locator("a.glossary-view").all():
        path = view.get_attribute("href")
        answer = page.request.get(page.url.split("?")[0] + "preview.png" + str(path))
        assert answer.ok, path
