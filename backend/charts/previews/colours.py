"""The page's colours for pictures, read from its own tokens."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from backend.charts.theme_tokens import Rgb, mixed, needs_white, rgb, tokens
from backend.schedule.order.ops import PAIR, B, F

Theme = Literal["light", "dark"]
KINDS = ("k-f", "k-i", "k-w", "k-b", "", "k-s", "k-t")  # by kind; a pair has two
SHADES = 8
WHITE: Rgb = (255, 255, 255)
BLACK: Rgb = (0, 0, 0)


@lru_cache
def palette(theme: Theme) -> dict[str, Rgb]:
    """Return each plain colour token by its name without the dashes."""
    return {name: rgb(colour) for name, colour in tokens(theme).items()}


def mix(one: Rgb, other: Rgb, part: float) -> Rgb:
    """Blend two colours; ``part`` 0 is the first, 1 the other."""
    r, g, b = map(round, mixed(one, other, part))
    return r, g, b


def tints(theme: Theme, kind: int, chunk: int, b_chunk: int, chunks: int) -> tuple[Rgb, Rgb]:
    """Return (upper, lower) colour of an op, later chunks lighter; they differ for a pair (forward and backward)."""
    upper = _tint(theme, F if kind == PAIR else kind, chunk, chunks)
    return upper, _tint(theme, B, b_chunk, chunks) if kind == PAIR else upper


def ink_on(colour: Rgb) -> Rgb:
    """Return white where it reaches a contrast of 4.5 on this colour, else black, which then does."""
    return WHITE if needs_white(colour) else BLACK


def _tint(theme: Theme, kind: int, chunk: int, chunks: int) -> Rgb:
    return mix(palette(theme)[KINDS[kind]], WHITE, 0.55 * (chunk % SHADES) / min(chunks, SHADES))
