"""Queries of tests to an open page: its state as data, its pixels, and waits for conditions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Error, Locator, Page, Route

from tests.support import PATIENCE_S

Open = Callable[..., Page]

# Added to every page before its own scripts: counts requests under way, bodies being read and timers that are due soon,
# can hold long timers back, and run the next one before its time. Timers of a second and more are those of retries and
# polls, which never end. The first page of a test forgets what those of the last one have kept. A tab whose script is
# under way counts as well.
COUNT_PENDING = """(() => {
  try {
    if (sessionStorage.getItem('forget')) for (const kept of [localStorage, sessionStorage]) kept.clear();
  } catch {} // a frame that may keep nothing
  const due = new Map();
  const held = [];
  const cleared = new Set();
  let requests = 0;
  let holdFrom = Infinity;
  const { setTimeout: set, clearTimeout: clear, fetch: ask } = window;
  window.plainTimeout = set.bind(window);
  window.setTimeout = (act, ms = 0, ...rest) => {
    const run = () => {
      if (ms >= holdFrom) return held.push([id, run]);
      due.delete(id);
      act(...rest);
    };
    const id = set.call(window, run, ms);
    if (ms < 1000) due.set(id, { at: performance.now() + ms, run });
    return id;
  };
  window.clearTimeout = (id) => {
    due.delete(id);
    cleared.add(id);
    clear.call(window, id);
  };
  window.holdTimers = (from) => {
    holdFrom = from;
    for (const [id, run] of held.splice(0)) if (!cleared.has(id)) run();
  };
  window.fetch = (...given) => {
    requests += 1;
    return ask.apply(window, given).finally(() => (requests -= 1));
  };
  for (const read of ['json', 'text', 'arrayBuffer', 'blob']) {
    const original = Response.prototype[read];
    Response.prototype[read] = function () {
      requests += 1;
      return original.call(this).finally(() => (requests -= 1));
    };
  }
  addEventListener('DOMContentLoaded', () => {
    window.unfolded = new Set(document.querySelectorAll('details[open]'));
  });
  const awaited = () => requests + document.querySelectorAll('[aria-busy=true]').length;
  window.pendingWork = () => due.size + awaited();
  window.runNextTimer = () => {
    const [next] = [...due].sort(([, a], [, b]) => a.at - b.at);
    if (!next || awaited()) return;
    clear.call(window, next[0]);
    next[1].run();
  };
})()"""

SETTLE = """(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const end = performance.now() + %f;
  for (let idle = 0; idle < 3 && performance.now() < end; ) {
    if (%s) runNextTimer();
    await (pendingWork() ? new Promise((done) => plainTimeout(done, 20)) : frame());
    idle = pendingWork() ? 0 : idle + 1;
  }
  return pendingWork();
})()"""


# Asks in the page itself every 10 ms, later less often, by the page's own timer and not the one that is counted.
WAIT = """(async () => {
  const holds = () => (%s);
  const end = performance.now() + %f;
  for (let rest = 10; ; rest = Math.min(1.2 * rest, 60)) {
    const value = await holds();
    if (value || performance.now() > end) return value;
    await new Promise((done) => (window.plainTimeout ?? setTimeout)(done, rest));
  }
})()"""


# To another address without loading the page, as a step back does; what a reader has unfolded is folded again.
GO = """(query) => {
  localStorage.clear();
  for (const each of document.querySelectorAll('details')) each.open = unfolded.has(each);
  document.activeElement?.blur();
  history.pushState(null, '', '/' + query);
  dispatchEvent(new PopStateEvent('popstate'));
}"""

# What the page has kept goes when the next one of its origin begins: this one may still write.
FORGET = "(() => { try { sessionStorage.setItem('forget', '1'); } catch {} })()"

DRAWN = "window.bubbleline && bubbleline.samples.firstPaint() > 0 && !document.querySelector('[aria-busy=true]')"


APPEARANCE = {"theme", "colours", "hatch", "lang"}


def without_first_visit(query: str) -> str:
    """Name the default schedule in a query that would otherwise show the first visit's."""
    parts = [part for part in query.removeprefix("?").split("&") if part]
    if any(part.split("=")[0] not in APPEARANCE for part in parts):
        return query
    return "?" + "&".join(["family=1f1b", *parts])


def wait(page: Page, expression: str, seconds: float = PATIENCE_S) -> Any:
    """Wait until an expression holds in the page (its policy forbids Playwright's own way, which needs eval)."""
    end = time.monotonic() + seconds
    while True:
        try:
            value = page.evaluate(WAIT % (expression, 1000 * max(0.0, end - time.monotonic())))
        except Error as error:  # the page went to another address meanwhile
            if "context was destroyed" not in str(error) and "navigation" not in str(error):
                raise
            continue
        assert value, f"not within {seconds} s: {expression}; {page.evaluate('document.title')}"
        return value


def reload(page: Page, until: str = DRAWN) -> None:
    """Load the page again and wait until it is drawn: before, its script hears nothing."""
    page.reload()
    wait(page, until)


def wait_until(
    page: Page, true: Callable[[], object], seconds: float = PATIENCE_S, what: Callable[[], str] = lambda: ""
) -> None:
    """Wait until something outside of the page holds; meanwhile the browser's events are handled."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not within {seconds} s: {what()}"
        page.wait_for_timeout(20)


def wait_url(page: Page, *entries: str) -> str:
    """Wait until the address has all these entries and return it; the page writes it after a pause.

    `p=8` is that value and no other, and not one that only begins so; `order=` is any value.
    """

    def there() -> bool:
        query = dict(parse_qsl(urlsplit(page.url).query))
        pairs = [each.partition("=") for each in entries]
        return all(key in query and value in ("", query[key]) for key, _, value in pairs)

    wait_until(page, there, what=lambda: f"{entries} in {page.url}")
    return page.url


class Held(list[Route]):
    """Requests that are held until ``released``."""

    released = False


def hold(page: Page, pattern: str) -> Held:
    """Hold the page's requests to an address; the list gets each until ``release``."""
    held = Held()
    page.route(pattern, lambda route: route.continue_() if held.released else held.append(route))
    return held


def release(page: Page, held: Held) -> None:
    """Let the held requests go on, and hold no more."""
    held.released = True  # also for one that comes before the browser has forgotten the address
    for route in held:
        route.continue_()
    page.unroute_all(behavior="ignoreErrors")


def frames(page: Page) -> None:
    """Wait for two animation frames."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def settle(page: Page, hurry: bool = False) -> None:
    """Wait until the page has nothing left to do: no request under way, no timer due within a second, all drawn.

    In a ``hurry`` timers run one after another as soon as nothing else is under way: not where a test is about rests.
    """
    pending = page.evaluate(SETTLE % (1000 * PATIENCE_S, json.dumps(hurry)))
    assert pending == 0, f"{pending} requests and timers are still pending after {PATIENCE_S:.0f} s"


@contextmanager
def held_timers(page: Page, from_ms: int) -> Iterator[None]:
    """Hold back timers of at least `from_ms` until the end of the block, however long the block takes."""
    page.evaluate(f"holdTimers({from_ms})")
    yield
    page.evaluate("holdTimers(Infinity)")


def state(page: Page) -> dict[str, Any]:
    """The page's state as data."""
    found: dict[str, Any] = page.evaluate("bubbleline.state()")
    return found


def middle(page: Page, lane: str, op: str) -> tuple[float, float]:
    """The position of an op's middle on the screen."""
    box = page.evaluate(f"bubbleline.box('{lane}', '{op}')")
    assert box, f"{op} is not on the screen"
    return box["x"] + box["w"] / 2, box["y"] + box["h"] / 2


def figure(page: Page, name: str) -> Locator:
    """A figure in the right column, by the first words of its row."""
    return page.locator(f"#figures tr:has(th:text('{name}')) td").first


def pixel(page: Page, x: float, y: float) -> tuple[int, int, int]:
    """The colour of the timeline's canvas at a position of the page."""
    red, green, blue, _ = rgba(page, x, y)
    return red, green, blue


def rgba(page: Page, x: float, y: float, canvas: str = "#plot canvas") -> tuple[int, int, int, int]:
    """The colour and opacity of a canvas at a position of the page."""
    found = page.evaluate(
        """([x, y, selector]) => {
          const canvas = document.querySelector(selector);
          const box = canvas.getBoundingClientRect();
          const scale = canvas.width / box.width;
          const copy = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
          copy.drawImage(canvas, -Math.floor((x - box.left) * scale), -Math.floor((y - box.top) * scale));
          return [...copy.getImageData(0, 0, 1, 1).data];
        }""",
        [x, y, canvas],
    )
    return found[0], found[1], found[2], found[3]
