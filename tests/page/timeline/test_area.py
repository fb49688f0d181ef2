"""Areas on the timeline in a browser: dragged, resized and grown by keys, with totals, fitted and cleared."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.page.gestures import drag, point, total, view
from tests.support.page.queries import Open, middle, reload, state, wait, wait_url

pytestmark = pytest.mark.one_document


def test_shift_drag_selects_an_area_that_snaps_to_ops_and_has_totals(open_page: Open) -> None:
    page = open_page()
    x, y = point(page, 1, 8)
    drag(page, (x + 4, y), (point(page, 2, 18)[0] - 3, point(page, 2, 18)[1]), "Shift")
    assert view(page, "area") == "8-18@1-2", "each end is at the op edge nearest to it"
    expect(page.locator("#area")).to_be_visible()
    assert (total(page, "busy"), total(page, "idle")) == ("20", "0")
    assert total(page, "bubble") == "0.0 %"
    expect(page.locator("#area")).to_contain_text("ranks 1 to 2")
    expect(page.locator("#plot-said")).to_contain_text("busy 20")
    wait_url(page, "area=8-18@1-2")
    reload(page)
    expect(page.locator("#area")).to_contain_text("8 to 18")


def test_with_alt_nothing_snaps(open_page: Open) -> None:
    page = open_page("?area=8-18@1-2")
    page.keyboard.down("Alt")
    x, y = point(page, 1, 18)
    drag(page, (x, y), (x + 4, y))
    page.keyboard.up("Alt")
    assert view(page, "area") not in ("8-18@1-2", "8-19@1-2")


def test_an_area_is_resized_by_its_edges(open_page: Open) -> None:
    page = open_page("?area=8-18@1-2")
    x, y = point(page, 1, 18)
    drag(page, (x, y), (point(page, 1, 23)[0], y))
    assert view(page, "area") == "8-23@1-2"
    x, y = point(page, 2, 12)
    foot = page.evaluate("(p => p.y + p.h / 2)(bubbleline.point('a', 2, 12))")
    drag(page, (x, foot), point(page, 3, 12))
    assert view(page, "area") == "8-23@1-3"
    x, y = point(page, 1, 8)
    drag(page, (x, y), (point(page, 1, 29)[0], y))
    assert view(page, "area") == "23-29@1-3", "past the other edge it turns round"
    page.mouse.move(*point(page, 2, 29))
    page.mouse.down()
    page.mouse.move(*point(page, 2, 31))
    page.keyboard.press("Escape")
    page.mouse.up()
    assert view(page, "area") == "23-29@1-3", "Escape gives the drag up, and only that"


def test_an_area_can_span_two_schedules(open_page: Open) -> None:
    page = open_page("?b.family=zb-h1")
    drag(page, point(page, 3, 9), point(page, 0, 18, "b"), "Shift")
    assert view(page, "area") == "9-18@3-b.0"
    heads = page.locator("#area thead th").all_inner_texts()
    assert heads[1:] == ["A · rank 3", "B · rank 0"]


def test_an_area_grows_from_the_selected_op_by_keys_and_escape_clears_in_order(open_page: Open) -> None:
    page = open_page("?sel=1B0&at=9")
    page.focus("#plot")
    areas = []
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft"):
        page.keyboard.press(key)
        areas.append(view(page, "area"))
    assert areas[:2] == ["8-11@1-1", "8-11@1-2"]
    assert areas[2] == "8-10@1-2", "the moving edge goes back, not before the op it began with"
    start, _, rest = areas[-1].partition("-")
    assert rest == "10@1-2"
    assert float(start) < 8, "and on past it to the other side"
    cleared = []
    for _ in range(3):
        page.keyboard.press("Escape")
        cleared.append((view(page, "area"), view(page, "sel"), state(page)["at"]))
    assert cleared == [(None, "1B0", 9), (None, None, 9), (None, None, None)]


def test_escape_closes_an_open_menu_before_it_clears_anything(open_page: Open) -> None:
    page = open_page("?sel=1B0")
    page.click("#theme")
    expect(page.locator("#appearance")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#appearance")).to_be_hidden()
    assert view(page, "sel") == "1B0"
    page.keyboard.press("Escape")
    assert view(page, "sel") is None, "from the button too, which has the focus now"


def test_shift_click_spans_from_the_selected_op_and_f_fits_it_then_all(open_page: Open) -> None:
    page = open_page("?sel=0F1")
    page.keyboard.down("Shift")
    page.mouse.click(*middle(page, "a", "2B1"))
    page.keyboard.up("Shift")
    assert view(page, "area") == "1-11@0-2"
    page.focus("#plot")
    page.keyboard.press("f")
    window = state(page)["window"]
    assert window["t0"] <= 1 < 11 <= window["t1"] < 12
    page.keyboard.press("f")
    assert state(page)["window"] == {"t0": 0, "t1": 33}
    wait(page, "bubbleline.box('a', '0B5')")
    page.mouse.click(*middle(page, "a", "0B5"))
    assert (view(page, "area"), view(page, "sel")) == (None, "0B5"), "a click says that something else is of interest"
