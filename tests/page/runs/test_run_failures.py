"""Failing runs on the page: a server that is killed, a full queue, a cancel at any stage, a bad disk."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import expect

from tests.conftest import PATIENCE_S, Server, launch
from tests.page.conftest import lasting
from tests.support.page.queries import Open, state, wait

pytestmark = pytest.mark.one_document

SLOW = ("--pause", "0.05", "--until", "/never")  # no run ends before it is cancelled
PANEL = "#panel-run"
WARM = 108  # micro-batches of a run that the fake runner keeps warming up until it is cancelled
GONE = "ailed"  # the browser's own notes of a server that is not there: a socket failed, a request Failed


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that is never ready to run, takes runs of up to a second, and lets one wait."""
    with lasting(
        launch(tmp_path_factory.mktemp("strict"), "--start", "600", BUBBLELINE_QUEUE="1", BUBBLELINE_RUN_S="1")
    ) as made:
        yield made


def test_after_a_server_is_killed_during_a_run_the_page_shows_the_outcome_and_it_is_told_that_a_server_stops(
    start: Callable[..., Server], open_page: Open, tmp_path: Path
) -> None:
    server = start(*SLOW)
    page = open_page("?p=1&m=400&tab=run", url=server.url, forgive=GONE)
    for forget in (False, True):
        page.click("#run")
        wait(page, "bubbleline.state().run === 'running'")
        wait(page, "bubbleline.state().lanes.length === 2")
        ops = state(page)["lanes"][1]["ops"]
        server.stop(signal.SIGKILL)
        expect(page.locator(PANEL)).to_contain_text("The connection to the server is lost")
        if forget:
            (tmp_path / "runs.sqlite3").unlink()
            (tmp_path / "runs.sqlite3-wal").unlink(missing_ok=True)
        server = start(*SLOW, port=int(server.url.rsplit(":", 1)[1]), BUBBLELINE_STOP_S="30")
        wait(page, "bubbleline.state().run === 'failed'")
        outcome = "no longer has this run" if forget else "The server stopped while this run was in progress"
        expect(page.locator(PANEL)).to_contain_text(outcome)
        expect(page.locator(PANEL)).not_to_contain_text("connection to the server is lost")
        expect(page.locator(".lane-head[data-lane=run] .badge")).to_have_text("failed")
        assert state(page)["lanes"][1]["ops"] >= ops, "what came before stays"
        expect(page.locator("#calibrate")).to_have_count(0)
    page.click("#run")
    wait(page, "bubbleline.state().run === 'running'")
    server.process.send_signal(signal.SIGTERM)
    expect(page.locator(PANEL)).to_contain_text("The server stops in 30 s, and this run with it.")
    assert state(page)["run"] == "running"
    server.stop()


def test_a_queued_run_shows_its_position_and_can_be_withdrawn_and_one_cancelled_while_its_workers_warm_up(
    open_page: Open, server: Server
) -> None:
    first = server.start_run(WARM, p=1)
    second = open_page(f"?p=1&m={WARM}&tab=run")
    second.click("#run")
    expect(second.locator(PANEL)).to_contain_text("Next in line")
    third = open_page("?p=1&m=3&tab=run")
    third.click("#run")
    expect(third.locator(PANEL)).to_contain_text("queued, number 2 in line")
    server.cancel(first).raise_for_status()
    wait(second, "bubbleline.state().run === 'warming'")
    expect(second.locator(PANEL)).to_contain_text("The workers load the model")
    expect(third.locator(PANEL)).to_contain_text("Next in line")
    third.click("#cancel")
    expect(third.locator(PANEL)).to_contain_text("The run was cancelled")
    second.click("#cancel")
    wait(second, "bubbleline.state().run === 'cancelled'")


def test_a_runner_that_dies_is_named_and_the_next_run_works(open_page: Open) -> None:
    page = open_page("?p=1&m=101&tab=run")  # the fake runner ends with exit code 3 at m = 101
    page.click("#run")
    wait(page, "bubbleline.state().run === 'failed'")
    expect(page.locator(PANEL)).to_contain_text("The runner ended with exit code 3 during this run")
    page.fill("#field-m", "2")
    page.keyboard.press("Enter")
    wait(page, "bubbleline.state().plans[0].shown?.m === 2")
    page.get_by_role("button", name="Run again", exact=True).click()
    wait(page, "bubbleline.state().run === 'finished'")


def test_a_run_of_several_steps_shows_its_step_before_the_ops_of_the_last_one_arrive(open_page: Open) -> None:
    page = open_page("?p=1&m=112&tab=run")  # with which the fake runner stays in its second step
    page.click("#run")
    expect(page.locator(f"{PANEL} .progress")).to_contain_text("Step 2 of 3")
    page.click("#cancel")
    wait(page, "bubbleline.state().run === 'cancelled'")


def test_a_run_that_is_too_long_is_refused_with_the_longest_that_is_not(strict: Server, open_page: Open) -> None:
    page = open_page("?p=1&m=10&tab=run", url=strict.url, forgive="status of 400")
    page.select_option("#run-mode", "paced")
    page.fill("#run-unit", "100")
    page.click("#run")
    expect(page.locator(PANEL)).to_contain_text("This run would take about 3 s; this server takes runs of up to 1 s.")
    expect(page.locator("#run-nearest")).to_contain_text("33.3")


def test_a_full_queue_is_reported_and_the_plan_stays(strict: Server, open_page: Open) -> None:
    page = open_page("?p=1&m=2&tab=run", url=strict.url, forgive="status of 503")
    waiting = requests.post(f"{strict.url}/api/runs", json={"spec": {"p": 1, "m": 2}}, timeout=PATIENCE_S)
    assert waiting.status_code == 202
    page.click("#run")
    expect(page.locator(PANEL)).to_contain_text("1 runs are waiting already; try again soon")
    assert len(state(page)["lanes"]) == 1
    requests.post(f"{strict.url}/api/runs/{waiting.json()['id']}/cancel", timeout=PATIENCE_S).raise_for_status()


def test_a_failing_disk_is_reported_beside_the_run(
    start: Callable[..., Server], open_page: Open, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    server = start(BUBBLELINE_DATABASE=str(tmp_path / "file" / "runs.sqlite3"))
    page = open_page("?p=1&m=4&tab=run", url=server.url)
    page.click("#run")
    wait(page, "bubbleline.state().run === 'finished'")
    expect(page.locator(PANEL)).to_contain_text("The server could not write this run to its disk")
    expect(page.locator(".run-facts")).to_contain_text("verified")
