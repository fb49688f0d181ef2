"""The export tab: the contents of exported pictures and files, by real clicks in a real browser."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from backend.schedule.families.registry import order, read
from backend.schedule.interop import torch_csv
from backend.schedule.simulation.check import check
from tests.support.page.queries import GO, Open, state, wait

pytestmark = pytest.mark.one_document("panels")

SVG = "{http://www.w3.org/2000/svg}"


def saved(page: Page, button: str) -> tuple[str, bytes]:
    """The file saved by a click: its name and its bytes."""
    with page.expect_download() as handed:
        page.locator(button).first.click()
    return handed.value.suggested_filename, Path(handed.value.path()).read_bytes()


def test_a_picture_is_vector_text_in_millimetres_with_a_rectangle_for_every_op(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=8&b.family=1f1b&tab=export")
    expect(page.locator("#export-status")).to_contain_text("kB as SVG")
    name, body = saved(page, "#export-svg")
    assert name == "bubbleline-zb-h1-1f1b-p4-m8.svg"
    root = ElementTree.fromstring(body)  # our own file
    assert root.get("width") == "174mm"
    texts = [node.text or "" for node in root.iter(f"{SVG}text")]
    assert sum(text == "7" for text in texts) == 4 * 3 + 4 * 2
    assert any(text.startswith("A · ZB-H1") for text in texts)
    assert "bubble 11.1 %, step time 27" in texts


def test_a_dark_slide_of_the_current_view_has_its_own_size_and_background_and_a_png_is_three_times_as_sharp(
    open_page: Open,
) -> None:
    page = open_page("?family=1f1b&p=4&m=8&t0=10&t1=20&tab=export")
    page.select_option("#export-width", "slide")
    page.select_option("#export-scheme", "dark")
    _, body = saved(page, "#export-svg")
    root = ElementTree.fromstring(body)
    assert root.get("width") == "1280"
    assert root.find(f"{SVG}rect").get("fill") == "rgb(25, 28, 32)"  # type: ignore[union-attr]
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert "12" in texts
    assert "25" not in texts, "the axis ends at 20"
    page.select_option("#export-window", "all")
    _, whole = saved(page, "#export-svg")
    assert len(whole) > len(body)
    page.select_option("#export-width", "page")
    name, body = saved(page, "#export-png")
    assert name.endswith(".png")
    width, _ = struct.unpack(">II", body[16:24])
    assert width == 3 * 658


def test_the_files_of_every_schedule_equal_those_of_the_core(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=8&b.family=interleaved&tab=export")
    name, body = saved(page, "[data-format=torch-csv]")
    assert name == "zb-h1-p4-m8.csv"
    assert body.decode() == torch_csv.dump(order(read({"family": "zb-h1", "p": 4, "m": 8})))
    check(torch_csv.load(body.decode()))
    name, body = saved(page, ".export-files .row:nth-child(2) [data-format=json]")
    assert name == "interleaved-p4-m8-v2.json"
    exported = json.loads(body)
    assert exported["makespan"] == state(page)["plans"][1]["figures"]["makespan"]
    name, body = saved(page, "[data-format=chrome-trace]")
    assert json.loads(body)["traceEvents"]


def test_a_format_that_cannot_represent_a_schedule_is_not_offered_and_the_reason_is_there(open_page: Open) -> None:
    page = open_page("?family=dualpipe&p=4&m=8&b.family=gis&b.offload=full&c.family=gpipe&tab=export")
    files = page.locator(".export-files .row")
    expect(files.locator("[data-format=json]")).to_have_count(3)
    expect(files.nth(0)).to_contain_text("No torch CSV: Chimera and DualPipe hold each stage on two devices.")
    expect(files.nth(1)).to_contain_text("No torch CSV: it has no text for copies to host memory.")
    expect(page.locator("[data-format=torch-csv]")).to_have_count(1)
    expect(files.nth(2).locator("[data-format=torch-csv]")).to_be_visible()


def test_the_preview_fits_the_page_however_wide_it_is_and_becomes(open_page: Open) -> None:
    page = open_page("?family=v-half&p=8&m=16&tab=export", width=1440, height=900)
    for width in (1440, 860, 360, 320):  # a window that is made narrower
        page.set_viewport_size({"width": width, "height": 900})
        # one without an address is complete too
        wait(page, "document.querySelector('.export-preview img')?.naturalWidth > 0")
        wait(page, f"document.documentElement.scrollWidth <= {width}")
        if width >= 360:
            wait(page, "document.querySelector('.export-preview img').getBoundingClientRect().width > 250")


def test_the_print_is_one_sheet_with_the_picture_the_figures_and_the_link(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=8", color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    sheet = page.locator(".sheet")
    expect(sheet.locator("svg text").first).to_be_visible()
    expect(sheet).to_contain_text("bubble 11.1 %, step time 27")
    expect(sheet).to_contain_text("matches the simulation")
    expect(sheet.locator(".sheet-foot")).to_contain_text("?family=zb-h1")
    expect(page.locator("#plot")).to_be_hidden()
    assert page.evaluate("document.querySelectorAll('#law').length") == 1, "no id occurs twice"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(sheet).to_have_count(0)


def test_a_frameworks_configuration_follows_the_schedule_and_opens_the_same_view_again(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=8&m.model=llama3-8b&tab=export", forgive="status of 400")
    refusal = page.locator(".export-framework .note")
    expect(refusal).to_have_text("Megatron-LM does not run ZB-H1; the fastest that it runs at these sizes is 1F1B.")
    page.select_option("#export-framework", "zero-bubble")
    box = page.locator("#export-configuration")
    expect(box).to_have_value(re.compile("--enable-zero-bubble"))
    expect(refusal).to_be_hidden()
    page.evaluate(GO, "?family=interleaved&v=2&p=4&m=8&m.model=llama3-70b&m.tp=2&tab=export")
    page.select_option("#export-framework", "nemo")
    expect(box).to_have_value(re.compile("model.virtual_pipeline_model_parallel_size=2"))
    page.select_option("#export-framework", "megatron")
    expect(box).to_have_value(re.compile("--num-layers 80"))
    written = box.input_value()
    page.evaluate(GO, "?family=gpipe&p=2&m=2")
    page.click("#open")
    page.fill("#import-text", "--pipeline-model-parallel-size $PP")
    expect(page.locator("#import-status")).to_contain_text("the configuration of a training")
    page.click("#import-take")
    expect(page.locator("#import-wrong")).to_contain_text("is $PP, which the text does not set")
    page.fill("#import-text", written)
    page.click("#import-take")
    wait(page, "bubbleline.state().spec.family === 'interleaved'")
    expect(page.locator("#banner")).to_contain_text("It does not name the machine")  # shown for a while
    spec = state(page)["spec"]
    assert [spec[key] for key in ("p", "m", "v")] == [4, 8, 2]
    assert "m.model=llama3-70b" in page.url
    assert "m.tp=2" in page.url
