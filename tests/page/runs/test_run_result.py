"""What the Run tab says before a run (its length, or why it cannot be) and after one that went wrong."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.conftest import Server
from tests.page.runs.test_run import ended
from tests.support.page.queries import Open, state, wait

pytestmark = pytest.mark.one_document


def test_a_machine_that_is_too_busy_is_named_with_the_ranks_and_the_way_out(
    open_page: Open, live_server: Server
) -> None:
    page = open_page("?family=1f1b&p=2&m=4&tab=run", url=live_server.url)
    page.select_option("#run-mode", "paced")
    page.fill("#run-unit", "0.01")
    page.click("#run")
    assert ended(page) == "finished"
    notes = page.locator(".run-notes")
    expect(notes).to_contain_text(re.compile("too busy|too short for this machine"))
    expect(notes).to_contain_text(re.compile(r"ops of rank \d"))
    expect(notes).to_contain_text(re.compile("larger unit.*quieter machine"))


def test_the_tab_says_the_unit_and_the_length_of_the_step_before_the_click_and_shows_no_cluster_where_there_is_none(
    open_page: Open,
) -> None:
    page = open_page("?family=1f1b&p=4&m=8&tab=run")
    wait(page, "document.querySelector('#run-where').textContent")
    for hidden in ("#cluster", "#run-spread", "#run-arrange", "#run-hops"):
        expect(page.locator(hidden)).to_be_hidden()
    length = page.locator("#run-length")
    expect(length).to_have_text("One unit is 150 ms, so the step takes 4.95 s.")
    page.fill("#run-unit", "20")
    expect(length).to_have_text("One unit is 20 ms, so the step takes 660 ms.")
    page.fill("#run-steps", "3")
    expect(length).to_have_text("One unit is 20 ms, so a step takes 660 ms, and 3 steps 1.98 s.")
    page.select_option("#run-mode", "free")
    expect(length).to_be_hidden()


def test_a_schedule_with_more_devices_than_a_run_has_ranks_is_refused_before_the_click(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=80&m=8&tab=run")
    expect(page.locator("#run-refusal")).to_contain_text("at most 64 ranks here, and this schedule has 80 devices")
    button = page.locator("#run")
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_attribute("title", re.compile("at most 64 ranks"))
    button.click(force=True)  # as a pointer does, disabled or not
    assert state(page)["run"] is None
    page.click("#run-fewer")
    wait(page, "bubbleline.state().plans[0].shown?.p === 64")
    expect(page.locator("#run-refusal")).to_be_hidden()
    expect(button).not_to_have_attribute("aria-disabled", "true")


def test_where_torch_is_not_installed_the_run_button_says_what_to_install(open_page: Open) -> None:
    page = open_page("?lang=zh&family=1f1b&p=4&m=8", anew=True)  # which knows no devices yet
    without = {"state": "missing", "devices": [], "choices": [], "engine": "local", "why": {
        "code": "runner.no_torch", "params": {"command": "pip install 'bubbleline[run]'"}, "message": "Install torch.",
    }}  # fmt: skip
    page.route("**/api/devices", lambda route: route.fulfill(json=without))
    page.hover("#run")
    button = page.locator("#run")
    expect(button).to_have_attribute("title", re.compile(r"没有安装 torch.*pip install 'bubbleline\[run\]'"))
    button.click(force=True)
    expect(page.locator("#run-refusal")).to_contain_text("pip install 'bubbleline[run]'")
    assert state(page)["run"] is None


def test_the_run_button_learns_of_a_refusal_when_it_is_pointed_at_with_the_tab_closed(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=80&m=8", anew=True)
    page.hover("#run")
    expect(page.locator("#run")).to_have_attribute("aria-disabled", "true")
    page.locator("#run").click(force=True)
    expect(page.locator("#run-refusal")).to_be_visible()


@pytest.mark.parametrize(
    ("facts", "gradients", "loss"),
    [
        ({"max_grad_error": 0.0, "loss": 2.0, "reference_loss": 1.0}, "equal to the reference", "2.00000"),
        ({"max_grad_error": 0.5, "loss": 1.0, "reference_loss": 1.0}, "NOT equal to the reference", "1.00000"),
        ({"max_grad_error": None, "loss": None, "reference_loss": 1.0}, "missing or not a number", "not a number"),
    ],
    ids=["loss", "gradient", "not finite"],
)
def test_a_run_that_is_not_verified_blames_what_is_wrong(
    open_page: Open, facts: dict[str, object], gradients: str, loss: str
) -> None:
    page = open_page("?family=1f1b&p=2&m=2&tab=run")

    def judge(route: Route) -> None:
        answer = route.fetch()
        run = answer.json() | {"verified": False, "tolerance": 1e-5, "unit_ms": 1.0} | facts
        route.fulfill(response=answer, json=run)

    page.route(re.compile("/api/runs/[0-9a-f]+[?]"), judge)
    page.click("#run")
    assert ended(page) == "finished"
    expect(page.locator("#run-result")).to_have_text(re.compile(r"^NOT verified\."))
    assert fact(page, "Gradients").startswith(gradients)
    assert fact(page, "Loss").startswith(loss)


def fact(page: Page, name: str) -> str:
    """The text beside a name in the list of facts."""
    found: str = page.evaluate(
        "name => [...document.querySelectorAll('.run-facts dt')]"
        ".find(each => each.textContent === name).nextElementSibling.textContent",
        name,
    )
    return found
