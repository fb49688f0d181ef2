"""The picture of a pasted link: 1200 x 630, the schedules' boxes, their names and their bubbles.

Drawn at twice the size and scaled down, which smooths every edge. The text uses Pillow's own font, the only one that
every machine has.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from backend.charts.previews.colours import Theme, palette
from backend.charts.previews.timeline import Area, draw_lane
from backend.schedule.families.registry import family_of, order
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec

SIZE = (1200, 630)
SCALE = 2
MARGIN, TOP, FOOT = 48, 40, 74  # px of the picture as it is sent
CLAIM = "pipeline-parallel schedules, drawn and run"
MOST_PLANS = 4


@dataclass(frozen=True)
class TimedPlan:
    """A schedule with its times and its bubble, a share of the whole."""

    spec: Spec
    timeline: Timeline
    bubble: float

    @property
    def title(self) -> str:
        """Return the family's name."""
        return family_of(self.spec).title


def timed(spec: Spec) -> TimedPlan:
    """Build a legal spec's order and time it."""
    timeline = simulate(order(spec), spec.timing, spec.v)
    return TimedPlan(spec, timeline, figures(timeline).global_bubble.of_total)


def sizes_of(spec: Spec) -> list[str]:
    """Return "p 8", "m 32", and v where the family has a choice of it."""
    chunks = [f"v {spec.v}"] if family_of(spec).v[2] > 1 else []
    return [f"p {spec.p}", f"m {spec.m}", *chunks]


def percent(part: float) -> str:
    """Format a share as the page does: 9.4 %."""
    return f"{100 * part:.1f} %"


def card(plans: Sequence[TimedPlan], theme: Theme = "light") -> bytes:
    """Draw the picture and return it as PNG."""
    token = palette(theme)
    image = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), token["bg"])
    draw = ImageDraw.Draw(image)
    plans = plans[:MOST_PLANS]
    until = max(float(plan.timeline.end.max()) for plan in plans) or 1.0
    room = SIZE[1] - TOP - FOOT
    each = room // len(plans)
    for k, plan in enumerate(plans):
        top = TOP + k * each
        head = _head(draw, plan, top, len(plans), theme)
        box = (MARGIN, top + head, SIZE[0] - MARGIN, top + each - (14 if k + 1 < len(plans) else 0))
        left, above, right, below = (x * SCALE for x in box)
        draw_lane(image, plan.timeline, Area(left, above, right - left, below - above, until), theme)
    _brand(draw, SIZE[1] - FOOT // 2 + 4, 30, theme)
    return _png(image)


def brand_card(theme: Theme = "light") -> bytes:
    """Draw the picture for a link without a schedule."""
    image = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), palette(theme)["bg"])
    draw = ImageDraw.Draw(image)
    _logo(draw, (SIZE[0] - 14 * 14) // 2, 130, 14 / 2, theme)
    _text(draw, (SIZE[0] // 2, 360), "Bubbleline", 88, "ink", theme, "mm", bold=True)
    _text(draw, (SIZE[0] // 2, 446), CLAIM, 34, "ink-3", theme, "mm")
    return _png(image)


def _head(draw: ImageDraw.ImageDraw, plan: TimedPlan, top: int, of: int, theme: Theme) -> int:
    """Draw the line above a schedule, name and sizes left, bubble right; return its height in px."""
    title, small = (60, 32) if of == 1 else (40, 26) if of == 2 else (28, 20)
    base = top + title
    _text(draw, (MARGIN, base), plan.title, title, "ink", theme, "ls", bold=True)
    wide = _length(plan.title, title) + title * 0.5
    _text(draw, (MARGIN + round(wide), base), " · ".join(sizes_of(plan.spec)), small, "ink-2", theme, "ls")
    value = percent(plan.bubble)
    _text(draw, (SIZE[0] - MARGIN, base), value, title, "ink", theme, "rs", bold=True)
    beside = SIZE[0] - MARGIN - round(_length(value, title) + title * 0.3)
    _text(draw, (beside, base), "bubble", small, "ink-2", theme, "rs")
    return title + round(title * 0.5)


def _brand(draw: ImageDraw.ImageDraw, middle: int, size: int, theme: Theme) -> None:
    _logo(draw, MARGIN, middle - 12, 1.6, theme)
    _text(draw, (MARGIN + 58, middle), "Bubbleline", size, "ink", theme, "lm", bold=True)
    _text(draw, (SIZE[0] - MARGIN, middle), CLAIM, 24, "ink-3", theme, "rm")


def _logo(draw: ImageDraw.ImageDraw, x: int, y: int, unit: float, theme: Theme) -> None:
    """Draw the page's logo: two ranks of boxes, 28 x 16 units."""
    boxes = (("k-f", 0, 0, 12), ("k-w", 22, 0, 6), ("k-f", 6, 9, 10), ("k-b", 17, 9, 11))
    for token, left, top, wide in boxes:
        corners = ((x + left * unit) * SCALE, (y + top * unit) * SCALE)
        ends = ((x + (left + wide) * unit) * SCALE, (y + (top + 7) * unit) * SCALE)
        draw.rounded_rectangle((*corners, *ends), radius=unit * SCALE, fill=palette(theme)[token])


def _text(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], text: str, size: int, token: str, theme: Theme, anchor: str,
    bold: bool = False,
) -> None:  # fmt: skip
    """Draw a line of text; the font has one weight, and a stroke makes it bold."""
    font = ImageFont.load_default(size * SCALE)
    stroke = max(1, size * SCALE // 48) if bold else 0
    place = (at[0] * SCALE, at[1] * SCALE)
    draw.text(place, text, palette(theme)[token], font=font, anchor=anchor, stroke_width=stroke)


def _length(text: str, size: int) -> float:
    return float(ImageFont.load_default(size * SCALE).getlength(text)) / SCALE


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    # Level 9, which optimize=True is, makes a file 3 % smaller in three times the time.
    image.resize(SIZE, Image.Resampling.LANCZOS).save(out, "PNG", compress_level=6)
    return out.getvalue()
