"""The pixels of the timeline's canvas, and the difference of two pictures."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from playwright.sync_api import Page

Picture = npt.NDArray[np.int16]


def picture(page: Page) -> Picture:
    """All pixels of the canvas that ops are drawn on, rows of (red, green, blue)."""
    url = page.evaluate("document.querySelector('#plot canvas').toDataURL('image/png')")
    image = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    return np.asarray(image.convert("RGB"), dtype=np.int16)


def lane(page: Page, rank: int, lane_id: str = "a") -> dict[str, Any]:
    """The bounds of a rank's row of ops on that canvas: left, right, top and bottom."""
    found: dict[str, Any] = page.evaluate(
        """([rank, id]) => {
          const window_ = bubbleline.state().window;
          const box = document.querySelector('#plot').getBoundingClientRect();
          const [a, b] = [window_.t0, window_.t1].map((t) => bubbleline.point(id, rank, t));
          const top = a.y - a.h / 2 - box.top;
          return {left: a.x - box.left, right: b.x - box.left, top, foot: top + a.h};
        }""",
        [rank, lane_id],
    )
    return found


def row(page: Page, rank: int, lane_id: str = "a") -> Picture:
    """The pixels of a rank's row."""
    place = {key: round(value) for key, value in lane(page, rank, lane_id).items()}
    return picture(page)[place["top"] : place["foot"], place["left"] : place["right"]]


def is_near(colours: Picture, colour: tuple[int, int, int], by: int = 3) -> npt.NDArray[np.bool_]:
    """Which pixels have this colour."""
    found: npt.NDArray[np.bool_] = np.abs(colours - np.array(colour, dtype=np.int16)).max(axis=-1) <= by
    return found
