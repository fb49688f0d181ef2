"""The page's colours and font, read from its style sheets, so that the server's drawings match the page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

THEMES = ("light", "dark")
PAPER = "paper"  # the colours that papers print for kinds of ops
ALL_THEMES = (*THEMES, *(f"{theme}-{PAPER}" for theme in THEMES))
TOKENS = Path(__file__).parents[2] / "static" / "css" / "tokens.css"
PAPER_SHEET = TOKENS.with_name("app") / "appearance.css"
COLOUR = re.compile(r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\);")
Rgb = tuple[int, int, int]
FONT = re.compile(r"--font:\s*([^;]+);")


@lru_cache
def tokens(theme: str) -> dict[str, str]:
    """Return each plain colour token by its name without the dashes, as #rrggbb, in one of ALL_THEMES."""
    base, _, paper = theme.partition("-")
    at = THEMES.index(base)
    text = TOKENS.read_text() + (PAPER_SHEET.read_text() if paper else "")
    return {name: pair[at] for name, *pair in COLOUR.findall(text)}


@lru_cache
def font() -> str:
    """Return the page's font, a list of families as CSS has it."""
    match = FONT.search(TOKENS.read_text())
    assert match is not None
    return " ".join(match[1].split())


def mixed(one: Rgb, other: Rgb, share: float) -> tuple[float, ...]:
    """Return the parts of a colour between two, ``share`` of the way from one to the other."""
    return tuple(a + (b - a) * share for a, b in zip(one, other, strict=True))


def needs_white(colour: Iterable[float]) -> bool:
    """Return whether white has a contrast of 4.5 on a colour (WCAG 2); else black has."""
    parts = (part / 255 for part in colour)
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) >= 4.5


def rgb(colour: str) -> Rgb:
    """Return the parts of a colour: #0080ff is (0, 128, 255)."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
