"""The page in a browser: a step in seconds, tokens and bytes, whether a plan fits its device, and the fastest plan."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.queries import GO, Open, figure, reload, settle, wait, wait_url

pytestmark = pytest.mark.one_document("panels")

MODEL = "m.model=llama3-70b&m.tp=8"
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
    rate = f"{units['span']['tokens_per_second'] / 1e3:.0f} k"
    expect(figure(page, "Tokens per second, busiest device")).to_have_text(rate)
    expect(figure(page, "MFU")).to_have_text(f"{units['mfu']:.1%}".replace("%", " %"))
    memory = f"{units['memory']['most'] / 1e9:.1f} GB"
    expect(figure(page, "Peak memory")).to_have_text(memory)
    expect(page.locator("#fit")).to_have_text(f"Fits: {memory} of 80 GB on device 0")


def test_a_plan_that_does_not_fit_says_so_beside_the_headline_and_zero_mends_it(open_page: Open) -> None:
    page = open_page(f"?family=1f1b&p=8&m=32&{MODEL}&m.data=16&m.sp=0")
    expect(page.locator("#fit .over")).to_contain_text("Does not fit: 8")
    page.click("#pricing > summary")
    page.select_option("#preset-zero", "1")
    expect(page.locator("#fit .within")).to_contain_text("of 80 GB on device 0")
    wait_url(page, "m.zero=1")
    page.select_option("#preset-data", "1")
    expect(page.locator("#preset-zero")).to_be_disabled()


def test_the_memory_strips_have_the_limit_of_the_device_and_without_a_model_the_peak_is_in_micro_batches(
    open_page: Open,
) -> None:
    page = open_page(f"{TOO_LARGE}&mem=1")
    settle(page)
    expect(page.locator(".legend")).to_contain_text("above its limit")
    page.evaluate(GO, "?family=1f1b&p=4&m=8&mem=1")
    settle(page)
    expect(page.locator(".legend")).not_to_contain_text("above its limit")
    expect(figure(page, "Peak memory")).to_have_text("4")
    expect(page.locator("#fit")).to_be_hidden()
    assert page.get_by_role("rowheader", name="MFU").count() == 0


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
        assert float(line["busiest_tokens_per_s"]) == units["span"]["tokens_per_second"]
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


def test_an_old_name_of_a_model_in_a_link_still_means_it(open_page: Open) -> None:
    page = open_page("?family=1f1b&p=4", anew=True)
    page.evaluate(GO, "?m.model=llama3-7b&p=4")  # a step in the history, to the first view with a model
    wait(page, "bubbleline.state().spec.costs.F !== 1")
    expect(page.locator("#pricing > summary")).to_contain_text("Llama 3 8B on H100")
    page.click("#pricing > summary")
    expect(page.locator("#preset-model")).to_have_value("llama3-8b")


PLANNED = "?family=1f1b&p=2&m=4&m.model=cm-9.6b&m.machine=a100&m.tp=8&tab=plan"
FEW = "&plan=families:1f1b,zb-h1,v-half"  # which take less time than all
SLOWEST = 1.5  # times the fastest step: slower plans are in the table only
SETTING = "['family', 'v', 'memory', 'recompute', 'offload'].map((key) => bubbleline.state().spec[key])"


def find_plans(page: Page) -> list[dict]:
    """Press the button and return the plans of the answer."""
    with page.expect_response(lambda response: "/api/plans?" in response.url) as answer:
        page.click("#plan-find")
    expect(page.locator(".plan-table tbody tr").first).to_be_visible()
    return answer.value.json()["plans"]


def test_the_fastest_plan_is_found_after_a_choice_of_model_and_machine_put_on_the_screen_and_taken_back(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page(f"?family=1f1b&p=2&m=4&tab=plan{FEW}")
    expect(page.locator("#plan-find")).to_be_disabled()
    expect(page.locator("#plan-why")).to_contain_text("Choose a model")
    page.select_option("#plan-model", "cm-9.6b")
    page.select_option("#plan-machine", "a100")
    wait_url(page, "m.machine=a100")
    expect(page.locator("#plan-gb")).to_have_attribute("placeholder", "80")
    page.fill("#plan-gb", "140")
    plans = find_plans(page)
    wait_url(page, "gb=140")
    assert not plans[0]["units"]["memory"]["fits"] or plans[0]["units"]["memory"]["most"] <= 140e9
    rows = page.locator(".plan-table tbody tr")
    expect(rows).to_have_count(len(plans) + 1)
    expect(page.locator(".plan-now")).to_contain_text("1F1B")
    page.locator("#plan-put-0").press("Enter")
    best = plans[0]["spec"]
    wait(page, f"JSON.stringify({SETTING}) === {json.dumps(chosen(best))}")
    wait_url(page, f"family={best['family']}")
    expect(page.locator('.plan-table tr[data-at="0"]')).to_have_class(re.compile("is-shown"))
    expect(page.locator(".plan-now td").nth(4)).to_have_text(f"{whole(plans[0]):#.4g}")
    expect(page.locator("#plan-put-0")).to_be_focused()
    with page.expect_download() as download:
        page.click('#panel-plan [data-save="csv"]')
    download.value.save_as(tmp_path / "csv")
    lines = list(csv.DictReader((tmp_path / "csv").open()))
    assert [float(line["step_s"]) for line in lines] == [whole(plan) for plan in plans]
    page.go_back()
    wait(page, "bubbleline.state().spec.family === '1f1b'")
    expect(page.locator(".plan-now")).to_contain_text("1F1B")


def whole(plan: dict) -> float:
    return plan["units"]["seconds"] + plan["units"]["tail"]


def chosen(spec: dict) -> str:
    return json.dumps([spec[key] for key in ("family", "v", "memory", "recompute", "offload")], separators=(",", ":"))


def option_kinds(spec: dict) -> set[str]:
    """Return the kinds of choice in a plan, each of which the page must put on the screen as it was planned."""
    modes = {name: "by chunk" if isinstance(spec[name], list) else spec[name] for name in ("recompute", "offload")}
    searched = {"searched"} if spec["memory"] is not None else set()
    return {f"{name} {mode}" for name, mode in modes.items()} | searched


def test_a_plan_of_each_kind_of_option_is_on_the_screen_what_its_row_says_and_gains_what_it_says(
    open_page: Open,
) -> None:
    # With a slow link to host memory the frontier has every kind of option.
    planned = "&m.layers=14,16&m.host=1.2e10&plan=families:interleaved,v-auto,v-half"
    page = open_page(f"{PLANNED}{planned}&vocabulary=parallel-1&recompute=full")
    plans = find_plans(page)
    now = page.locator(".plan-now td").nth(4)
    expect(now).to_have_text(re.compile(r"^\d"))
    before = float(now.inner_text())
    for at in (0, 1, len(plans) // 2):
        gain = 100 * (whole(plans[at]) / before - 1)
        told = page.locator(f'.plan-table tr[data-at="{at}"] td').nth(5).inner_text()
        assert float(told.removesuffix(" %").replace("\u2212", "-")) == pytest.approx(gain, abs=0.1)
    of_a_kind = {kind: at for at, plan in reversed(list(enumerate(plans))) for kind in option_kinds(plan["spec"])}
    by_name = {f"{name} {mode}" for name in ("recompute", "offload") for mode in ("none", "selective", "by chunk")}
    assert by_name | {"searched", "recompute full"} == of_a_kind.keys()
    for at in sorted(set(of_a_kind.values())):
        page.click(f"#plan-put-{at}")
        expect(page.locator(f'.plan-table tr[data-at="{at}"]')).to_have_class(re.compile("is-shown"))
        texts = page.locator(f'.plan-table tr[data-at="{at}"] td').all_inner_texts()
        shown = page.locator(".plan-now td").all_inner_texts()
        assert [texts[:5], texts[6:]] == [shown[:5], shown[6:]], plans[at]["spec"]
    at = next(k for k, plan in enumerate(plans) if plan["spec"]["family"] == "v-half")
    page.click(f"#plan-put-{at}")
    units = plans[at]["units"]
    expect(figure(page, "Step time")).to_have_text(f"{1000 * units['seconds']:.2f} ms")
    expect(figure(page, "Peak memory")).to_have_text(f"{units['memory']['most'] / 1e9:.3g} GB")


def command_of(page: Page) -> str:
    return page.locator(".plan-command").inner_text()


def test_plans_are_limited_and_laid_out_in_link_and_command_and_a_click_puts_the_layout_on_the_screen(
    open_page: Open,
) -> None:
    page = open_page(f"{PLANNED}&m.cp=2&m.sp=0&m.dropout=0&m.layers=14,16&gb=24")
    expect(page.locator("#plan-gpus")).not_to_be_visible()
    page.click("#plan-limits > summary")
    page.select_option("#plan-framework", "megatron")
    page.uncheck("#plan-recompute")
    assert command_of(page) == (
        "python app.py plan --model cm-9.6b --machine a100 --tp 8 --set layers='[14,16]' --set dropout=false --cp 2 "
        "--no-sp -p 2 -m 4 --gb 24 --framework megatron --no-recompute"
    )
    page.fill("#plan-gpus", "16")
    page.fill("#plan-batch", "1,024")
    page.fill("#plan-families", "1F1B, interleaved")
    page.press("#plan-families", "Enter")
    wait_url(page, "plan=gpus:16;batch:1024;framework:megatron;families:1f1b,interleaved;recompute:0")
    reload(page)
    expect(page.locator("#plan-gpus")).to_have_value("16")
    plans = find_plans(page)
    page.go_back()
    expect(page.locator("#plan-families")).to_have_value("")
    expect(page.locator(".plan-lead")).to_contain_text("The setting has changed")
    page.go_forward()
    expect(page.locator(".plan-lead")).to_contain_text("settings built")
    assert command_of(page) == (
        "python app.py plan --model cm-9.6b --machine a100 --set dropout=false --no-sp --gb 24 "
        "--framework megatron --families 1f1b,interleaved --no-recompute --gpus 16 --batch 1024"
    )
    assert {plan["spec"]["family"] for plan in plans} <= {"1f1b", "interleaved"}
    assert {plan["spec"]["recompute"] for plan in plans} == {"none"}
    laid_out = [(at, each) for at, each in enumerate(plans) if each["sizes"]["tp"] == 2]
    at, plan = min(laid_out, key=lambda each: each[1]["sizes"]["m"])  # the least to draw
    page.click(f"#plan-put-{at}")
    sizes, units = plan["sizes"], plan["units"]
    assert sizes["p"] * sizes["tp"] * sizes["data"] == 16
    assert sizes["m"] * sizes["data"] * sizes["micro_batch"] == 1024
    expect(page.locator(f'.plan-table tr[data-at="{at}"]')).to_have_class(re.compile("is-shown"))
    texts = page.locator(f'.plan-table tr[data-at="{at}"] td').all_inner_texts()
    shown = page.locator(".plan-now td").all_inner_texts()
    assert [texts[:5], texts[6:]] == [shown[:5], shown[6:]]
    assert f"TP {sizes['tp']}" in shown[0]
    expect(figure(page, "Peak memory")).to_have_text(f"{units['memory']['most'] / 1e9:.3g} GB")
    wait_url(page, f"m.tp={sizes['tp']}")
    page.click("#pricing > summary")
    expect(page.locator("#preset-tp option")).to_have_count(4)  # within a node of eight
    page.fill("#plan-batch", "")
    page.click("#plan-find")
    expect(page.locator(".plan-lead")).to_contain_text("goes with batch")
    page.fill("#plan-gpus", "")  # the next test goes on in this page
    page.select_option("#plan-framework", "")
    page.check("#plan-recompute")
    page.click("#plan-limits > summary")


def test_plans_of_an_earlier_setting_say_so_and_bring_their_model_with_them(open_page: Open) -> None:
    page = open_page(PLANNED + FEW)
    plans = find_plans(page)
    page.select_option("#plan-model", "cm-21b")
    expect(page.locator(".plan-lead")).to_have_text("The setting has changed since these plans were found.")
    expect(page.locator(".plan-now")).to_have_count(0)
    page.locator(".charts-figure").first.wait_for(state="attached")
    page.click("#plan-put-1")
    wait_url(page, "m.model=cm-9.6b")
    assert page.evaluate("bubbleline.state().spec.family") == plans[1]["spec"]["family"]
    expect(page.locator(".plan-lead")).to_contain_text("settings built")


def test_the_figure_of_plans_is_stepped_through_by_keys_and_a_search_for_plans_is_stopped(open_page: Open) -> None:
    page = open_page(PLANNED + FEW)
    plans = find_plans(page)
    chart = page.locator("#panel-plan .charts-figure")
    expect(chart.locator(".main-svg").first).to_be_visible()
    chart.press("ArrowRight")
    expect(chart.locator(".hovertext")).to_have_count(1)
    chart.press("Enter")
    fastest = min(plan["units"]["seconds"] for plan in plans)
    plans = [plan for plan in plans if plan["units"]["seconds"] <= SLOWEST * fastest]
    sizes = [plan["units"]["memory"]["most"] for plan in plans]
    least = [chosen(plan["spec"]) for plan, size in zip(plans, sizes, strict=True) if size < 1.000001 * min(sizes)]
    wait(page, f"{json.dumps(least)}.includes(JSON.stringify({SETTING}))")
    page.fill("#field-p", "8")
    page.press("#field-p", "Enter")
    wait_url(page, "p=8")
    page.fill("#field-m", "128")
    page.press("#field-m", "Enter")
    wait_url(page, "m=128")
    page.route("**/api/plans?*", lambda route: None)  # a search that goes on until it is stopped
    page.click("#plan-find")
    expect(page.locator("#plan-find")).to_have_text("Stop")
    page.click("#plan-find")
    expect(page.locator("#plan-find")).to_have_text("Find the fastest plan")
    expect(page.locator(".plan-lead")).to_contain_text("The setting has changed")


def test_the_memory_of_a_plan_is_in_the_link_and_a_wrong_one_is_said_and_not_used(open_page: Open) -> None:
    page = open_page(f"{PLANNED}&gb=24.5")
    memory, why = page.locator("#plan-gb"), page.locator("#plan-why")
    expect(memory).to_have_value("24.5")
    for wrong in ("0", "sixty"):
        memory.fill(wrong)
        memory.press("Enter")
        expect(why).to_contain_text(f"GB a device is a number from 0.001 to 1000000, not “{wrong}”")
        expect(memory).to_have_attribute("aria-invalid", "true")
        expect(memory).to_have_value(wrong)
    wait(page, "bubbleline.state().view.gb === null && !location.search.includes('gb=')")
    memory.fill("48")
    memory.press("Enter")
    expect(why).to_be_hidden()
    wait_url(page, "gb=48")
    memory.fill("")
    memory.press("Enter")
    wait(page, "!location.search.includes('gb=')")
    page.go_back()
    expect(memory).to_have_value("48")


def test_a_memory_that_nothing_fits_is_said_with_the_least_that_is_needed(open_page: Open) -> None:
    page = open_page(PLANNED + FEW)
    page.fill("#plan-gb", "0.5")
    plans = find_plans(page)
    least = plans[0]["units"]["memory"]["most"] / 1e9
    expect(page.locator(".plan-lead")).to_contain_text(f"the one with the least memory needs {least:.3g} GB.")
