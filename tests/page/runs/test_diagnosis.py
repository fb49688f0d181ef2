"""The diagnosis of a measured step on the page: files in, sentences and bars out, the step on the timeline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from backend.schedule.spec import Spec
from tests.page.app.test_axe import violations
from tests.page.app.test_chinese import english
from tests.schedule.diagnosis.files import WRITERS
from tests.schedule.diagnosis.planted import LINK, LONG, PAUSE, UNEVEN, WORKER, Fault, recording
from tests.support.page.queries import Open, figure, wait

pytestmark = pytest.mark.one_document

REFUSED = "status of 400"  # the browser's own note of it


def bring(page: Page, folder: Path, form: str, *faults: Fault, **sizes: int) -> None:
    """Open files of some format, and ask why their step is slow."""
    files = WRITERS[form](recording(Spec("1f1b", 4, 8), faults, **sizes), folder)
    page.click("#open")
    page.set_input_files("#import-file", files)
    page.click("#import-why")
    expect(page.locator("#import-dialog")).to_be_hidden()


def test_traces_are_diagnosed_and_a_finding_leads_to_its_op_on_the_timeline(open_page: Open, tmp_path: Path) -> None:
    page = open_page("?family=gpipe&p=2&m=3", width=1440, height=900, forgive=REFUSED)
    page.click("#tab-diagnosis")
    expect(page.locator(".diagnosis")).to_contain_text("Why is my step slow?")
    page.locator(".diagnosis").get_by_role("button", name="Open a trace …").click()
    expect(page.locator("#import-text")).to_be_visible()
    page.keyboard.press("Escape")
    bring(page, tmp_path, "profiles", UNEVEN, PAUSE)
    expect(page.locator(".diagnosis h2")).to_have_text("Stage 1 takes 1.5 times the others.")
    expect(page.locator(".diagnosis")).to_contain_text("8 files · torch profiler · 1F1B, p 4, m 8, v 1")
    expect(page.locator(".diagnosis-findings li")).to_have_count(3)  # with the replica that waits for the pause
    expect(page.locator(".diagnosis-bar")).to_have_count(4)
    expect(page.locator(".diagnosis-workers td")).to_have_count(8)
    page.get_by_role("button", name="Show where").first.click()
    expect(page.locator(".diagnosis-key button[data-cause=imbalance]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".diagnosis-picked")).to_contain_text("uneven stages: ")
    expect(page.locator(".diagnosis-picked button")).to_have_text(re.compile(r"^Show the longest, before \d[FB]\d$"))
    assert page.locator(".diagnosis-track [data-cause=imbalance].dim").count() == 0
    assert page.locator(".diagnosis-track .dim").count() > 0
    page.locator(".diagnosis-key button[data-cause=imbalance]").click()
    expect(page.locator(".diagnosis-picked")).to_have_text("")
    page.locator("#diagnosis-replica").select_option("1")
    expect(page.locator(".diagnosis-step")).to_contain_text("Where ranks wait, in step")
    expect(page.locator(".diagnosis")).to_contain_text("3 steps of 1 replica")
    expect(page.locator(".diagnosis-workers")).to_have_count(0)
    page.locator("#diagnosis-replica").select_option("all")
    page.locator(".diagnosis-workers td").nth(1).click()
    expect(page.locator("#diagnosis-replica")).to_have_value("1")
    page.locator("#diagnosis-replica").select_option("all")
    expect(page.locator(".diagnosis-workers td")).to_have_count(8)
    page.get_by_text("Move layers between stages").click()
    page.fill("#diagnosis-layers", "8,8")
    page.keyboard.press("Enter")
    expect(page.locator(".diagnosis .problem")).to_contain_text("each of the 4 stages")
    page.fill("#diagnosis-layers", "8")
    page.keyboard.press("Enter")
    expect(page.locator(".diagnosis-layers")).to_contain_text("in place of 8 save")
    expect(page.locator(".diagnosis-layers code")).to_contain_text("--pipeline-model-parallel-layout 'Et*")
    page.get_by_text("As a table, in ms").click()
    expect(page.locator(".diagnosis table.data")).to_contain_text("fill and drain")
    assert violations(page, "#panel-diagnosis") == []
    page.get_by_role("button", name="Show 0F1").click()
    wait(page, "bubbleline.state().plans[0].shown?.family === '1f1b'")
    wait(page, "bubbleline.state().view.sel === '0F1'")
    wait(page, "location.search.includes('comm=0.2&sel=0F1')")
    assert 350 < float(figure(page, "Step time").inner_text().replace("ms", "").strip()) < 480
    page.locator(".diagnosis-row").nth(2).locator(".diagnosis-wait[title*='2F5']").click()
    wait(page, "bubbleline.state().view.sel === '2F5'")
    page.go_back()
    page.go_back()
    wait(page, "bubbleline.state().plans[0].shown?.family === 'gpipe'")


def test_a_table_is_taken_for_one_and_what_is_wrong_with_it_is_said(open_page: Open, tmp_path: Path) -> None:
    page = open_page("?family=1f1b&theme=dark", width=390, height=844, forgive=REFUSED)
    page.click("#open")
    page.fill("#import-text", "rank,kind,start,end\n0,F,3,1\n")
    expect(page.locator("#import-status")).to_contain_text("measured ops")
    expect(page.locator("#import-take")).to_be_hidden()
    page.click("#import-why")
    expect(page.locator("#import-wrong")).to_have_text("Line 2: the end is before the start.")
    expect(page.locator("#import-text")).to_have_value("rank,kind,start,end\n0,F,3,1\n")
    page.keyboard.press("Escape")
    bring(page, tmp_path, "table", LONG, WORKER)
    expect(page.locator(".diagnosis h2")).to_contain_text("Micro-batches differ: the largest, 2 in step")
    expect(page.locator(".diagnosis")).to_contain_text("Rank 1 of replica 1 takes 1.4 times")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page, "#panel-diagnosis") == []
    page.get_by_role("button", name="Find the best order of entry").click()
    wait(page, "/injection=[0-9]/.test(location.search)")
    assert "sizes=" in page.url
    page.get_by_role("button", name="Compare schedules at these costs").click()
    expect(page.locator("#panel-compare")).to_contain_text("ZB-H1")


def test_a_production_timeline_is_diagnosed_in_chinese(open_page: Open, tmp_path: Path) -> None:
    page = open_page("?family=1f1b&lang=zh", anew=True)
    files = WRITERS["timeline"](recording(Spec("1f1b", 4, 8), [LINK]), tmp_path)
    page.click("#open")
    page.set_input_files("#import-file", files)
    page.click("#import-why")
    expect(page.locator(".diagnosis h2")).to_contain_text("从 rank 0 到 rank 1 的链路")
    assert english(page) == []


def test_an_export_of_nsight_is_read_where_it_is_dropped_and_what_it_lacks_is_said(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page("?family=1f1b", forgive=REFUSED, anew=True)
    other = tmp_path / "other.sqlite"
    other.write_bytes(b"SQLite format 3\x00" + b"x" * 100)
    page.click("#open")
    page.set_input_files("#import-file", [other])
    expect(page.locator("#import-status")).to_have_text("other.sqlite: measured ops")
    expect(page.locator("#import-take")).to_be_hidden()
    page.click("#import-why")
    expect(page.locator("#import-wrong")).to_contain_text(
        "No SQLite export of Nsight Systems with NVTX ranges: other.sqlite ("
    )
    page.keyboard.press("Escape")
    bring(page, tmp_path, "nsight", UNEVEN, steps=1, replicas=1)
    expect(page.locator(".diagnosis h2")).to_contain_text("Stage 1 takes 1.5 times the others")


def test_what_is_on_the_screen_is_diagnosed(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8&F=1,1,1,2&I=1,1,1,2&W=1,1,1,2&tab=diagnosis", anew=True)
    page.get_by_role("button", name="Diagnose the schedule on the screen").click()
    expect(page.locator(".diagnosis h2")).to_have_text("Stage 3, which has the output layer, takes 2 times the others.")
    expect(page.locator(".diagnosis")).to_contain_text("the screen · a table of ops · 1F1B, p 4, m 8, v 1")
    page = open_page("?family=dualpipev&p=4&m=8&tab=diagnosis", anew=True)
    expect(page.locator(".diagnosis")).to_contain_text("Why is my step slow?")
    expect(page.get_by_role("button", name="Diagnose the schedule on the screen")).to_have_count(0)  # pairs
    page.get_by_role("button", name="An example").click()
    verdict = "Stage 3, which has the output layer, takes 1.7 times the others."
    expect(page.locator(".diagnosis h2")).to_have_text(verdict)
