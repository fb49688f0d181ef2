"""Move sliders with real mouse and key events; measure the time until the frame with the result is painted."""

from __future__ import annotations

from playwright.sync_api import Page


def drag(page: Page, field: str, parts: list[float], pause_ms: float) -> None:
    """Move a slider's thumb with the mouse to these parts of its width, in even steps."""
    box = page.locator(f"#field-{field}-slider").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    now = float(page.evaluate(f"(s => s.value / s.max)(document.querySelector('#field-{field}-slider'))"))
    at = box["x"] + 8 + now * (box["width"] - 16)
    page.mouse.move(at, y)
    page.wait_for_timeout(400)  # a pause before the drag, as by a person
    page.mouse.down()
    for part in parts:
        goal = box["x"] + 8 + part * (box["width"] - 16)
        for k in range(1, 13):
            page.mouse.move(at + (goal - at) * k / 12, y)
            page.wait_for_timeout(pause_ms)
        at = goal
    page.mouse.up()


def press(page: Page, field: str, key: str, times: int) -> None:
    """Step a slider with an arrow key."""
    page.locator(f"#field-{field}-slider").focus()
    page.wait_for_timeout(400)
    for _ in range(times):
        page.keyboard.press(key)
        page.wait_for_timeout(40)


def collect(page: Page) -> list[float]:
    """The latencies since the last call, ms."""
    page.wait_for_timeout(600)
    found: list[float] = page.evaluate("bubbleline.samples.inputs()")
    page.evaluate("bubbleline.samples.clear()")
    return found
