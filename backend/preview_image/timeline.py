"""One schedule as rows of boxes on a picture. Few ops: boxes with their marks and numbers; many: binned to pixels.

Knows times and places on the picture; what stands around the rows is card.py's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from backend.preview_image.colours import BLACK, Rgb, Theme, ink_on, mix, palette, tints
from backend.schedule.order.ops import PAIR, B, I, W
from backend.schedule.order.order import code_table, micro_numbers
from backend.schedule.simulation.simulate import Timeline

BOXES = 6000  # ops up to which each is a box of its own
FINER = 3  # samples a pixel where ops are binned
HATCH = 14  # px from one line of a bubble's hatch to the next
Floats = npt.NDArray[np.float64]
Box = tuple[int, int, int, int]  # left, top, right, bottom, the last two inside


@dataclass(frozen=True)
class Place:
    """Where a schedule stands, in pixels; ``until`` is the time at its right edge."""

    x: int
    y: int
    width: int
    height: int
    until: float


def draw_lane(image: Image.Image, timeline: Timeline, place: Place, theme: Theme) -> None:
    """The rows of a schedule, bubbles hatched from its first moment to its last."""
    order, p = timeline.order, timeline.order.p
    gap = 4 if place.height / p >= 24 else 2 if place.height / p >= 8 else 0
    rows = [(round(k * place.height / p), round((k + 1) * place.height / p) - gap) for k in range(p)]
    hatch = _hatch(place.width, place.height, theme)
    end = round(float(timeline.end.max()) / place.until * place.width)
    if len(order) <= BOXES and rows[0][1] - rows[0][0] >= 3:
        for top, bottom in rows:
            image.paste(hatch.crop((0, top, end, bottom)), (place.x, place.y + top))
        _boxes(image, timeline, place, rows, theme)
        return
    colours = _means(order.chunks, theme)
    ground = np.asarray(hatch)
    if p > place.height:  # more ranks than rows of pixels: each row shows one of its ranks
        rows = [(y, y + 1) for y in range(place.height)]
    for k, (top, bottom) in enumerate(rows):
        rank = k * p // len(rows)
        shown, busy = _binned(timeline, rank, place, colours)
        under = ground[top:bottom, :end] * (1.0 - busy[:end, None])
        image.paste(Image.fromarray((shown[:end] + under).astype(np.uint8)), (place.x, place.y + top))


def _boxes(image: Image.Image, timeline: Timeline, place: Place, rows: list[tuple[int, int]], theme: Theme) -> None:
    draw, order = ImageDraw.Draw(image), timeline.order
    table, scale = code_table(order.chunks), place.width / place.until
    for rank, (top, bottom) in enumerate(rows):
        start, end = timeline.rank(rank)
        span = slice(order.offsets[rank], order.offsets[rank + 1])
        kinds, numbers = table[order.codes[span]].tolist(), micro_numbers(order, rank)[0].tolist()
        for (kind, chunk, b_chunk), number, a, b in zip(kinds, numbers, start * scale, end * scale, strict=True):
            if b - a <= 0:
                continue
            inset = 2 if b - a > 10 else 1 if b - a > 4 else 0
            left, right = place.x + round(a), place.x + max(round(a), round(b) - inset - 1)
            box = (left, place.y + top, right, place.y + bottom - 1)
            paints = tints(theme, kind, chunk, b_chunk, order.chunks)
            _box(draw, box, kind, paints)
            if number >= 0 and kind != PAIR:
                _number(draw, box, str(number), paints[1])


def _box(draw: ImageDraw.ImageDraw, box: Box, kind: int, paints: tuple[Rgb, Rgb]) -> None:
    """A box; its kind is told without colour too: a bar below for I, above for W, both for B, halves for a pair."""
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
    """The micro-batch, where a box has room for it."""
    left, top, right, bottom = box
    size = min(44, round((bottom - top) * 0.45))
    if size < 15:
        return
    font = ImageFont.load_default(size)
    if font.getlength(text) + 8 > right - left:
        return
    draw.text(((left + right) / 2, (top + bottom) / 2), text, fill=ink_on(fill), font=font, anchor="mm")


def _binned(timeline: Timeline, rank: int, place: Place, colours: Floats) -> tuple[Floats, Floats]:
    """(width, 3) the light of a rank's ops and (width,) how busy it is: the mean of a few moments in each pixel."""
    moments = (np.arange(place.width * FINER) + 0.5) / (place.width * FINER) * place.until
    start, end = timeline.rank(rank)
    codes = timeline.order.codes[timeline.order.offsets[rank] : timeline.order.offsets[rank + 1]]
    at = np.minimum(np.searchsorted(end, moments, "right"), len(end) - 1)
    on = (start[at] <= moments) & (moments < end[at])
    shown = np.where(on[:, None], colours[codes[at]], 0.0)
    return shown.reshape(place.width, FINER, 3).mean(1), on.reshape(place.width, FINER).mean(1)


def _means(chunks: int, theme: Theme) -> Floats:
    """(256, 3): the colour of every code, of a pair the mean of its two."""
    table = code_table(chunks).tolist()
    return np.array([mix(*tints(theme, kind, chunk, b_chunk, chunks), 0.5) for kind, chunk, b_chunk in table], float)


def _hatch(width: int, height: int, theme: Theme) -> Image.Image:
    """The quiet hatch of a bubble."""
    token = palette(theme)
    y, x = np.indices((height, width))
    line = ((x + y) % HATCH < 3)[..., None]
    return Image.fromarray(np.where(line, token["plot-hatch"], token["plot-row"]).astype(np.uint8))
