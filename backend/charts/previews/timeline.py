"""One schedule as rows of boxes on a picture: few ops as boxes with marks and numbers, many binned to pixels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from backend.charts.previews.colours import BLACK, Theme, ink_on, mix, palette, tints
from backend.charts.theme_tokens import Rgb
from backend.schedule.order.ops import PAIR, B, I, W
from backend.schedule.order.order import code_table, micro_numbers
from backend.schedule.simulation.simulate import Timeline

BOXES = 6000  # ops up to which each is a box of its own
FINER = 3  # samples a pixel where ops are binned
HATCH = 14  # px from one line of a bubble's hatch to the next
Floats = npt.NDArray[np.float64]
Box = tuple[int, int, int, int]  # left, top, right, bottom, the last two inside


@dataclass(frozen=True)
class Area:
    """The area of a schedule on the picture, in px; ``until`` is the time at its right edge."""

    x: int
    y: int
    width: int
    height: int
    until: float


def draw_lane(image: Image.Image, timeline: Timeline, area: Area, theme: Theme) -> None:
    """Draw the rows of a schedule, bubbles hatched from its start to its end."""
    order, p = timeline.order, timeline.order.p
    gap = 4 if area.height / p >= 24 else 2 if area.height / p >= 8 else 0
    rows = [(round(k * area.height / p), round((k + 1) * area.height / p) - gap) for k in range(p)]
    hatch = _hatch(area.width, area.height, theme)
    end = round(float(timeline.end.max()) / area.until * area.width)
    if len(order) <= BOXES and rows[0][1] - rows[0][0] >= 3:
        for top, bottom in rows:
            image.paste(hatch.crop((0, top, end, bottom)), (area.x, area.y + top))
        _boxes(image, timeline, area, rows, theme)
        return
    colours = _means(order.chunks, theme)
    background = np.asarray(hatch)
    if p > area.height:  # more ranks than rows of pixels: each row shows one of its ranks
        rows = [(y, y + 1) for y in range(area.height)]
    for k, (top, bottom) in enumerate(rows):
        rank = k * p // len(rows)
        shown, busy = _binned(timeline, rank, area, colours)
        under = background[top:bottom, :end] * (1.0 - busy[:end, None])
        image.paste(Image.fromarray((shown[:end] + under).astype(np.uint8)), (area.x, area.y + top))


def _boxes(image: Image.Image, timeline: Timeline, area: Area, rows: list[tuple[int, int]], theme: Theme) -> None:
    draw, order = ImageDraw.Draw(image), timeline.order
    table, scale = code_table(order.chunks), area.width / area.until
    for rank, (top, bottom) in enumerate(rows):
        start, end = timeline.rank(rank)
        span = slice(order.offsets[rank], order.offsets[rank + 1])
        kinds, numbers = table[order.codes[span]].tolist(), micro_numbers(order, rank)[0].tolist()
        for (kind, chunk, b_chunk), number, a, b in zip(kinds, numbers, start * scale, end * scale, strict=True):
            if b - a <= 0:
                continue
            inset = 2 if b - a > 10 else 1 if b - a > 4 else 0
            left, right = area.x + round(a), area.x + max(round(a), round(b) - inset - 1)
            box = (left, area.y + top, right, area.y + bottom - 1)
            paints = tints(theme, kind, chunk, b_chunk, order.chunks)
            _box(draw, box, kind, paints)
            if number >= 0 and kind != PAIR:
                _number(draw, box, str(number + order.first_micro(rank, chunk)), paints[1])


def _box(draw: ImageDraw.ImageDraw, box: Box, kind: int, paints: tuple[Rgb, Rgb]) -> None:
    """Draw a box; its kind shows without colour too: a bar below for I, above for W, both for B, halves for a pair."""
    left, top, right, bottom = box
    upper, lower = paints
    draw.rectangle(box, fill=lower)
    if kind == PAIR:
        draw.polygon([(left, top), (right, top), (left, bottom)], fill=upper)
    bar = max(2, round((bottom - top) / 9)) if bottom - top >= 14 and right - left >= 5 else 0
    edge = mix(lower, BLACK, 0.34)
    if bar and kind in (I, B):
        draw.rectangle((left, bottom - bar + 1, right, bottom), fill=edge)
    if bar and kind in (W, B):
        draw.rectangle((left, top, right, top + bar - 1), fill=edge)


def _number(draw: ImageDraw.ImageDraw, box: Box, text: str, fill: Rgb) -> None:
    """Draw the micro-batch's number where a box has room for it."""
    left, top, right, bottom = box
    size = min(44, round((bottom - top) * 0.45))
    if size < 15:
        return
    font, width = _measured(text, size)
    if width + 8 > right - left:
        return
    draw.text(((left + right) / 2, (top + bottom) / 2), text, fill=ink_on(fill), font=font, anchor="mm")


@lru_cache(4096)
def _measured(text: str, size: int) -> tuple[ImageFont.ImageFont | ImageFont.FreeTypeFont, float]:
    """Return the font of a size, and the width of a text in it in px."""
    font = ImageFont.load_default(size)
    return font, font.getlength(text)


def _binned(timeline: Timeline, rank: int, area: Area, colours: Floats) -> tuple[Floats, Floats]:
    """Return colour ``(width, 3)`` and busy share ``(width,)`` of a rank's pixels, each the mean of a few samples."""
    moments = (np.arange(area.width * FINER) + 0.5) / (area.width * FINER) * area.until
    start, end = timeline.rank(rank)
    codes = timeline.order.codes[timeline.order.offsets[rank] : timeline.order.offsets[rank + 1]]
    at = np.minimum(np.searchsorted(end, moments, "right"), len(end) - 1)
    on = (start[at] <= moments) & (moments < end[at])
    shown = np.where(on[:, None], colours[codes[at]], 0.0)
    return shown.reshape(area.width, FINER, 3).mean(1), on.reshape(area.width, FINER).mean(1)


def _means(chunks: int, theme: Theme) -> Floats:
    """Return the colour of every code, ``(256, 3)``; of a pair the mean of its two."""
    table = code_table(chunks).tolist()
    return np.array([mix(*tints(theme, kind, chunk, b_chunk, chunks), 0.5) for kind, chunk, b_chunk in table], float)


def _hatch(width: int, height: int, theme: Theme) -> Image.Image:
    """Draw the hatch of bubbles."""
    token = palette(theme)
    y, x = np.indices((HATCH, HATCH))
    line = ((x + y) % HATCH < 3)[..., None]
    tile = np.where(line, token["plot-hatch"], token["plot-idle"]).astype(np.uint8)
    return Image.fromarray(np.tile(tile, (height // HATCH + 1, width // HATCH + 1, 1))[:height, :width])
