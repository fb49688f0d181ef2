"""The workbench in a browser: ops placed and refused, moves, edits, links and runs; a task in the server's place."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, Route, expect

from tests.conftest import Server
from tests.page.app.test_axe import violations
from tests.support import PATIENCE_S
from tests.support.page.gestures import drag
from tests.support.page.queries import Open, middle, settle, state, wait, wait_url

EMPTY = "build?family=imported&p=2&m=3&order=lY2JmVGAAAA"  # p = 2, m = 3, no op
# 1F1B of p = 2, m = 3: which rank, which op
ORDER = ("0F0", "0F1", "1F0", "1B0", "0B0", "0F2", "1F1", "1B1", "0B1", "1F2", "1B2", "0B2")


def bench(open_page: Open, query: str = EMPTY, **options: Any) -> Page:
    page = open_page(query, first_visit=True, **options)
    settle(page)
    return page


def placed(page: Page) -> int:
    return int(state(page)["lanes"][0]["ops"])


def said(page: Page, text: str) -> None:
    expect(page.locator("#plot-said")).to_contain_text(text)


def is_1f1b(page: Page) -> None:
    expect(page.locator("#bench-named")).to_contain_text("This is 1F1B.")
    expect(page.locator("#bench-state")).to_have_text("The order is complete.")
    yours = page.locator("#bench-score tr[data-order=yours] td").all_text_contents()
    assert yours == ["12", "25.0 %", "2", "6", "8"]


def test_an_illegal_op_is_refused_with_the_reason_and_a_legal_one_is_placed_by_a_click_a_drag_and_its_chip(
    open_page: Open,
) -> None:
    page = bench(open_page)
    page.click("#op-B0")
    expect(page.locator("#palette-why")).to_have_text("0B0 needs 0F0 first.")
    page.click("#bench-place")
    expect(page.locator("#refusal")).to_have_text("0B0 needs 0F0 first.")
    expect(page.locator("#palette-why")).to_be_empty()  # it is said once
    page.click("#op-F0")
    page.click("#bench-rank-down")
    page.click("#bench-place")
    expect(page.locator("#refusal")).to_have_text("1F0 needs 0F0 first.")
    assert placed(page) == 0
    page.mouse.click(*row(page, 0))
    said(page, "0F0 is placed")
    expect(page.locator("#refusal")).to_be_hidden()
    box = page.locator("#op-F0").bounding_box()
    assert box
    drag(page, (box["x"] + 9, box["y"] + 9), row(page, 1))
    said(page, "1F0 is placed on rank 1")
    page.hover("#placing [data-op='0F1']")
    page.mouse.down()
    page.evaluate("document.querySelector('#plot').style.paddingBottom = '1px'")  # an observed size: it is drawn again
    settle(page)
    page.mouse.up()
    settle(page)
    assert placed(page) == 3


def row(page: Page, rank: int) -> tuple[float, float]:
    """A place far right on a rank's row."""
    at = page.evaluate(f"bubbleline.point('a', {rank}, 0)")
    plot = page.locator("#plot").bounding_box()
    assert plot
    return plot["x"] + plot["width"] - 30, at["y"]


def test_hints_lead_along_the_order_that_is_followed_a_selection_is_stamped_and_the_rule_goes_on_to_the_end(
    open_page: Open,
) -> None:
    page = bench(open_page)
    page.select_option("#bench-ghost", "zb-h1")
    for _ in range(3):
        page.click("#bench-hint")
    expect(page.locator("#bench-hints li")).to_have_count(3)
    expect(page.locator("#bench-hints")).to_contain_text("Place 0F0 on rank 0.")
    expect(page.locator("#placing .is-hinted")).to_have_text("0F0")
    page.click("#bench-hint-place")
    said(page, "0F0 is placed")
    page.click("#bench-strange")
    settle(page)
    assert placed(page) > 1
    wait_url(page, "ghost=zb-h1")
    page.select_option("#bench-ghost", "")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    said(page, "Undone: 0 ops are placed.")
    for op in ORDER[:5]:
        page.click(f"#placing [data-op='{op}']")
    x, y = middle(page, "a", "1F0")
    drag(page, (x - 8, y), (middle(page, "a", "1B0")[0] + 8, y), "Shift")
    page.click("#bench-stamp")
    said(page, "2 ops were placed.")
    x, y = middle(page, "a", "1F1")
    drag(page, (x - 8, y), (middle(page, "a", "1B1")[0] + 8, y), "Shift")
    page.click("#bench-stamp")
    said(page, "cannot do 1F2 yet: its input 0F2 on rank 0 is not placed")
    page.click("#placing [data-op='0B1']")
    page.click("#placing [data-op='0F2']")
    page.click("#bench-rule")
    said(page, "ops were placed.")
    page.click("#bench-rest")
    settle(page)
    assert placed(page) == 12


def test_a_fork_is_edited_and_no_longer_recognised_and_opens_in_the_whole_page_with_nothing_over_it(
    open_page: Open,
) -> None:
    page = bench(open_page, "build?family=1f1b&p=2&m=3")
    is_1f1b(page)
    page.focus("#plot")
    page.keyboard.press("Backspace")
    said(page, "0B2 is taken back.")
    page.keyboard.press("Control+z")
    said(page, "Undone: 12 ops are placed.")
    page.keyboard.press("Control+Shift+Z")
    expect(page.locator("#bench-state")).to_contain_text("11 of 12")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    said(page, "0B2 is placed on rank 0")
    said(page, "The order is complete.")
    page.mouse.click(*middle(page, "a", "0F1"))
    expect(page.locator("#bench-selected")).to_have_text("0F1")
    page.click("#bench-earlier")
    expect(page.locator("#refusal")).to_be_hidden()
    expect(page.locator("#bench-named")).to_contain_text("it is yours")
    page.click("#bench-undo")
    is_1f1b(page)
    page.mouse.click(*middle(page, "a", "0B0"))
    page.click("#bench-rewind")
    expect(page.locator("#bench-state")).to_contain_text("The rest can be completed.")
    expect(page.locator("#bench-named")).to_contain_text("1F1B")
    page.select_option("#bench-fork", "gpipe")
    expect(page.locator("#bench-named")).to_contain_text("This is GPipe.")
    expect(page.locator("#transport")).to_be_visible()
    expect(page.locator("#plot .plot-state")).to_be_hidden()
    address = page.locator("#bench-open").get_attribute("href") or ""
    assert parse_qs(urlsplit(address).query)["family"] == ["imported"]
    page.goto(page.url.split("/build")[0] + address)
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    assert state(page)["plans"][0]["figures"]["makespan"] == 12


def test_free_mode_marks_violations_and_tells_that_the_rest_is_stuck_and_sizes_costs_and_limit_change_the_board(
    open_page: Open,
) -> None:
    page = bench(open_page)
    page.check("#bench-free")
    page.click("#op-B0")
    page.click("#bench-place")
    expect(page.locator("#bench-wrong [data-op='0B0']")).to_have_text("Rank 0 does 0B0 before 0F0, which it needs")
    expect(page.locator("#bench-state")).to_contain_text("before the violations are taken back")
    page.keyboard.press("Control+z")
    page.click("#bench-rank-down")
    page.click("#op-F0")
    page.click("#bench-place")
    said(page, "1F0 is placed on rank 1 and waits for its input.")
    expect(page.locator("#bench-wrong")).to_be_hidden()
    expect(page.locator("#bench-state")).to_contain_text("The rest can be completed.")
    page.keyboard.press("Control+z")
    page.uncheck("#bench-free")
    page.fill("#bench-memory", "1")
    page.keyboard.press("Tab")
    page.click("#placing [data-op='0F0']")
    page.click("#op-F0")
    page.click("#bench-place")
    expect(page.locator("#refusal")).to_contain_text("the limit is 1")
    page.fill("#bench-F", "2.5")
    page.keyboard.press("Tab")
    settle(page)
    assert page.locator("#bench-score tr[data-order=yours] td").first.text_content() == "2.5"
    page.fill("#bench-p", "99")
    page.keyboard.press("Tab")
    expect(page.locator("#bench-problem")).to_contain_text("p is from 1 to 16")
    page.fill("#bench-p", "4")
    page.keyboard.press("Tab")
    settle(page)
    assert state(page)["spec"]["p"] == 4
    assert placed(page) == 0


def test_a_half_built_board_is_in_the_link_and_comes_back(open_page: Open) -> None:
    page = bench(open_page, "build?family=zb-h1&p=8&m=16&memory=6&F=1.5")
    page.mouse.click(*middle(page, "a", "0I5"))
    page.click("#bench-rewind")
    settle(page)
    count, order = placed(page), "order="
    assert 0 < count < 3 * 8 * 16
    url = wait_url(page, order)
    assert len(url) < 2000
    page.goto(url)
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    settle(page)
    assert placed(page) == count
    spec = state(page)["spec"]
    assert (spec["memory"], spec["costs"]["F"]) == (6, 1.5)
    page.goto(url.split("?")[0])  # without an order: what this browser had last
    wait(page, "window.bubbleline && bubbleline.samples.firstPaint() > 0")
    settle(page)
    assert placed(page) == count


def test_a_broken_link_opens_an_empty_board_and_says_so(open_page: Open) -> None:
    page = bench(open_page, "build?family=imported&p=2&m=3&order=lXXXX")
    expect(page.locator("#banner")).to_contain_text("cannot be read")
    assert placed(page) == 0


TASK: dict[str, Any] = {
    "slug": "finish-1f1b",
    "number": 1,
    "idea": "bubble",
    "level": 1,
    "title": {"en": "Finish this 1F1B", "zh": "完成这个 1F1B"},
    "text": {"en": "Place the rest.", "zh": "请放完其余的 op。"},
    "kinds": "FB",
    "fixed": True,
    "goals": [{"metric": "recognised", "as": ["1f1b", "pipedream"]}, {"metric": "peak", "at_most": 2}],
    "position": {
        "placement": "looped", "p": 2, "m": 3, "v": 1, "costs": {"F": 1.0, "I": 1.0, "W": 1.0, "comm": 0.0},
        "w_share": 1.0, "memory": None, "rows": ["0F0 0F1", "1F0"],
    },
    "named": [
        {"family": "1f1b", "title": "1F1B", "within": True,
         "score": {"makespan": 12.0, "bubble": 0.25, "peak": 2.0, "messages": 6, "simplicity": 8}},
        {"family": "gpipe", "title": "GPipe", "within": False,
         "score": {"makespan": 12.0, "bubble": 0.25, "peak": 3.0, "messages": 6, "simplicity": 7}},
    ],
    "par": {
        "source": "family", "name": "1f1b",
        "score": {"makespan": 12.0, "bubble": 0.25, "peak": 2.0, "messages": 6, "simplicity": 8},
        "rows": ["0F0 0F1 0B0 0F2 0B1 0B2", "1F0 1B0 1F1 1B1 1F2 1B2"],
    },
    "bound": {"makespan": 12.0},
}  # fmt: skip
IDEA: dict[str, Any] = {"slug": "bubble", "title": {"en": "The bubble", "zh": "气泡"}, "text": {"en": "", "zh": ""}}


def board_of(rows: list[str]) -> dict[str, Any]:
    """Return a board with one entry, as the server's route gives it."""
    score = {"makespan": 12.0, "bubble": 0.25, "peak": 2.0, "messages": 6, "simplicity": 8}
    entry = {"id": "a" * 16, "score": score, "name": "Ada", "count": 2, "created": 0, "order": "", "rows": rows}
    bins = {metric: {"from": 0, "width": 1, "counts": [0, 0, 1]} for metric in score}
    return {
        "task": "finish-1f1b",
        "entries": 1,
        "submissions": 2,
        "histograms": bins,
        "front": [entry],
        "best": [entry],
    }


def answer_for_tasks(page: Page) -> list[dict[str, Any]]:
    """Answer requests about tasks in the server's place; return what will be entered."""
    entered: list[dict[str, Any]] = []

    def answer(route: Route) -> None:
        if route.request.method == "POST":
            entered.append(route.request.post_data_json)
            shape = {"solved": True, "stars": 3, "new": True, "goals": [], "entry": {}, "place": 1}
            route.fulfill(status=201, json=shape)
        elif route.request.url.endswith("/board"):
            route.fulfill(json=board_of(TASK["par"]["rows"]))
        else:
            listed = route.request.url.endswith("/tasks")
            route.fulfill(json={"ideas": [IDEA], "tasks": [TASK]} if listed else TASK)

    page.route("**/api/tasks**", answer)
    return entered


def test_a_task_is_solved_and_entered(open_page: Open) -> None:
    page = bench(open_page)
    entered = answer_for_tasks(page)
    page.click("#bench-tasks")
    page.click("#map-finish-1f1b")
    expect(page.locator("#task-title")).to_have_text("Finish this 1F1B")
    settle(page)
    assert placed(page) == 3
    assert page.locator("#op-I0").count() == 0, "only forwards and full backwards may be placed"
    expect(page.locator("#bench-rest")).to_be_hidden()  # it would be the solution
    page.click("#bench-back")
    expect(page.locator("#refusal")).to_have_text("The first ops of this task stay as they are.")
    page.click("#placing [data-op='0F2']")
    expect(page.locator("#task-goals .is-lost")).to_have_count(2)
    expect(page.locator("#bench-state")).to_contain_text("4 of 12 ops are placed.")
    page.click("#bench-hint")
    expect(page.locator("#bench-hints li").first).to_have_text("0F2 came too early: take it back.")
    expect(page.locator("#palette-why")).to_contain_text("0F2 came too early: take it back.")  # said at once
    page.click("#bench-return")
    expect(page.locator("#task-goals .is-open")).to_have_count(2)
    page.hover("#placing [data-op='1B0']")
    expect(page.locator("#palette-why")).to_have_text("1B0 on rank 1: 2 to 4 · step at least 12 as before · memory 1")
    for op in ORDER[3:]:
        page.click(f"#placing [data-op='{op}']")
    expect(page.locator("#placing .chip")).to_have_count(0)
    expect(page.locator("#card-claim")).to_have_text("Built op by op: 1F1B, proved optimal")
    expect(page.locator("#card-next")).to_be_hidden()
    page.click("#card-enter")
    expect(page.locator("#task-name")).to_be_focused()
    expect(page.locator("#task-goals .is-met")).to_have_count(2)
    expect(page.locator("#task-enter")).to_have_text("Enter it")
    page.fill("#task-name", "Ada")
    page.click("#task-enter")
    expect(page.locator("#task-status")).to_have_text("Solved: the server agrees. Place 1 on its leaderboard.")
    assert entered[0]["name"] == "Ada"
    assert entered[0]["order"].startswith("l")
    wait_url(page, "task=finish-1f1b")
    page.click("#task-board > summary")
    expect(page.locator("#board-count")).to_have_text("Different orders: 1. Entries: 2.")
    expect(page.locator(".board-bars")).to_have_count(0)  # of one order alone
    expect(page.locator(".board-pareto .board-front")).to_have_count(1)
    expect(page.locator(".board-pareto .board-named")).to_have_count(1)
    page.keyboard.press("Control+z")
    said(page, "Undone: 11 ops are placed.")
    page.click("[data-replay='0']")
    expect(page.locator("#solved")).to_be_hidden()  # it is not one's own
    said(page, "The entry is on the board.")
    assert placed(page) == 12
    assert violations(page, "#figures") == []
    page.unroute_all(behavior="ignoreErrors")


def test_what_was_built_runs_is_verified_and_its_card_says_so(open_page: Open, live_server: Server) -> None:
    page = bench(open_page, "build?family=gpipe&p=2&m=3&task=gpipe-from-nothing", url=live_server.url)
    expect(page.locator("#card-claim")).to_have_text("Built op by op: GPipe, proved optimal")
    page.keyboard.press("Escape")
    page.mouse.click(*middle(page, "a", "0F1"))
    page.click("#bench-earlier")
    page.click("#bench-undo")
    page.click("#bench-run")
    expect(page.locator("#bench-run-status")).to_contain_text("Verified", timeout=1000 * PATIENCE_S)
    expect(page.locator("#bench-run-status")).to_contain_text("planned")
    expect(page.locator("#card-claim")).to_have_text("Built op by op: GPipe, proved optimal, executed")
    unfurled = page.request.get(page.locator("#card-link").input_value()).text()
    assert 'og:title" content="Built op by op: GPipe, proved optimal, executed"' in unfurled
    assert [lane["id"] for lane in state(page)["lanes"]] == ["a", "run"]
    page.click("#card-again")
    wait(page, "bubbleline.state().lanes.length === 1")  # the run was of the board before


def test_a_v_half_of_thousands_of_ops_is_recognised(open_page: Open) -> None:
    page = bench(open_page, "build?family=v-half&p=8&m=32&v=2")
    assert placed(page) == 3 * 8 * 2 * 32
    expect(page.locator("#bench-named")).to_contain_text("This is V-Half.")
    paper = page.locator("#bench-named a")
    expect(paper).to_have_text("arXiv 2405.15362")
    expect(paper).to_have_attribute("href", "https://doi.org/10.48550/arXiv.2405.15362")
    page.keyboard.press("Backspace")
    expect(page.locator("#bench-named")).to_contain_text("V-Half")
