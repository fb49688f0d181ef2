"""Schedules on one axis of time as SVG: in lessons, where the page's style sheet has the colours, or as a file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from backend.charts.previews.card import TimedPlan, percent, sizes_of
from backend.charts.previews.colours import KINDS, Theme
from backend.charts.theme_tokens import font, tokens
from backend.schedule.order.ops import LETTERS, PAIR
from backend.schedule.order.order import decode, micro_numbers

WIDTH, LABEL, GAP, HEAD, AXIS = 720, 34, 2, 18, 16  # px
ROW, LEAST_ROW, MOST_HEIGHT = 22, 4, 420
SMALL = (240, 64)  # px of a thumbnail
LANE_WIDTH, LANE_ROW = 1200, 160  # px: the least width of a lane before it is stretched, the tallest row of the page
LETTER = 6.4  # px of a digit
NARROW = 3.0  # px; neighbours of one kind that are narrower are drawn as one
MOST_BOXES = 4000
SHADES = 4
Box = tuple[float, float, str, str]  # start, end, classes, label
FAINTER = (1, 0.72, 0.56, 0.44)  # opacity of later chunks, as in the style sheet of lessons


def picture(plans: Sequence[TimedPlan], caption: str) -> str:
    """Draw schedules as an SVG element without colours of its own; ``caption`` is the alternative text."""
    body, height = _body(plans, MOST_BOXES)
    return (
        f'<svg class="pic" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(caption, quote=True)}">'
        f"{body}</svg>"
    )


def thumbnail(plan: TimedPlan) -> str:
    """Draw a schedule without texts, as an ornament: a path for each kind of op."""
    back = f'<rect class="pic-idle" width="{SMALL[0]}" height="{SMALL[1]}"/>'
    scale = SMALL[0] / (float(plan.timeline.end.max()) or 1.0)
    return _stretched("pic-small", SMALL, back + _paths(plan, scale, SMALL[1] / plan.timeline.order.p, gap=0.4))


def lane(plan: TimedPlan, end: float) -> str:
    """Draw a schedule's rows without texts on an axis of time until `end`, to be stretched over a lane of the page."""
    scale = 10.0 ** math.ceil(math.log10(LANE_WIDTH / (end or 1.0)))  # equal ops stay equal texts, which are packed
    size = (round(end * scale), plan.timeline.order.p * LANE_ROW)
    width = round(float(plan.timeline.end.max()) * scale)
    rows = "".join(f"M0 {y}h{width}v{LANE_ROW}H0z" for y in range(0, size[1], LANE_ROW))
    boxes = _paths(plan, scale, LANE_ROW, gap=0)
    return _stretched("pic-lane", size, f'<path class="pic-idle" d="{rows}"/>{boxes}')


def _stretched(name: str, size: tuple[int, int], body: str) -> str:
    box = f'viewBox="0 0 {size[0]} {size[1]}" height="{size[1]}" preserveAspectRatio="none"'
    return f'<svg class="{name}" {box} aria-hidden="true">{body}</svg>'


def _paths(plan: TimedPlan, scale: float, height: float, gap: float) -> str:
    """Return a path for each kind of op; scale in px of a unit of time, gap between neighbours in px."""
    p = plan.timeline.order.p
    paths: dict[str, list[str]] = {}
    for rank in range(p):
        last: dict[str, float] = {}  # x of the box before, by kind
        for start, until, kind, _ in _merged(_boxes(plan, rank), scale):
            x, width = round(start * scale, 1), round(max(0.4, (until - start) * scale - gap), 1)
            move = f"m{x - last[kind]:g} 0" if kind in last else f"M{x:g} {rank * height:g}"
            paths.setdefault(kind, []).append(f"{move}h{width:g}v{height - 1:g}h{-width:g}z")
            last[kind] = x
    return "".join(f'<path class="{kind}" d="{"".join(parts)}"/>' for kind, parts in paths.items())


def document(plans: Sequence[TimedPlan], theme: Theme = "light") -> str:
    """Draw schedules as an SVG file with the page's colours."""
    token = tokens(theme)
    kinds = "".join(f".pic-{key[2:]}{{fill:{token[key]}}}" for key in KINDS if key)
    style = (
        f"text{{fill:{token['ink-2']};font:11px {font()}}}.pic-title{{fill:{token['ink']};font-weight:600}}"
        f".pic-op{{fill:#ffffff;font-size:10px;text-anchor:middle}}.pic-end{{text-anchor:end}}"
        f".pic-idle{{fill:{token['plot-idle']}}}{kinds}.pic-fb{{fill:{token['k-b']}}}"
        + "".join(f".pic-c{at}{{fill-opacity:{share}}}" for at, share in enumerate(FAINTER))
    )
    body, height = _body(plans)
    title = escape(", ".join(plan.title for plan in plans))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" viewBox="0 0 {WIDTH} {height:g}">'
        f"<title>{title}</title><style>{escape(style, quote=False)}</style>"
        f'<rect width="{WIDTH}" height="{height:g}" fill="{token["bg"]}"/>{body}</svg>\n'
    )


def _body(plans: Sequence[TimedPlan], most: int | None = None) -> tuple[str, float]:
    """Return the elements of at most ``most`` boxes, and the height in px."""
    total = max(float(plan.timeline.end.max()) for plan in plans)
    rows = sum(plan.timeline.order.p for plan in plans)
    height = max(LEAST_ROW, min(ROW, MOST_HEIGHT // rows))
    scale = (WIDTH - LABEL) / (total or 1.0)
    parts, y, boxes = [], 0.0, 0
    for plan in plans:
        parts.append(f'<text class="pic-title" x="0" y="{y + HEAD - 5:g}">{escape(_title(plan))}</text>')
        y += HEAD
        for rank in range(plan.timeline.order.p):
            if height >= 10:
                parts.append(f'<text class="pic-rank" x="0" y="{y + height - (height - 9) / 2:.1f}">{rank}</text>')
            parts.append(_rect(LABEL, y, total * scale, height - GAP, "pic-idle"))
            for start, end, kind, label in _merged(_boxes(plan, rank), scale):
                boxes += 1
                if most is not None and boxes > most:
                    break
                parts.append(_rect(LABEL + start * scale, y, (end - start) * scale, height - GAP, kind))
                if height >= 12 and label and (end - start) * scale > LETTER * len(label) + 4:
                    x = LABEL + (start + end) / 2 * scale
                    parts.append(f'<text class="pic-op" x="{x:.1f}" y="{y + height / 2 + 3:.1f}">{label}</text>')
            y += height
        y += GAP
    parts.append(f'<text class="pic-axis" x="{LABEL}" y="{y + AXIS - 4:g}">0</text>')
    parts.append(f'<text class="pic-axis pic-end" x="{WIDTH}" y="{y + AXIS - 4:g}">{total:g}</text>')
    return "".join(parts), y + AXIS


def _title(plan: TimedPlan) -> str:
    return " · ".join([plan.title, *sizes_of(plan.spec), percent(plan.bubble)])


def _boxes(plan: TimedPlan, rank: int) -> Iterator[Box]:
    order = plan.timeline.order
    chunks = order.chunks
    span = slice(order.offsets[rank], order.offsets[rank + 1])
    first, second = micro_numbers(order, rank)
    starts, ends = plan.timeline.rank(rank)
    rows = zip(starts.tolist(), ends.tolist(), order.codes[span].tolist(), first, second, strict=True)
    for start, end, code, one, two in rows:
        kind, chunk, back = decode(code, chunks)
        letter = "fb" if kind == PAIR else LETTERS[kind].lower()
        label = str(one + order.first_micro(rank, chunk))
        if kind == PAIR:
            label += f"/{two + order.first_micro(rank, back)}"
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
