"""The timeline's pixels: ops are where the layout says, as rectangles, as bins and from a pyramid; a pan moves them."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, Route, Worker

from tests.support.page.canvas_pixels import Picture, is_near, picture, row
from tests.support.page.queries import Open, frames, reload, settle, state, wait, wait_until

pytestmark = pytest.mark.one_document

BLUE, ORANGE, GREEN, VERMILION = (0, 114, 178), (238, 154, 28), (26, 161, 121), (207, 74, 30)
SPLIT = "?family=zb-h1&p=4&m=100&theme=light"
LARGE = "?family=interleaved-zb&p=64&m=448&v=4&theme=light"  # 344,064 ops: enough for a pyramid


def quarter(pixels: Picture) -> Picture:
    """A line of a row between its bar above and its label."""
    return pixels[len(pixels) // 4]


def colours_of(page: Page, ops: list[str]) -> dict[str, tuple[int, ...]]:
    """The colours in the middle of each op, above its label."""
    pixels = picture(page)
    origin = page.locator("#plot").bounding_box()
    assert origin is not None
    found = {}
    boxes = page.evaluate("(ops) => ops.map((op) => bubbleline.box('a', op))", ops)
    for op, box in zip(ops, boxes, strict=True):
        x, y = box["x"] + box["w"] / 2 - origin["x"], box["y"] + box["h"] / 4 - origin["y"]
        found[op] = tuple(int(each) for each in pixels[int(y), int(x)])
    return found


def test_every_pixel_of_a_small_schedule_is_the_op_that_runs_then_or_a_gap_or_a_bubble(open_page: Open) -> None:
    page = open_page("?p=2&m=2&theme=light")
    runs = {0: [(0, 1, BLUE), (1, 2, BLUE), (4, 6, VERMILION), (7, 9, VERMILION)],
            1: [(1, 2, BLUE), (2, 4, VERMILION), (4, 5, BLUE), (5, 7, VERMILION)]}  # fmt: skip
    assert state(page)["window"] == {"t0": 0, "t1": 9}
    for rank, ops in runs.items():
        line = quarter(row(page, rank))
        unit = len(line) / 9
        idle = np.ones(len(line), dtype=bool)
        for start, end, colour in ops:
            inside = slice(round(start * unit), round(end * unit) - 1)
            assert is_near(line[inside], colour).all(), f"rank {rank} from {start} to {end}"
            idle[inside] = False
        for colour in (BLUE, VERMILION):
            assert not is_near(line[idle], colour).any(), f"rank {rank}: nothing else has an op's colour"


def test_rectangles_and_bins_give_every_op_its_colour(open_page: Open) -> None:
    """The same schedule where an op is 3.5 pixels wide, and where it is 2.5 and hence binned."""
    ops = [f"{rank}{kind}{k}" for rank in range(4) for kind in "FIW" for k in range(20, 80)]
    wide = open_page(SPLIT, width=1600)
    wide_seen, wide_box = colours_of(wide, ops), wide.evaluate("bubbleline.box('a', '1F40')")
    narrow = open_page(SPLIT, width=1250)
    narrow_seen, narrow_box = colours_of(narrow, ops), narrow.evaluate("bubbleline.box('a', '1F40')")
    assert narrow_box["w"] < 3 < wide_box["w"]
    for op in ops:
        expected = {"F": BLUE, "I": ORANGE, "W": GREEN}[op.strip("0123456789")]
        for seen in (wide_seen[op], narrow_seen[op]):
            assert is_near(np.array([seen], dtype=np.int16), expected).all(), f"{op} is {seen}"
    assert wide_seen == narrow_seen


def test_bars_distinguish_kinds_in_bins_too(open_page: Open) -> None:
    page = open_page(SPLIT, width=1250)
    pixels = row(page, 1)
    ops = quarter(pixels)
    dark = {
        name: pixels[at].sum(axis=-1) < ops.sum(axis=-1) - 60 for name, at in (("above", 1), ("below", len(pixels) - 2))
    }
    steady = slice(len(ops) // 4, len(ops) // 2)
    for colour, above, below in ((ORANGE, False, True), (GREEN, True, False), (BLUE, False, False)):
        kind = is_near(ops, colour)[steady]
        assert kind.sum() > 50
        assert (dark["above"][steady][kind] == above).all()
        assert (dark["below"][steady][kind] == below).all()


def test_a_pan_shifts_binned_ops_and_changes_none(open_page: Open) -> None:
    page = open_page("?family=interleaved-zb&p=16&m=512&v=4&t0=500&t1=1000&theme=light")
    settle(page)  # the rows may get a pixel more or less until all parts of the page are there
    before = row(page, 3)
    spot = page.evaluate("bubbleline.point('a', 3, 750)")
    x, y = spot["x"], spot["y"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    page.mouse.move(x - 100, y, steps=4)
    page.mouse.up()
    wait(page, "bubbleline.state().window.t0 > 540")
    settle(page)
    after = row(page, 3)
    page.mouse.move(5, 5)
    ops = slice(1, len(before) - 1)
    assert (after[ops, :-101] == before[ops, 100:-1]).all()
    window = state(page)["window"]
    fresh = open_page(f"?family=interleaved-zb&p=16&m=512&v=4&t0={window['t0']}&t1={window['t1']}&theme=light")
    settle(fresh)
    same = (row(fresh, 3)[ops] == after[ops]).all(axis=-1)
    assert same.mean() > 0.999, "what came into sight is what a fresh page draws"


def test_a_large_schedule_looks_the_same_before_and_after_its_pyramid(open_page: Open) -> None:
    page = open_page()
    held: list[Route] = []
    closed: list[Worker] = []
    page.route("**/pyramid_worker.js", lambda route: held.append(route))
    page.on("worker", lambda worker: worker.on("close", lambda gone: closed.append(gone)))
    page.goto(page.url.split("?")[0] + LARGE)
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    direct = picture(page)
    wait_until(page, lambda: held)
    held[0].continue_()
    wait_until(page, lambda: closed)  # it has done its work
    page.focus("#plot")
    page.keyboard.press("w")
    wait(page, "bubbleline.state().window.t0 > 0")
    frames(page)  # both keys within one frame would leave all as it was drawn
    page.keyboard.press("f")
    wait(page, "bubbleline.state().window.t0 === 0")
    frames(page)
    later = picture(page)
    changed = np.abs(later - direct).max(axis=-1) > 8
    assert changed.any(), "drawn another way"
    assert changed.mean() < 0.2
    rows = slice(40, len(direct) - 4)
    for colours in (direct, later):
        shares = [is_near(colours[rows], colour).mean() for colour in (BLUE, GREEN)]
        assert min(shares) > 0.02
    assert np.abs(later[rows].mean(axis=(0, 1)) - direct[rows].mean(axis=(0, 1))).max() < 3


def test_without_web_workers_large_schedules_are_still_drawn(open_page: Open) -> None:
    page = open_page("", forgive="pyramid_worker")
    page.route("**/pyramid_worker.js", lambda route: route.abort())
    page.goto(page.url.split("?")[0] + LARGE)
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    settle(page)
    page.focus("#plot")
    page.keyboard.press("w")
    wait(page, "bubbleline.state().window.t0 > 0")
    settle(page)
    assert is_near(picture(page), BLUE).any()


def test_the_labels_of_a_lane_have_letters_or_none_at_every_zoom(open_page: Open) -> None:
    page = open_page("?p=3&m=7&F=1&I=1.4&W=0.8&theme=light", width=1280)
    page.evaluate("""() => {
      const draw = CanvasRenderingContext2D.prototype.fillText;
      window.labels = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        if (this.font.startsWith('500 ')) labels.push(text);
        return draw.call(this, text, ...rest);
      };
      window.plainText = () => (CanvasRenderingContext2D.prototype.fillText = draw);
    }""")
    seen = set()
    for width in range(700, 1600, 90):
        page.evaluate("labels.length = 0")
        page.set_viewport_size({"width": width, "height": 700})
        settle(page)
        labels = page.evaluate("labels")
        kinds = {label[0] if label[0].isalpha() else "" for label in labels}
        assert kinds in ({""}, {"F", "B"}), f"at {width} px"
        seen.add("" in kinds)
    page.evaluate("void plainText()")
    assert seen == {True, False}


def test_a_hand_on_a_slider_has_the_next_schedules_drawn_where_nobody_sees_them(open_page: Open) -> None:
    page = open_page("?family=zb-h1&p=4&m=24&theme=light")
    page.mouse.move(2, 2)  # a hand that an earlier test left on the slider would be noticed while the page loads
    reload(page)
    settle(page)
    before = picture(page)
    page.evaluate(
        """() => {
          window.unseen = 0;
          const put = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (...rest) {
            if (!this.canvas.isConnected) window.unseen++;
            return put.apply(this, rest);
          };
        }"""
    )
    page.hover("#field-m-slider")
    wait(page, "unseen > 100")
    page.hover("#field-F-slider")
    settle(page)
    assert state(page)["lanes"][0]["ops"] == 288
    page.mouse.move(2, 2)
    frames(page)
    assert np.array_equal(picture(page), before)
