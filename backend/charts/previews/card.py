"""The picture of a pasted link: 1200 x 630, the schedules' boxes, their names and their bubbles; or, of an order that
solves a task, what it has achieved.

Drawn at twice the size and scaled down, which smooths every edge. The text uses Pillow's own font, the only one that
every machine has.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from backend.charts.previews.colours import Theme, palette
from backend.charts.previews.timeline import Area, draw_lane
from backend.charts.theme_tokens import Rgb
from backend.schedule.families.registry import family_of, order
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec

SIZE = (1200, 630)
SCALE = 2
MARGIN, TOP, FOOT = 48, 40, 74  # px of the picture as it is sent
CLAIM = "pipeline-parallel schedules, drawn and run"
MOST_PLANS = 4
MOST_STARS, STAR = 3, 64  # and the px that each takes


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


@dataclass(frozen=True)
class Award:
    """What an order has achieved: the task that it solves, claims such as "1F1B beaten", 1 to 3 stars, its figures."""

    task: str
    claims: tuple[str, ...]
    stars: int
    facts: str

    @property
    def sentence(self) -> str:
        return ", ".join(self.claims)


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


def card(plans: Sequence[TimedPlan], theme: Theme = "light", award: Award | None = None) -> bytes:
    """Draw the picture and return it as PNG; an award is that of a single plan."""
    token = palette(theme)
    image = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), token["bg"])
    draw = ImageDraw.Draw(image)
    plans = plans[:MOST_PLANS]
    until = max(float(plan.timeline.end.max()) for plan in plans) or 1.0
    room = SIZE[1] - TOP - FOOT
    each = room // len(plans)
    for k, plan in enumerate(plans):
        top = TOP + k * each
        head = _award(draw, award, top, theme) if award else _head(draw, plan, top, len(plans), theme)
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


def _award(draw: ImageDraw.ImageDraw, award: Award, top: int, theme: Theme) -> int:
    """Draw the claims, the task under them, the stars at the right; return their height in px."""
    room, base = SIZE[0] - 2 * MARGIN - 3 * STAR - 20, top
    texts = (award.sentence,) if _length(award.sentence, 44) < room else (award.claims[0], ", ".join(award.claims[1:]))
    size = next((each for each in (52, 44) if all(_length(text, each) < room for text in texts)), 40)
    for line in [line for text in texts if text for line in _lines(text, size, room)]:
        base += round(size * 1.15)
        _text(draw, (MARGIN, base), line, size, "ink", theme, "ls", bold=True)
    for k in range(MOST_STARS):
        middle = (SIZE[0] - MARGIN - STAR // 2 - (MOST_STARS - 1 - k) * STAR, top + STAR // 2 + 4)
        _star(draw, middle, STAR * 0.42, palette(theme)["k-i" if k < award.stars else "line"])
    base += 42
    _text(draw, (MARGIN, base), f"{award.task} · {award.facts}", 28, "ink-2", theme, "ls")
    return base + 22 - top


def _lines(text: str, size: int, room: int) -> list[str]:
    """Break a text into lines of at most `room` px."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _length(longer, size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _star(draw: ImageDraw.ImageDraw, middle: tuple[int, int], radius: float, fill: Rgb) -> None:
    corners = []
    for k in range(10):
        away, angle = radius * (1.0 if k % 2 == 0 else 0.42) * SCALE, math.pi * k / 5
        corners.append((middle[0] * SCALE + away * math.sin(angle), middle[1] * SCALE - away * math.cos(angle)))
    draw.polygon(corners, fill=fill)


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
