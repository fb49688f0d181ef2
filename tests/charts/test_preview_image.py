"""Link previews: titles, pictures, and that no query ever breaks the page or reaches its HTML unescaped."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from backend.charts.previews import timeline as drawing
from backend.charts.previews.card import SIZE, TimedPlan, brand_card, card, timed
from backend.charts.previews.colours import ink_on, palette, tints
from backend.runs.run import Run
from backend.schedule.families.registry import FAMILIES, read
from backend.schedule.order.ops import B, F, I, W
from backend.schedule.order.order_codec import pack
from backend.tasks.reference import reference
from backend.tasks.task import tasks
from backend.web.factory import create_app
from backend.web.routes import page
from tests.support import PATIENCE_S

VIEW = "?family=zb-h1&p=8&m=32"
BROWSER = {"Sec-Fetch-Dest": "document"}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pages wait for their preview's texts however busy the machine is."""
    monkeypatch.setattr(page, "PREVIEW_S", PATIENCE_S)


def meta_content(reader: FlaskClient, query: str, name: str = "og:title", path: str = "", **options: object) -> str:
    answer = reader.get(f"/{path}{query}", **options)
    assert answer.status_code == 200
    found = re.search(f'<meta (?:property|name)="{name}" content="([^"]*)">', answer.text)
    assert found, name
    return unescape(found[1])


def pixels(png: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(png))
    assert (image.format, image.size) == ("PNG", SIZE)
    return np.asarray(image.convert("RGB"))


def share_of(picture: np.ndarray, *colours: tuple[int, int, int]) -> float:
    """The share of a picture that has one of these colours, but for 3 of 255."""
    counted = Image.fromarray(picture).getcolors(picture.size) or []
    seen = np.array([colour for _, colour in counted], dtype=int)
    near = [np.abs(seen - np.array(colour)).max(axis=1) <= 3 for colour in colours]
    counts = np.array([count for count, _ in counted])
    return float(sum(counts[each].sum() for each in near) / counts.sum())


def solved_link(slug: str) -> str:
    """Return the query of the workbench with par of a task."""
    found = reference(tasks()[slug]).par
    return f"?family=imported&p={found.p}&m={found.m}&order={pack(found.order())}&task={slug}"


def test_a_link_to_a_solved_task_unfurls_with_what_was_achieved_and_a_picture_of_it(reader: FlaskClient):
    query = solved_link("beat-1f1b")
    assert meta_content(reader, query, path="build") == "1F1B beaten within its own memory, proved optimal"
    assert "step time 17, peak memory 3, 3 of 3 stars" in meta_content(reader, query, "og:description", "build")
    assert meta_content(reader, query, "og:url", "build") == f"http://localhost/build{query}"
    picture = reader.get(meta_content(reader, query, "og:image", "build").removeprefix("http://localhost"))
    star = palette("light")["k-i"]
    corner = pixels(picture.data)[30:110, 950:]
    assert share_of(corner, star) > 0.1
    plain = reader.get(f"/preview.png{query.rsplit('&', 1)[0]}")
    assert share_of(pixels(plain.data)[30:110, 950:], star) == 0
    assert meta_content(reader, "", path="build") == "Build a schedule"
    for broken in (query[:-1], query.replace("order=l", "order=lX"), "?task=beat-1f1b"):
        assert "beaten" not in meta_content(reader, broken, path="build")
    assert "executed" not in meta_content(reader, f"{query}&run=unknown", path="build")


def test_a_link_is_of_an_executed_order_only_with_a_verified_run_of_that_order(app: Flask):
    query = solved_link("beat-1f1b")
    order = parse_qs(query)["order"][0]
    runs = app.extensions["bubbleline"].runs
    for verified, other, said in ((True, order, True), (True, "lAA", False), (False, order, False)):
        spec = {"family": "imported", "order": other}
        run = runs.keep(Run("", spec, "auto", None, 0.0, status="finished", facts={"verified": verified}))
        title = meta_content(app.test_client(), f"{query}&run={run.id}", path="build")
        assert title.endswith("executed") == said


def test_a_link_unfurls_with_its_schedule_its_sizes_and_its_bubble(reader: FlaskClient):
    assert meta_content(reader, VIEW) == "ZB-H1, p 8, m 32 · bubble 6.8 %"
    assert meta_content(reader, VIEW, "twitter:card") == "summary_large_image"
    assert meta_content(reader, VIEW, "og:url") == f"http://localhost/{VIEW}"
    assert meta_content(reader, VIEW, "og:image") == f"http://localhost/preview.png{VIEW}"
    assert "split" in meta_content(reader, VIEW, "og:description")


def test_a_comparison_names_both_and_both_bubbles(reader: FlaskClient):
    title = meta_content(reader, f"{VIEW}&b.family=1f1b&t0=3&t1=9&theme=dark")
    assert title == "ZB-H1 against 1F1B, p 8, m 32 · bubble 6.8 % against 17.9 %"


def test_the_bubble_uses_costs_that_follow_from_a_model(reader: FlaskClient):
    plain = meta_content(reader, "?p=8&m=32")
    modelled = meta_content(reader, "?p=8&m=32&m.model=llama3-70b&m.tp=8&m.heads=1")
    assert plain == "1F1B, p 8, m 32 · bubble 17.9 %"
    assert modelled.startswith("1F1B, p 8, m 32 · bubble ")
    assert modelled != plain


def test_a_browser_is_not_kept_waiting_for_the_bubble(reader: FlaskClient):
    assert meta_content(reader, VIEW, headers=BROWSER) == "ZB-H1, p 8, m 32"


def test_behind_a_proxy_the_addresses_are_those_that_people_see(reader: FlaskClient):
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "bubbles.example"}
    behind = replace(reader.application.extensions["bubbleline"].config, proxies=1)
    seen = create_app(behind).test_client()
    assert meta_content(seen, VIEW, "og:url", headers=headers).startswith("https://bubbles.example/")
    odd = {"X-Forwarded-Proto": 'x"><script>'}
    assert meta_content(seen, VIEW, "og:url", headers=odd).startswith("http://localhost/")
    for ignored in (headers, odd):
        assert meta_content(reader, VIEW, "og:url", headers=ignored).startswith("http://localhost/")


@pytest.mark.parametrize(
    "query",
    ['?family="><script>alert(1)</script>', "?family=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
     "?x='\"><script>alert(1)</script>",
     "?p=<script>alert(1)</script>", "?%3Cscript%3Ealert(1)%3C%2Fscript%3E=1"],
)  # fmt: skip
def test_nothing_of_a_query_reaches_the_html_as_markup(reader: FlaskClient, query: str):
    text = reader.get(f"/{query}").text
    assert "<script>alert" not in text
    assert meta_content(reader, query) == (
        "1F1B, p 4, m 8 · bubble 27.3 %" if "x=" in query or "%3E=1" in query else "Bubbleline"
    )


@pytest.mark.parametrize(
    "query", ["?family=nonsense", "?p=0", "?z=!!", "?m=1e9", "?family=v-half&m=3&p=7&v=9", "?%ff=1"]
)
def test_an_illegal_spec_gets_the_plain_title_and_picture(reader: FlaskClient, query: str):
    assert meta_content(reader, query) == "Bubbleline"
    picture = reader.get(f"/preview.png{query}")
    assert picture.status_code == 200
    assert picture.data == brand_card()


def test_the_picture_is_cached_and_can_be_shown_by_other_sites(reader: FlaskClient):
    first, again = reader.get(f"/preview.png{VIEW}"), reader.get(f"/preview.png{VIEW}&theme=dark&t0=1")
    assert first.data == again.data
    assert first.mimetype == "image/png"
    assert first.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "max-age" in first.headers["Cache-Control"]


def test_a_schedule_too_large_to_draw_in_time_gets_the_plain_picture(reader: FlaskClient):
    large = "?family=v-auto&p=64&m=2048"
    assert meta_content(reader, large) == "Bubbleline"
    assert reader.get(f"/preview.png{large}").data == brand_card()


def test_the_boxes_have_the_pages_colours_in_the_share_that_the_ops_have():
    plan = timed(read({"family": "gpipe", "p": 4, "m": 8}))
    for theme in ("light", "dark"):
        picture = pixels(card([plan], theme))
        forward, backward = tints(theme, F, 0, 0, 1)[0], tints(theme, B, 0, 0, 1)[0]
        assert share_of(picture, forward) > 0.08
        assert 1.4 < share_of(picture, backward) / share_of(picture, forward) < 2.2  # B takes twice as long as F
        assert share_of(picture, palette(theme)["bg"]) > 0.1


def test_the_second_stream_has_micro_batches_of_its_own(monkeypatch: pytest.MonkeyPatch):
    seen: list[str] = []
    monkeypatch.setattr(drawing, "_number", lambda _draw, _box, text, _fill: seen.append(text))
    card([timed(read({"family": "chimera", "p": 2, "m": 4}))])
    assert sorted(seen) == sorted(4 * ["0", "1", "2", "3"])


def test_many_ops_are_binned_and_cover_their_share_of_the_time():
    picture = pixels(card([timed(read({"family": "gpipe", "p": 128, "m": 512}))]))
    timeline = picture[130:556, 48:1152]  # between the heading and the foot
    busy = 512 / (512 + 128 - 1)
    assert share_of(timeline, tints("light", F, 0, 0, 1)[0]) == pytest.approx(busy / 3, rel=0.05)
    assert share_of(timeline, tints("light", B, 0, 0, 1)[0]) == pytest.approx(busy * 2 / 3, rel=0.05)


def boxes_share(part: np.ndarray, plan: TimedPlan) -> float:
    """The share of a part of a light picture that has the colour of an op."""
    chunks = plan.timeline.order.placement.chunks
    colours = {tints("light", kind, chunk, chunk, chunks)[0] for kind in (F, I, W, B) for chunk in range(chunks)}
    return share_of(part, *colours)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_picture_of_every_family_has_its_name_and_boxes_for_the_time_that_its_ranks_work(name: str):
    plan = timed(read({"family": name, "p": 4, "m": 8}))
    picture = pixels(card([plan]))
    busy = 1 - plan.bubble
    assert 0.55 * busy < boxes_share(picture[130:556, 48:1152], plan) <= busy, "the rest are numbers and gaps"
    assert share_of(picture[40:130, 48:600], palette("light")["ink"]) > 0.01


def test_several_schedules_are_stacked():
    plans = [timed(read({"family": name, "p": 4, "m": 8})) for name in ("gpipe", "1f1b", "zb-h1", "v-half")]
    for count in range(2, 5):
        picture = pixels(card(plans[:count]))
        each = (556 - 40) // count
        for k, plan in enumerate(plans[:count]):
            assert boxes_share(picture[40 + k * each : 40 + (k + 1) * each], plan) > 0.15, (count, plan.title)


def test_numbers_can_be_read_on_every_colour():
    assert ink_on((0, 114, 178)) == (255, 255, 255)
    assert ink_on((238, 154, 28)) == (0, 0, 0)


KEYS = st.sampled_from(
    ["family", "p", "m", "v", "F", "comm", "b.family", "b.p", "m.model", "m.tp", "z", "t0", "theme", "x"]
)
VALUES = st.one_of(
    st.sampled_from(["zb-h1", "v-half", "interleaved", "llama3-70b", "none", "2*1,3", "0.5", "-1", "nan", "", "12*"]),
    st.integers(0, 40).map(str),
    st.text(max_size=12),
)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_no_query_breaks_the_page(reader: FlaskClient, asked: dict[str, str]):
    answer = reader.get("/", query_string=asked)
    assert answer.status_code == 200
    assert answer.text.count("<script") == 1
