"""The stand-alone HTML file, opened from a disk without a network."""

from __future__ import annotations

from pathlib import Path

from flask.testing import FlaskClient
from playwright.sync_api import Page, expect

from backend.schedule.families import registry
from backend.schedule.simulation.simulate import simulate
from backend.web.routes import standalone
from tests.conftest import Server, error_of
from tests.support.page.queries import frames, state, wait

DRAWN = "window.bubbleline && bubbleline.samples.firstPaint() > 0"


def open_saved(server: Server, page: Page, query: str, folder: Path) -> str:
    """The file as a person gets it, opened from a disk with no network; gives its address."""
    answer = page.request.get(f"{server.url}/api/standalone{query}")
    assert answer.status == 200
    assert "attachment" in answer.headers["content-disposition"]
    path = folder / "lesson.html"
    path.write_bytes(answer.body())
    assert len(answer.body()) < 601_000
    page.context.set_offline(True)
    page.goto(path.as_uri())
    wait(page, DRAWN)
    return path.as_uri()


def test_the_file_plays_and_zooms_without_a_server(bare_page: Page, server: Server, tmp_path):
    page = bare_page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    file = open_saved(server, page, "?family=zb-h1&p=6&m=12&b.family=interleaved&comm=0.25&sel=2F3", tmp_path)
    shown = state(page)
    sizes = {"p": 6, "m": 12, "costs": {"comm": 0.25}}
    assert shown_makespan(page) == makespan(family="zb-h1", **sizes)
    assert shown_makespan(page, 1) == makespan(family="interleaved", **sizes)
    assert shown["view"]["sel"] == "2F3"
    page.focus("#plot")
    page.keyboard.press("w")
    page.get_by_role("button", name="Play").click()
    wait(page, "bubbleline.state().at > 0")
    page.fill("#cost-F", "2")
    changed = state(page)
    assert changed["total"] > shown["total"]
    assert [changed["spec"]["costs"]["F"], changed["others"][0]["costs"]["F"]] == [2, 2]
    page.get_by_role("button", name="Reset").click()
    assert state(page)["total"] == shown["total"]
    assert asked == [file]


def choose(page: Page, size: str, value: int) -> None:
    """Drag a slider of the file to a value, by the keyboard."""
    slider = page.locator(f"#size-{size}")
    slider.focus()
    for _ in range(40):
        now = int(slider.get_attribute("aria-valuetext") or 0)
        if now == value:
            return
        page.keyboard.press("ArrowRight" if now < value else "ArrowLeft")
    raise AssertionError(f"{size} stays at {now}")


def makespan(**spec: object) -> float:
    """The step time that the server simulates."""
    read = registry.read(spec)
    return float(simulate(registry.order(read), read.timing, read.v).end.max())


def shown_makespan(page: Page, at: int = 0) -> float:
    return float(state(page)["plans"][at]["figures"]["makespan"])


def test_the_files_own_sliders_and_families_give_the_servers_orders(bare_page: Page, server: Server, tmp_path):
    page = bare_page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    file = open_saved(server, page, "?family=1f1b&p=4&m=8&b.family=v-half", tmp_path)
    choose(page, "p", 6)
    choose(page, "m", 13)
    assert shown_makespan(page) == makespan(family="1f1b", p=6, m=13)
    assert shown_makespan(page, 1) == makespan(family="v-half", p=6, m=13)
    page.fill("#cost-F", "2")
    page.fill("#cost-W", "1.5")
    costs = {"F": 2, "W": 1.5}
    assert shown_makespan(page, 1) == makespan(family="v-half", p=6, m=13, costs=costs)
    page.select_option("#family-a", "interleaved")
    expect(page.locator("#embed-costs .embed-note").first).to_contain_text("m = 14 is the nearest")
    choose(page, "v-a", 3)
    wanted = makespan(family="interleaved", p=6, m=14, v=3, costs=costs)
    assert shown_makespan(page) == wanted
    expect(page.locator(".embed-figures")).to_contain_text("Interleaved 1F1B: bubble")
    expect(page.locator(".embed-figures")).to_contain_text(f"step time {round(wanted, 4):g}")
    page.get_by_role("button", name="Reset").click()
    assert [shown_makespan(page, at) for at in (0, 1)] == [
        makespan(family=each, p=4, m=8) for each in ("1f1b", "v-half")
    ]
    assert asked == [file]


def test_a_searched_order_stays_as_in_the_file_until_another_family_is_chosen(
    bare_page: Page, server: Server, tmp_path
):
    page = bare_page
    open_saved(server, page, "?family=zb-auto&p=3&m=6", tmp_path)
    first = shown_makespan(page)
    expect(page.locator("#size-p")).to_be_disabled()
    expect(page.locator("#embed-costs .embed-note").first).to_contain_text("ZB-auto")
    page.select_option("#family-a", "dualpipe")
    assert (state(page)["spec"]["p"], state(page)["spec"]["m"]) == (4, 8)
    assert shown_makespan(page) == makespan(family="dualpipe", p=4, m=8)
    page.select_option("#family-a", "zb-auto")
    assert shown_makespan(page) == first


FOUR = "?family=gpipe&p=4&m=8&b.family=1f1b&c.family=interleaved&c.v=2&d.family=zb-h1"
CUT = """[...document.querySelectorAll('.embed-label, .embed-cost select')].filter((node) =>
  node.scrollWidth > node.clientWidth + 1 || node.getBoundingClientRect().right > innerWidth)
  .map((node) => node.textContent)"""


def test_each_value_stands_behind_its_own_label_also_of_four_schedules(bare_page: Page, server: Server, tmp_path):
    page = bare_page
    page.set_viewport_size({"width": 360, "height": 740})
    open_saved(server, page, FOUR, tmp_path)
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        frames(page)
        assert_labels_stand_by_their_values(page, width)


def assert_labels_stand_by_their_values(page: Page, width: int) -> None:
    assert width < 1000 or page.evaluate(CUT) == [], "there is room for every label"
    assert page.evaluate("Math.max(...[...document.querySelectorAll('select')].map(n => n.offsetWidth))") < width / 2
    rows = page.evaluate("""[...document.querySelectorAll('.embed-cost:not([hidden]):has(.embed-value)')].map(row => {
        const [label, value, input] = ['.embed-label', '.embed-value', 'input'].map(
          part => row.querySelector(part).getBoundingClientRect());
        return {gap: value.left - label.right, level: Math.abs(value.bottom - label.bottom),
                under: input.top - label.bottom, left: input.left - label.left,
                over: value.right - row.getBoundingClientRect().right};
    })""")
    assert len(rows) == 7
    for row in rows:
        assert 0 <= row["gap"] <= 12, row
        assert row["level"] <= 2, row
        assert row["under"] >= -4, row
        assert row["over"] <= 0.5, row
        assert abs(row["left"]) <= 2, row
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_an_order_searched_for_its_costs_is_kept_with_a_note(bare_page: Page, server: Server, tmp_path):
    page = bare_page
    open_saved(server, page, "?family=v-auto&p=4&m=8&theme=dark", tmp_path)
    note = page.locator("#embed-costs .embed-note").last
    expect(note).to_be_hidden()
    page.fill("#cost-W", "2")
    expect(note).to_contain_text("V-Auto", ignore_case=True)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") != "dark"


def test_nothing_in_a_query_becomes_code_in_the_file(reader: FlaskClient):
    text = reader.get("/api/standalone?p=3&x=</script><script>alert(1)</script>&theme=%22%3E").text
    assert "<script>alert" not in text
    assert text.count("<script") == 2
    assert "default-src 'none'" in text
    assert "'unsafe-inline'" not in text


def test_a_view_without_a_file_is_refused_with_its_field_or_a_reason(client: FlaskClient, monkeypatch, tmp_path):
    assert error_of(client.get("/api/standalone?p=0"))["field"] == "p"
    monkeypatch.setattr(standalone, "SCRIPT", tmp_path / "none.js")
    missing = client.get("/api/standalone?p=3")
    assert missing.status_code == 503
    assert "make setup" in error_of(missing)["message"]
    assert error_of(client.get("/api/standalone?family=zb-auto&p=8&m=32&effort=10000000"))["field"] == "m"
