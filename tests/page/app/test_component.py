"""The component <bubble-line> in pages that are not the server's: of another site, and on a disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from backend.schedule.families import registry
from backend.schedule.simulation.simulate import simulate
from backend.web.routes import standalone
from tests.conftest import Server
from tests.page.app.test_axe import violations
from tests.support.page.queries import Open, wait
from tests.support.page.site import site_of

HOSTILE = "<style>* { font-size: 40px !important; color: lime; } div, canvas { display: none; }</style>"
ELEMENT = "document.querySelector('#{}')"
PIXEL = """(id) => {
  const canvas = document.querySelector(id).shadowRoot.querySelector('canvas');
  return [...canvas.getContext('2d').getImageData(2, canvas.height - 2, 1, 1).data.slice(0, 3)];
}"""


def makespan(**spec: object) -> float:
    """The step time that the server simulates."""
    read = registry.read(spec)
    return float(simulate(registry.order(read), read.timing, read.v).end.max())


def shown(page: Page, element: str = "a") -> float | None:
    """The step time that an element shows; None where it shows a problem."""
    found: float | None = page.evaluate(f"{ELEMENT.format(element)}.figures?.makespan ?? null")
    return found


def set_attributes(page: Page, element: str = "a", **values: object) -> None:
    for name, value in values.items():
        page.evaluate("([id, name, value]) => document.querySelector(id).setAttribute(name, value)",
                      [f"#{element}", name, str(value)])  # fmt: skip


@pytest.fixture(scope="module")
def lesson(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page of another site with three elements, whose script comes from the server."""
    folder = tmp_path_factory.mktemp("lesson")
    (folder / "index.html").write_text(
        f"<!doctype html><title>A lesson</title>{HOSTILE}<script src='{server.url}/bubble-line.js'></script>"
        "<bubble-line id=a family=1f1b p=4 m=8></bubble-line>"
        "<bubble-line id=b family='ZB-V' p=4 m=8 theme=dark controls='family p m play table'></bubble-line>"
        "<bubble-line id=c lang=zh family=dualpipe p=5></bubble-line>"
    )

    with site_of(folder) as address:
        yield address


def test_in_a_page_of_another_site_it_draws_the_servers_schedules(bare_page: Page, lesson: str):
    page = bare_page
    page.goto(lesson)
    assert shown(page) == makespan(family="1f1b", p=4, m=8)
    assert shown(page, "b") == makespan(family="v-zb", p=4, m=8)
    wait(page, f"({PIXEL})('#a')[0] > 200")  # light: the system's
    assert page.evaluate(PIXEL, "#b")[0] < 60
    head = page.locator("#a .head strong")
    style = head.evaluate("node => [getComputedStyle(node).fontSize, getComputedStyle(node).color]")
    assert style == ["13px", "rgb(23, 25, 29)"]
    set_attributes(page, p=6, m=12, family="interleaved", v=3, w="1.5")
    wait(page, f"{ELEMENT.format('a')}.figures.makespan !== 33")
    assert shown(page) == makespan(family="interleaved", p=6, m=12, v=3, costs={"W": 1.5})
    assert page.locator("#a .plot").get_attribute("aria-label").startswith("Interleaved 1F1B on 6 devices with 12")
    expect(page.locator("#c .problem")).to_contain_text("最接近的是 p = 6。")


WRONG: list[tuple[dict[str, str], str]] = [
    ({"p": "0"}, 'p="0" is not a whole number from 1 to 128; the nearest is 1.'),
    ({"p": "four"}, 'p="four" is not a whole number from 1 to 128; the nearest is 4.'),
    ({"m": "1e9"}, 'm="1e9" is not a whole number from 1 to 2048; the nearest is 2048.'),
    ({"family": "1f1c"}, "the nearest is 1f1b."),
    ({"family": "constructor"}, 'family="constructor" is not one of gpipe'),
    (
        {"family": "zb-auto"},
        'family="zb-auto" is searched or imported, which takes a server; the nearest is zb-h1.',
    ),
    (
        {"family": "gis", "m": "7"},
        'm="7": micro-batches go in groups of 4; m = 8 is the nearest that is whole groups.',
    ),
    ({"v": "2"}, 'v="2": 1F1B takes v exactly 1.'),
    ({"theme": "pink"}, 'theme="pink" is not one of auto, light, dark'),
    ({"controls": "p q"}, 'controls="q" is not one of family, p, m'),
    ({"w": "-1"}, 'w="-1" is not a number from 0 to 1000000; the nearest is 0.'),
    ({"lifo": ""}, "lifo: 1F1B has no such attribute; leave it out."),
    ({"family": "interleaved", "p": "128", "m": "2048", "v": "64"}, "too many ops to draw at this p and v"),
    ({"family": "<img src=x onerror=alert(1)>"}, "is not one of gpipe"),
]
"""Attributes, and what the element says of them."""


def test_a_wrong_attribute_is_explained_with_its_name_and_the_nearest_value(component_page: Page):
    page = component_page
    page.evaluate("document.body.innerHTML = '<bubble-line id=a></bubble-line>'")
    for values, text in WRONG:
        set_attributes(page, **values)
        expect(page.locator("#a .problem")).to_contain_text(text)
        assert page.locator("#a .plot").is_hidden(), values
        assert shown(page) is None, values
        for name in values:
            page.evaluate("(name) => document.querySelector('#a').removeAttribute(name)", name)
        expect(page.locator("#a .plot")).to_be_visible()
        assert shown(page) == 33, values


@pytest.fixture(scope="module")
def component_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page and the script beside it, as somebody saved them."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "bubble-line.js").write_bytes(standalone.COMPONENT.read_bytes())
    (folder / "index.html").write_text(
        "<!doctype html><meta http-equiv=Content-Security-Policy "
        "content=\"default-src 'none'; script-src 'self' file:; style-src 'none'\"><title>Saved</title>"
        "<script src=bubble-line.js></script><bubble-line id=a controls='family p m v play'></bubble-line>"
    )
    return folder


@pytest.fixture
def component_page(bare_page: Page, component_folder: Path) -> Page:
    """That page, opened from the disk without a network."""
    bare_page.context.set_offline(True)
    bare_page.goto((component_folder / "index.html").as_uri())
    return bare_page


def test_from_a_disk_its_sliders_change_attributes_and_say_so(component_page: Page, component_folder: Path):
    page = component_page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("addEventListener('change', ({detail}) => (window.said = detail))")
    page.get_by_label("Schedule").select_option("dualpipe")
    assert page.evaluate("window.said").items() >= {"family": "dualpipe", "p": 4, "m": 8, "v": 1}.items()
    page.get_by_label("Devices p").press("ArrowRight")  # 5 is odd: DualPipe takes 6, with 12 micro-batches
    assert page.evaluate("['p', 'm'].map(name => document.querySelector('#a').getAttribute(name))") == ["6", "12"]
    assert shown(page) == makespan(family="dualpipe", p=6, m=12)
    assert page.evaluate("window.said.makespan") == shown(page)
    page.get_by_label("Schedule").select_option("interleaved")
    page.get_by_label("Chunks v").press("ArrowRight")
    assert shown(page) == makespan(family="interleaved", p=6, m=12, v=3)
    set_attributes(page, group=12)
    page.get_by_label("Micro-batches m").press("ArrowLeft")  # a group has at most m micro-batches
    assert shown(page) == makespan(family="interleaved", p=6, m=11, v=3, group=11)
    set_attributes(page, lang="zh")
    expect(page.locator("#a .sliders")).to_contain_text("设备数 p")
    assert asked == []


def test_it_plays_and_explains_by_the_keyboard_and_under_the_pointer(component_page: Page):
    page = component_page
    plot = page.locator("#a .plot")
    plot.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#a .said")).to_contain_text("1F1 on rank 1, from 2 to 3. 1F1 needs the output of 0F1")
    page.keyboard.press("Space")
    expect(page.locator("#a .transport button")).to_have_attribute("aria-label", "Pause")
    page.keyboard.press("Home")
    expect(page.locator("#a .transport output")).to_contain_text("t 0.0 / 33.0")
    page.keyboard.press("End")
    expect(page.locator("#a .transport output")).to_contain_text("t 33.0 / 33.0")
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 44, box["y"] + box["height"] * 0.9)  # rank 3 has nothing to do yet
    expect(page.locator("#a .tip")).to_contain_text("Rank 3 is idle from 0 to 3: fill")


SHARPNESS = "(node => node.width / node.getBoundingClientRect().width)({}.shadowRoot.querySelector('canvas'))"


def test_it_fills_its_box_follows_it_and_has_the_pages_type_size(component_page: Page):
    page = component_page
    page.evaluate(f"{ELEMENT.format('a')}.style.setProperty('--bubble-line-font-size', '26px')")
    set_attributes(page, m=6)
    wait(page, f"{ELEMENT.format('a')}.shadowRoot.querySelector('strong').getBoundingClientRect().height > 30")
    assert abs(page.evaluate(SHARPNESS.format(ELEMENT.format("a"))) - page.evaluate("devicePixelRatio")) < 0.02
    page.locator("#a .plot").focus()
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    tip, plot = page.locator("#a .tip").bounding_box(), page.locator("#a .plot").bounding_box()
    assert tip is not None
    assert plot is not None
    assert tip["x"] + tip["width"] <= plot["x"] + plot["width"]
    page.mouse.move(plot["x"] + plot["width"] - 60, plot["y"] + plot["height"] * 0.9)
    expect(page.locator("#a .tip")).to_contain_text("Rank 3 is idle from 21")
    page.evaluate(f"{ELEMENT.format('a')}.style.removeProperty('--bubble-line-font-size')")
    set_attributes(page, m=8)
    width = "document.querySelector('#a').shadowRoot.querySelector('canvas').clientWidth"
    page.evaluate("document.querySelector('#a').style.width = '500px'")
    wait(page, f"{width} <= 500")
    before = page.evaluate(width)
    page.evaluate("document.querySelector('#a').style.width = '340px'")
    wait(page, f"{width} === {before - 160}")
    page.evaluate("document.querySelector('#a').remove()")  # while it is watched


def test_its_documentation_passes_axe_and_shows_the_code_of_its_example(open_page: Open):
    page = open_page("component", drawn=False)
    page.get_by_label("Devices p").press("ArrowRight")
    expect(page.locator("#snippet")).to_contain_text('<bubble-line family="1f1b" p="5" m="8"')
    expect(page.locator("bubble-line.short .problem")).to_contain_text("p = 6 is the nearest")
    assert violations(page) == []
    page.goto(page.url.partition("?")[0] + "?lang=zh")
    expect(page.locator("h1")).to_contain_text("流水线调度")
    expect(page.locator("#live .figures")).to_contain_text("气泡")
