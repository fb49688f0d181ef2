"""The page in a browser: a step in seconds, tokens and bytes, and whether a plan fits its device."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.queries import Open, figure, settle, wait, wait_url

pytestmark = pytest.mark.one_document

MODEL = "m.model=llama3-70b&m.tp=8&m.heads=1"
FITS = f"?family=1f1b&p=8&m=32&{MODEL}&m.data=16&m.zero=1"
TOO_LARGE = f"?family=gpipe&p=8&m=32&{MODEL}"


def rows(page: Page, query: str) -> dict[str, dict]:
    found = page.request.get(f"{page.evaluate('location.origin')}/api/compare?{query}").json()
    return {row["family"]: row for row in found["rows"]}


def test_a_step_is_shown_in_seconds_tokens_flop_utilisation_and_memory_that_fits(open_page: Open) -> None:
    page = open_page(FITS)
    units = rows(page, f"{FITS.removeprefix('?').replace('family=', 'families=')}")["1f1b"]["units"]
    expect(figure(page, "Step time")).to_have_text(f"{units['seconds']:.3g} s")
    expect(figure(page, "Tokens per second")).to_have_text(f"{units['tokens_per_second'] / 1e3:.0f} k")
    expect(figure(page, "MFU")).to_have_text(f"{units['mfu']:.1%}".replace("%", " %"))
    memory = f"{units['memory']['most'] / 1e9:.1f} GB"
    expect(figure(page, "Peak memory")).to_have_text(memory)
    expect(page.locator("#fit")).to_have_text(f"Fits: {memory} of 80 GB on device 0")


def test_a_plan_that_does_not_fit_says_so_beside_the_headline_and_zero_mends_it(open_page: Open) -> None:
    page = open_page(f"?family=1f1b&p=8&m=32&{MODEL}&m.data=16")
    expect(page.locator("#fit .over")).to_contain_text("Does not fit: 8")
    page.click("#pricing > summary")
    page.select_option("#preset-zero", "1")
    expect(page.locator("#fit .within")).to_contain_text("of 80 GB on device 0")
    wait_url(page, "m.zero=1")
    page.select_option("#preset-data", "1")
    expect(page.locator("#preset-zero")).to_be_disabled()


def test_without_a_model_the_peak_memory_is_in_micro_batches_and_nothing_is_said_to_fit(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4&m=8")
    expect(figure(page, "Peak memory")).to_have_text("4")
    expect(page.locator("#fit")).to_be_hidden()
    assert page.get_by_role("rowheader", name="MFU").count() == 0


def test_the_memory_strips_of_a_plan_that_does_not_fit_have_the_limit_of_the_device(open_page: Open) -> None:
    page = open_page(f"{TOO_LARGE}&mem=1")
    settle(page)
    expect(page.locator(".legend")).to_contain_text("above its limit")
    page = open_page("?family=gpipe&p=8&m=32&mem=1")
    settle(page)
    expect(page.locator(".legend")).not_to_contain_text("above its limit")


def test_families_are_compared_in_units_and_the_files_have_them(open_page: Open, tmp_path: Path) -> None:
    page = open_page(f"{FITS}&tab=compare&families=1f1b,gpipe,v-half")
    expected = rows(page, f"p=8&m=32&{MODEL}&m.data=16&m.zero=1&families=1f1b,gpipe,v-half")
    row = page.locator('tr[data-family="gpipe"]')
    expect(row.locator('[data-column="fits"]')).to_have_text("no")
    expect(row.locator('[data-column="device-memory"]')).to_have_class("over")
    expect(page.locator('tr[data-family="v-half"] [data-column="fits"]')).to_have_text("yes")
    expect(page.locator('td.best[data-column="tokens"]')).to_have_count(1)  # the greatest, not the least
    for kind in ("csv", "json"):
        with page.expect_download() as download:
            page.click(f'[data-save="{kind}"]')
        download.value.save_as(tmp_path / kind)
    table = {line["family"]: line for line in csv.DictReader((tmp_path / "csv").open())}
    for name, line in table.items():
        units = expected[name]["units"]
        assert float(line["tokens_per_s"]) == units["tokens_per_second"]
        assert float(line["memory_bytes"]) == units["memory"]["most"]
        assert line["fits"] == str(units["memory"]["fits"]).lower()
    saved = json.loads((tmp_path / "json").read_text())
    assert {each["family"]: each["units"] for each in saved["rows"]} == {
        name: each["units"] for name, each in expected.items()
    }


def test_two_schedules_are_compared_in_units_and_the_one_that_does_not_fit_is_named(open_page: Open) -> None:
    page = open_page(f"{TOO_LARGE}&m.data=16&m.zero=1&b.family=1f1b&tab=compare")
    expect(page.locator("#fit")).to_contain_text("GPipe: Does not fit")
    expect(page.locator("#fit p")).to_have_count(1)
    expect(page.locator('.difference-table tr[data-plan="a"] td.over').first).to_contain_text("GB")


def test_a_balance_says_whether_the_layers_fit(open_page: Open) -> None:
    page = open_page(f"?family=1f1b&p=8&m=32&{MODEL.replace('tp=8', 'tp=1')}")
    page.click("#pricing > summary")
    page.click("#balance")
    expect(page.locator("#balance-fits")).to_contain_text("No split found fits")
    wait_url(page, "m.layers=")


def test_each_plot_of_the_paper_is_one_click_and_in_the_link(open_page: Open) -> None:
    page = open_page("?tab=charts")
    page.click('[data-plot="cm-9.6b"]')
    expect(page.locator(".charts-variant")).to_have_value("mfu-activations")
    expect(page.locator(".charts-table")).to_contain_text("V-Half")
    expect(page.locator(".charts-table thead")).to_contain_text("MFU")
    address = wait_url(page, "m.model=cm-9.6b")
    for part in ("p=16", "m=32", "m.machine=a100", "m.heads=1", "chart=pareto:mfu-activations"):
        assert part in address.replace("%3A", ":")


def test_an_old_name_of_a_model_in_a_link_still_means_it(open_page: Open) -> None:
    page = open_page("?m.model=llama3-7b&p=4")
    wait(page, "bubbleline.state().spec.costs.F !== 1")
    expect(page.locator("#pricing > summary")).to_contain_text("Llama 3 8B on H100")
    page.click("#pricing > summary")
    expect(page.locator("#preset-model")).to_have_value("llama3-8b")
