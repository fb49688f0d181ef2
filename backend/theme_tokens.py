"""The page's own colours and font, read from its style sheets, so that what the server draws looks like the page.

Knows the files of the tokens; nothing of charts, pictures or the web.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

THEMES = ("light", "dark")
PAPER = "paper"  # kinds in the colours that papers print
ALL_THEMES = (*THEMES, *(f"{theme}-{PAPER}" for theme in THEMES))
TOKENS = Path(__file__).parents[1] / "static" / "css" / "tokens.css"
LOOKS = TOKENS.with_name("looks.css")
COLOUR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
FONT = re.compile(r"--font: ([^;]+);")


@lru_cache
def tokens(theme: str) -> dict[str, str]:
    """Each plain colour token by its name without the dashes, as #rrggbb, in one of ALL_THEMES."""
    base, _, paper = theme.partition("-")
    at = THEMES.index(base)
    text = TOKENS.read_text() + (LOOKS.read_text() if paper else "")
    return {name: pair[at] for name, *pair in COLOUR.findall(text)}


@lru_cache
def font() -> str:
    """The page's font, a list of families as CSS has it."""
    found = FONT.search(TOKENS.read_text())
    assert found is not None
    return found[1]


def rgb(colour: str) -> tuple[int, int, int]:
    """#0080ff as (0, 128, 255)."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
