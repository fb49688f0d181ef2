"""The picture of a view as SVG: for print, for readers without scripts, and for files that are opened from a disk.

Its colours are classes of the page's style sheet, so that it follows the theme.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from html import escape

from backend.lessons.values import Budget, Measured, measured
from backend.lessons.views import view_of
from backend.schedule.families.registry import family_of
from backend.schedule.order.ops import LETTERS, PAIR
from backend.schedule.order.order import decode, micro_numbers

WIDTH, LABEL, GAP, HEAD, AXIS = 720, 34, 2, 18, 16  # px
ROW, LEAST_ROW, MOST_HEIGHT = 22, 4, 420
LETTER = 6.4  # px of a digit
NARROW = 3.0  # px; neighbours of one kind that are narrower are drawn as one
MOST_BOXES = 4000
SHADES = 4
Box = tuple[float, float, str, str]  # start, end, classes, label


@lru_cache(maxsize=256)
def picture(query: str, caption: str) -> str:
    """Draw a view's schedules on one axis of time; ``caption`` is the alternative text."""
    plans = [measured(spec, Budget()) for spec in view_of(query, Budget())]
    total = max(float(plan.timeline.end.max()) for plan in plans)
    rows = sum(plan.order.p for plan in plans)
    height = max(LEAST_ROW, min(ROW, MOST_HEIGHT // rows))
    scale = (WIDTH - LABEL) / (total or 1.0)
    parts, y, boxes = [], 0.0, 0
    for plan in plans:
        parts.append(f'<text class="pic-title" x="0" y="{y + HEAD - 5:g}">{escape(_title(plan))}</text>')
        y += HEAD
        for rank in range(plan.order.p):
            if height >= 10:
                parts.append(f'<text class="pic-rank" x="0" y="{y + height - (height - 9) / 2:.1f}">{rank}</text>')
            parts.append(_rect(LABEL, y, total * scale, height - GAP, "pic-idle"))
            for start, end, kind, label in _merged(_boxes(plan, rank), scale):
                boxes += 1
                if boxes > MOST_BOXES:
                    break
                parts.append(_rect(LABEL + start * scale, y, (end - start) * scale, height - GAP, kind))
                if height >= 12 and label and (end - start) * scale > LETTER * len(label) + 4:
                    x = LABEL + (start + end) / 2 * scale
                    parts.append(f'<text class="pic-op" x="{x:.1f}" y="{y + height / 2 + 3:.1f}">{label}</text>')
            y += height
        y += GAP
    parts.append(f'<text class="pic-axis" x="{LABEL}" y="{y + AXIS - 4:g}">0</text>')
    parts.append(f'<text class="pic-axis pic-end" x="{WIDTH}" y="{y + AXIS - 4:g}">{total:g}</text>')
    return (
        f'<svg class="pic" viewBox="0 0 {WIDTH} {y + AXIS:g}" role="img" aria-label="{escape(caption, quote=True)}">'
        + "".join(parts)
        + "</svg>"
    )


def _title(plan: Measured) -> str:
    spec = plan.spec
    sizes = [f"p {spec.p}", f"m {spec.m}", *([f"v {spec.v}"] if spec.v > 1 else [])]
    return " · ".join([family_of(spec).title, *sizes, f"{100 * plan.figures.global_bubble.of_total:.1f} %"])


def _boxes(plan: Measured, rank: int) -> Iterator[Box]:
    order, chunks = plan.order, plan.order.chunks
    span = slice(order.offsets[rank], order.offsets[rank + 1])
    first, second = micro_numbers(order, rank)
    starts, ends = plan.timeline.rank(rank)
    rows = zip(starts.tolist(), ends.tolist(), order.codes[span].tolist(), first, second, strict=True)
    for start, end, code, one, two in rows:
        kind, chunk, _ = decode(code, chunks)
        letter = "fb" if kind == PAIR else LETTERS[kind].lower()
        label = f"{one}/{two}" if kind == PAIR else str(one)
        yield start, end, f"pic-{letter} pic-c{chunk % SHADES}", label


def _merged(boxes: Iterator[Box], scale: float) -> Iterator[Box]:
    """Join narrow neighbours of one kind without a gap between them."""
    last: Box | None = None
    for box in boxes:
        narrow = (box[1] - box[0]) * scale < NARROW
        if last and narrow and last[2] == box[2] and box[0] - last[1] < 1e-9 and not last[3]:
            last = (last[0], box[1], last[2], "")
            continue
        if last:
            yield last
        last = (*box[:3], "") if narrow else box
    if last:
        yield last


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    edge = 0.6 if width > 3 else 0.0  # so that neighbours are told apart
    return f'<rect class="{kind}" x="{x:.2f}" y="{y:g}" width="{max(0.2, width - edge):.2f}" height="{height:g}"/>'
